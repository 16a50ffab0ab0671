// CAPTURE: one parameter, buffer or argument as it was before a profile
#pragma once

#include <component_benchmark/capture/tensor_bytes.hpp>
#include <component_benchmark/capture/tensor_parts.hpp>

#include <torch/csrc/autograd/variable.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace component_benchmark::capture {

/// A tensor with what a profile may change of it: memory, value, version, place in a graph,
/// gradient and hooks. (A template as `basic_session` is.)
template<class Root>
struct basic_saved_tensor {
    enum kind { parameter, buffer, argument };
    static constexpr char const* kinds[] = {"parameter", "buffer", "argument"};

    kind what = parameter;
    std::string name;
    at::Tensor tensor;
    at::Tensor alias;  // of the storage it had
    at::Tensor value;
    at::Tensor gradient;
    std::vector<std::unique_ptr<torch::autograd::FunctionPreHook>> hooks;  // a leaf's
    std::shared_ptr<torch::autograd::Node> function;  // that made it; null for a leaf
    std::uint32_t output = 0;
    bool requires_grad = false;
    bool comparable = true;
    bool was_changed = false;
    bool is_back = false;  // when all was put back
    std::uint32_t version = 0;

    [[nodiscard]] static basic_saved_tensor of(kind what, std::string name,
                                               at::Tensor const& tensor) {
        return {.what = what,
                .name = std::move(name),
                .tensor = tensor,
                .alias = tensor.detach(),
                .value = tensor.detach().clone(),
                .gradient = {},
                .hooks = {},
                .function = tensor.grad_fn(),
                .output = static_cast<std::uint32_t>(tensor.output_nr()),
                .requires_grad = tensor.requires_grad(),
                .comparable = is_plain(tensor) || !parts_of(tensor).empty(),
                .was_changed = false,
                .is_back = false,
                .version = version_of(tensor)};
    }

    [[nodiscard]] std::string title() const { return std::string{kinds[what]} + " " + name; }

    [[nodiscard]] bool is_unchanged() const {
        return !comparable || (same_memory(tensor, alias) && same_bytes(tensor, value));
    }

    /// In its own memory: a conversion there and back moves it.
    [[nodiscard]] bool is_in_place() const { return comparable && same_memory(tensor, alias); }

    /// By value, in its own memory.
    [[nodiscard]] bool differs() const { return is_in_place() && !same_bytes(tensor, value); }

    /// Nothing that moves version counters has written to it; also where it has none.
    [[nodiscard]] bool has_its_version() const { return version_of(tensor) == version; }

    /// True when there was something to put back.
    bool restore_value() {
        auto const changed = !is_unchanged();
        if (changed) {
            tensor.set_data(alias);
            overwrite(tensor, value);
        }
        set_version(tensor, version);
        return changed;
    }

    // An in-place operation makes a tensor the output of the graph of the captured forward.
    void restore_graph() {
        if (tensor.grad_fn() != function)
            torch::autograd::impl::set_gradient_edge(tensor, {function, output});
        if (tensor.is_leaf() && tensor.requires_grad() != requires_grad)
            tensor.requires_grad_(requires_grad);
    }

    /// Nothing can be added to it, and no hook fires, until it is put back.
    void take_gradient() {
        if (!tensor.is_leaf() || !requires_grad)
            return;
        gradient = std::exchange(tensor.mutable_grad(), at::Tensor{});
        hooks.swap(torch::autograd::impl::hooks(tensor));
    }

    void restore_gradient() {
        if (function || !requires_grad)
            return;
        tensor.mutable_grad() = std::exchange(gradient, at::Tensor{});
        hooks.swap(torch::autograd::impl::hooks(tensor));
        hooks.clear();
    }
};

}  // namespace component_benchmark::capture
