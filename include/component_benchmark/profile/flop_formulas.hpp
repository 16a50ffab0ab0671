// op -> FLOP FORMULAS -> flops: which operator is counted how
#pragma once

#include <component_benchmark/core/error.hpp>
#include <component_benchmark/core/flop_convention.hpp>
#include <component_benchmark/device/tf32.hpp>
#include <component_benchmark/profile/dense_algebra_formulas.hpp>
#include <component_benchmark/profile/matrix_formulas.hpp>
#include <component_benchmark/profile/op_call.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace component_benchmark {

/// A formula of your own, for an operator that the library does not know or counts otherwise:
///
///     cb::flops{.formulas = {{"mylib::fused_mlp", [](cb::op_call const& call) {
///         return 2 * call.size_of(0, 0) * call.size_of(1, 0) * call.size_of(1, 1);
///     }}}}
///
/// It gives floating-point operations (2 for a multiply-add), or nothing for arguments that it does
/// not know: then the operators that this one calls are counted.
struct flop_formula {
    std::string op;  ///< with its namespace, without its overload: "mylib::fused_mlp"
    std::function<std::optional<std::int64_t>(op_call const&)> count;
    /// Must be set for an operator that the library has a formula for.
    bool replaces_built_in = false;
};

namespace formulas {

using formula = flops_or_nothing (*)(op_call const&, causal_attention);

template<auto Count>
[[nodiscard]] flops_or_nothing plain(op_call const& call, causal_attention) {
    return Count(call);
}

template<auto Count>
[[nodiscard]] flops_or_nothing causal(op_call const& call, causal_attention how) {
    return Count(call, how == causal_attention::halved);
}

struct built_in {
    std::string_view op;
    formula count;
    bool in_pytorch;  ///< FlopCounterMode of PyTorch 2.11 has it
    unit_use units;
};

/// The library's own formula, or null. (A template, so that only who counts pays for the table.)
template<class = void>
[[nodiscard]] built_in const* find(std::string_view op) {
    constexpr auto matmul = unit_use::matmul;
    constexpr auto conv = unit_use::convolution;
    constexpr auto rnn = unit_use::rnn;
    static constexpr std::array table{
        built_in{"aten::_addmm_activation", &plain<&mm<1>>, false, matmul},
        built_in{"aten::_cdist_backward", &plain<&cdist<1>>, false, matmul},
        built_in{"aten::_cdist_forward", &plain<&cdist<0>>, false, matmul},
        built_in{"aten::_convolution", &plain<&convolution>, true, conv},
        built_in{"aten::_cudnn_attention_backward", &causal<&cudnn_attention<1, 9, true, 14>>,
                 false, matmul},
        built_in{"aten::_cudnn_attention_forward", &causal<&cudnn_attention<0, 4, false, 10>>,
                 false, matmul},
        built_in{"aten::_cudnn_rnn", &plain<&fused_rnn>, false, rnn},
        built_in{"aten::_cudnn_rnn_backward", &plain<&fused_rnn_backward<21>>, false, rnn},
        built_in{"aten::_efficient_attention_backward", &causal<&jagged_attention<1, 6, true, 14>>,
                 true, matmul},
        built_in{"aten::_efficient_attention_forward", &causal<&jagged_attention<0, 4, false, 9>>,
                 true, matmul},
        built_in{"aten::_euclidean_dist", &plain<&euclidean_distance>, false, matmul},
        built_in{"aten::_fft_c2c", &plain<&complex_fft>, false, matmul},
        built_in{"aten::_fft_c2r", &plain<&inverse_real_fft>, false, matmul},
        built_in{"aten::_fft_r2c", &plain<&real_fft>, false, matmul},
        built_in{"aten::_flash_attention_backward", &causal<&jagged_attention<1, 6, true, 11>>,
                 true, matmul},
        built_in{"aten::_flash_attention_forward", &causal<&jagged_attention<0, 3, false, 8>>, true,
                 matmul},
        built_in{"aten::_grouped_mm", &plain<&grouped_mm>, false, matmul},
        built_in{"aten::_int_mm", &plain<&mm<0>>, false, matmul},
        built_in{"aten::_linalg_solve_ex", &plain<&solve>, false, matmul},
        built_in{"aten::_scaled_dot_product_cudnn_attention", &causal<&attention<0, false, 6>>,
                 true, matmul},
        built_in{"aten::_scaled_dot_product_cudnn_attention_backward",
                 &causal<&attention<1, true, 14>>, true, matmul},
        built_in{"aten::_scaled_dot_product_efficient_attention", &causal<&attention<0, false, 6>>,
                 true, matmul},
        built_in{"aten::_scaled_dot_product_efficient_attention_backward",
                 &causal<&attention<1, true, 11>>, true, matmul},
        built_in{"aten::_scaled_dot_product_flash_attention", &causal<&attention<0, false, 4>>,
                 true, matmul},
        built_in{"aten::_scaled_dot_product_flash_attention_backward",
                 &causal<&attention<1, true, 11>>, true, matmul},
        built_in{"aten::_scaled_dot_product_flash_attention_for_cpu",
                 &causal<&attention<0, false, 4>>, false, matmul},
        built_in{"aten::_scaled_dot_product_flash_attention_for_cpu_backward",
                 &causal<&attention<1, true, 7>>, false, matmul},
        built_in{"aten::_scaled_dot_product_fused_attention_overrideable",
                 &causal<&attention<0, false, 5>>, false, matmul},
        built_in{"aten::_scaled_dot_product_fused_attention_overrideable_backward",
                 &causal<&attention<1, true, 13>>, false, matmul},
        built_in{"aten::_scaled_grouped_mm", &plain<&grouped_mm>, false, matmul},
        built_in{"aten::_scaled_mm", &plain<&mm<0>>, true, matmul},
        built_in{"aten::_scaled_mm_v2", &plain<&mm<0>>, false, matmul},
        built_in{"aten::_sparse_mm", &plain<&mm<0>>, false, matmul},
        built_in{"aten::_trilinear", &plain<&trilinear>, false, matmul},
        built_in{"aten::_weight_int8pack_mm", &plain<&by_rows>, false, matmul},
        built_in{"aten::addbmm", &plain<&bmm<1>>, false, matmul},
        built_in{"aten::addbmm_", &plain<&bmm<1>>, false, matmul},
        built_in{"aten::addmm", &plain<&mm<1>>, true, matmul},
        built_in{"aten::addmm_", &plain<&mm<1>>, false, matmul},
        built_in{"aten::addmv", &plain<&each_element<1>>, false, matmul},
        built_in{"aten::addmv_", &plain<&each_element<1>>, false, matmul},
        built_in{"aten::baddbmm", &plain<&bmm<1>>, true, matmul},
        built_in{"aten::baddbmm_", &plain<&bmm<1>>, false, matmul},
        built_in{"aten::bmm", &plain<&bmm<0>>, true, matmul},
        built_in{"aten::cholesky_solve", &plain<&triangular<1, 0, 2>>, false, matmul},
        built_in{"aten::convolution", &plain<&convolution>, true, conv},
        built_in{"aten::convolution_backward", &plain<&convolution_backward>, true, conv},
        built_in{"aten::convolution_overrideable", &plain<&convolution>, true, conv},
        built_in{"aten::dot", &plain<&each_element<0>>, false, matmul},
        built_in{"aten::linalg_cholesky_ex", &plain<&thirds_of_cube<1>>, false, matmul},
        built_in{"aten::linalg_inv_ex", &plain<&thirds_of_cube<6>>, false, matmul},
        built_in{"aten::linalg_lu_factor_ex", &plain<&lu>, false, matmul},
        built_in{"aten::linalg_lu_solve", &plain<&triangular<0, 2, 2>>, false, matmul},
        built_in{"aten::linalg_solve_triangular", &plain<&triangular<0, 1, 1>>, false, matmul},
        built_in{"aten::miopen_rnn", &plain<&fused_rnn>, false, rnn},
        built_in{"aten::mkldnn_linear", &plain<&by_rows>, false, matmul},
        built_in{"aten::mkldnn_rnn_layer", &plain<&mkldnn_rnn_layer<1>>, false, rnn},
        built_in{"aten::mkldnn_rnn_layer_backward", &plain<&mkldnn_rnn_layer<2>>, false, rnn},
        built_in{"aten::mm", &plain<&mm<0>>, true, matmul},
        built_in{"aten::mv", &plain<&each_element<0>>, false, matmul},
        built_in{"aten::triangular_solve", &plain<&triangular<1, 0, 1>>, false, matmul},
        built_in{"aten::vdot", &plain<&each_element<0>>, false, matmul}};
    auto const* const found =
        std::lower_bound(table.begin(), table.end(), op,
                         [](built_in const& one, std::string_view name) { return one.op < name; });
    return found != table.end() && found->op == op ? found : nullptr;
}

/// Throws `error` when two formulas are for one operator, or one of them is for none.
template<class Formulas = std::vector<flop_formula>>
void check(Formulas const& own) {
    for (std::size_t index = 0; index < own.size(); ++index) {
        auto const& one = own[index];
        if (auto const dot = one.op.find('.'); dot != std::string::npos)
            throw error{"flops: a formula is for all overloads of an operator: write '" +
                        one.op.substr(0, dot) + "', not '" + one.op + "'"};
        if (one.op.find("::") == std::string::npos || !one.count)
            throw error{
                "flops: a formula needs the name of an operator with its namespace, e.g. "
                "\"mylib::fused_mlp\", and a function; this one is for '" +
                one.op + "'" + (one.count ? "" : " and has no function")};
        for (std::size_t other = 0; other < index; ++other)
            if (own[other].op == one.op)
                throw error{"flops: two formulas are given for '" + one.op + "'; leave one"};
        if (find(one.op) != nullptr && !one.replaces_built_in)
            throw error{"flops: '" + one.op +
                        "' has a formula already; set flop_formula::replaces_built_in to use "
                        "yours instead"};
    }
}

}  // namespace formulas
}  // namespace component_benchmark
