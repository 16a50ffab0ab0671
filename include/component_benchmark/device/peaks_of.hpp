// environment's device -> DEVICE -> profile: what a device could do at best
#pragma once

#include <component_benchmark/core/peak_overrides.hpp>
#include <component_benchmark/core/peaks.hpp>
#include <component_benchmark/core/text.hpp>
#include <component_benchmark/device/cpu_bandwidth.hpp>
#include <component_benchmark/device/cpu_compute.hpp>
#include <component_benchmark/device/known_peaks.hpp>
#include <component_benchmark/device/machine.hpp>

#include <ATen/Parallel.h>

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>

namespace component_benchmark {

namespace detail {

/// Measures what is wanted and not the user's already.
template<class Peaks>
[[nodiscard]] Peaks measured_peaks(wanted_peaks const& wanted, Peaks const& known) {
    Peaks result{.name = machine::cpu_name(), .kind = "cpu"};
    bool measured = false;
    for (auto format : wanted.formats) {
        if (format == number_format::tf32)  // a processor has no such units
            format = number_format::fp32;
        if (known.of(format) || result.of(format))
            continue;
        auto const peak = cpu_tflops(format);
        if (peak.value)
            result.set(format, {*peak.value, peak_source::measured});
        result.remark(peak.note);
        measured = measured || peak.value.has_value();
    }
    if (wanted.bandwidth && !known.bandwidth) {
        auto const peak = cpu_gbps();
        if (peak.value)
            result.bandwidth = bandwidth_peak{*peak.value, peak_source::measured};
        result.remark(peak.note);
        measured = measured || peak.value.has_value();
    }
    if (measured)
        result.remark("measured with " +
                      text::plural(static_cast<std::size_t>(at::get_num_threads()), "thread"));
    return result;
}

}  // namespace detail

/// The peaks of "cpu", "cuda:0" and so on: what the user gave (options, then environment), else the
/// vendor's figures or what follows from units and clocks, else, on a CPU, what is measured, once a
/// process for each number of threads. What is not known is absent, and `note` says why.
template<class Peaks = device_peaks>
[[nodiscard]] Peaks peaks_of(std::string const& device, wanted_peaks const& wanted,
                             peak_overrides const& overrides = {}) {
    peaks::check(overrides);
    auto const environment = peaks::from_environment();
    auto const parts = peaks::parts_of(device);
    Peaks users;
    peaks::apply(users, overrides, environment);
    std::initializer_list<accelerator_driver> const drivers{accelerator_driver::cuda(),
                                                            accelerator_driver::hip()};
    auto const has_driver = parts.kind == "cuda" || parts.kind == "hip";
    auto result = parts.kind == "cpu" ? detail::measured_peaks(wanted, users)
                  : has_driver        ? peaks::of_accelerator<Peaks>(parts, drivers)
                                      : peaks::of_accelerator<Peaks>(parts, {});
    peaks::apply(result, overrides, environment);
    peaks::say_what_is_missing(result, wanted);
    return result;
}

}  // namespace component_benchmark
