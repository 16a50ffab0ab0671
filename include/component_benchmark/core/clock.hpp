// profile: the clock, replaceable so that tests need no real time
#pragma once

#include <chrono>
#include <cstdint>

namespace component_benchmark {

/// Nanoseconds since some fixed moment; never goes back.
using clock_function = std::int64_t (*)() noexcept;

inline std::int64_t steady_nanoseconds() noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

}  // namespace component_benchmark
