// stub
#pragma once
#include <component_benchmark/core/peaks.hpp>
#include <c10/core/DeviceType.h>
#include <c10/core/ScalarType.h>
#include <optional>
namespace component_benchmark {
enum class unit_use { matmul, convolution, rnn };
inline std::optional<number_format> dispatched_format(at::ScalarType t, c10::DeviceType, unit_use) {
    switch (t) {
        case at::kFloat: return number_format::fp32;
        case at::kDouble: return number_format::fp64;
        case at::kBFloat16: return number_format::bf16;
        case at::kHalf: return number_format::fp16;
        default: return {};
    }
}
}
