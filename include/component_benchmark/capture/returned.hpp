// CAPTURE: what a component gives alone, compared with what it gave in the model
#pragma once

#include <component_benchmark/capture/tensor_bytes.hpp>
#include <component_benchmark/capture/tensor_parts.hpp>

#include <ATen/core/Tensor.h>
#include <c10/core/GradMode.h>
#include <c10/core/ScalarType.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

namespace component_benchmark::capture {

/// Differences up to this share of the largest value are rounding: kernels may add up in another
/// order. Some 80 times the distance between 1 and the next number.
[[nodiscard]] inline double rounding_of(c10::ScalarType type) {
    switch (type) {
        case c10::kDouble:
            return 2e-14;
        case c10::kFloat:
            return 1e-5;
        case c10::kHalf:
            return 1e-2;
        default:
            return 5e-2;  // bfloat16 and narrower
    }
}

/// How two tensors that are alike in shape and type differ beyond rounding; empty where not.
template<class Tensor>
[[nodiscard]] std::string value_difference(Tensor const& inside, Tensor const& alone) {
    if (!inside.is_floating_point())
        return std::to_string((inside != alone).sum().template item<std::int64_t>()) + " of " +
               std::to_string(inside.numel()) + " values differ";
    auto const a = inside.to(c10::kDouble);
    auto const b = alone.to(c10::kDouble);
    constexpr auto infinity = (std::numeric_limits<double>::infinity)();
    // equal infinities, and values that are both not a number, are no difference
    auto const same = (a == b) | (a.isnan() & b.isnan());
    auto const apart = (a - b).abs().nan_to_num(infinity, infinity).masked_fill(same, 0.0);
    auto const largest = (apart.max)().template item<double>();
    auto const size = (a.abs().nan_to_num(0.0, 0.0).max)().template item<double>();
    if (largest <= rounding_of(inside.scalar_type()) * size)
        return {};
    char text[64];
    std::snprintf(text, sizeof text, "largest difference %.3g, largest value %.3g", largest, size);
    return text;
}

/// A sentence on the first of `alone`'s tensors that differs from `inside`'s, or nothing. Exact
/// but for rounding; layouts that cannot be looked into are not compared.
template<class Tensor>
[[nodiscard]] std::string difference_of(std::vector<Tensor> const& inside,
                                        std::vector<Tensor> const& alone) {
    c10::AutoGradMode const no_grad{false};
    auto const begin = std::string{"alone it gives other values than in the model: "};
    if (inside.size() != alone.size())
        return begin + std::to_string(alone.size()) + " tensors, not " +
               std::to_string(inside.size());
    for (std::size_t index = 0; index < inside.size(); ++index) {
        auto const& a = inside[index];
        auto const& b = alone[index];
        if (!a.defined() && !b.defined())
            continue;
        auto const which =
            inside.size() == 1 ? std::string{} : "in output " + std::to_string(index) + " ";
        if (a.defined() != b.defined() || a.scalar_type() != b.scalar_type() ||
            a.is_nested() != b.is_nested() || (!a.is_nested() && a.sizes() != b.sizes()))
            return begin + which + "shape or type differ";
        if (!is_plain(a) || !is_plain(b) || a.is_meta() || same_bytes(a, b) || a.numel() == 0)
            continue;
        if (auto const text = value_difference(a, b); !text.empty())
            return begin + which + text;
    }
    return {};
}

}  // namespace component_benchmark::capture
