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
inline void add_columns(document& report, std::vector<column> columns) {
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
inline void put_cells(document& report, std::size_t first, std::size_t row,
                      std::vector<cell> cells) {
    for (std::size_t index = 0; index < cells.size(); ++index) {
        auto& column = report.columns[first + index].cells;
        if (column.size() <= row)
            column.resize(row + 1);
        column[row] = std::move(cells[index]);
    }
}

/// Adds values and samples of single calls.
inline void put_calls(document& report, std::vector<by_call> const& measured) {
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

[[nodiscard]] inline std::vector<std::size_t> children_of(document const& report, std::size_t row) {
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

/// What `rule` makes of the children's values, each of one call; unavailable when none has one.
[[nodiscard]] inline cell estimate(document const& report, column const& values, std::size_t row) {
    auto const calls = static_cast<double>(std::max<std::int64_t>(1, report.nodes[row].calls));
    auto const* weights = report.find("total_ms");
    double sum = 0.0;
    double largest = 0.0;
    double weight_sum = 0.0;
    double weighted = 0.0;
    bool any = false;
    bool missing = false;
    for (auto const child : children_of(report, row)) {
        if (!takes_part(report.nodes[child]))
            continue;
        auto const& one = values.cells[child];
        missing = missing || !one.has_value() || one.why.starts_with("lower bound");
        if (!one.has_value())
            continue;
        any = true;
        auto const times =
            static_cast<double>(std::max<std::int64_t>(1, report.nodes[child].calls)) / calls;
        sum += times * one.number();
        largest = (std::max)(largest, one.number());
        auto const weight = weights != nullptr ? weights->cells[child].number() : 0.0;
        weight_sum += weight;
        weighted += weight * one.number();
    }
    if (!any || (values.rule == aggregate::latency_weighted_mean && weight_sum == 0.0))
        return values.cells[row];
    auto const number = values.rule == aggregate::sum       ? sum
                        : values.rule == aggregate::maximum ? largest
                                                            : weighted / weight_sum;
    cell made{.value = number, .from = origin::estimated, .why = "estimated from its children"};
    if (values.integer)
        made.value = static_cast<std::int64_t>(number);
    if (missing)
        made.why = "lower bound: a child has no value";
    return made;
}

inline column* mutable_column(document& report, std::string_view id) {
    return const_cast<column*>(report.find(id));
}

}  // namespace detail

/// `total_ms` is calls times `latency_ms` where the profiler could not say it.
inline void derive_total(document& report, std::size_t row) {
    auto const* latency = report.find("latency_ms");
    auto* total = detail::mutable_column(report, "total_ms");
    if (latency == nullptr || total == nullptr || total->cells[row].has_value())
        return;
    auto const& one = latency->cells[row];
    auto const calls = static_cast<double>(std::max<std::int64_t>(1, report.nodes[row].calls));
    if (one.has_value())
        total->cells[row] = {calls * one.number(), one.from, one.why};
}

/// `self_ms` is `total_ms` without that of the children: signed, so that isolated children which
/// take longer than their parent are seen.
inline void derive_self(document& report) {
    auto const* total = report.find("total_ms");
    auto* self = detail::mutable_column(report, "self_ms");
    if (total == nullptr || self == nullptr)
        return;
    for (std::size_t row = 0; row < report.nodes.size(); ++row) {
        auto const& own = total->cells[row];
        if (!own.has_value())
            continue;
        double rest = own.number();
        std::string why;
        for (auto const child : detail::children_of(report, row)) {
            if (!detail::takes_part(report.nodes[child]))
                continue;
            rest -= total->cells[child].number();
            if (!total->cells[child].has_value() && report.nodes[child].state != status::filtered)
                why = "the time of a child without a value is part of it";
        }
        if (std::abs(rest) < 1e-9 * own.number())
            rest = 0.0;  // rounding
        if (rest < 0.0)
            why = "isolated children exceed their parent";
        self->cells[row] = {rest, own.from == origin::measured ? origin::derived : own.from, why};
    }
}

/// From the leaves up: rows without a value get one from their children, by each metric's rule.
inline void complete(document& report) {
    for (auto& column : report.columns) {
        column.cells.resize(report.nodes.size());
        if (!column.calls.empty())
            column.calls.resize(report.calls.size());
    }
    for (auto row = report.nodes.size(); row-- > 0;) {
        auto& facts = report.nodes[row];
        if (facts.alias_of != node::none || facts.state == status::filtered)
            continue;
        bool estimated = false;
        for (auto& column : report.columns)
            if (column.rule != aggregate::none && !column.cells[row].has_value()) {
                column.cells[row] = detail::estimate(report, column, row);
                estimated = estimated || column.cells[row].has_value();
            }
        derive_total(report, row);
        if (estimated && facts.state == status::not_called) {
            facts.state = status::estimated;
            facts.reason = "not called itself; estimated from its children";
        }
    }
    derive_self(report);
}

}  // namespace component_benchmark
