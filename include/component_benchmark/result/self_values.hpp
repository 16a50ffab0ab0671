// assemble -> SELF VALUES: what a row has of its own, without the calls that its calls made
#pragma once

#include <component_benchmark/core/by_call.hpp>
#include <component_benchmark/result/document.hpp>
#include <component_benchmark/result/estimate.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>

namespace component_benchmark {

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
        auto const parts = detail::sum_of_made(report, tree, *latency, row);
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

namespace detail {

/// What a row has of a metric that calls add up to, without the calls that it made; nothing where
/// one of those has no value.
[[nodiscard]] std::optional<double> own_part(a_document auto const& report, call_tree const& tree,
                                             column const& values, std::size_t row) {
    if (report.nodes[row].calls == 0)
        return 0.0;  // a container: it does nothing but hold its children
    auto const all = sum_of_calls(report, tree, values, row);
    auto const made = sum_of_made(report, tree, values, row);
    if (all.missing || made.missing)
        return std::nullopt;
    return (std::max)(0.0, all.sum - made.sum);
}

}  // namespace detail

/// `opportunity_ms` is `self_ms` without the time that the row's own work takes at best: what there
/// is to gain at most.
void derive_opportunity(a_document auto& report, detail::call_tree const& tree) {
    auto const* self = report.find("self_ms");
    auto const* compute = report.find("compute_roof_ms");
    auto const* memory = report.find("memory_roof_ms");
    auto* opportunity = detail::mutable_column(report, "opportunity_ms");
    if (self == nullptr || compute == nullptr || memory == nullptr || opportunity == nullptr)
        return;
    for (std::size_t row = 0; row < report.nodes.size(); ++row) {
        auto const& own = self->cells[row];
        if (!own.has_value() || !compute->cells[row].has_value() || !memory->cells[row].has_value())
            continue;
        auto const own_compute = detail::own_part(report, tree, *compute, row);
        auto const own_memory = detail::own_part(report, tree, *memory, row);
        if (!own_compute || !own_memory) {
            opportunity->cells[row].why = "not known: a part of it has no roof";
            continue;
        }
        auto const roof = (std::max)(*own_compute, *own_memory);
        auto const left = own.number() - roof;
        opportunity->cells[row] = {left, own.from == origin::estimated ? own.from : origin::derived,
                                   left < 0.0 ? "faster than the roof of its own work" : ""};
    }
}

}  // namespace component_benchmark
