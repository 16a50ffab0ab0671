// everywhere: the formats that units multiply
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace component_benchmark {

/// What the units of a device multiply. `tf32` is fp32 tensors multiplied in TensorFloat-32.
enum class number_format { fp64, fp32, tf32, bf16, fp16, fp8, fp4, int8 };

inline constexpr std::size_t number_formats = 8;

[[nodiscard]] constexpr std::string_view name_of(number_format format) noexcept {
    constexpr std::array<std::string_view, number_formats> names{"fp64", "fp32", "tf32", "bf16",
                                                                 "fp16", "fp8",  "fp4",  "int8"};
    return names[static_cast<std::size_t>(format)];
}

}  // namespace component_benchmark
