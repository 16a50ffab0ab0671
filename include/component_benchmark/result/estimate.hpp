// assemble -> ESTIMATE: what a row costs, from its calls and its children
#pragma once

#include <component_benchmark/core/by_call.hpp>
#include <component_benchmark/result/document.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace component_benchmark::detail {

column* mutable_column(a_document auto& report, std::string_view id) {
    return const_cast<column*>(report.find(id));
}

[[nodiscard]] std::vector<std::size_t> children_of(a_document auto const& report, std::size_t row) {
    std::vector<std::size_t> children;
    for (auto next = row + 1; next < report.nodes[row].end; next = report.nodes[next].end)
        children.push_back(next);
    return children;
}

/// A child that takes no part: an alias is measured elsewhere, and what was not called costs 0. (A
/// container that is never called takes part where something in it is, if without a value.)
[[nodiscard]] bool takes_part(a_document auto const& report, std::size_t child) {
    if (report.nodes[child].alias_of != node::none)
        return false;
    if (report.nodes[child].state != status::not_called)
        return true;
    for (auto below = child; below < report.nodes[child].end; ++below)
        if (report.nodes[below].calls > 0)
            return true;
    return false;
}

/// Values of parts added up, some of which may be missing.
struct sum_of_parts {
    double sum = 0.0;
    bool any = false;
    bool missing = false;
    bool bound = false;    ///< the value of one is a lower bound
    bool cut_off = false;  ///< one was not measured because the run was interrupted

    void add(cell const& part, double times) {
        any = any || part.has_value();
        missing = missing || part.why.starts_with("lower bound") ||
                  !(part.has_value() || costs_nothing(part.why));
        bound = bound || part.why.starts_with("lower bound");
        cut_off = cut_off || part.why == run_was_interrupted;
        sum += times * part.number();
    }

    [[nodiscard]] cell as_estimate() const {
        if (!any)
            return {};
        return {sum, origin::estimated,
                missing ? "lower bound: a part has no value" : "estimated from its children"};
    }
};

/// For each call, the calls that it made itself, or that one made which it made and which was left
/// out; for each row, its calls; and whether a call's module was being called already.
struct call_tree {
    std::vector<std::vector<std::size_t>> made;
    std::vector<std::vector<std::size_t>> of_row;
    std::vector<bool> nested;

    explicit call_tree(a_document auto const& report)
        : made(report.calls.size()), of_row(report.nodes.size()), nested(report.calls.size()) {
        for (std::size_t number = 0; number < report.calls.size(); ++number) {
            auto const& call = report.calls[number];
            of_row[call.row].push_back(number);
            auto maker = call.parent_call;
            while (maker != node::none && was_left_out(report, static_cast<std::size_t>(maker)))
                maker = report.calls[static_cast<std::size_t>(maker)].parent_call;
            if (maker != node::none)
                made[static_cast<std::size_t>(maker)].push_back(number);
            for (auto above = call.parent_call; above != node::none && !nested[number];
                 above = report.calls[static_cast<std::size_t>(above)].parent_call)
                nested[number] = report.calls[static_cast<std::size_t>(above)].row == call.row;
        }
    }

    /// The calls of a row but for those within another one of them.
    [[nodiscard]] std::vector<std::size_t> outer_calls(std::size_t row) const {
        std::vector<std::size_t> found;
        for (auto const number : of_row[row])
            if (!nested[number])
                found.push_back(number);
        return found;
    }

    [[nodiscard]] static bool was_left_out(a_document auto const& report, std::size_t number) {
        return report.nodes[report.calls[number].row].state == status::filtered;
    }
};

/// The value of one call; where it has none, that of the row, which may be an estimate or a reason.
[[nodiscard]] cell const& value_of_call(column const& values, a_document auto const& report,
                                        std::size_t number) {
    static cell const none{};
    if (number < values.calls.size() && values.calls[number].has_value())
        return values.calls[number];
    auto const& row = values.cells[report.calls[number].row];
    return row.from == origin::measured || row.from == origin::derived ? none : row;
}

/// Rounded where the metric is a whole number.
[[nodiscard]] inline cell as_stored(column const& values, cell made) {
    if (values.integer && made.has_value())
        made.value = static_cast<std::int64_t>(std::llround(made.number()));
    return made;
}

/// All calls of a row, those within another call of the same module left out, since they are part
/// of it.
[[nodiscard]] sum_of_parts sum_of_calls(a_document auto const& report, call_tree const& tree,
                                        column const& values, std::size_t row) {
    sum_of_parts parts;
    for (auto const number : tree.outer_calls(row))
        parts.add(value_of_call(values, report, number), 1.0);
    return parts;
}

/// The calls that a row's calls made, likewise; each counts `times`.
[[nodiscard]] sum_of_parts sum_of_made(a_document auto const& report, call_tree const& tree,
                                       column const& values, std::size_t row, double times = 1.0) {
    sum_of_parts parts;
    for (auto const number : tree.of_row[row])
        for (auto const part : tree.made[number])
            if (!tree.nested[part])
                parts.add(value_of_call(values, report, part), times);
    return parts;
}

/// What one call of the row costs, from the calls that the row's calls made.
[[nodiscard]] cell estimate_by_calls(a_document auto const& report, call_tree const& tree,
                                     column const& values, std::size_t row) {
    auto const calls = static_cast<double>(report.nodes[row].calls);
    return as_stored(values, sum_of_made(report, tree, values, row, 1.0 / calls).as_estimate());
}

/// Metrics of one call, and those of all calls of a row that the report adds up from them.
inline constexpr std::pair<std::string_view, std::string_view> totals_of_calls[] = {
    {"latency_ms", "total_ms"},
    {"cpu_time_ms", "cpu_time_total_ms"},
    {"gpu_time_ms", "gpu_time_total_ms"}};

/// The total of a row: of all its calls.
[[nodiscard]] cell total_of(a_document auto const& report, call_tree const& tree,
                            column const& latency, std::size_t row) {
    auto const& one = latency.cells[row];
    if (report.nodes[row].calls == 0)
        return one;  // a container: estimated as one pass
    auto const parts = sum_of_calls(report, tree, latency, row);
    if (!parts.any)
        return {{}, origin::unavailable, one.why};
    auto const from = one.from == origin::estimated ? one.from : origin::derived;
    return {parts.sum, from,
            !parts.missing ? ""
            : one.why.starts_with("lower bound")
                ? one.why
                : "lower bound: not all of its calls have a value"};
}

/// How much a child counts in a mean: the time of all its calls. One that is a mean itself counts
/// as much as those that it is the mean of.
[[nodiscard]] double weight_of(a_document auto const& report, call_tree const& tree,
                               column const& values, std::size_t child) {
    auto const is_mean =
        values.cells[child].from == origin::estimated && report.nodes[child].calls == 0;
    if (is_mean) {
        double sum = 0.0;
        for (auto const part : children_of(report, child))
            if (takes_part(report, part) && values.cells[part].has_value())
                sum += weight_of(report, tree, values, part);
        return sum;
    }
    auto const* latency = report.find(
        values.rule == aggregate::latency_weighted_mean ? "latency_ms" : "latency_fwd_bwd_ms");
    return latency == nullptr ? 0.0 : total_of(report, tree, *latency, child).number();
}

/// A mean over children, with what is to be known of it.
[[nodiscard]] inline cell mean_cell(column const& values, double mean, sum_of_parts const& parts) {
    cell made{mean, origin::estimated, "mean of its children, weighted by latency"};
    if (parts.bound)
        made.why = "lower bound: the value of a child is one";
    else if (values.kind == unit_kind::percent && values.direction == better::higher &&
             mean > 100.0)
        made.why = std::string{over_the_peak} + ": so are children of it";
    else if (parts.missing)
        made.why = "mean of those of its children that have a value";
    return made;
}

/// What `rule` makes of the values of the registered children. Of their calls, those within another
/// call of the same module are part of it.
[[nodiscard]] cell estimate_by_children(a_document auto const& report, call_tree const& tree,
                                        column const& values, std::size_t row) {
    auto const calls = static_cast<double>((std::max<std::int64_t>)(1, report.nodes[row].calls));
    auto const is_mean = values.rule == aggregate::latency_weighted_mean ||
                         values.rule == aggregate::fwd_bwd_latency_weighted_mean;
    sum_of_parts parts;
    double largest = 0.0;
    double weight_sum = 0.0;
    double weighted = 0.0;
    for (auto const child : children_of(report, row)) {
        if (!takes_part(report, child))
            continue;
        auto const& one = values.cells[child];
        auto const outer = tree.outer_calls(child);
        if (values.calls.empty() || outer.empty())
            parts.add(one, static_cast<double>((std::max<std::size_t>)(1, outer.size())) / calls);
        else
            for (auto const number : outer)
                parts.add(value_of_call(values, report, number), 1.0 / calls);
        if (!one.has_value())
            continue;
        largest = (std::max)(largest, one.number());
        auto const weight = is_mean ? weight_of(report, tree, values, child) : 0.0;
        weight_sum += weight;
        weighted += weight * one.number();
    }
    auto made = parts.as_estimate();
    if (values.rule == aggregate::maximum && made.has_value())
        made.value = largest;
    if (is_mean && made.has_value())
        return weight_sum > 0.0 ? mean_cell(values, weighted / weight_sum, parts) : cell{};
    return as_stored(values, std::move(made));
}

}  // namespace component_benchmark::detail
