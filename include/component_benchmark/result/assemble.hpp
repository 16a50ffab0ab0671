// pipeline -> RESULT: fills the columns and derives what follows from the tree
#pragma once

#include <component_benchmark/core/by_call.hpp>
#include <component_benchmark/core/error.hpp>
#include <component_benchmark/result/document.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace component_benchmark {

/// Adds columns for one profiler; two profilers may not have a metric of the same name, nor one the
/// name of a fact of the row.
void add_columns(a_document auto& report, std::vector<column> columns) {
    constexpr std::string_view facts[] = {
        "name",       "path",   "type",   "parent", "end",      "status", "calls",      "in_shapes",
        "out_shapes", "dtypes", "reason", "index",  "alias_of", "node",   "parent_call"};
    for (auto& one : columns) {
        if (std::find(std::begin(facts), std::end(facts), one.id) != std::end(facts))
            throw error{"the profiler '" + one.profiler + "' has a metric '" + one.id +
                        "', which is the name of a fact of the row; rename it"};
        if (auto const* other = report.find(one.id))
            throw error{"the profilers '" + other->profiler + "' and '" + one.profiler +
                        "' both have a metric '" + one.id + "'; rename one"};
        report.columns.push_back(std::move(one));
    }
}

/// Puts one profiler's cells of one row into the columns that begin at `first`.
void put_cells(a_document auto& report, std::size_t first, std::size_t row,
               std::vector<cell> cells) {
    for (std::size_t index = 0; index < cells.size(); ++index) {
        auto& column = report.columns[first + index].cells;
        if (column.size() <= row)
            column.resize(row + 1);
        column[row] = std::move(cells[index]);
    }
}

/// Adds values and samples of single calls.
void put_calls(a_document auto& report, std::vector<by_call> const& measured) {
    for (auto const& group : measured)
        for (auto& column : report.columns)
            if (column.id == group.metric && !group.calls.empty()) {
                auto const last = *std::max_element(group.calls.begin(), group.calls.end());
                if (column.calls.size() <= last)
                    column.calls.resize(last + 1);
                for (auto const number : group.calls)
                    column.calls[number] = {group.value, origin::measured, ""};
                report.samples.push_back({group.metric, group.calls.front(), group.samples});
            }
}

namespace detail {

column* mutable_column(a_document auto& report, std::string_view id) {
    return const_cast<column*>(report.find(id));
}

[[nodiscard]] std::vector<std::size_t> children_of(a_document auto const& report, std::size_t row) {
    std::vector<std::size_t> children;
    for (auto next = row + 1; next < report.nodes[row].end; next = report.nodes[next].end)
        children.push_back(next);
    return children;
}

/// A child that takes no part: an alias is measured elsewhere, and what was not called costs 0.
[[nodiscard]] inline bool takes_part(node const& child) {
    auto const idle = child.calls == 0 && child.state == status::not_called;
    return child.alias_of == node::none && !idle;
}

/// Values of parts added up, some of which may be missing.
struct sum_of_parts {
    double sum = 0.0;
    bool any = false;
    bool missing = false;
    bool cut_off = false;  ///< one was not measured because the run was interrupted

    void add(cell const& part, double times) {
        any = any || part.has_value();
        missing = missing || part.why.starts_with("lower bound") ||
                  !(part.has_value() || costs_nothing(part.why));
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

/// What one call of the row costs, from the calls that the row's calls made.
[[nodiscard]] cell estimate_by_calls(a_document auto const& report, call_tree const& tree,
                                     column const& values, std::size_t row) {
    sum_of_parts parts;
    for (auto const number : tree.of_row[row])
        for (auto const part : tree.made[number])
            if (!tree.nested[part])
                parts.add(value_of_call(values, report, part),
                          1.0 / static_cast<double>(report.nodes[row].calls));
    return parts.as_estimate();
}

/// What `rule` makes of the values of the registered children. Of their calls, those within another
/// call of the same module are part of it.
[[nodiscard]] cell estimate_by_children(a_document auto const& report, call_tree const& tree,
                                        column const& values, std::size_t row) {
    auto const calls = static_cast<double>((std::max<std::int64_t>)(1, report.nodes[row].calls));
    auto const* weights = report.find("total_ms");
    sum_of_parts parts;
    double largest = 0.0;
    double weight_sum = 0.0;
    double weighted = 0.0;
    for (auto const child : children_of(report, row)) {
        if (!takes_part(report.nodes[child]))
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
        auto const weight = weights != nullptr ? weights->cells[child].number() : 0.0;
        weight_sum += weight;
        weighted += weight * one.number();
    }
    auto made = parts.as_estimate();
    if (values.rule == aggregate::maximum && made.has_value())
        made.value = largest;
    if (values.rule == aggregate::latency_weighted_mean && made.has_value())
        return weight_sum > 0.0 ? cell{weighted / weight_sum, made.from, made.why} : cell{};
    if (values.integer && made.has_value())
        made.value = static_cast<std::int64_t>(made.number());
    return made;
}

/// `total_ms` of a row: of all its calls, those within another call of the same module left out,
/// since they are part of it.
[[nodiscard]] cell total_of(a_document auto const& report, call_tree const& tree,
                            column const& latency, std::size_t row) {
    auto const& one = latency.cells[row];
    if (report.nodes[row].calls == 0)
        return one;  // a container: estimated as one pass
    sum_of_parts parts;
    for (auto const number : tree.outer_calls(row))
        parts.add(value_of_call(latency, report, number), 1.0);
    if (!parts.any)
        return {{}, origin::unavailable, one.why};
    auto const from = one.from == origin::estimated ? one.from : origin::derived;
    return {parts.sum, from,
            !parts.missing ? ""
            : one.why.starts_with("lower bound")
                ? one.why
                : "lower bound: not all of its calls have a value"};
}

}  // namespace detail

/// `self_ms` is `total_ms` without the calls that the row's calls made: signed, so that parts which
/// take longer alone than their whole are seen.
void derive_self(a_document auto& report, detail::call_tree const& tree) {
    auto const* latency = report.find("latency_ms");
    auto const* total = report.find("total_ms");
    auto* self = detail::mutable_column(report, "self_ms");
    if (latency == nullptr || total == nullptr || self == nullptr)
        return;
    for (std::size_t row = 0; row < report.nodes.size(); ++row) {
        auto const& own = total->cells[row];
        if (!own.has_value())
            continue;
        detail::sum_of_parts parts;
        for (auto const number : tree.of_row[row])
            for (auto const part : tree.made[number])
                if (!tree.nested[part])
                    parts.add(detail::value_of_call(*latency, report, part), 1.0);
        if (parts.cut_off) {
            self->cells[row].why = run_was_interrupted;
            continue;
        }
        // a container that is never called is the sum of its children and nothing else
        double rest = report.nodes[row].calls == 0 ? 0.0 : own.number() - parts.sum;
        if (std::abs(rest) < 1e-9 * own.number())
            rest = 0.0;  // rounding
        auto const from = own.from == origin::estimated ? own.from : origin::derived;
        self->cells[row] = {rest, from,
                            rest < 0.0      ? "isolated children exceed their parent"
                            : parts.missing ? "the time of a part without a value is in it"
                                            : ""};
    }
}

/// From the leaves up: rows without a value get one from their parts, by each metric's rule.
void complete(a_document auto& report) {
    for (auto& column : report.columns) {
        column.cells.resize(report.nodes.size());
        if (!column.calls.empty())
            column.calls.resize(report.calls.size());
    }
    detail::call_tree const tree{report};
    auto const* latency = report.find("latency_ms");
    auto* total = detail::mutable_column(report, "total_ms");
    for (auto row = report.nodes.size(); row-- > 0;) {
        auto& facts = report.nodes[row];
        if (facts.alias_of != node::none || facts.state == status::filtered)
            continue;
        bool estimated = false;
        for (auto& column : report.columns) {
            auto& mine = column.cells[row];
            if (column.rule == aggregate::none || mine.has_value() || costs_nothing(mine.why))
                continue;
            auto const by_calls =
                column.rule == aggregate::sum && !column.calls.empty() && facts.calls > 0;
            auto made = by_calls ? detail::estimate_by_calls(report, tree, column, row)
                                 : detail::estimate_by_children(report, tree, column, row);
            if (!made.has_value())
                continue;
            mine = std::move(made);
            estimated = true;
        }
        if (latency != nullptr && total != nullptr && !total->cells[row].has_value())
            total->cells[row] = detail::total_of(report, tree, *latency, row);
        if (estimated && facts.state == status::not_called) {
            facts.state = status::estimated;
            facts.reason = "not called itself; estimated from its children";
        }
    }
    derive_self(report, tree);
}

}  // namespace component_benchmark
