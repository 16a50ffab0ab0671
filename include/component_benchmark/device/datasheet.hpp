// device's name -> DEVICE -> profile: peaks as the vendors state them
#pragma once

#include <component_benchmark/core/peaks.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace component_benchmark::datasheet {

/// One device: TFLOP/s without sparsity, GB/s of its memory; zero is "the device has no such unit,
/// or its vendor states no figure".
///
/// Where a vendor states two figures the column has that of the matrix units, which is what a
/// matmul is sent to (FP64 of A100, H100 and later, FP64 and FP32 of MI); with accumulation in FP32
/// where FP16 accumulation is stated too (GeForce), since LibTorch accumulates in FP32. Of a range
/// it has the upper end, so that no utilization is overstated.
struct entry {
    std::string_view name;  ///< as drivers report it, without "NVIDIA "
    double fp64, fp32, tf32, bf16, fp16, fp8, fp4, gbps;
    char source;  ///< a letter of the list below
};

// clang-format off
// Sources. The INT8 figures of the vendors are left out: none of them has been checked.
//  a  https://images.nvidia.com/content/technologies/volta/pdf/volta-v100-datasheet-update-us-1165301-r5.pdf
//  b  https://www.nvidia.com/content/dam/en-zz/Solutions/Data-Center/tesla-t4/t4-tensor-core-datasheet-951643.pdf
//     (320 GB/s is 5001 MHz x 256 bit; the text of the sheet has 300 as well)
//  c  https://www.nvidia.com/content/dam/en-zz/Solutions/Data-Center/a10/pdf/a10-datasheet.pdf
//  d  https://www.nvidia.com/content/dam/en-zz/Solutions/Data-Center/a100/pdf/nvidia-a100-datasheet-us-nvidia-1758950-r4-web.pdf
//  e  https://resources.nvidia.com/en-us-gpu-resources/l4-tensor-datasheet
//  f  https://www.nvidia.com/en-us/data-center/l40s/
//  g  https://www.nvidia.com/en-us/data-center/h100/ (NVL: one of the two; all but its BF16 unchecked)
//  h  https://www.nvidia.com/en-us/data-center/h200/
//  i  https://resources.nvidia.com/en-us-dgx-systems/dgx-b200-datasheet
//     (ranges: FP64 37 to 40, FP32 75 to 80, TF32 1100 to 1125)
//  j  https://www.nvidia.com/en-us/data-center/gb200-nvl72/ (one GPU; FP64 40 to 45, FP32 80 to 90)
//  k  the whitepaper on NVIDIA's GA102 architecture
//  l  the whitepaper on NVIDIA's Ada architecture
//  m  https://www.tomshardware.com/pc-components/gpus/nvidia-geforce-rtx-5090-versus-rtx-4090-how-does-the-new-halo-gpu-compare-with-its-predecessor
//     (FP32, bandwidth, units and clock; the other cells by the formula of derived.hpp)
//  n  https://www.amd.com/en/products/accelerators/instinct/mi200/mi250x.html (half of the package: a
//     program sees each of its two dies as a device; the FP64 and FP32 cells unchecked)
//  o  https://www.amd.com/content/dam/amd/en/documents/instinct-tech-docs/data-sheets/amd-instinct-mi300x-data-sheet.pdf
inline constexpr std::array<entry, 24> table{{
    //                          fp64,   fp32,   tf32,   bf16,   fp16,    fp8,    fp4,   GB/s
    {"Tesla V100-SXM2-16GB",      7.8,   15.7,      0,      0,    125,      0,      0,    900, 'a'},
    {"Tesla V100-SXM2-32GB",      7.8,   15.7,      0,      0,    125,      0,      0,    900, 'a'},
    {"Tesla V100-PCIE-16GB",        7,     14,      0,      0,    112,      0,      0,    900, 'a'},
    {"Tesla V100-PCIE-32GB",        7,     14,      0,      0,    112,      0,      0,    900, 'a'},
    {"Tesla T4",                 0.25,    8.1,      0,      0,     65,      0,      0,    320, 'b'},
    {"A10",                      0.49,   31.2,   62.5,    125,    125,      0,      0,    600, 'c'},
    {"A100-PCIE-40GB",           19.5,   19.5,    156,    312,    312,      0,      0,   1555, 'd'},
    {"A100-SXM4-40GB",           19.5,   19.5,    156,    312,    312,      0,      0,   1555, 'd'},
    {"A100 80GB PCIe",           19.5,   19.5,    156,    312,    312,      0,      0,   1935, 'd'},
    {"A100-SXM4-80GB",           19.5,   19.5,    156,    312,    312,      0,      0,   2039, 'd'},
    {"L4",                       0.49,   30.3,     60,    121,    121,  242.5,      0,    300, 'e'},
    {"L40S",                      1.4,   91.6,    183,    362,    362,    733,      0,    864, 'f'},
    {"H100 PCIe",                  51,     51,    378,    756,    756,   1513,      0,   2000, 'g'},
    {"H100 80GB HBM3",             67,     67,  494.7,  989.4,  989.4,   1979,      0,   3350, 'g'},
    {"H100 NVL",                   60,     60,  417.5,  835.5,  835.5,   1671,      0,   3900, 'g'},
    {"H200",                       67,     67,  494.7,  989.4,  989.4,   1979,      0,   4800, 'h'},
    {"B200",                       40,     80,   1125,   2250,   2250,   4500,   9000,   8000, 'i'},
    {"GB200",                      45,     90,   1250,   2500,   2500,   5000,  10000,   8000, 'j'},
    {"GeForce RTX 3090",         0.56,   35.6,   35.6,     71,     71,      0,      0,    936, 'k'},
    {"GeForce RTX 4090",         1.29,   82.6,   82.6,  165.2,  165.2,  330.3,      0,   1008, 'l'},
    {"GeForce RTX 5090",         1.64,  104.8,  104.8,  209.5,  209.5,    419,   1676,   1792, 'm'},
    {"AMD Instinct MI250X",     47.85,  47.85,      0,  191.5,  191.5,      0,      0, 1638.5, 'n'},
    {"AMD Instinct MI300X",     163.4,  163.4,  653.7, 1307.4, 1307.4, 2614.9,      0,   5300, 'o'},
    {"AMD Instinct MI300X OAM", 163.4,  163.4,  653.7, 1307.4, 1307.4, 2614.9,      0,   5300, 'o'},
}};
// clang-format on

/// The same words in the same order, and all of them: "H200 NVL" and "H20" are not "H200", and a
/// "GeForce RTX 4090 Laptop GPU" is no "GeForce RTX 4090".
[[nodiscard]] constexpr bool same_words(std::string_view left, std::string_view right) noexcept {
    auto const next_word = [](std::string_view& text) {
        constexpr std::string_view blank = " \t";
        text.remove_prefix((std::min)(text.find_first_not_of(blank), text.size()));
        auto const word = text.substr(0, text.find_first_of(blank));
        text.remove_prefix(word.size());
        return word;
    };
    for (;;) {
        auto const word = next_word(left);
        if (word != next_word(right))
            return false;
        if (word.empty())
            return true;
    }
}

/// The device of that name, with or without the "NVIDIA" that drivers put before it since 2021;
/// null when it is not one of the table.
[[nodiscard]] constexpr entry const* find(std::string_view device) noexcept {
    constexpr std::string_view vendor = "NVIDIA ";
    if (device.substr(0, vendor.size()) == vendor)
        device.remove_prefix(vendor.size());
    for (auto const& one : table)
        if (same_words(one.name, device))
            return &one;
    return nullptr;
}

/// Writes the figures of an entry to a device, each marked `datasheet`.
inline void apply(device_peaks& device, entry const& figures) {
    auto const set = [&](number_format format, double tflops) {
        if (tflops > 0.0)
            device.set(format, {tflops, peak_source::datasheet});
    };
    set(number_format::fp64, figures.fp64);
    set(number_format::fp32, figures.fp32);
    set(number_format::tf32, figures.tf32);
    set(number_format::bf16, figures.bf16);
    set(number_format::fp16, figures.fp16);
    set(number_format::fp8, figures.fp8);
    set(number_format::fp4, figures.fp4);
    device.bandwidth = bandwidth_peak{figures.gbps, peak_source::datasheet};
}

}  // namespace component_benchmark::datasheet
