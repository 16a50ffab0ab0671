// CAPTURE: where a graph ends
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/csrc/autograd/variable.h>

#include <concepts>
#include <unordered_set>
#include <vector>

namespace component_benchmark::capture {

/// A leaf in the graph of `outputs` is none of `targets`. (A template as `basic_module_tree` is.)
template<std::same_as<at::Tensor> Tensor>
[[nodiscard]] bool misses_leaves(std::vector<Tensor> const& outputs,
                                 std::vector<Tensor> const& targets) {
    using torch::autograd::Node;
    std::unordered_set<Node const*> known;
    std::vector<Node const*> to_visit;
    auto const add = [&](Node const* node) {
        if (node != nullptr && known.insert(node).second)
            to_visit.push_back(node);
    };
    for (auto const& target : targets)
        known.insert(torch::autograd::impl::gradient_edge(target).function.get());
    for (auto const& output : outputs)
        add(torch::autograd::impl::gradient_edge(output).function.get());
    while (!to_visit.empty()) {
        auto const* const node = to_visit.back();
        to_visit.pop_back();
        if (dynamic_cast<torch::autograd::AccumulateGrad const*>(node) != nullptr)
            return true;
        for (auto const& edge : node->next_edges())
            add(edge.function.get());
    }
    return false;
}

}  // namespace component_benchmark::capture
