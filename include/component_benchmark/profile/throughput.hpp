// latency, flops -> PROFILE: floating-point operations a second
#pragma once

#include <component_benchmark/core/metric.hpp>
#include <component_benchmark/core/needs.hpp>
#include <component_benchmark/profile/latency.hpp>

#include <boost/hana/define_struct.hpp>

#include <string>

namespace component_benchmark {

/// FLOPs of one call by its time. Under `macs`, multiply-adds a second.
template<class Flops>
struct basic_throughput {
    static constexpr char const* name = "throughput";
    using needs = component_benchmark::needs<latency, Flops>;

    using mean_over_forward = metric<teraflops_per_second, aggregate::latency_weighted_mean>;
    using mean_over_both = metric<teraflops_per_second, aggregate::fwd_bwd_latency_weighted_mean>;

    // A template, so that a file which does not use it does not pay for its description.
    template<class>
    struct described {
        BOOST_HANA_DEFINE_STRUCT(described, (mean_over_forward, tflops_per_s),  ///< forward
                                 (mean_over_both, tflops_per_s_fwd_bwd)  ///< without recomputation
        );
    };
    using result = described<void>;

    template<class Component, class Counted>
    [[nodiscard]] result profile(Component&, latency::result const& times,
                                 Counted const& counted) const {
        result made;
        made.tflops_per_s = rate<mean_over_forward>(counted.flops_fwd, times.latency_ms);
        made.tflops_per_s_fwd_bwd =
            rate<mean_over_both>(counted.flops_fwd_bwd, times.latency_fwd_bwd_ms);
        return made;
    }

private:
    template<class Metric, class Flop, class Time>
    [[nodiscard]] static Metric rate(Flop const& counted, Time const& time) {
        if (!counted.has_value())
            return Metric::unavailable(counted.why());
        if (!time.has_value())
            return Metric::unavailable(time.why());
        if (time.value() <= 0.0)
            return Metric::unavailable("the measured time is 0");
        return Metric{static_cast<double>(counted.value()) / (time.value() * 1e9), origin::derived}
            .because(counted.why());
    }
};

}  // namespace component_benchmark
