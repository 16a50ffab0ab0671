// document -> journal_lines -> journal: what a run is, and a finished component, as a line each
#pragma once

#include <component_benchmark/core/peak_overrides.hpp>
#include <component_benchmark/result/document.hpp>
#include <component_benchmark/sink/json.hpp>
#include <component_benchmark/sink/json_tables.hpp>
#include <component_benchmark/sink/json_writer.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace component_benchmark::detail {

inline constexpr std::string_view journal_schema = "component-benchmark/journal";
inline constexpr int journal_version = 1;

/// How each journal begins.
inline constexpr std::string_view journal_beginning = R"({"schema": "component-benchmark/journal")";

/// Whether a file that begins like this is a journal, or one of which no more was written.
[[nodiscard]] constexpr bool begins_a_journal(std::string_view text) noexcept {
    auto const shorter =
        text.size() < journal_beginning.size() ? text.size() : journal_beginning.size();
    return text.substr(0, shorter) == journal_beginning.substr(0, shorter);
}

/// The first line: what the run is, its metrics, and all that is known of its components.
[[nodiscard]] std::string journal_head(a_document auto const& report) {
    auto bare = report;
    bare.columns.clear();
    for (auto& one : bare.nodes)
        one.resumed = false;
    string_table strings;
    json_writer nodes{0, 1};
    json_writer calls{0, 1};
    write_nodes(nodes, strings, bare);
    write_calls(calls, strings, bare);
    json_writer out{0};
    out.begin_object().entry("schema", journal_schema).entry("version", journal_version);
    write_meta(out.key("meta"), report.facts);
    write_columns(out.key("columns"), report);
    out.list("strings", strings.texts()).key("nodes").raw(nodes.take());
    out.key("calls").raw(calls.take());
    return out.end().take() + "\n";
}

/// A measured number has all its digits: what is read again must be what was measured.
template<class Writer>
void write_exactly(Writer& out, double number) {
    std::isfinite(number) ? out.raw(digits_of(number)) : out.null();
}

[[nodiscard]] inline bool has_finite_value(cell const& one) noexcept {
    return one.has_value() && std::isfinite(one.number());
}

template<class Writer>
void write_value(Writer& out, cell const& one) {
    if (auto const* whole = std::get_if<std::int64_t>(&one.value))
        out.value(*whole);
    else if (auto const* words = std::get_if<std::string>(&one.value))
        out.value(std::string_view{*words});
    else
        has_finite_value(one) ? write_exactly(out, one.number()) : void(out.null());
}

template<class Writer>
void write_origin(Writer& out, cell const& one) {
    out.value(static_cast<std::int64_t>(has_finite_value(one) ? one.from : origin::unavailable));
}

template<class Writer>
void write_reason(Writer& out, cell const& one) {
    auto const lost = one.has_value() && !has_finite_value(one);
    out.value(lost ? std::string_view{"not a finite number"} : std::string_view{one.why});
}

/// The metrics of a row by their ids: the value, where it comes from unless it was measured, and
/// what there is to know of it.
void write_row_values(json_writer& out, a_document auto const& report, std::size_t row) {
    out.begin_object();
    for (auto const& column : report.columns) {
        auto const one = row < column.cells.size() ? column.cells[row] : cell{};
        write_value(out.key(column.id), one);
        if (!has_finite_value(one) || one.from != origin::measured)
            write_origin(out.key(column.id + ":from"), one);
        if (!one.why.empty() || (one.has_value() && !has_finite_value(one)))
            write_reason(out.key(column.id + ":why"), one);
    }
    out.end();
}

/// The same of the row's calls, an array a key.
void write_call_values(json_writer& out, a_document auto const& report,
                       std::vector<std::size_t> const& calls) {
    auto const list = [&](std::string const& key, column const& from, auto write) {
        out.key(key).begin_array();
        for (auto const number : calls)
            write(out, number < from.calls.size() ? from.calls[number] : cell{});
        out.end();
    };
    out.begin_object();
    for (auto const& column : report.columns) {
        bool any = false;
        bool any_reason = false;
        bool any_origin = false;
        for (auto const number : calls)
            if (number < column.calls.size()) {
                auto const& one = column.calls[number];
                any = any || one.has_value();
                any_reason = any_reason || !one.why.empty() || !has_finite_value(one);
                any_origin = any_origin || one.from != origin::measured || !has_finite_value(one);
            }
        if (any || any_reason)
            list(column.id, column, [](auto& to, cell const& one) { write_value(to, one); });
        if (any_origin)
            list(column.id + ":from", column,
                 [](auto& to, cell const& one) { write_origin(to, one); });
        if (any_reason)
            list(column.id + ":why", column,
                 [](auto& to, cell const& one) { write_reason(to, one); });
    }
    out.end();
}

/// One past the samples of these calls, which stand in the report from `first` on.
[[nodiscard]] std::size_t end_of_samples(a_document auto const& report,
                                         std::vector<std::size_t> const& calls, std::size_t first) {
    while (first < report.samples.size() &&
           std::find(calls.begin(), calls.end(), report.samples[first].call) != calls.end())
        ++first;
    return first;
}

/// `call` is a position among the calls of the row.
void write_row_samples(json_writer& out, a_document auto const& report,
                       std::vector<std::size_t> const& calls, std::size_t first) {
    out.begin_array();
    auto const end = end_of_samples(report, calls, first);
    for (auto index = first; index < end; ++index) {
        auto const& set = report.samples[index];
        auto const place = std::find(calls.begin(), calls.end(), set.call);
        out.begin_object().entry("metric", set.column);
        out.entry("call", static_cast<std::int64_t>(place - calls.begin()));
        out.key("values").begin_array();
        for (double const sample : set.values)
            write_exactly(out, sample);
        out.end().end();
    }
    out.end();
}

/// The line of a finished component, whose calls have these numbers; its samples stand from
/// `first_sample` on.
[[nodiscard]] std::string journal_line(a_document auto const& report, std::size_t row,
                                       std::vector<std::size_t> const& calls,
                                       std::size_t first_sample) {
    auto const& facts = report.nodes[row];
    json_writer out{0};
    out.begin_object().entry("path", facts.path).entry("status", name_of(facts.state));
    if (!facts.reason.empty())
        out.entry("reason", facts.reason);
    write_row_values(out.key("values"), report, row);
    write_call_values(out.key("calls"), report, calls);
    write_row_samples(out.key("samples"), report, calls, first_sample);
    return out.end().take() + "\n";
}

}  // namespace component_benchmark::detail
