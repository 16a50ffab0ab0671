// tensor -> TENSOR BYTES -> op traffic: memory that a tensor's elements take
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <algorithm>
#include <cstdint>

namespace component_benchmark::ops {

/// Calls `visit(tensor)` for a tensor, or each of a list.
template<class Visit>
void each_tensor_in(c10::IValue const& value, Visit&& visit) {
    if (value.isTensor()) {
        if (value.toTensor().defined())
            visit(value.toTensor());
    } else if (value.isList()) {
        for (c10::IValue const& one : value.toListRef())  // or of optional tensors
            if (one.isTensor() && one.toTensor().defined())
                visit(one.toTensor());
    }
}

/// Elements that lie in memory: a dimension that is expanded is one, and windows may overlap.
[[nodiscard]] inline std::int64_t distinct_elements(at::Tensor const& tensor) {
    std::int64_t elements = 1;
    std::int64_t span = 1;
    for (std::int64_t dimension = 0; dimension < tensor.dim(); ++dimension) {
        auto const size = tensor.size(dimension);
        auto const stride = tensor.stride(dimension);
        elements *= stride == 0 && size > 0 ? 1 : size;
        span += (size - 1) * stride;
    }
    return (std::min)(elements, (std::max<std::int64_t>)(span, 0));
}

/// Bytes of the elements that a tensor really has.
[[nodiscard]] inline std::int64_t bytes_of(at::Tensor const& tensor) {
    if (tensor.is_meta())
        return 0;
    if (tensor.unsafeGetTensorImpl()->is_python_dispatch() || tensor.is_nested())
        return static_cast<std::int64_t>(tensor.has_storage() ? tensor.storage().nbytes() : 0);
    auto const element = static_cast<std::int64_t>(tensor.element_size());
    switch (tensor.layout()) {
        case c10::kStrided:
            return distinct_elements(tensor) * element;
        case c10::kSparse:
            return bytes_of(tensor._indices()) + bytes_of(tensor._values());
        case c10::kSparseCsr:
        case c10::kSparseBsr:
            return bytes_of(tensor.crow_indices()) + bytes_of(tensor.col_indices()) +
                   bytes_of(tensor.values());
        case c10::kSparseCsc:
        case c10::kSparseBsc:
            return bytes_of(tensor.ccol_indices()) + bytes_of(tensor.row_indices()) +
                   bytes_of(tensor.values());
        default:
            return tensor.numel() * element;  // in blocks of a library's own
    }
}

}  // namespace component_benchmark::ops
