// PROFILE: what the counting of FLOPs gives for a component
#pragma once

#include <component_benchmark/core/by_call.hpp>
#include <component_benchmark/core/metric.hpp>
#include <component_benchmark/profile/flop_tally.hpp>
#include <component_benchmark/profile/observed_call.hpp>

#include <boost/hana/define_struct.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace component_benchmark {

/// Floating-point operations, or multiply-adds: the report's conventions say which.
struct flop_count {
    using value_type = std::int64_t;
    static constexpr std::string_view symbol = "FLOP";
    static constexpr auto kind = unit_kind::count;
    static constexpr auto direction = better::none;
};

/// FLOPs of one call. Where calls differ, a row has their mean.
template<class>
struct described_flops {
    BOOST_HANA_DEFINE_STRUCT(
        described_flops, (metric<flop_count, aggregate::sum>, flops_fwd),
        (metric<flop_count, aggregate::sum>, flops_bwd),      ///< without recomputation
        (metric<flop_count, aggregate::sum>, flops_fwd_bwd),  ///< likewise
        (metric<percent>, covered_calls_pct),                 ///< calls of operators that are known
        (metric<percent>, covered_time_pct)  ///< their share of the time of the counting run
    );
    std::vector<component_benchmark::by_call> by_call;

    /// For one call on average, two for a multiply-add in every convention. `both`: of the two
    /// directions, without `recomputed`, which has the forwards that a backward ran again: those of
    /// calls that are such ones, too.
    flop_amounts forward, backward, both, recomputed;
    op_coverage coverage, coverage_bwd;
};
using flop_result = described_flops<void>;

/// What a report has of it. The rest is for the profilers behind.
template<class>
struct described_flop_metrics {
    BOOST_HANA_DEFINE_STRUCT(described_flop_metrics,
                             (metric<flop_count, aggregate::sum>, flops_fwd),
                             (metric<flop_count, aggregate::sum>, flops_bwd),
                             (metric<flop_count, aggregate::sum>, flops_fwd_bwd),
                             (metric<percent>, covered_calls_pct),
                             (metric<percent>, covered_time_pct));
};
using flop_metrics = described_flop_metrics<void>;

using counted_call = observed_call<flop_tally>;

namespace formulas {

/// Below what a number of 64 bits holds.
inline constexpr double most_shown = 9.2e18;

template<class Coverage>
[[nodiscard]] std::string names_of(Coverage const& coverage) {
    std::string text;
    for (auto const& one : coverage.unknown)
        text +=
            (text.empty() ? "" : ", ") + one.name + (one.why.empty() ? "" : " (" + one.why + ")");
    return text;
}

/// A sum of which some operators are not known is a lower bound; one of nothing else is no number.
template<class Coverage>
[[nodiscard]] metric<flop_count, aggregate::sum> flops_metric(double flops,
                                                              Coverage const& coverage,
                                                              std::int64_t per_multiply_add) {
    auto const unknown = names_of(coverage);
    using made = metric<flop_count, aggregate::sum>;
    auto const shown = flops * static_cast<double>(per_multiply_add) / 2.0;
    if (!(shown <= most_shown))
        return made::unavailable("more FLOPs than a number of 64 bits holds");
    if (unknown.empty())
        return std::llround(shown);
    if (flops == 0.0)
        return made::unavailable(std::string{no_formula_for} + unknown);
    return made{std::llround(shown)}.because("lower bound: " + std::string{no_formula_for} +
                                             unknown);
}

[[nodiscard]] inline double percent_known(std::int64_t unknown, std::int64_t all) {
    return all == 0 ? 100.0
                    : 100.0 * (1.0 - static_cast<double>(unknown) / static_cast<double>(all));
}

/// Both directions together.
template<class Coverage>
[[nodiscard]] Coverage both_of(Coverage const& forward, Coverage const& backward) {
    auto both = forward;
    both.add(backward, 1);
    return both;
}

/// What is not told for sure of a backward's own work and of what it runs again; often nothing.
[[nodiscard]] inline std::string remark_on_guesses(double own, double again) {
    auto const part = [](double flops, char const* what) {
        return std::to_string(std::llround((std::min)(flops, most_shown))) + " FLOPs as " + what;
    };
    if (own + again == 0.0)
        return {};
    return "told by guess: " + (own > 0.0 ? part(own, "the backward's own work") : "") +
           (own > 0.0 && again > 0.0 ? ", " : "") + (again > 0.0 ? part(again, "run again") : "");
}

/// A thread that the component starts is its own; another one of the program is not, and cannot be
/// told from it.
[[nodiscard]] inline std::string remark_on_threads(double elsewhere) {
    if (elsewhere == 0.0)
        return {};
    return std::to_string(std::llround((std::min)(elsewhere, most_shown))) +
           " FLOPs on other threads, which are another's if the component starts none";
}

/// With one remark more.
template<class Metric>
[[nodiscard]] Metric with_remark(Metric const& number, std::string const& remark) {
    if (!number.has_value() || remark.empty())
        return number;
    return number.because(number.why().empty() ? remark : number.why() + "; " + remark);
}

/// What single calls have, as far as it is a number.
template<class Result>
void add_by_call(Result& made, counted_call const& one, std::int64_t per_multiply_add,
                 bool any_backward) {
    auto const part = [&](char const* id, flop_amounts const& amounts, auto const& coverage,
                          std::string const& remark = {}) {
        auto const found =
            with_remark(flops_metric(amounts.total(), coverage, per_multiply_add), remark);
        if (found.has_value())
            made.by_call.push_back(
                {id, one.members, static_cast<double>(found.value()), {}, found.why()});
    };
    auto const& tally = one.tally;
    part("flops_fwd", tally.forward, tally.coverage, remark_on_threads(tally.elsewhere));
    auto const has_backward = one.why_no_backward.empty();
    auto const guesses = remark_on_guesses(tally.guessed_own, tally.guessed_again);
    if (has_backward)
        part("flops_bwd", tally.backward, tally.coverage_bwd, guesses);
    if (!has_backward && !(any_backward && costs_nothing(one.why_no_backward)))
        return;
    auto sum = tally.backward;
    sum.add(tally.forward, one.made_again ? 0.0 : 1.0);
    part("flops_fwd_bwd", sum, both_of(tally.coverage, tally.coverage_bwd), guesses);
}

/// Puts the calls of a component together.
template<class Result = flop_result>
[[nodiscard]] Result flops_of_calls(std::vector<counted_call> const& calls,
                                    std::int64_t per_multiply_add) {
    Result made;
    std::int64_t all = 0;
    for (auto const& one : calls)
        all += one.count;
    bool any_backward = false;
    double guessed_own = 0.0;
    double guessed_again = 0.0;
    double elsewhere = 0.0;
    double elsewhere_bwd = 0.0;
    for (auto const& one : calls) {
        auto const share = static_cast<double>(one.count) / static_cast<double>(all);
        made.forward.add(one.tally.forward, share);
        made.backward.add(one.tally.backward, share);
        made.both.add(one.tally.backward, share);
        made.recomputed.add(one.tally.recomputed, share);
        (one.made_again ? made.recomputed : made.both).add(one.tally.forward, share);
        guessed_own += share * one.tally.guessed_own;
        guessed_again += share * one.tally.guessed_again;
        elsewhere += share * one.tally.elsewhere;
        elsewhere_bwd += share * one.tally.elsewhere_bwd;
        made.coverage.add(one.tally.coverage, one.count);
        made.coverage_bwd.add(one.tally.coverage_bwd, one.count);
        any_backward = any_backward || one.why_no_backward.empty();
    }
    auto const why_none = why_no_backward_of(calls);
    auto const both = both_of(made.coverage, made.coverage_bwd);
    made.flops_fwd =
        with_remark(flops_metric(made.forward.total(), made.coverage, per_multiply_add),
                    remark_on_threads(elsewhere));
    using no_metric = metric<flop_count, aggregate::sum>;
    if (why_none.empty()) {
        auto const guesses = remark_on_guesses(guessed_own, guessed_again);
        made.flops_bwd = with_remark(
            with_remark(flops_metric(made.backward.total(), made.coverage_bwd, per_multiply_add),
                        guesses),
            remark_on_threads(elsewhere_bwd));
        made.flops_fwd_bwd = with_remark(
            with_remark(flops_metric(made.both.total(), both, per_multiply_add), guesses),
            remark_on_threads(elsewhere + elsewhere_bwd));
    } else {
        made.flops_bwd = no_metric::unavailable(why_none);
        made.flops_fwd_bwd = no_metric::unavailable(why_none);
    }
    made.covered_calls_pct = percent_known(both.unknown_ones.calls, both.all.calls);
    made.covered_time_pct = percent_known(both.unknown_ones.ns, both.all.ns);
    for (auto const& one : calls)
        add_by_call(made, one, per_multiply_add, any_backward);
    return made;
}

}  // namespace formulas
}  // namespace component_benchmark
