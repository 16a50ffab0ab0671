// pipeline -> RESULT: fills the columns and derives what follows from the tree
#pragma once

#include <component_benchmark/core/error.hpp>
#include <component_benchmark/result/document.hpp>
#include <component_benchmark/result/estimate.hpp>
#include <component_benchmark/result/self_values.hpp>

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
    constexpr std::string_view facts[] = {"name",       "path",   "type",        "parent",
                                          "end",        "status", "calls",       "in_shapes",
                                          "out_shapes", "dtypes", "reason",      "index",
                                          "alias_of",   "node",   "parent_call", "resumed"};
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
                    column.calls[number] = {group.value, origin::measured, group.why};
                if (!group.samples.empty())
                    report.samples.push_back({group.metric, group.calls.front(), group.samples});
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
    struct added_up {
        column const* one;  ///< of one call
        column* total;      ///< of all
    };
    std::vector<added_up> totals;
    for (auto const& [one, total] : detail::totals_of_calls)
        if (report.find(one) != nullptr && report.find(total) != nullptr)
            totals.push_back({report.find(one), detail::mutable_column(report, total)});
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
        for (auto const& [one, total] : totals)
            if (!total->cells[row].has_value())
                total->cells[row] = detail::total_of(report, tree, *one, row);
        if (estimated && facts.state == status::not_called) {
            facts.state = status::estimated;
            facts.reason = "not called itself; estimated from its children";
        }
    }
    derive_self(report, tree);
    derive_opportunity(report, tree);
}

}  // namespace component_benchmark
