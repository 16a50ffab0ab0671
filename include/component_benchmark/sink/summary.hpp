// document -> summary -> table: the few lines that are worth pasting into a chat
#pragma once

#include <component_benchmark/core/text.hpp>
#include <component_benchmark/result/document.hpp>
#include <component_benchmark/sink/table_model.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace component_benchmark {

namespace detail {

/// An alias is a component that is counted elsewhere.
[[nodiscard]] inline bool is_in(node const& one, status state) noexcept {
    return one.state == state && one.alias_of == node::none;
}

[[nodiscard]] std::int64_t count_of(a_document auto const& report, status state) {
    return std::count_if(report.nodes.begin(), report.nodes.end(), [state](node const& n) {
        return is_in(n, state) && n.reason != run_was_interrupted;
    });
}

/// Where the whole report is, as far as the options tell.
[[nodiscard]] std::string report_file(a_document auto const& report) {
    for (auto const& [name, value] : report.facts.options)
        if (name == "json" && !value.empty())
            return text::printable(value);
    return {};
}

[[nodiscard]] std::string headline(a_document auto const& report) {
    auto const& facts = report.facts;
    auto const aliases = std::count_if(report.nodes.begin(), report.nodes.end(),
                                       [](auto const& n) { return n.alias_of != node::none; });
    auto const components = report.nodes.size() - static_cast<std::size_t>(aliases);
    auto const resumed = std::count_if(report.nodes.begin(), report.nodes.end(),
                                       [](auto const& n) { return n.resumed; });
    auto line = (facts.model.empty() ? "model" : text::printable(facts.model)) + ": " +
                text::plural(components, "component") +
                (resumed == 0 ? "" : " (" + text::whole(resumed) + " resumed)");
    // ahead of what may be cut
    line += facts.complete ? "" : " (partial run)";
    line += facts.busy_machine ? " on a busy machine" : "";
    auto const add_time = [&](char const* words, char const* id, char const* unit) {
        if (auto const* time = value_in(report.find(id), 0); time != nullptr)
            line.append(words).append(mark_of(*time)) += text::number(time->number()) + unit;
    };
    add_time(", forward ", "total_ms", " ms a step");
    add_time(", backward ", "latency_bwd_ms", " ms");
    if (facts.threads > 0)
        line += ", " + text::plural(static_cast<std::size_t>(facts.threads), "thread");
    if (!facts.device.empty())
        line += " on " + text::printable(facts.device);
    return line;
}

/// "step 12.3 ms, 41,600 examples/s: backward 40.2 %, forward 33.1 %, ..., other 0.4 %", the
/// longest parts first and as many as fit into `width`; nothing when the program gave no step.
[[nodiscard]] std::string step_line(a_document auto const& report, std::size_t width) {
    auto const& step = report.facts.step;
    auto left = step.total_ns();
    if (step.steps == 0 || left <= 0)
        return {};
    auto const total = static_cast<double>(left);
    auto line = "step " + text::number(total / 1e6) + " ms";
    if (step.examples > 0)
        line += ", " + text::whole(static_cast<std::int64_t>(step.examples_per_second())) +
                " examples/s";
    line += ":";
    std::vector<std::pair<std::int64_t, std::string_view>> parts{
        {step.unattributed_ns, "unattributed"}};
    for (std::size_t part = 0; part < step.part_ns.size(); ++part)
        parts.emplace_back(step.part_ns[part], step_part_names[part]);
    std::stable_sort(parts.begin(), parts.end(),
                     [](auto const& one, auto const& other) { return one.first > other.first; });
    auto const share = [&](std::string_view name, std::int64_t ns) {
        return " " + std::string{name} + " " +
               text::percentage(100.0 * static_cast<double>(ns) / total) + " %";
    };
    auto const room_for_other = share("other", step.total_ns()).size() + 1;
    for (auto const& [ns, name] : parts) {
        auto const more = share(name, ns);
        if (ns == 0 || line.size() + more.size() + (ns == left ? 0 : room_for_other) > width)
            break;
        left -= ns;
        line += more + (left > 0 ? "," : "");
    }
    return left > 0 ? line + share("other", left) : line;
}

/// Rows with self time, the longest first.
[[nodiscard]] std::vector<std::size_t> rows_by_self_time(a_document auto const& report) {
    auto const* self = report.find("self_ms");
    std::vector<std::size_t> rows;
    for (std::size_t row = 0; row < report.nodes.size(); ++row) {
        auto const* value = value_in(self, row);
        if (value != nullptr && value->number() > 0.0 && report.nodes[row].alias_of == node::none)
            rows.push_back(row);
    }
    std::stable_sort(rows.begin(), rows.end(), [self](std::size_t a, std::size_t b) {
        return self->cells[a].number() > self->cells[b].number();
    });
    return rows;
}

/// A line whose path is cut, when it has to be, so that what comes before it stays whole.
[[nodiscard]] inline std::string with_path(std::string const& before, std::string const& path,
                                           std::size_t width) {
    auto const used = text::display_width(before);
    constexpr std::size_t least = 16;
    return before + text::cut_middle(path, (std::max)(least, width - (std::min)(width, used)));
}

void add_top_five(a_document auto const& report, std::size_t width,
                  std::vector<std::string>& lines) {
    double const total = root_total(report);
    auto rows = rows_by_self_time(report);
    rows.resize(std::min<std::size_t>(rows.size(), 5));
    std::size_t place = 0;
    for (auto const row : rows) {
        double const self = report.find("self_ms")->cells[row].number();
        auto const& of = report.nodes[row];
        auto line = "  " + std::to_string(++place) + ". " + text::number(self) + " ms self";
        constexpr std::size_t room_for_shares = 60;
        if (total > 0.0 && width >= room_for_shares)
            line += ", " + text::percentage(100.0 * self / total) + " %";
        auto const type = of.path.empty() ? "" : " (" + text::printable(of.type) + ")";
        lines.push_back(with_path(line + ": ", shown_path(of) + type, width));
    }
}

/// Counts of the rows in these states, e.g. "1 opaque, 2 filtered".
[[nodiscard]] std::string counts_of(a_document auto const& report,
                                    std::initializer_list<status> states) {
    std::string result;
    for (auto const state : states)
        if (auto const number = count_of(report, state); number != 0) {
            std::string word{name_of(state)};
            std::replace(word.begin(), word.end(), '_', ' ');
            result += (result.empty() ? "" : ", ") + text::whole(number) + " " + word;
        }
    return result;
}

/// Measured, but not all of it: the row says what is missing and why.
[[nodiscard]] inline bool is_partly_measured(node const& of) {
    return is_in(of, status::ok) && !of.reason.empty();
}

/// The first row that failed, else the first that is partly measured, and why, in at most `width`
/// columns.
[[nodiscard]] std::string first_failure(a_document auto const& report, std::size_t width) {
    auto failed = std::find_if(report.nodes.begin(), report.nodes.end(),
                               [](node const& n) { return is_in(n, status::failed); });
    if (failed == report.nodes.end())
        failed = std::find_if(report.nodes.begin(), report.nodes.end(), is_partly_measured);
    auto const path = text::cut_middle(shown_path(*failed), width / 2);
    auto const reason = text::printable(text::first_line(failed->reason));
    return text::cut_end(reason.empty() ? path : path + ": " + reason, width);
}

void add_failures(a_document auto const& report, std::size_t width,
                  std::vector<std::string>& lines) {
    auto failed = counts_of(report, {status::failed});
    auto const partly = std::count_if(report.nodes.begin(), report.nodes.end(), is_partly_measured);
    if (partly > 0)
        failed += (failed.empty() ? "" : ", ") + text::whole(partly) + " partly measured";
    auto const others = counts_of(
        report, {status::estimated, status::opaque, status::not_called, status::filtered});
    if (failed.empty()) {
        if (!others.empty())
            lines.push_back("none failed; " + others);
        return;
    }
    failed += ", first: ";
    constexpr std::size_t least = 64;  // the reason matters more than the other counts
    auto const rest = others.empty() ? others : "; " + others;
    auto const room = width - (std::min)(width, failed.size());
    auto const beside = room - (std::min)(room, rest.size());
    lines.push_back(failed + first_failure(report, (std::max)(beside, (std::min)(room, least))) +
                    rest);
}

void add_negative_self(a_document auto const& report, std::size_t width,
                       std::vector<std::string>& lines) {
    auto const* self = report.find("self_ms");
    std::size_t number = 0;
    std::string first;
    for (std::size_t row = report.nodes.size(); row-- > 0;)
        if (auto const* value = value_in(self, row); value != nullptr && value->number() < 0.0) {
            ++number;
            first = shown_path(report.nodes[row]);
        }
    if (number != 0)
        lines.push_back(with_path(
            "isolated children exceed their parent in " + text::plural(number, "row") + ", first: ",
            first, width));
}

[[nodiscard]] inline std::string joined(std::vector<std::string> const& parts) {
    std::string result;
    for (auto const& part : parts)
        result += (result.empty() ? "" : ", ") + text::printable(part);
    return result;
}

[[nodiscard]] inline std::string state_line(verification const& state) {
    auto const compared = state.compared.empty() ? "" : " (" + joined(state.compared) + ")";
    auto const rest =
        state.not_compared.empty() ? "" : "; not compared: " + joined(state.not_compared);
    if (!state.verified)
        return "model state: not verified" + rest;
    if (!state.changed.empty())
        return "model state: " + text::plural(state.changed.size(), "tensor") +
               " that had changed put back, then equal by value" + compared + rest;
    if (!rest.empty())
        return "model state: unchanged" + compared + rest;
    return "model state: unchanged, verified by value" + compared;
}

/// Two lines where they are needed and there is room for them among the ten.
inline void add_state(verification const& state, std::size_t width,
                      std::vector<std::string>& lines) {
    auto const room = lines.size() < 8 ? std::size_t{2} : std::size_t{1};
    auto parts = text::wrapped(state_line(state), width);
    for (auto index = room; index < parts.size(); ++index)
        parts[room - 1] += " " + parts[index];  // too wide, so that it ends in an ellipsis
    parts.resize((std::min)(parts.size(), room));
    lines.insert(lines.end(), parts.begin(), parts.end());
}

}  // namespace detail

/// At most ten lines of plain text, each at most `width` columns.
template<a_document Document = document>
[[nodiscard]] std::string to_summary(Document const& report, std::size_t width = 100) {
    std::vector<std::string> lines{detail::headline(report)};
    if (auto const step = detail::step_line(report, width); !step.empty())
        lines.push_back(step);
    detail::add_top_five(report, width, lines);
    detail::add_failures(report, width, lines);
    detail::add_negative_self(report, width, lines);
    detail::add_state(report.facts.unchanged, width, lines);
    auto const file = detail::report_file(report);
    lines.push_back(file.empty() ? "read next: add the sink json{\"report.json\"} for every number"
                                 : "read next: " + file + " (every column, call and sample)");
    std::string result;
    for (auto const& line : lines)
        result += text::cut_end(line, width) + "\n";
    return result;
}

}  // namespace component_benchmark
