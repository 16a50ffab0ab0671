// CAPTURE -> result: shapes and dtypes of a call as text
#pragma once

#include <component_benchmark/capture/captured_call.hpp>

#include <c10/core/ScalarType.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace component_benchmark::capture {

/// "[32, 64]"
[[nodiscard]] inline std::string shape_text(at::Tensor const& tensor) {
    if (tensor.is_nested())
        return "[nested]";
    std::string text = "[";
    for (auto const size : tensor.sizes()) {
        if (text.size() > 1)
            text += ", ";
        text += std::to_string(size);
    }
    return text + "]";
}

/// "float32", as Python's torch names it without its prefix.
[[nodiscard]] inline std::string dtype_text(at::Tensor const& tensor) {
    return c10::getDtypeNames(tensor.scalar_type()).first;
}

/// "[32, 64], [32, 8]"
[[nodiscard]] inline std::string shapes_text(std::vector<at::Tensor> const& tensors) {
    std::string text;
    for (auto const& tensor : tensors)
        text += (text.empty() ? "" : ", ") + shape_text(tensor);
    return text;
}

/// Each dtype once, in order of appearance: "float32, int64".
[[nodiscard]] inline std::string dtypes_text(std::vector<at::Tensor> const& tensors) {
    std::vector<std::string> seen;
    for (auto const& tensor : tensors)
        if (auto name = dtype_text(tensor); std::find(seen.begin(), seen.end(), name) == seen.end())
            seen.push_back(std::move(name));
    std::string text;
    for (auto const& name : seen)
        text += (text.empty() ? "" : ", ") + name;
    return text;
}

/// What makes two calls of a module cost the same: dtypes, sizes, strides, devices, which
/// gradients are needed, and the arguments that are not tensors.
[[nodiscard]] inline std::string signature_text(captured_call const& call) {
    std::string text;
    for (auto const& tensor : call.inputs) {
        text += dtype_text(tensor) + shape_text(tensor) + tensor.device().str();
        if (tensor.layout() == c10::kStrided && !tensor.is_nested())
            for (auto const stride : tensor.strides())
                text += ',' + std::to_string(stride);
        text += tensor.requires_grad() ? "g;" : ";";
    }
    text += call.makes_graph ? "graph;" : ";";
    return text + call.stored->values();
}

inline void describe(captured_call& call) {
    call.in_shapes = shapes_text(call.inputs);
    call.out_shapes = shapes_text(call.outputs);
    auto const in = dtypes_text(call.inputs);
    auto const out = dtypes_text(call.outputs);
    call.dtypes = in.empty() && out.empty() ? "" : in + " -> " + out;
    if (call.stored != nullptr)
        call.signature = signature_text(call);
}

}  // namespace component_benchmark::capture
