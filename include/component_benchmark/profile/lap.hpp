// replay -> PROFILE -> sampling: one piece of work between two readings of the clock
#pragma once

#include <component_benchmark/core/clock.hpp>
#include <component_benchmark/core/statistics.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace component_benchmark {

/// What a piece of work took, in milliseconds.
struct lap {
    double ms = 0.0;         ///< the work itself
    double cpu_ms = 0.0;     ///< processor time of all threads until it was made, or launched
    double launch_ms = 0.0;  ///< until the call returned; on a device less than the work may take
    double wall_ms = 0.0;    ///< until all of it was done, as the program would wait for it
    double elsewhere_ms = 0.0;  ///< of `ms`, what a device did after its own stream was done
};

[[nodiscard]] inline double milliseconds_between(std::int64_t start, std::int64_t end) noexcept {
    return static_cast<double>(saturating_difference(end, start)) / 1e6;
}

/// The device that a replay works on, which tells the time of work on a stream of it: `start()`
/// and `stop()` mark two points of the stream, `wait_for_stop()` waits for the second one,
/// `elapsed_ms()` is the time between them, `wait()` waits for all work of the device. Null: it
/// works on the CPU. A replay without `device()` always does.
template<class Replay>
[[nodiscard]] auto* device_of(Replay& replay) {
    if constexpr (requires { replay.device(); })
        return replay.device();
    else
        return static_cast<std::nullptr_t*>(nullptr);
}

/// Does `work` once. On a device its time is that between two points of its stream, since the call
/// returns before the work is done; work that is then left on other streams is added.
template<class Device, class Work>
[[nodiscard]] lap time_work(clock_function clock, clock_function processor, Device* device,
                            Work&& work) {
    constexpr bool may_be_device = !std::is_same_v<Device, std::nullptr_t>;
    constexpr double slight_ms = 0.02;
    constexpr double slight = 0.05;
    if constexpr (may_be_device)
        if (device != nullptr)
            device->wait();
    auto const used = processor();
    auto const begin = clock();
    if constexpr (may_be_device)
        if (device != nullptr)
            device->start();
    work();
    if constexpr (may_be_device)
        if (device != nullptr)
            device->stop();
    auto const launched = clock();
    lap made;
    made.cpu_ms = milliseconds_between(used, processor());
    made.ms = made.wall_ms = made.launch_ms = milliseconds_between(begin, launched);
    if constexpr (may_be_device)
        if (device != nullptr) {
            device->wait_for_stop();
            auto const own = clock();
            device->wait();
            auto const all = clock();
            made.wall_ms = milliseconds_between(begin, all);
            made.ms = device->elapsed_ms();
            auto const rest = milliseconds_between(own, all);
            if (rest > slight_ms && rest > slight * made.ms) {
                made.elsewhere_ms = rest;
                made.ms += rest;
            }
        }
    return made;
}

}  // namespace component_benchmark
