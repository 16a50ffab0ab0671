// operating system -> DEVICE: what disturbs a measurement while it goes on
#pragma once

#include <component_benchmark/core/system_text.hpp>

#include <cstdint>
#include <sched.h>
#include <sys/resource.h>

namespace component_benchmark {

/// What can be read before and after a measurement, to be compared.
struct noise_reading {
    std::int64_t taken_away = 0;  ///< how often a core was taken away from one of our threads
    double clock_mhz = 0.0;       ///< of the core that asks; 0 where the system does not say
};

using noise_function = noise_reading (*)();

/// How often the system took a core away from one of this process's threads.
[[nodiscard]] inline long interruptions() noexcept {
    ::rusage used{};
    return ::getrusage(RUSAGE_SELF, &used) == 0 ? used.ru_nivcsw : 0;
}

[[nodiscard]] inline noise_reading noise_now() {
    return {interruptions(), machine::clock_mhz(::sched_getcpu())};
}

}  // namespace component_benchmark
