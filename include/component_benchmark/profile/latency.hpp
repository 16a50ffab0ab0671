// component -> PROFILE: wall time of a component alone, forward and backward
#pragma once

#include <component_benchmark/core/by_call.hpp>
#include <component_benchmark/core/clock.hpp>
#include <component_benchmark/core/environment.hpp>
#include <component_benchmark/core/metric.hpp>
#include <component_benchmark/core/node.hpp>
#include <component_benchmark/core/options.hpp>
#include <component_benchmark/core/statistics.hpp>
#include <component_benchmark/core/time_budget.hpp>
#include <component_benchmark/device/noise.hpp>
#include <component_benchmark/profile/sampled_component.hpp>

#include <boost/hana/define_struct.hpp>

#include <cstdint>
#include <vector>

namespace component_benchmark {

/// Runs each of a component's calls alone on its captured inputs, until that takes about as long
/// each time and then until the median of the samples is known within `target_pct` percent, with a
/// confidence of 95 %, forward, backward and both. Calls with the same signature are measured once;
/// a row's latency is the mean of its calls' medians, weighted by how often they occur. Caches are
/// as warm as repetitions make them; `cold_latency` empties them.
struct latency {
    static constexpr char const* name = "latency";

    int warmup = 2;         ///< repetitions before the first sample, at least; 0: none at all
    int most_warmup = 30;   ///< at most, if they do not become stable before
    int samples = 500;      ///< at most, for each distinct call; below 6, `warmup` is exact
    double target_pct = 1;  ///< of the median; 0: always all `samples`, as time allows
    /// After this long, warm-up included, no further sample of a call is begun, once there are
    /// five; seconds.
    double budget_s = 1.0;
    bool backward = true;
    clock_function clock = &steady_nanoseconds;
    noise_function noise = &noise_now;
    clock_function processor = &processor_nanoseconds;  ///< time of all threads of the process
    device_noise_function device_noise = &device_noise_now;
    time_budget* budget_of_run_ = nullptr;  ///< given by the pipeline

    // A template, so that a file which does not use it does not pay for its description.
    template<class>
    struct described {
        using detail_ms = metric<detailed<milliseconds>>;
        BOOST_HANA_DEFINE_STRUCT(
            described, (metric<milliseconds, aggregate::sum>, latency_ms),  ///< forward, one call
            (metric<milliseconds, aggregate::sum>, latency_bwd_ms),         ///< backward, one call
            (metric<milliseconds, aggregate::sum>, latency_fwd_bwd_ms),     ///< both, one call
            (metric<milliseconds>, total_ms),  ///< of all calls; the report adds it up
            (metric<milliseconds>, self_ms),   ///< total_ms less the calls it made
            /// Processor time of all threads in the forwards of all calls; the report adds it up.
            (metric<milliseconds>, cpu_time_total_ms),
            (metric<percent>, latency_spread_pct),  ///< quartile distance of latency_ms to it
            (metric<count>, samples),               ///< of latency_ms
            (metric<detailed<milliseconds>, aggregate::sum>, cpu_time_ms),  ///< of one call
            (metric<detailed<percent>>, latency_ci_pct),  ///< latency_ms is known so well, 95 %
            (detail_ms, latency_mean_ms), (detail_ms, latency_min_ms), (detail_ms, latency_p5_ms),
            (detail_ms, latency_p95_ms),             ///< of one call's samples, forward
            (metric<detailed<count>>, warmup_runs),  ///< repetitions before the first sample
            (detail_ms, warmup_ms),                  ///< all that they took
            (detail_ms, first_run_ms)                ///< forward of the very first
        );
        std::vector<component_benchmark::by_call> by_call;
    };
    using result = described<void>;

    /// Throws `error` when there is no such time or target.
    void check() const {
        check_seconds(budget_s, "latency.budget_s");
        check_target(target_pct, "latency.target_pct");
    }

    void begin(options const&, environment const& around) {
        budget_of_run_ = around.budget;
        if (budget_of_run_ != nullptr)
            budget_of_run_->join();
    }

    template<class Component>
    [[nodiscard]] result profile(Component& component) const {
        auto const all = sample_component(component, plan(), budget_of_run_, nothing_before{});
        result made;
        made.latency_ms = all.row_value(&sampled_call::forward);
        made.latency_bwd_ms = all.row_value(&sampled_call::backward);
        made.latency_fwd_bwd_ms = all.row_value(&sampled_call::both);
        made.latency_spread_pct = all.worst(spread_percent);
        made.samples = all.count();
        made.cpu_time_ms = all.mean_of(median, &sampled_call::cpu);
        made.latency_mean_ms = all.mean_of(mean);
        made.latency_min_ms = all.mean_of([](auto const& some) { return quantile(some, 0.0); });
        made.latency_p5_ms = all.mean_of([](auto const& some) { return quantile(some, 0.05); });
        made.latency_p95_ms = all.mean_of([](auto const& some) { return quantile(some, 0.95); });
        made.latency_ci_pct = all.confidence();
        made.warmup_runs = all.warmup_runs();
        made.warmup_ms = all.warmup_ms();
        made.first_run_ms = all.first_run_ms();
        all.add_calls(made.by_call, {"latency_ms", "latency_bwd_ms", "latency_fwd_bwd_ms"});
        all.add_medians(made.by_call, "cpu_time_ms", &sampled_call::cpu);
        return made;
    }

private:
    [[nodiscard]] sampling_plan plan() const noexcept {
        return {warmup, most_warmup, samples,   target_pct,   budget_s, backward,
                clock,  noise,       processor, device_noise, true,     true};
    }
};

}  // namespace component_benchmark
