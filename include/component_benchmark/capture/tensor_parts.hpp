// capture: the strided tensors of which a tensor of any layout consists
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/GradMode.h>

#include <cstddef>
#include <unordered_set>
#include <vector>

namespace component_benchmark::capture {

/// A tensor that is its own and only part.
[[nodiscard]] inline bool is_plain(at::Tensor const& tensor) {
    return tensor.layout() == c10::kStrided && !tensor.is_nested();
}

/// The strided tensors that hold what is in `tensor`, with its memory: itself, or the indices and,
/// last, the values of a sparse one, or the sizes and values of a nested one. Empty for a layout
/// that cannot be looked into. (A template, so that a file which runs no pipeline does not pay for
/// it.)
template<class Tensor>
[[nodiscard]] std::vector<Tensor> parts_of(Tensor const& tensor) {
    c10::AutoGradMode const no_grad{false};
    auto const bare = tensor.detach();
    if (bare.is_nested() && bare.layout() == c10::kStrided)
        return {bare._nested_tensor_size(), bare._nested_tensor_strides(),
                bare._nested_tensor_storage_offsets(), bare.values()};
    switch (bare.layout()) {
        case c10::kStrided:
            return {bare};
        case c10::kSparse:
            return {bare._indices(), bare._values()};
        case c10::kSparseCsr:
        case c10::kSparseBsr:
            return {bare.crow_indices(), bare.col_indices(), bare.values()};
        case c10::kSparseCsc:
        case c10::kSparseBsc:
            return {bare.ccol_indices(), bare.row_indices(), bare.values()};
        default:
            return {};
    }
}

/// The same without repetitions of the same tensor.
template<class Tensor>
[[nodiscard]] std::vector<Tensor> each_once(std::vector<Tensor> tensors) {
    std::unordered_set<void const*> seen;  // by address
    std::erase_if(tensors, [&](Tensor const& tensor) {
        return !seen.insert(tensor.unsafeGetTensorImpl()).second;
    });
    return tensors;
}

/// Both have the same sizes; those of a nested tensor are a part of it.
[[nodiscard]] inline bool same_sizes(at::Tensor const& left, at::Tensor const& right) {
    return left.layout() == right.layout() && left.is_nested() == right.is_nested() &&
           (left.is_nested() || left.sizes() == right.sizes());
}

/// `test` holds for each part of `left` with the one of `right`, and there are parts.
template<class Tensor, class Test>
[[nodiscard]] bool all_parts(Tensor const& left, Tensor const& right, Test test) {
    if (!same_sizes(left, right))
        return false;
    if (is_plain(left))
        return test(left, right);
    auto const a = parts_of(left);
    auto const b = parts_of(right);
    if (a.empty() || a.size() != b.size())
        return false;
    for (std::size_t part = 0; part < a.size(); ++part)
        if (!test(a[part], b[part]))
            return false;
    return true;
}

/// Both look at the same memory in the same way.
template<class Tensor>
[[nodiscard]] bool same_memory(Tensor const& left, Tensor const& right) {
    return all_parts(left, right, [](at::Tensor const& a, at::Tensor const& b) {
        return a.has_storage() && b.has_storage() && a.storage().data() == b.storage().data() &&
               a.storage_offset() == b.storage_offset() && a.sizes() == b.sizes() &&
               a.strides() == b.strides();
    });
}

}  // namespace component_benchmark::capture
