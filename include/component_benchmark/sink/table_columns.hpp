// document -> table_columns -> table_layout: the numbers, the most important columns first
#pragma once

#include <component_benchmark/core/text.hpp>
#include <component_benchmark/result/document.hpp>
#include <component_benchmark/sink/table_model.hpp>
#include <component_benchmark/sink/table_rows.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace component_benchmark::detail {

[[nodiscard]] constexpr paint paint_of_share(double share) noexcept {
    if (share >= 0.20)
        return paint::hot;
    return share >= 0.05 ? paint::warm : paint::plain;
}

[[nodiscard]] inline std::string digits_of(column const& from, cell const& value) {
    if (std::get_if<std::string>(&value.value) != nullptr)
        return text::printable(value.words());
    double const number = value.number();
    if (auto const* integer = std::get_if<std::int64_t>(&value.value))
        return text::whole(*integer);
    if (from.integer && std::abs(number) < 9e18)
        return text::whole(std::llround(number));
    return text::number(number, from.kind == unit_kind::percent ? 3 : 4);
}

/// Adds a column with a cell a row, made by `describe(node)`; says whether it has any value.
template<class Describe>
bool add_column(a_table auto& table, table_column added, Describe describe) {
    bool any = false;
    for (auto const& row : table.rows) {
        auto& cell = added.cells.emplace_back();
        if (!row.has_numbers())
            continue;
        cell = describe(row.node);
        if (!cell.text.empty())
            any = true;
        else if (!added.is_text)
            cell = {std::string{text::no_value}, paint::dim};
    }
    if (any)
        table.columns.push_back(std::move(added));
    return any;
}

void add_numbers(a_document auto const& report, column const* from, a_table auto& table) {
    if (from == nullptr)
        return;
    double const total = from->id == "self_ms" ? root_total(report) : 0.0;
    auto const describe = [&](std::size_t row) -> table_cell {
        auto const* value = value_in(from, row);
        if (value == nullptr)
            return {};
        auto const shown = std::string{mark_of(*value)} + digits_of(*from, *value);
        if (from->id == "self_ms" && value->number() < 0.0)
            return {std::string{negative_self_mark} + shown, paint::hot};
        return {shown, total > 0.0 ? paint_of_share(value->number() / total) : paint::plain};
    };
    auto const& label = from->label.empty() ? from->id : from->label;
    if (add_column(table,
                   {from->id,
                    text::printable(label),
                    text::printable(from->unit),
                    from->kind == unit_kind::text,
                    {}},
                   describe) ||
        table.rows.empty())
        return;
    auto const known = std::find_if(from->cells.begin(), from->cells.end(),
                                    [](cell const& c) { return !c.why.empty(); });
    std::string why;
    if (known != from->cells.end())
        why.append(" (").append(text::first_line(known->why)).append(")");
    table.no_values.push_back(text::printable(from->id + why));
}

void add_share(a_document auto const& report, a_table auto& table) {
    double const total = root_total(report);
    if (total <= 0.0)
        return;
    auto const* totals = report.find("total_ms");
    add_column(table, {"%", "%", "", false, {}}, [&](std::size_t row) -> table_cell {
        auto const* value = value_in(totals, row);
        if (value == nullptr)
            return {};
        double const share = value->number() / total;
        return {text::percentage(100.0 * share), paint_of_share(share)};
    });
}

void add_shapes(a_document auto const& report, a_table auto& table) {
    add_column(table, {"in_shapes", "Input shapes", "", true, {}}, [&](std::size_t row) {
        return table_cell{text::printable(report.nodes[row].in_shapes)};
    });
}

/// The whole table, before it is known how wide it may be.
[[nodiscard]] table_model tabulate(a_document auto const& report) {
    constexpr std::string_view first[] = {"mfu_pct",         "self_ms",      "flops_fwd",
                                          "mfu_fwd_bwd_pct", "tflops_per_s", "avg_bw_gbps",
                                          "bw_util_pct",     "bound",        "roofline_util_pct",
                                          "opportunity_ms",  "params",       "model_size_mb"};
    constexpr std::string_view shown[] = {"calls",     "latency_ms", "latency_bwd_ms", "total_ms",
                                          "in_shapes", "out_shapes", "dtypes"};
    constexpr std::string_view last[] = {"latency_fwd_bwd_ms",
                                         "flops_bwd",
                                         "flops_fwd_bwd",
                                         "mfu_fwd_pct",
                                         "hfu_pct",
                                         "tflops_per_s_fwd_bwd",
                                         "traffic_mb",
                                         "traffic_bwd_mb",
                                         "intensity",
                                         "compute_roof_ms",
                                         "memory_roof_ms",
                                         "covered_calls_pct",
                                         "covered_time_pct",
                                         "cpu_time_total_ms",
                                         "buffers",
                                         "latency_spread_pct",
                                         "samples"};
    auto const among = [](auto const& ids, std::string_view id) {
        return std::find(std::begin(ids), std::end(ids), id) != std::end(ids);
    };
    table_model table;
    add_rows(report, table);
    for (auto const* id : {"latency_ms", "latency_bwd_ms"})
        add_numbers(report, report.find(id), table);
    // where nothing is called twice the total repeats the latency
    auto const repeats = std::none_of(report.nodes.begin(), report.nodes.end(),
                                      [](node const& one) { return one.calls > 1; });
    if (!repeats || report.find("latency_ms") == nullptr)
        add_numbers(report, report.find("total_ms"), table);
    add_share(report, table);
    for (auto const id : first)
        add_numbers(report, report.find(id), table);
    for (auto const& column : report.columns)  // a user's own, without further code
        if (!column.detail && !among(first, column.id) && !among(shown, column.id) &&
            !among(last, column.id))
            add_numbers(report, &column, table);
    table.important = table.columns.size();
    add_shapes(report, table);
    for (auto const id : last)
        add_numbers(report, report.find(id), table);
    return table;
}

}  // namespace component_benchmark::detail
