// CAPTURE -> result: shapes and dtypes of a call as text
#pragma once

#include <component_benchmark/capture/captured_call.hpp>
#include <component_benchmark/capture/tensor_look.hpp>

#include <c10/core/ScalarType.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace component_benchmark::capture {

/// "[32, 64]"
[[nodiscard]] inline std::string shape_text(tensor_look const& tensor) {
    return tensor.is_nested ? "[nested]" : sizes_text(tensor.sizes);
}

/// "float32", as Python's torch names it without its prefix.
[[nodiscard]] inline std::string dtype_text(tensor_look const& tensor) {
    return c10::getDtypeNames(tensor.dtype).first;
}

/// "[32, 64], [32, 8]"
template<class Look>
[[nodiscard]] std::string shapes_text(std::vector<Look> const& tensors) {
    std::string text;
    for (auto const& tensor : tensors)
        text += (text.empty() ? "" : ", ") + shape_text(tensor);
    return text;
}

/// Each dtype once, in order of appearance: "float32, int64".
template<class Look>
[[nodiscard]] std::string dtypes_text(std::vector<Look> const& tensors) {
    std::vector<std::string> seen;
    for (auto const& tensor : tensors)
        if (auto name = dtype_text(tensor); std::find(seen.begin(), seen.end(), name) == seen.end())
            seen.push_back(std::move(name));
    std::string text;
    for (auto const& name : seen)
        text += (text.empty() ? "" : ", ") + name;
    return text;
}

inline void add_meta(std::string& text, tensor_look const& tensor) {
    text += dtype_text(tensor) + shape_text(tensor) + tensor.device.str();
    for (auto const stride : tensor.strides)
        text += ',' + std::to_string(stride);
    text += tensor.parts;
    text += tensor.requires_grad ? "g;" : ";";
}

/// What makes two calls of a module cost the same: the looks of inputs and outputs, which gradients
/// are needed, modes, and the arguments that are not tensors. `number` tells calls apart that have
/// an argument which cannot be described.
template<class Context>
[[nodiscard]] std::string signature_text(basic_captured_call<Context> const& call,
                                         std::size_t number) {
    std::string text;
    for (auto const& tensor : call.inputs)
        add_meta(text, tensor);
    text += "->";
    for (auto const& tensor : call.outputs)
        add_meta(text, tensor);
    for (auto const& gradient : call.gradients)
        text += gradient.defined() ? '1' : '0';
    text += call.makes_graph ? " graph " : " ";
    text += call.autocast ? "autocast " : "";
    text += call.recomputed ? "again " : "";
    for (auto const flag : call.context->training.flags())
        text += flag ? 't' : 'e';
    text += call.state_sizes;
    auto const values = call.stored->values();
    if (values.find(hook::not_described) != std::string::npos)
        text += std::to_string(number);
    return text + values;
}

/// Views of the inputs take no memory; of tensors that are not strided it is not known.
template<class Context>
[[nodiscard]] std::int64_t result_bytes_of(basic_captured_call<Context> const& call) {
    std::int64_t sum = 0;
    for (auto const& output : call.outputs) {
        auto const is_view = std::any_of(call.inputs.begin(), call.inputs.end(), [&](auto& input) {
            return output.shares_memory_with(input);
        });
        if (is_view || output.is_nested || !output.parts.empty() || !output.device.is_cpu())
            continue;
        auto bytes = static_cast<std::int64_t>(c10::elementSize(output.dtype));
        for (std::size_t dimension = 0; dimension < output.sizes.size(); ++dimension)
            if (output.strides[dimension] != 0)  // else all are one
                bytes *= output.sizes[dimension];
        sum += bytes;
    }
    return sum;
}

template<class Context>
void describe(basic_captured_call<Context>& call, std::size_t number) {
    call.in_shapes = shapes_text(call.inputs);
    call.out_shapes = shapes_text(call.outputs);
    call.result_bytes = result_bytes_of(call);
    auto const in = dtypes_text(call.inputs);
    auto const out = dtypes_text(call.outputs);
    call.dtypes = in.empty() && out.empty() ? "" : in + " -> " + out;
    if (call.stored != nullptr && call.context)
        call.signature = signature_text(call, number);
}

}  // namespace component_benchmark::capture
