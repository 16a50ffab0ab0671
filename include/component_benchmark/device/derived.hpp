// device's clocks and units -> DEVICE -> profile: peaks by a formula, for a device without
// datasheet
#pragma once

#include <component_benchmark/core/peaks.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace component_benchmark {

/// What a driver says of a device. The numbers are those of CUDA devices, zero where unknown.
struct accelerator_facts {
    std::string name;
    int major = 0;  ///< of the compute capability
    int minor = 0;
    std::int64_t multiprocessors = 0;
    std::int64_t clock_khz = 0;
    std::int64_t memory_clock_khz = 0;
    std::int64_t memory_bus_bits = 0;
};

namespace derived {

/// FLOP a clock and multiprocessor; zero where no figure is known. FP64 by matrix units where there
/// are any, 16-bit and smaller formats with accumulation in FP32.
struct rate {
    int capability;  ///< 10 x major + minor
    bool geforce;
    int fp64, fp32, tf32, bf16, fp16, fp8, fp4;
};

// GeForce cards accumulate in FP32 at half the rate of the same silicon in professional cards. Of
// 7.5 and 12.0 only one of the two families is known, so the other has no matrix figures.
inline constexpr std::array<rate, 12> rates{{
    // clang-format off
    {70,  false,  64, 128,    0,    0, 1024,     0,     0},
    {75,  false,   4, 128,    0,    0, 1024,     0,     0},
    {75,  true,    4, 128,    0,    0,    0,     0,     0},
    {80,  false, 128, 128, 1024, 2048, 2048,     0,     0},
    {86,  false,   4, 256,  512, 1024, 1024,     0,     0},
    {86,  true,    4, 256,  256,  512,  512,     0,     0},
    {89,  false,   4, 256,  512, 1024, 1024,  2048,     0},
    {89,  true,    4, 256,  256,  512,  512,  1024,     0},
    {90,  false, 256, 256, 2048, 4096, 4096,  8192,     0},
    {100, false,   0, 256, 4096, 8192, 8192, 16384, 32768},
    {120, false,   4, 256,    0,    0,    0,     0,     0},
    {120, true,    4, 256,  256,  512,  512,  1024,  4096},
    // clang-format on
}};

/// Whether one of the words of a text, which spaces separate, is `wanted`.
[[nodiscard]] constexpr bool has_word(std::string_view text, std::string_view wanted) noexcept {
    while (!text.empty()) {
        auto const space = text.find(' ');
        if (text.substr(0, space) == wanted)
            return true;
        text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
    }
    return false;
}

/// A part of a device that its driver shows as one: "NVIDIA H100 80GB HBM3 MIG 1g.10gb", or a
/// virtual one, "NVIDIA A40-48Q". What it shows of clocks and memory is that of the whole.
[[nodiscard]] constexpr bool is_part_of_a_device(std::string_view name) noexcept {
    constexpr std::string_view digits = "0123456789";
    if (has_word(name, "MIG"))
        return true;
    if (name.empty() || std::string_view{"ABCQ"}.find(name.back()) == std::string_view::npos)
        return false;
    name.remove_suffix(1);
    auto const dash = name.find_last_not_of(digits);
    return dash != std::string_view::npos && dash + 1 < name.size() && name[dash] == '-';
}

/// Why the formula says nothing, or something wrong, for a device of that name; empty if it may be
/// used. The matrix units of some devices are slowed down beyond what units and clocks tell.
[[nodiscard]] constexpr std::string_view why_not(std::string_view name) noexcept {
    if (is_part_of_a_device(name))
        return "it is a part of a device";
    for (std::string_view const slowed : {"H20", "H20-3e", "L20", "L2"})
        if (has_word(name, slowed))
            return "its matrix units are slower than its clocks tell";
    return {};
}

[[nodiscard]] constexpr rate const* find(accelerator_facts const& facts) noexcept {
    auto const geforce = has_word(facts.name, "GeForce");
    for (auto const& one : rates)
        if (one.capability == 10 * facts.major + facts.minor && one.geforce == geforce)
            return &one;
    return nullptr;
}

/// Writes what units and clocks give to a device, each marked `derived`. The clock is the highest
/// that the driver knows; a device that slows down under load (H100 and H200 by 8 %) is not that
/// fast. Nothing is written for a compute capability that is not known.
inline void apply(device_peaks& device, accelerator_facts const& facts) {
    if (auto const why = why_not(facts.name); !why.empty()) {
        device.remark("nothing is derived for '" + facts.name + "': " + std::string{why});
        return;
    }
    auto const clocks = static_cast<double>(facts.multiprocessors) *
                        static_cast<double>(facts.clock_khz) * 1e3 / 1e12;
    auto const set = [&](number_format format, int flop) {
        if (flop > 0 && clocks > 0.0)
            device.set(format, {clocks * flop, peak_source::derived});
    };
    auto const* const known = find(facts);
    if (known == nullptr)
        return;
    set(number_format::fp64, known->fp64);
    set(number_format::fp32, known->fp32);
    set(number_format::tf32, known->tf32);
    set(number_format::bf16, known->bf16);
    set(number_format::fp16, known->fp16);
    set(number_format::fp8, known->fp8);
    set(number_format::fp4, known->fp4);
    auto const gbps = 2.0 * static_cast<double>(facts.memory_clock_khz) * 1e3 *
                      static_cast<double>(facts.memory_bus_bits) / 8.0 / 1e9;
    if (gbps > 0.0)
        device.bandwidth = bandwidth_peak{gbps, peak_source::derived};
}

}  // namespace derived

}  // namespace component_benchmark
