// component -> PROFILE: wall time of a component alone that finds nothing in the caches
#pragma once

#include <component_benchmark/core/by_call.hpp>
#include <component_benchmark/core/clock.hpp>
#include <component_benchmark/core/environment.hpp>
#include <component_benchmark/core/error.hpp>
#include <component_benchmark/core/memory_to_spare.hpp>
#include <component_benchmark/core/metric.hpp>
#include <component_benchmark/core/options.hpp>
#include <component_benchmark/core/run_notes.hpp>
#include <component_benchmark/core/time_budget.hpp>
#include <component_benchmark/device/cache_flush.hpp>
#include <component_benchmark/device/machine.hpp>
#include <component_benchmark/device/noise.hpp>
#include <component_benchmark/profile/sampled_component.hpp>

#include <boost/hana/define_struct.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace component_benchmark {

namespace detail {

/// Before each forward and each backward.
struct empties_caches {
    cache_flush<> flush;

    /// Copies of the arguments each time, where the replay makes them: they are older than what is
    /// written after them.
    template<class Replay>
    void starts(Replay& replay) {
        if constexpr (requires { replay.copy_arguments_each_time(); })
            replay.copy_arguments_each_time();
    }
    void operator()() noexcept { flush(); }
};

}  // namespace detail

/// As `latency`, in a pass of its own, but ahead of each forward and each backward a buffer larger
/// than the last-level cache is written, and each forward gets fresh copies of its arguments: the
/// component finds its inputs and weights in memory. CPU only. The caches that one core alone has
/// are emptied on the core that measures, not on those of other threads.
struct cold_latency {
    static constexpr char const* name = "cold_latency";

    int warmup = 1;
    int samples = 50;       ///< at most, for each distinct call
    double target_pct = 1;  ///< of the median; 0: always all `samples`, as time allows
    double budget_s = 2.0;  ///< for each distinct call, the writing included
    bool backward = true;
    std::int64_t cache_bytes = 0;                       ///< of the caches; 0: as the system says
    std::int64_t most_bytes = std::int64_t{256} << 20;  ///< that are written at a time
    clock_function clock = &steady_nanoseconds;
    noise_function noise = &noise_now;
    time_budget* budget_of_run_ = nullptr;  ///< given by the pipeline
    bool is_cpu = true;                     ///< given by the pipeline

    // A template, so that a file which does not use it does not pay for its description.
    template<class>
    struct described {
        BOOST_HANA_DEFINE_STRUCT(
            described, (metric<milliseconds, aggregate::sum>, latency_cold_ms),  ///< forward
            (metric<milliseconds, aggregate::sum>, latency_cold_bwd_ms),         ///< backward
            (metric<detailed<percent>>, latency_cold_ci_pct),  ///< of latency_cold_ms, 95 %
            (metric<detailed<count>>, samples_cold));
        std::vector<component_benchmark::by_call> by_call;
    };
    using result = described<void>;

    /// Throws `error` when there is no such time, target or number of bytes.
    void check() const {
        check_seconds(budget_s, "cold_latency.budget_s");
        check_target(target_pct, "cold_latency.target_pct");
        if (cache_bytes < 0 || most_bytes <= 0)
            throw error{"cold_latency.cache_bytes is " + std::to_string(cache_bytes) +
                        " and most_bytes " + std::to_string(most_bytes) +
                        ": give bytes, 0 for the caches that the system names"};
    }

    void begin(options const&, environment const& around) {
        is_cpu = around.device_kind == "cpu";
        budget_of_run_ = around.budget;
        if (budget_of_run_ != nullptr && is_cpu)
            budget_of_run_->join();
    }

    template<class Component>
    [[nodiscard]] result profile(Component& component) const {
        if (!is_cpu)
            throw std::runtime_error{"caches are emptied on a CPU only"};
        sampling_plan const plan{warmup,   warmup,   samples, target_pct,
                                 budget_s, backward, clock,   noise};
        auto const all = sample_component(component, plan, budget_of_run_,
                                          detail::empties_caches{cache_flush<>{bytes_to_flush(
                                              cache(), most_bytes, machine::memory_to_spare())}});
        result made;
        made.latency_cold_ms = all.row_value(&sampled_call::forward);
        made.latency_cold_bwd_ms = all.row_value(&sampled_call::backward);
        made.latency_cold_ci_pct = all.confidence();
        made.samples_cold = all.count();
        all.add_calls(made.by_call, {"latency_cold_ms", "latency_cold_bwd_ms", nullptr});
        return made;
    }

    void tell(run_notes& notes) const {
        constexpr std::int64_t mega = 1'000'000;
        if (!is_cpu)
            return;
        auto const written = bytes_to_flush(cache(), most_bytes, machine::memory_to_spare());
        auto const says = std::to_string(written / mega) + " MB written before each forward and " +
                          "backward, caches of " +
                          (cache() > 0 ? std::to_string(cache() / mega) + " MB" : "unknown size");
        notes.conventions.emplace_back("cold_caches", says);
        if (written < cache())
            notes.warnings.push_back("cold latency: " + says +
                                     ", so something may be left in them (a virtual machine may "
                                     "name the caches of its host)");
    }

private:
    [[nodiscard]] std::int64_t cache() const {
        return cache_bytes > 0 ? cache_bytes : machine::last_level_cache();
    }
};

}  // namespace component_benchmark
