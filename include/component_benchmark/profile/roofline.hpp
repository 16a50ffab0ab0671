// latency, flops, bandwidth, device -> PROFILE: what limits a component, and what could be gained
#pragma once

#include <component_benchmark/core/environment.hpp>
#include <component_benchmark/core/metric.hpp>
#include <component_benchmark/core/needs.hpp>
#include <component_benchmark/core/options.hpp>
#include <component_benchmark/core/run_notes.hpp>
#include <component_benchmark/profile/latency.hpp>
#include <component_benchmark/profile/mfu.hpp>
#include <component_benchmark/profile/peak_share.hpp>

#include <boost/hana/define_struct.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace component_benchmark {

/// The roofline of a component's forward (Williams, Waterman and Patterson, Communications of the
/// ACM 52, 2009): at best it takes the longer of FLOPs / peak and bytes / bandwidth.
template<class Flops, class Bandwidth, class Device>
class basic_roofline {
public:
    static constexpr char const* name = "roofline";
    using needs = component_benchmark::needs<latency, Flops, Bandwidth>;

    // A template, so that a file which does not use it does not pay for its description.
    template<class>
    struct described {
        BOOST_HANA_DEFINE_STRUCT(
            described, (metric<flops_per_byte>, intensity),           ///< FLOPs for each byte moved
            (metric<words>, bound),                                   ///< "compute" or "memory"
            (metric<milliseconds, aggregate::sum>, compute_roof_ms),  ///< FLOPs / peak, one call
            (metric<milliseconds, aggregate::sum>, memory_roof_ms),   ///< bytes / bandwidth
            (metric<utilization_percent, aggregate::latency_weighted_mean>,
             roofline_util_pct),  ///< the roof's time as a share of the measured one
            (metric<milliseconds>, opportunity_ms)  ///< self_ms less the roof of the own work
        );
        std::vector<component_benchmark::by_call> by_call;
    };
    using result = described<void>;

    void begin(options const& wishes, environment const& around) { peaks_.begin(wishes, around); }

    template<class Component, class Counted, class Moved>
    [[nodiscard]] result profile(Component&, latency::result const& times, Counted const& counted,
                                 Moved const& moved) {
        result made;
        auto const& peaks = peaks_.for_work(counted.forward, true);
        auto const compute = counted.flops_fwd.has_value() ? best_time_of(counted.forward, peaks)
                                                           : best_time{{}, counted.flops_fwd.why()};
        auto const memory = memory_time(moved, peaks);
        auto const remark = std::string{!counted.flops_fwd.why().empty() ? counted.flops_fwd.why()
                                                                         : moved.traffic_mb.why()};
        made.intensity = intensity_of(counted, moved);
        made.compute_roof_ms = roof(compute, counted.flops_fwd.why());
        made.memory_roof_ms = roof(memory, moved.traffic_mb.why());
        judge(made, compute, memory, times, remark);
        by_call(made, counted, moved, compute, memory);
        return made;
    }

    void tell(run_notes& notes) const { peaks_.tell(notes); }

private:
    using roof_metric = metric<milliseconds, aggregate::sum>;

    [[nodiscard]] static roof_metric roof(best_time const& best, std::string const& remark) {
        return best.ms ? roof_metric{*best.ms, origin::derived}.because(remark)
                       : roof_metric::unavailable(best.why);
    }

    [[nodiscard]] static best_time memory_time(auto const& moved, device_peaks const& peaks) {
        if (!moved.traffic_mb.has_value())
            return {{}, moved.traffic_mb.why()};
        if (!peaks.bandwidth)
            return {{}, not_known("memory bandwidth", peaks)};
        return {moved.traffic_mb.value() / peaks.bandwidth->gbps, {}};  // MB in a ms are GB in a s
    }

    [[nodiscard]] static metric<flops_per_byte> intensity_of(auto const& counted,
                                                             auto const& moved) {
        using made = metric<flops_per_byte>;
        if (!counted.flops_fwd.has_value())
            return made::unavailable(counted.flops_fwd.why());
        if (!moved.traffic_mb.has_value())
            return made::unavailable(moved.traffic_mb.why());
        if (moved.traffic_mb.value() <= 0.0)
            return made::unavailable("it moves nothing");
        return made{counted.forward.total() / (moved.traffic_mb.value() * 1e6), origin::derived}
            .because(counted.flops_fwd.why());
    }

    static void judge(result& made, best_time const& compute, best_time const& memory,
                      latency::result const& times, std::string const& remark) {
        using share = std::remove_reference_t<decltype(made.roofline_util_pct)>;
        auto const& missing = !compute.ms ? compute.why : memory.why;
        made.opportunity_ms = metric<milliseconds>::unavailable(missing);
        if (!compute.ms || !memory.ms) {
            made.bound = metric<words>::unavailable(missing);
            made.roofline_util_pct = share::unavailable(missing);
            return;
        }
        if (*compute.ms == 0.0 && *memory.ms == 0.0)
            made.bound = metric<words>::unavailable("it calculates and moves nothing");
        else
            made.bound =
                metric<words>{*compute.ms > *memory.ms ? "compute" : "memory", origin::derived}
                    .because(remark);
        made.roofline_util_pct = utilization::as_bound(
            utilization::share_of<share>(best_time{(std::max)(*compute.ms, *memory.ms), {}},
                                         times.latency_ms),
            remark);
    }

    /// Roofs of single calls, in the proportion of their FLOPs and bytes to those of the row.
    static void by_call(result& made, auto const& counted, auto const& moved,
                        best_time const& compute, best_time const& memory) {
        auto const add = [&made](char const* id, auto const& calls, char const* of, double mean,
                                 best_time const& best) {
            for (auto const& one : calls)
                if (one.metric == of && best.ms)
                    made.by_call.push_back({id,
                                            one.calls,
                                            mean > 0.0 ? *best.ms * one.value / mean : 0.0,
                                            {},
                                            one.why});
        };
        add("compute_roof_ms", counted.by_call, "flops_fwd",
            static_cast<double>(counted.flops_fwd.value_or(0)), compute);
        add("memory_roof_ms", moved.by_call, "traffic_mb", moved.traffic_mb.value_or(0.0), memory);
    }

    peaks_in_use<Device> peaks_;
};

}  // namespace component_benchmark
