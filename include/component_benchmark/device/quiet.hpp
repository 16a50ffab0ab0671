// DEVICE: measuring in a program that trains, unseen by it
#pragma once

#include <component_benchmark/device/noise.hpp>

#include <ATen/record_function.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <chrono>

namespace component_benchmark::detail {

/// While one lives, operators of this thread run without gradients, autocast, modes of functorch
/// and callbacks of profilers, whatever the program has set; afterwards all is as it was.
class quiet {
    c10::impl::ForceDispatchKeyGuard plain_{c10::default_included_set, c10::default_excluded_set};
    c10::InferenceMode no_gradients_;
    at::DisableRecordFunctionGuard unseen_;
};

struct fastest_run {
    double seconds = 0.0;
    bool disturbed = false;  ///< others wanted the cores meanwhile
};

/// The fastest of several runs after one that is not counted. Two at least, as many as fit into
/// `budget` seconds else, and six times as long while others want the cores.
template<class Work>
[[nodiscard]] fastest_run fastest(Work const& work, double budget) {
    using clock = std::chrono::steady_clock;
    auto const seconds_since = [](clock::time_point start) {
        return std::chrono::duration<double>(clock::now() - start).count();
    };
    work();
    auto const begin = clock::now();
    auto const before = interruptions();
    fastest_run best;
    for (int run = 0;; ++run) {
        auto const spent = seconds_since(begin);
        best.disturbed = interruptions() - before > 1;
        if (run >= 2 && spent > (best.disturbed ? 6.0 * budget : budget))
            return best;
        auto const start = clock::now();
        work();
        auto const took = seconds_since(start);
        best.seconds = run == 0 ? took : (std::min)(best.seconds, took);
    }
}

inline constexpr char const* disturbed_note =
    "other programs used the cores while it was measured, so it may be too low";

}  // namespace component_benchmark::detail
