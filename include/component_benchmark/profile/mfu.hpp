// latency, flops, device -> PROFILE: model FLOPs utilization
#pragma once

#include <component_benchmark/core/by_call.hpp>
#include <component_benchmark/core/environment.hpp>
#include <component_benchmark/core/flop_convention.hpp>
#include <component_benchmark/core/metric.hpp>
#include <component_benchmark/core/needs.hpp>
#include <component_benchmark/core/options.hpp>
#include <component_benchmark/core/run_notes.hpp>
#include <component_benchmark/profile/latency.hpp>
#include <component_benchmark/profile/peak_share.hpp>

#include <boost/hana/define_struct.hpp>

#include <string>
#include <type_traits>

namespace component_benchmark {

namespace utilization {

using mean_over_forward = metric<utilization_percent, aggregate::latency_weighted_mean>;
using mean_over_both = metric<utilization_percent, aggregate::fwd_bwd_latency_weighted_mean>;

/// A share over 100 % is shown as it is and said: the peak or the time is wrong.
template<class Metric>
[[nodiscard]] Metric flagged(double share, std::string const& explanation) {
    auto made = Metric{share, origin::derived};
    return share > 100.0 ? made.because(std::string{over_the_peak} + ": " + explanation) : made;
}

/// `best` as a share of a measured time.
template<class Metric, class Time>
[[nodiscard]] Metric share_of(best_time const& best, Time const& measured) {
    if (!measured.has_value())
        return Metric::unavailable(measured.why());
    if (!best.ms)
        return Metric::unavailable(best.why);
    if (measured.value() <= 0.0)
        return Metric::unavailable("the measured time is 0");
    return flagged<Metric>(100.0 * *best.ms / measured.value(),
                           "the peak is too low, or the time too short to be measured");
}

/// FLOPs that are a lower bound make a share that is one, too.
template<class Metric>
[[nodiscard]] Metric as_bound(Metric share, std::string const& remark) {
    return share.has_value() && share.why().empty() && !remark.empty() ? share.because(remark)
                                                                       : share;
}

}  // namespace utilization

/// The part of the peak that a component's own FLOPs are: sum over number formats of
/// FLOPs / peak, divided by the time. 1 GFLOP in bf16 at 100 TFLOP/s and 1 GFLOP in fp32 at 10
/// TFLOP/s, in 1 ms, are 11 %. Recomputation counts in `hfu_pct` only. (MFU and HFU as in
/// Chowdhery et al., PaLM, 2022, appendix B, with the FLOPs that were counted.)
template<class Flops, class Device, mfu_of Alias = mfu_of::forward>
class basic_mfu {
    using alias = std::conditional_t<Alias == mfu_of::forward, utilization::mean_over_forward,
                                     utilization::mean_over_both>;

public:
    static constexpr char const* name = "mfu";
    using needs = component_benchmark::needs<latency, Flops>;

    // A template, so that a file which does not use it does not pay for its description.
    template<class>
    struct described {
        BOOST_HANA_DEFINE_STRUCT(described, (utilization::mean_over_forward, mfu_fwd_pct),
                                 (utilization::mean_over_both, mfu_fwd_bwd_pct), (alias, mfu_pct),
                                 (utilization::mean_over_both, hfu_pct));
    };
    using result = described<void>;

    void begin(options const& wishes, environment const& around) { peaks_.begin(wishes, around); }

    template<class Component, class Counted>
    [[nodiscard]] result profile(Component&, latency::result const& times, Counted const& counted) {
        auto hardware = counted.both;
        hardware.add(counted.recomputed, 1.0);
        auto const& peaks = peaks_.for_work(hardware, false);
        auto const share = [&]<class Metric>(Metric, flop_amounts const& amounts,
                                             auto const& number, auto const& time) {
            if (!number.has_value())
                return Metric::unavailable(number.why());
            return utilization::as_bound(
                utilization::share_of<Metric>(best_time_of(amounts, peaks), time), number.why());
        };
        result made;
        made.mfu_fwd_pct =
            share(made.mfu_fwd_pct, counted.forward, counted.flops_fwd, times.latency_ms);
        made.mfu_fwd_bwd_pct = share(made.mfu_fwd_bwd_pct, counted.both, counted.flops_fwd_bwd,
                                     times.latency_fwd_bwd_ms);
        made.hfu_pct =
            share(made.hfu_pct, hardware, counted.flops_fwd_bwd, times.latency_fwd_bwd_ms);
        if constexpr (Alias == mfu_of::forward)
            made.mfu_pct = made.mfu_fwd_pct;
        else
            made.mfu_pct = made.mfu_fwd_bwd_pct;
        return made;
    }

    void tell(run_notes& notes) const {
        notes.conventions.emplace_back(
            "mfu", Alias == mfu_of::forward ? "forward" : "forward and backward");
        peaks_.tell(notes);
    }

private:
    peaks_in_use<Device> peaks_;
};

}  // namespace component_benchmark
