// result -> json -> report.json: the whole report, for programs
#pragma once

#include <component_benchmark/core/peaks.hpp>
#include <component_benchmark/core/step_times.hpp>
#include <component_benchmark/result/document.hpp>
#include <component_benchmark/sink/json_tables.hpp>
#include <component_benchmark/sink/json_writer.hpp>
#include <component_benchmark/sink/output_file.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

namespace component_benchmark {

namespace detail {

/// Those that are known, and where they come from.
template<class Peaks>
void write_peaks(json_writer& out, Peaks const& peaks) {
    if (!peaks.name.empty())
        out.entry("model", peaks.name);
    out.key("peaks").begin_object();
    for (std::size_t index = 0; index < number_formats; ++index)
        if (auto const& peak = peaks.compute[index])
            out.key(name_of(static_cast<number_format>(index)))
                .begin_object()
                .entry("tflops", peak->tflops)
                .entry("source", name_of(peak->source))
                .end();
    out.end();
    if (peaks.bandwidth)
        out.key("bandwidth_gbps")
            .begin_object()
            .entry("value", peaks.bandwidth->gbps)
            .entry("source", name_of(peaks.bandwidth->source))
            .end();
    if (!peaks.note.empty())
        out.entry("peaks_note", peaks.note);
}

/// The ledger of a step; milliseconds.
template<class Step>
void write_step(json_writer& out, Step const& step) {
    auto const ms = [](std::int64_t ns) { return static_cast<double>(ns) / 1e6; };
    out.begin_object().entry("iteration_ms", ms(step.total_ns()));
    if (step.examples > 0)
        out.entry("examples", step.examples).entry("qps", step.examples_per_second());
    out.entry("steps", step.steps).key("ledger").begin_object();
    for (std::size_t part = 0; part < step.part_ns.size(); ++part)
        out.entry(step_part_names[part], ms(step.part_ns[part]));
    out.entry("unattributed", ms(step.unattributed_ns)).end().end();
}

template<class Facts>
void write_meta(json_writer& out, Facts const& facts) {
    out.begin_object()
        .entry("model", facts.model)
        .entry("created", facts.created)
        .entry("status", facts.complete ? "complete" : "partial")
        .entry("library", facts.library)
        .entry("libtorch", facts.libtorch)
        .entry("compiler", facts.compiler)
        .entry("build_type", facts.build_type)
        .entry("command", facts.command);
    out.key("device").begin_object().entry("name", facts.device).entry("kind", facts.device_kind);
    write_peaks(out, facts.peaks);
    out.end();
    out.key("environment").begin_object().entry("threads", facts.threads);
    for (auto const& [name, value] : facts.environment)
        std::visit([&, &key = name](auto const& one) { out.entry(key, one); }, value);
    out.end().key("options").begin_object();
    for (auto const& [name, value] : facts.options)
        out.entry(name, value);
    out.end().list("preprocessors", facts.preprocessors);
    out.key("conventions").begin_object();
    for (auto const& [name, value] : facts.conventions)
        out.entry(name, value);
    out.entry("gradients", facts.gradients).end();
    if (facts.step.steps > 0)
        write_step(out.key("root"), facts.step);
    out.key("unchanged")
        .begin_object()
        .entry("verified", facts.unchanged.verified)
        .list("compared", facts.unchanged.compared)
        .list("not_compared", facts.unchanged.not_compared)
        .list("changed", facts.unchanged.changed)
        .end();
    out.list("warnings", facts.all_warnings()).end();
}

void write_columns(json_writer& out, a_document auto const& report) {
    out.begin_array();
    for (auto const& column : report.columns)
        out.begin_object()
            .entry("id", column.id)
            .entry("label", column.label)
            .entry("unit", column.unit)
            .entry("kind", name_of(column.kind))
            .entry("better", name_of(column.direction))
            .entry("aggregate", name_of(column.rule))
            .entry("integer", column.integer)
            .entry("profiler", column.profiler)
            .entry("detail", column.detail)
            .end();
    out.end();
}

}  // namespace detail

/// The report as the JSON of report schema version 1.
template<a_document Document = document>
[[nodiscard]] std::string to_json(Document const& report) {
    // The tables come last but are written first: they fill the string table.
    detail::string_table strings;
    json_writer nodes{2, 1};
    json_writer calls{2, 1};
    detail::write_nodes(nodes, strings, report);
    detail::write_calls(calls, strings, report);
    json_writer out;
    out.begin_object().entry("schema", "component-benchmark/report").entry("version", 1);
    detail::write_meta(out.key("meta"), report.facts);
    detail::write_columns(out.key("columns"), report);
    out.list("strings", strings.texts()).key("nodes").raw(nodes.take());
    out.key("calls").raw(calls.take());
    detail::write_samples(out.key("samples"), report);
    return out.end().take() + "\n";
}

/// The sink that writes the report as JSON. An empty path writes nothing, for programs in which the
/// file is an option of the user.
struct json {
    std::string path;

    static constexpr char const* name = "json";

    /// Throws `error` when `path` cannot be written, before anything is measured.
    void check() const {
        if (!path.empty())
            check_writable(path);
    }

    void write(a_document auto const& report) const {
        if (!path.empty())
            write_file(path, to_json(report));
    }
};

}  // namespace component_benchmark
