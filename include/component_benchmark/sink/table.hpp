// result -> table -> terminal: the tree with its numbers, and a summary
#pragma once

#include <component_benchmark/core/by_call.hpp>
#include <component_benchmark/core/error.hpp>
#include <component_benchmark/core/node.hpp>
#include <component_benchmark/core/text.hpp>
#include <component_benchmark/result/document.hpp>
#include <component_benchmark/sink/reading.hpp>
#include <component_benchmark/sink/summary.hpp>
#include <component_benchmark/sink/table_columns.hpp>
#include <component_benchmark/sink/table_layout.hpp>
#include <component_benchmark/sink/terminal.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <string>
#include <system_error>
#include <vector>

namespace component_benchmark {

namespace detail {

/// Explains the marks in the first `shown` columns.
[[nodiscard]] std::string legend_of(a_table auto const& table, std::size_t shown) {
    constexpr std::pair<std::string_view, char const*> meanings[] = {
        {estimated_mark, "estimated from children"},
        {bound_mark, "lower bound"},
        {reused_mark, "measured on an identical component"},
        {negative_self_mark, "isolated children exceed their parent"},
        {over_peak_mark, "over the peak"},
        {text::no_value, "not available"}};
    auto const has = [&](std::string_view mark) {
        for (std::size_t i = 0; i < shown; ++i)
            for (auto const& cell : table.columns[i].cells)
                if (!table.columns[i].is_text && cell.text.find(mark) != std::string::npos)
                    return true;
        return false;
    };
    std::string legend;
    for (auto const& [mark, meaning] : meanings)
        if (has(mark))
            legend.append(legend.empty() ? "" : "; ").append(mark).append(" ").append(meaning);
    return legend;
}

[[nodiscard]] std::string hidden_columns(a_document auto const& report, a_table auto const& table,
                                         std::size_t shown) {
    std::string hidden;
    for (std::size_t i = shown; i < table.columns.size(); ++i)
        hidden += (hidden.empty() ? "" : ", ") + text::printable(table.columns[i].id);
    if (hidden.empty())
        return {};
    auto const file = report_file(report);
    return "hidden, no room: " + hidden + " (see " + (file.empty() ? "the JSON report" : file) +
           ")";
}

/// Of a run that was interrupted.
[[nodiscard]] std::string partial_note(a_document auto const& report) {
    std::size_t missing = 0;
    for (auto const& one : report.nodes)
        missing += one.reason == run_was_interrupted ? 1U : 0U;
    auto const rest =
        missing == 0 ? "" : ": " + text::plural(missing, "component") + " not measured";
    return "partial: the run was interrupted" + rest;
}

/// Medians that are not known as well as was asked; the first says why.
[[nodiscard]] std::string uncertain_note(a_document auto const& report) {
    std::size_t rows = 0;
    std::string first;
    for (std::size_t row = 0; row < report.nodes.size(); ++row)
        for (auto const* id : {"latency_ms", "latency_bwd_ms", "latency_fwd_bwd_ms"}) {
            auto const* value = value_in(report.find(id), row);
            if (value == nullptr || !value->why.starts_with(not_within))
                continue;
            if (rows++ == 0)
                first =
                    shown_path(report.nodes[row]) + ", " + id + " " + text::printable(value->why);
            break;
        }
    return rows == 0 ? std::string{}
                     : "medians less certain than asked for in " + text::plural(rows, "row") +
                           ", first " + first;
}

/// What has to be known to read the table, each a sentence of its own.
[[nodiscard]] std::vector<std::string> notes_of(a_document auto const& report,
                                                a_table auto const& table, std::size_t shown) {
    constexpr std::size_t most_warnings = 5;
    std::vector<std::string> notes;
    if (!report.facts.complete)
        notes.push_back(partial_note(report));
    if (table.filtered != 0)
        notes.push_back(text::plural(table.filtered, "row") + " filtered");
    notes.push_back(legend_of(table, shown));
    notes.push_back(hidden_columns(report, table, shown));
    if (!table.no_values.empty())
        notes.push_back("no values: " + joined(table.no_values));
    for (auto const* id : {"flops_fwd", "flops_bwd", "traffic_mb"})  // of the whole model
        if (auto const* column = report.find(id); column != nullptr && !column->cells.empty())
            if (auto const& why = column->cells.front().why;
                why.find(no_formula_for) != std::string::npos ||
                why.find(not_known_for) != std::string::npos)
                notes.push_back(std::string{id} + ": " + text::printable(why));
    notes.push_back(uncertain_note(report));
    auto const warnings = report.facts.all_warnings();
    for (std::size_t i = 0; i < (std::min)(warnings.size(), most_warnings); ++i)
        notes.push_back("warning: " + text::printable(warnings[i]));
    if (warnings.size() > most_warnings)
        notes.push_back(text::plural(warnings.size() - most_warnings, "more warning") +
                        " in the JSON report");
    return notes;
}

/// The columns from `first` on, and of the rows those with numbers.
[[nodiscard]] table_model rest_of(a_table auto const& table, std::size_t first) {
    table_model rest;
    std::vector<bool> kept;
    for (auto const& row : table.rows) {
        kept.push_back(row.has_numbers());
        if (kept.back())
            rest.rows.push_back(row);
    }
    for (auto index = first; index < table.columns.size(); ++index) {
        auto const& from = table.columns[index];
        table_column column{from.id, from.label, from.unit, from.is_text, {}};
        for (std::size_t row = 0; row < from.cells.size(); ++row)
            if (kept[row])
                column.cells.push_back(from.cells[row]);
        rest.columns.push_back(std::move(column));
    }
    return rest;
}

/// Important columns for which there is no room stand below, beside the tree once more, unless the
/// tree is long. Gives how many columns are shown.
template<a_table Table>
std::size_t print_blocks(std::string& out, Table const& table, std::size_t width, bool coloured) {
    constexpr std::size_t long_tree = 100;
    auto const print = [&](Table const& block) {
        auto const fitted = fit(block, width);
        print_heading(out, block, fitted, coloured);
        for (std::size_t row = 0; row < block.rows.size(); ++row)
            print_row(out, block, fitted, row, coloured);
        return fitted.column_widths.size();
    };
    auto shown = print(table);
    for (auto added = shown; added > 0 && shown < table.important && table.rows.size() <= long_tree;
         shown += added) {
        out += "\n";
        added = print(rest_of(table, shown));
    }
    return shown;
}

}  // namespace detail

/// The tree and the summary, no line wider than `width` columns (40 or more).
template<a_document Document = document>
[[nodiscard]] std::string to_table(Document const& report, int width = 100, bool coloured = false) {
    auto const columns = static_cast<std::size_t>((std::max)(width, 40));
    auto const table = detail::tabulate(report);
    std::string out;
    for (auto const& line : text::wrapped(detail::reading_of(report), columns))
        out += line + "\n";
    auto const shown = detail::print_blocks(out, table, columns, coloured);
    for (auto const& note : detail::notes_of(report, table, shown))
        for (auto const& line : text::wrapped(note, columns))
            out += line + "\n";
    return out + "\n" + to_summary(report, columns);
}

/// The sink that prints the report.
struct table {
    std::FILE* out = stdout;
    int width = 0;  ///< 0: the terminal's
    colour colours = colour::automatic;

    static constexpr char const* name = "table";

    void write(a_document auto const& report) const {
        auto const text = to_table(report, width > 0 ? width : detail::columns_of_terminal(out),
                                   detail::shows_colour(out, colours));
        errno = 0;
        if (std::fwrite(text.data(), 1, text.size(), out) != text.size() || std::fflush(out) != 0)
            throw error{"cannot print the table: " + std::generic_category().message(errno)};
    }
};

}  // namespace component_benchmark
