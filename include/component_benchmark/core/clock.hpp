// profile: the clocks, replaceable so that tests need no real time
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>

namespace component_benchmark {

/// Nanoseconds since some fixed moment; never goes back.
using clock_function = std::int64_t (*)() noexcept;

inline std::int64_t steady_nanoseconds() noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// Processor time of all threads of this process, in nanoseconds; 0 where the system does not say.
inline std::int64_t processor_nanoseconds() noexcept {
    constexpr std::int64_t second = 1'000'000'000;
    ::timespec used{};
    return ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0
               ? std::int64_t{used.tv_sec} * second + used.tv_nsec
               : 0;
}

}  // namespace component_benchmark
