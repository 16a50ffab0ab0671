// op -> OP CLASS -> observer: what kind of work an operator without a formula does
#pragma once

#include <component_benchmark/profile/flop_tally.hpp>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/enum_tag.h>

#include <algorithm>
#include <string_view>

namespace component_benchmark::ops {

/// Whether a name is among `words`, which spaces part, or, if they are beginnings of names, begins
/// as one of them.
[[nodiscard]] constexpr bool among(std::string_view words, std::string_view op, bool beginnings) {
    while (!words.empty()) {
        auto const word = words.substr(0, words.find(' '));
        words.remove_prefix((std::min)(words.size(), word.size() + 1));
        if (!word.empty() && (beginnings ? op.starts_with(word) : op == word))
            return true;
    }
    return false;
}

/// Makes, moves, selects or reorders values, and calculates none.
[[nodiscard]] inline bool moves_values(std::string_view op) {
    static constexpr std::string_view names =
        "_amp_update_scale _assert_async _assert_scalar _assert_tensor_metadata _chunk_cat "
        "_coalesce _coalesced _convert_indices_from_coo_to_csr "
        "_convert_indices_from_csr_to_coo _convert_weight_to_int4pack _copy_from "
        "_copy_from_and_resize _cudnn_init_dropout_state _cudnn_rnn_flatten_weight _dimI "
        "_dimV _efficientzerotensor _fill_mem_eff_dropout_mask _functional_assert_async "
        "_functional_assert_scalar _fused_dropout _fused_sdp_choice _has_same_storage_numel "
        "_index_put_impl _jagged_to_padded_dense_forward _lazy_clone _linalg_check_errors "
        "_local_scalar_dense _masked_scale _mkldnn_reshape _mkldnn_transpose "
        "_new_zeros_with_same_feature_meta _nnz _pack_padded_sequence "
        "_padded_dense_to_jagged_forward _pin_memory _print _reshape_alias _resize_output "
        "_stack _to_copy _to_dense _unsafe_index _unsafe_index_put _unsafe_masked_index "
        "_unsafe_view _use_cudnn_ctc_loss _validate_compressed_sparse_indices alias arange "
        "argsort as_strided bartlett_window bernoulli binomial blackman_window block_diag "
        "bucketize cat cauchy channel_shuffle clone col2im constant_pad_nd copy "
        "copy_sparse_to_sparse count_nonzero dense_dim detach diag_embed diagonal_backward "
        "equal exponential eye fft_fftfreq fft_rfftfreq fill flip from_file gather geometric "
        "hamming_window hann_window histc im2col int_repr is_coalesced is_pinned is_same_size "
        "is_set_to isin kaiser_window kthvalue lift lift_fresh linspace log_normal logspace "
        "lu_unpack masked_fill masked_scatter masked_scatter_backward masked_select median "
        "mode multinomial nanmedian native_dropout nonzero nonzero_static normal "
        "normal_functional pixel_shuffle pixel_unshuffle poisson put random randperm range "
        "record_stream roll rot90 scalar_tensor searchsorted select_backward set "
        "slice_backward sort sparse_dim sparse_mask stack take topk trace tril tril_indices "
        "triu triu_indices unfold_backward uniform view zero ";
    static constexpr std::string_view families =
        "_embedding_bag _empty _make_per _nested_ _sparse_co _to_sparse _unique embedding "
        "empty full index mkldnn_reorder new_ ones q_ qscheme rand reflection_pad repeat "
        "replication_pad resize scatter sparse_compressed sparse_coo sparse_resize split "
        "to_mkldnn to_padded unique unsafe_split zeros ";
    return among(names, op, false) || among(families, op, true);
}

/// Works on elements or small windows of them: activations, norms, pooling, losses, reductions.
[[nodiscard]] inline bool works_on_elements(std::string_view op) {
    static constexpr std::string_view families =
        "_adaptive_ _add_relu _aminmax _amp_foreach _batch_norm _cdist_ _compute_linear "
        "_conj_physical _ctc_loss _cudnn_ctc _cummax _cummin _dirichlet _fake_quantize "
        "_foreach_ _fused_ada _fused_moving _fused_rms _fused_sgd _histogramdd _is_a "
        "_log_softmax _logcumsum _masked_softmax _native_batch_norm _pdist _prelu_kernel "
        "_safe_softmax _segment_reduce _softmax _sparse_csr_ _sparse_log_softmax "
        "_sparse_softmax _sparse_sum _standard_gamma _thnn_fused_ _transform_bias _upsample_ "
        "_weight_norm abs adaptive_ addr affine_grid allclose avg_pool batch_norm binary_cross "
        "bincount bitwise_ celu complex copysign cudnn_affine cudnn_batch cudnn_grid cum "
        "dequantize dist elu fake_quantize fractional_max gelu glu grid_sampler hard "
        "histogram huber leaky_relu linalg_cross linalg_vector log_s logcumsum max_pool "
        "max_unpool miopen_batch mish mkldnn_adaptive mkldnn_max mse_loss multi_margin "
        "multilabel native_batch native_dropout_b native_group native_layer native_norm "
        "nll_loss norm polar prod quantize_per relu renorm rrelu segment_reduce sigmoid silu "
        "smooth_l1 soft squeeze std threshold upsample_ var where xlogy ";
    return among(families, op, true);
}

/// A result that is the memory of an argument, and not written to; or an argument that is made a
/// view of itself.
[[nodiscard]] inline bool is_view(c10::OperatorHandle const& op) {
    if (!op.hasSchema())
        return false;
    auto const& results = op.schema().returns();
    return op.hasTag(at::Tag::inplace_view) ||
           std::any_of(results.begin(), results.end(), [](auto const& result) {
               return result.alias_info() != nullptr && !result.alias_info()->isWrite();
           });
}

/// `op`: with its namespace. What belongs to no family that is known here is unknown, whatever it
/// does: the library cannot tell an operator of a program's own that multiplies from one that does
/// not.
template<class = void>
[[nodiscard]] op_class class_of(std::string_view op, c10::OperatorHandle const& handle) {
    if (op.starts_with("c10d::") || op.starts_with("_c10d_functional::") ||
        op.starts_with("profiler::"))
        return op_class::zero_by_design;
    if (is_view(handle))
        return op_class::zero_by_design;
    if (op.starts_with("aten::")) {
        op.remove_prefix(6);
        if (op.ends_with("_"))
            op.remove_suffix(1);
        if (op.ends_with("_copy") || op.ends_with("_scatter") || moves_values(op))
            return op_class::zero_by_design;
        if (works_on_elements(op))
            return op_class::elementwise;
    }
    return handle.hasTag(at::Tag::pointwise) || handle.hasTag(at::Tag::reduction)
               ? op_class::elementwise
               : op_class::unknown;
}

}  // namespace component_benchmark::ops
