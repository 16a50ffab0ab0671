// document -> json_tables -> json: nodes, calls and samples as columns
#pragma once

#include <component_benchmark/result/document.hpp>
#include <component_benchmark/sink/json_columns.hpp>
#include <component_benchmark/sink/json_writer.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace component_benchmark::detail {

/// Is `id` a key that the table itself has? Then its column holds nothing new.
[[nodiscard]] inline bool is_reserved(std::string_view id,
                                      std::initializer_list<std::string_view> keys) {
    return std::find(keys.begin(), keys.end(), id) != keys.end();
}

/// A cell a row; one without a value says why, as far as that is known.
[[nodiscard]] std::vector<cell> explained(a_document auto const& report, column const& from) {
    auto cells = from.cells;
    cells.resize(report.nodes.size());
    for (std::size_t row = 0; row < cells.size(); ++row) {
        if (cells[row].has_value() && !std::isfinite(cells[row].number()))
            cells[row] = {{}, origin::unavailable, "not a finite number"};
        auto const original = report.nodes[row].alias_of;
        if (cells[row].has_value() || !cells[row].why.empty() || original == node::none)
            continue;
        auto const& shown = report.nodes[static_cast<std::size_t>(original)];
        cells[row].why = "alias of " + (shown.path.empty() ? shown.type : shown.path);
    }
    return cells;
}

/// Shapes and dtypes, which nodes and calls both have.
template<class Row>
void write_shapes(table_writer& table, std::vector<Row> const& rows) {
    table.optional_texts("in_shapes", rows,
                         [](Row const& one) -> std::string_view { return one.in_shapes; });
    table.optional_texts("out_shapes", rows,
                         [](Row const& one) -> std::string_view { return one.out_shapes; });
    table.optional_texts("dtypes", rows,
                         [](Row const& one) -> std::string_view { return one.dtypes; });
}

void write_nodes(json_writer& out, string_table& strings, a_document auto const& report) {
    auto const& nodes = report.nodes;
    table_writer table{out.begin_object(), strings};
    table.texts("name", nodes, [](node const& n) -> std::string_view { return n.name; });
    table.texts("type", nodes, [](node const& n) -> std::string_view { return n.type; });
    table.numbers("parent", nodes,
                  [](node const& n) { return static_cast<std::int64_t>(n.parent); });
    table.numbers("end", nodes, [](node const& n) { return static_cast<std::int64_t>(n.end); });
    table.texts("status", nodes, [](node const& n) { return name_of(n.state); });
    table.optional_texts("reason", nodes,
                         [](node const& n) -> std::string_view { return n.reason; });
    out.key("alias_of").begin_array();
    for (auto const& n : nodes)
        n.alias_of == node::none ? out.null() : out.value(n.alias_of);
    out.end();
    table.numbers("calls", nodes, [](node const& n) { return static_cast<std::int64_t>(n.calls); });
    write_shapes(table, nodes);
    if (std::any_of(nodes.begin(), nodes.end(), [](node const& n) { return n.resumed; }))
        table.numbers("resumed", nodes,
                      [](node const& n) { return static_cast<std::int64_t>(n.resumed); });
    for (auto const& column : report.columns) {
        if (is_reserved(column.id, {"name", "type", "parent", "end", "status", "reason", "alias_of",
                                    "calls", "in_shapes", "out_shapes", "dtypes", "resumed"}))
            continue;
        auto const cells = explained(report, column);
        table.values(column.id, cells, column.integer, nodes.size());
        table.origins(column.id, cells);
    }
    out.end();
}

void write_calls(json_writer& out, string_table& strings, a_document auto const& report) {
    auto const& calls = report.calls;
    table_writer table{out.begin_object(), strings};
    table.numbers("node", calls, [](call const& c) { return static_cast<std::int64_t>(c.row); });
    table.numbers("index", calls, [](call const& c) { return static_cast<std::int64_t>(c.index); });
    table.numbers("parent_call", calls,
                  [](call const& c) { return static_cast<std::int64_t>(c.parent_call); });
    write_shapes(table, calls);
    table.numbers("recompute", calls,
                  [](call const& c) { return static_cast<std::int64_t>(c.recomputed); });
    for (auto const& column : report.columns)
        if (!column.calls.empty() &&
            !is_reserved(column.id, {"node", "index", "parent_call", "in_shapes", "out_shapes",
                                     "dtypes", "recompute"}))
            table.values(column.id, column.calls, column.integer, calls.size());
    out.end();
}

/// All samples of a metric in one array; those of an entry begin at its `start`.
void write_samples(json_writer& out, a_document auto const& report) {
    out.begin_object();
    for (auto const& column : report.columns) {
        std::vector<sample_set const*> sets;
        for (auto const& set : report.samples)
            if (set.column == column.id)
                sets.push_back(&set);
        if (sets.empty())
            continue;
        out.key(column.id).begin_object().key("call").begin_array();
        for (auto const* set : sets)
            out.value(set->call);
        out.end().key("start").begin_array();
        std::size_t start = 0;
        for (auto const* set : sets) {
            out.value(start);
            start += set->values.size();
        }
        out.end().key("values").begin_array();
        for (auto const* set : sets)
            for (double const sample : set->values)
                out.value(sample);
        out.end().end();
    }
    out.end();
}

}  // namespace component_benchmark::detail
