// DEVICE -> profile: the device that a run is on, as profilers ask for it
#pragma once

#include <component_benchmark/core/peak_overrides.hpp>
#include <component_benchmark/core/peaks.hpp>
#include <component_benchmark/device/machine.hpp>
#include <component_benchmark/device/peaks_of.hpp>

#include <cstdint>
#include <string>

namespace component_benchmark {

/// Profilers take it as a parameter, so that a test can give them another one. (Its functions are
/// templates, so that a file which does not use them does not pay for them.)
struct run_device {
    template<class Peaks = device_peaks>
    [[nodiscard]] static Peaks peaks(std::string const& device, wanted_peaks const& wanted,
                                     peak_overrides const& overrides) {
        return peaks_of(device, wanted, overrides);
    }

    /// Of the last-level cache, or 0 where that is not known.
    template<class Peaks>
    [[nodiscard]] static std::int64_t cache_bytes(Peaks const& of) {
        return of.kind == "cpu" ? machine::last_level_cache() : 0;
    }
};

}  // namespace component_benchmark
