// operator's tensors -> DEVICE -> profile: in which format an operator really multiplies
#pragma once

#include <component_benchmark/core/peaks.hpp>

#include <ATen/Context.h>
#include <c10/core/DeviceType.h>
#include <c10/core/ScalarType.h>

#include <optional>
#include <string_view>
#include <type_traits>

namespace component_benchmark {

/// Whose settings an operator obeys: cuBLAS's, or cuDNN's for convolutions or recurrent layers.
enum class unit_use { matmul, convolution, rnn };

namespace detail {

/// LibTorch 2.10 and later ask by two enumerations, 2.9 by two strings.
template<class Getter>
struct precision_getter;

template<class Result, class Context, class Backend, class Op>
struct precision_getter<Result (Context::*)(Backend, Op) const> {
    using result = std::remove_cvref_t<Result>;
    using backend = std::remove_cvref_t<Backend>;
    using op = std::remove_cvref_t<Op>;
};

template<class Context>
concept says_precision = requires {
    &Context::float32Precision;
};

/// Whether CUDA multiplies fp32 tensors in TF32 there. Where the getter of 2.9 and later exists,
/// it is what the operators read; the older ones throw there once both ways of setting were used.
template<class Context>
[[nodiscard]] bool multiplies_in_tf32(Context const& context, unit_use use) {
    if constexpr (says_precision<Context>) {
        using getter = precision_getter<decltype(&Context::float32Precision)>;
        if constexpr (std::is_enum_v<typename getter::backend>) {
            using op = typename getter::op;
            auto const which = use == unit_use::matmul        ? op::MATMUL
                               : use == unit_use::convolution ? op::CONV
                                                              : op::RNN;
            return context.float32Precision(getter::backend::CUDA, which) == getter::result::TF32;
        } else {
            auto const* const which = use == unit_use::matmul        ? "matmul"
                                      : use == unit_use::convolution ? "conv"
                                                                     : "rnn";
            return context.float32Precision("cuda", which) == "tf32";
        }
    } else {
        return use == unit_use::matmul ? context.allowTF32CuBLAS() : context.allowTF32CuDNN();
    }
}

/// Of the settings that fp32 multiplications on the CPU obey, a number that differs when they do.
template<class Context>
[[nodiscard]] int cpu_precision(Context const& context) {
    if constexpr (says_precision<Context>) {
        using getter = precision_getter<decltype(&Context::float32Precision)>;
        if constexpr (std::is_enum_v<typename getter::backend>) {
            return static_cast<int>(
                context.float32Precision(getter::backend::MKLDNN, getter::op::MATMUL));
        } else {
            auto const says = context.float32Precision("mkldnn", "matmul");
            return says == "bf16" ? 2 : says == "tf32" ? 1 : 0;
        }
    } else {
        return static_cast<int>(context.float32MatmulPrecision());
    }
}

[[nodiscard]] inline std::optional<number_format> stored_format(at::ScalarType type) {
    switch (type) {
        case at::kDouble:
        case at::kComplexDouble:
            return number_format::fp64;
        case at::kFloat:
        case at::kComplexFloat:
            return number_format::fp32;
        case at::kBFloat16:
            return number_format::bf16;
        case at::kHalf:
        case at::kComplexHalf:
            return number_format::fp16;
        case at::kByte:
        case at::kChar:
        case at::kQInt8:
        case at::kQUInt8:
            return number_format::int8;
        default:
            break;
    }
    // The list of small formats grows with LibTorch, their names begin alike.
    std::string_view const name = c10::toString(type);
    if (name.substr(0, 6) == "Float8")
        return number_format::fp8;
    if (name.substr(0, 6) == "Float4")
        return number_format::fp4;
    return std::nullopt;
}

}  // namespace detail

/// The format whose units do the work of an operator on tensors of that type, with the settings of
/// this moment: under autocast, give the type that the operator itself gets. Nothing for types that
/// no unit multiplies, such as `int64`.
[[nodiscard]] inline std::optional<number_format> dispatched_format(at::ScalarType type,
                                                                    c10::DeviceType device,
                                                                    unit_use use) {
    auto const format = detail::stored_format(type);
    auto const may_be_tf32 = format == number_format::fp32 && device == c10::DeviceType::CUDA;
    return may_be_tf32 && detail::multiplies_in_tf32(at::globalContext(), use) ? number_format::tf32
                                                                               : format;
}

}  // namespace component_benchmark
