// DEVICE -> profile: what is known of an accelerator, and what is said when nothing is
#pragma once

#include <component_benchmark/core/peak_overrides.hpp>
#include <component_benchmark/core/peaks.hpp>
#include <component_benchmark/device/accelerator.hpp>
#include <component_benchmark/device/datasheet.hpp>
#include <component_benchmark/device/derived.hpp>

#include <charconv>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace component_benchmark::peaks {

/// "cuda:1" in its parts; "cuda" is "cuda:0", as LibTorch reads it.
struct device_text {
    std::string kind;
    int index = 0;
};

[[nodiscard]] inline device_text parts_of(std::string_view device) {
    auto const colon = device.find(':');
    device_text parts{std::string{device.substr(0, colon)}};
    if (colon == std::string_view::npos)
        return parts;
    auto const digits = device.substr(colon + 1);
    auto const found = std::from_chars(digits.data(), digits.data() + digits.size(), parts.index);
    if (found.ec != std::errc{} || found.ptr != digits.data() + digits.size() || parts.index < 0)
        throw error{"the device '" + std::string{device} +
                    "' has no number behind its colon, as cuda:0 has"};
    return parts;
}

/// The peaks of the accelerator by its name or else by the formula, as the first driver says that
/// knows it; none for a device that neither knows.
template<class Peaks = device_peaks>
[[nodiscard]] Peaks of_accelerator(device_text const& device,
                                   std::initializer_list<accelerator_driver> drivers) {
    Peaks result{.name = device.kind, .kind = device.kind};
    for (auto const& driver : drivers) {
        auto const facts = facts_of(driver, device.index);
        if (!facts)
            continue;
        result.name = facts->name;
        if (auto const* const figures = datasheet::find(facts->name))
            datasheet::apply(result, *figures);
        else
            derived::apply(result, *facts);
        return result;
    }
    result.remark("no driver tells which device '" + device.kind + "' is");
    return result;
}

/// Writes the user's peaks over those of a device: the options', and the environment's where they
/// are silent. Both must be checked.
template<class Overrides = peak_overrides>
void apply(device_peaks& device, Overrides const& options, Overrides const& environment) {
    for (auto const* overrides : {&environment, &options}) {
        for (auto const& [name, value] : overrides->tflops)
            if (auto const format = format_named(name); format < number_formats)
                device.set(static_cast<number_format>(format), {value, peak_source::user});
        if (overrides->bandwidth_gbps)
            device.bandwidth = bandwidth_peak{*overrides->bandwidth_gbps, peak_source::user};
    }
}

/// Remarks for which of the wanted formats no peak is known, and how to give one.
template<class Wanted = wanted_peaks>
void say_what_is_missing(device_peaks& device, Wanted const& wanted) {
    std::string missing;
    for (auto const format : wanted.formats)
        if (!device.of(format))
            missing.append(missing.empty() ? "" : ", ").append(name_of(format));
    bool nothing = !device.bandwidth;
    for (std::size_t i = 0; i < number_formats; ++i)
        nothing = nothing && !device.compute[i];
    constexpr auto advice = ": give it by options::peaks or COMPONENT_BENCHMARK_PEAK_TFLOPS";
    if (nothing)
        device.remark("no peak is known for '" + device.name + "'" + advice);
    else if (!missing.empty())
        device.remark("no peak of " + missing + " is known for '" + device.name + "'" + advice);
}

}  // namespace component_benchmark::peaks
