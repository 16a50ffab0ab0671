// journal -> PIPELINE -> result: what an earlier run has measured, if it was the same run
#pragma once

#include <component_benchmark/core/error.hpp>
#include <component_benchmark/core/node.hpp>
#include <component_benchmark/core/text.hpp>
#include <component_benchmark/pipeline/unreached.hpp>
#include <component_benchmark/result/document.hpp>
#include <component_benchmark/result/recorded_run.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace component_benchmark::detail {

/// Says the first thing in which two runs differ, and throws.
template<class Recorded>
class same_run {
public:
    same_run(Recorded const& recorded, document const& now)
        : path_{recorded.path}, then_{recorded.report}, now_{now} {}

    void check() const {
        check_facts();
        check_columns();
        check_nodes();
        check_calls();
    }

private:
    using texts = std::vector<std::pair<std::string, std::string>>;

    [[noreturn]] void refuse(std::string const& what, std::string const& then,
                             std::string const& now) const {
        auto const shown = [](std::string const& value) {
            return value.empty() ? std::string{"nothing"} : "'" + text::printable(value) + "'";
        };
        throw error{"cannot resume from '" + text::printable(path_) +
                    "', which is of another run: " + what + " is " + shown(then) + " there and " +
                    shown(now) + " here"};
    }

    void compare(std::string const& what, std::string const& then, std::string const& now) const {
        if (then != now)
            refuse(what, then, now);
    }

    void compare(std::string const& what, texts const& then, texts const& now) const {
        auto const value = [](texts const& in, std::string const& key) {
            for (auto const& [name, text] : in)
                if (name == key)
                    return text;
            return std::string{};
        };
        for (auto const* all : {&now, &then})
            for (auto const& entry : *all)
                compare(what + " '" + entry.first + "'", value(then, entry.first),
                        value(now, entry.first));
    }

    [[nodiscard]] static std::string joined(std::vector<std::string> const& names) {
        std::string all;
        for (auto const& name : names)
            all += (all.empty() ? "" : ", ") + name;
        return all;
    }

    void check_facts() const {
        auto const& then = then_.facts;
        auto const& now = now_.facts;
        compare("the version of the library", then.library, now.library);
        compare("the version of LibTorch", then.libtorch, now.libtorch);
        compare("the compiler", then.compiler, now.compiler);
        compare("the build", then.build_type, now.build_type);
        compare("the device", then.device, now.device);
        compare("the number of threads", std::to_string(then.threads), std::to_string(now.threads));
        compare("what gradients are", then.gradients, now.gradients);
        compare("the option", then.options, now.options);
        compare("the list of preprocessors", joined(then.preprocessors), joined(now.preprocessors));
        compare("the convention", then.conventions, now.conventions);
    }

    void check_columns() const {
        auto const name = [](document const& report, std::size_t index) {
            if (index >= report.columns.size())
                return std::string{};
            auto const& one = report.columns[index];
            return one.id + (one.unit.empty() ? "" : " in " + one.unit) + " by " + one.profiler;
        };
        for (std::size_t i = 0; i < (std::max)(then_.columns.size(), now_.columns.size()); ++i)
            compare("metric " + std::to_string(i + 1), name(then_, i), name(now_, i));
    }

    void check_nodes() const {
        auto const most = (std::max)(then_.nodes.size(), now_.nodes.size());
        for (std::size_t row = 0; row < most; ++row) {
            if (row >= then_.nodes.size() || row >= now_.nodes.size())
                return compare("component " + std::to_string(row + 1), path_at(then_, row),
                               path_at(now_, row));
            auto const& then = then_.nodes[row];
            auto const& now = now_.nodes[row];
            compare("component " + std::to_string(row + 1), then.path, now.path);
            auto const of = " of " + name_in_text(now);
            compare("the type" + of, then.type, now.type);
            compare("what stands for an alias" + of, path_at(then_, then.alias_of),
                    path_at(now_, now.alias_of));
            compare("the number of calls" + of, std::to_string(then.calls),
                    std::to_string(now.calls));
            compare_shapes(of, then, now);
        }
    }

    void check_calls() const {
        compare("the number of calls", std::to_string(then_.calls.size()),
                std::to_string(now_.calls.size()));
        for (std::size_t number = 0; number < now_.calls.size(); ++number) {
            auto const& then = then_.calls[number];
            auto const& now = now_.calls[number];
            auto const title = "call " + std::to_string(number + 1);
            compare("the component of " + title, path_at(then_, then.row), path_at(now_, now.row));
            compare_shapes(" of " + title + ", of " + name_in_text(now_.nodes[now.row]), then, now);
        }
    }

    template<class One>
    void compare_shapes(std::string const& of, One const& then, One const& now) const {
        compare("the shape of the inputs" + of, then.in_shapes, now.in_shapes);
        compare("the shape of the outputs" + of, then.out_shapes, now.out_shapes);
        compare("the kind of numbers" + of, then.dtypes, now.dtypes);
    }

    template<class Index>
    [[nodiscard]] static std::string path_at(document const& report, Index row) {
        auto const index = static_cast<std::size_t>(row);
        if (index >= report.nodes.size())
            return {};
        return report.nodes[index].path.empty() ? "the root" : report.nodes[index].path;
    }

    std::string const& path_;
    document const& then_;
    document const& now_;
};

/// Whether the row is taken over: a component that failed gets another chance.
[[nodiscard]] inline bool is_taken_over(recorded_run const& recorded, std::size_t row,
                                        node const& now) {
    return recorded.finished[row] && recorded.report.nodes[row].state != status::failed &&
           is_handed_out(now);
}

template<class Recorded>
void take_over(document& found, Recorded const& recorded) {
    for (std::size_t row = 0; row < found.nodes.size(); ++row) {
        auto& facts = found.nodes[row];
        if (!is_taken_over(recorded, row, facts))
            continue;
        facts.state = recorded.report.nodes[row].state;
        facts.reason = recorded.report.nodes[row].reason;
        facts.resumed = true;
    }
    for (std::size_t index = 0; index < found.columns.size(); ++index) {
        auto const& from = recorded.report.columns[index];
        auto& to = found.columns[index];
        to.cells.resize(found.nodes.size());
        for (std::size_t row = 0; row < found.nodes.size(); ++row)
            if (found.nodes[row].resumed)
                to.cells[row] = from.cells[row];
        if (from.calls.empty())
            continue;
        to.calls.resize(found.calls.size());
        for (std::size_t number = 0; number < found.calls.size(); ++number)
            if (found.nodes[found.calls[number].row].resumed)
                to.calls[number] = from.calls[number];
    }
    for (auto const& set : recorded.report.samples)
        if (found.nodes[found.calls[set.call].row].resumed)
            found.samples.push_back(set);
}

/// Takes over what was measured; throws `error` when it was another run. The report then says how
/// much that is.
template<class Recorded>
[[nodiscard]] std::string resume(document& found, Recorded const& recorded) {
    auto const& warnings = recorded.remarks;
    found.facts.warnings.insert(found.facts.warnings.end(), warnings.begin(), warnings.end());
    if (!recorded.finished.empty()) {
        same_run<Recorded>{recorded, found}.check();
        take_over(found, recorded);
    }
    auto const rows = std::count_if(found.nodes.begin(), found.nodes.end(),
                                    [](node const& one) { return one.resumed; });
    return std::to_string(rows) + " of " +
           text::plural(count_handed_out(found.nodes), "component") + " from " + recorded.path;
}

}  // namespace component_benchmark::detail
