// op call -> OP TRAFFIC -> bandwidth: bytes that an operator must move at least
#pragma once

#include <component_benchmark/profile/op_call.hpp>
#include <component_benchmark/profile/op_catalogue.hpp>
#include <component_benchmark/profile/op_gather.hpp>
#include <component_benchmark/profile/tensor_bytes.hpp>

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace component_benchmark::ops {

/// Operators whose result is not written: the memory of an argument, or memory as it was found; and
/// questions that a tensor answers without its elements.
[[nodiscard]] inline bool moves_nothing(op_info const& op) {
    static constexpr std::array<std::string_view, 22> names{
        "aten::_unsafe_view",
        "aten::unsafe_split",
        "aten::unsafe_split_with_sizes",
        "aten::_reshape_alias",
        "aten::_lazy_clone",
        "aten::_sparse_coo_tensor_with_dims_and_tensors",
        "aten::empty",
        "aten::empty_like",
        "aten::empty_strided",
        "aten::new_empty",
        "aten::new_empty_strided",
        "aten::empty_permuted",
        "aten::resize_",
        "aten::resize_as_",
        "aten::set_",
        "aten::_fused_sdp_choice",
        "aten::is_same_size",
        "aten::is_pinned",
        "aten::is_set_to",
        "aten::_has_same_storage_numel",
        "aten::_assert_tensor_metadata",
        "aten::record_stream"};
    return std::find(names.begin(), names.end(), op.name) != names.end() || is_view(op.handle);
}

/// Operators that do not read what they overwrite.
[[nodiscard]] inline bool only_writes(std::string_view op) {
    static constexpr std::array<std::string_view, 13> names{
        "aten::copy_",         "aten::fill_",      "aten::zero_",       "aten::normal_",
        "aten::uniform_",      "aten::bernoulli_", "aten::random_",     "aten::exponential_",
        "aten::cauchy_",       "aten::geometric_", "aten::log_normal_", "aten::_foreach_zero_",
        "aten::_foreach_copy_"};
    return std::find(names.begin(), names.end(), op) != names.end();
}

/// Operators that ask a tensor for no more than its sizes: zeros_like, new_full.
[[nodiscard]] inline bool reads_sizes_only(std::string_view op) {
    return op.starts_with("aten::new_") || op.ends_with("_like");
}

/// What one call of an operator reads and writes. Each tensor once, however often it is an
/// argument; what is kept in registers and caches between the operators of a call is not known
/// here, so each operator reads its arguments and writes its results.
template<class Address = void const*>
struct basic_op_traffic {
    std::int64_t bytes = 0;
    std::vector<std::pair<Address, std::int64_t>> seen;

    [[nodiscard]] static basic_op_traffic of_arguments(op_info const& op, op_call const& call) {
        basic_op_traffic found;
        auto const* const rows = gather_of(op.name);
        auto const& arguments = op.handle.schema().arguments();
        for (std::size_t position = 0; position < call.size(); ++position) {
            auto const* const alias =
                position < arguments.size() ? arguments[position].alias_info() : nullptr;
            auto const written = alias != nullptr && alias->isWrite();
            auto const is_result = written && arguments[position].is_out();
            if (rows != nullptr && rows->table == position && !is_result) {
                found.bytes += bytes_touched(*rows, call) * rows->moves(call);
                continue;
            }
            auto const read =
                !is_result && !(written && only_writes(op.name)) && !reads_sizes_only(op.name);
            each_tensor_in(call[position], [&](at::Tensor const& tensor) {
                if (written)
                    found.bytes += bytes_of(tensor);
                if (read)
                    found.read(tensor);
            });
        }
        return found;
    }

    /// Of a result that is an argument, the writing is counted already.
    void add_results(op_info const& op, std::vector<c10::IValue> const& results) {
        auto const& returns = op.handle.schema().returns();
        for (std::size_t position = 0; position < results.size(); ++position)
            if (position >= returns.size() || returns[position].alias_info() == nullptr)
                each_tensor_in(results[position],
                               [this](at::Tensor const& tensor) { bytes += bytes_of(tensor); });
    }

private:
    void read(at::Tensor const& tensor) {
        auto const size = bytes_of(tensor);
        std::pair<Address, std::int64_t> const one{
            tensor.has_storage() ? tensor.const_data_ptr() : tensor.unsafeGetTensorImpl(), size};
        if (std::find(seen.begin(), seen.end(), one) != seen.end())
            return;
        seen.push_back(one);
        bytes += size;
    }
};

using op_traffic = basic_op_traffic<>;

}  // namespace component_benchmark::ops
