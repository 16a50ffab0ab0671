// CAPTURE: calls of torch::nn::Sequential, whose forward is a template that no hook can see
// A call is inferred only where it is certain: its children were called in their order, under one
// parent, each with exactly the tensor that the one before returned.
#pragma once

#include <component_benchmark/capture/captured_call.hpp>
#include <component_benchmark/capture/module_tree.hpp>

#include <torch/nn/modules/container/sequential.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <typeinfo>
#include <utility>
#include <vector>

namespace component_benchmark::capture {

/// Not for classes derived from it: their forward may do more.
[[nodiscard]] inline bool is_sequential(torch::nn::Module const& module) {
    return typeid(module) == typeid(torch::nn::SequentialImpl);
}

namespace detail {

/// The calls of one pass through the children, the first of which is `first`.
[[nodiscard]] inline std::optional<std::vector<std::size_t>> chain_from(
    std::deque<captured_call> const& calls, std::vector<std::size_t> const& children,
    std::size_t first) {
    std::vector<std::size_t> chain{first};
    if (calls[first].inputs.size() != 1)
        return std::nullopt;
    for (std::size_t position = 1; position < children.size(); ++position) {
        auto const& before = calls[chain.back()];
        auto next = chain.back() + 1;
        while (next < calls.size() &&
               !(calls[next].row == children[position] && calls[next].parent == before.parent))
            ++next;
        if (next == calls.size())
            return std::nullopt;
        auto const& after = calls[next];
        auto const passed_on = before.outputs.size() == 1 && after.inputs.size() == 1 &&
                               before.outputs[0].is_same(after.inputs[0]);
        if (!passed_on)
            return std::nullopt;
        chain.push_back(next);
    }
    for (auto const number : chain)
        if (!calls[number].replayable())
            return std::nullopt;
    return chain;
}

/// The buffers of all children as the first child found them.
[[nodiscard]] inline buffer_values buffers_of(std::deque<captured_call> const& calls,
                                              std::vector<std::size_t> const& chain) {
    buffer_values buffers;
    for (auto const number : chain)
        for (auto const& entry : calls[number].context->buffers) {
            bool known = false;
            for (auto const& [buffer, value] : buffers)
                known = known || buffer.is_same(entry.first);
            if (!known)
                buffers.push_back(entry);
        }
    return buffers;
}

/// A child wrote to the memory that the Sequential was given.
[[nodiscard]] inline bool writes_input(std::deque<captured_call> const& calls,
                                       std::vector<std::size_t> const& chain) {
    auto const& given = calls[chain.front()].inputs[0];
    for (auto const number : chain) {
        auto const& call = calls[number];
        if (call.edits_arguments && given.has_storage() && call.inputs[0].is_alias_of(given))
            return true;
    }
    return false;
}

[[nodiscard]] inline captured_call joined(std::deque<captured_call>& calls,
                                          std::vector<std::size_t> const& chain,
                                          torch::nn::SequentialImpl& module, std::size_t row) {
    auto const& first = calls[chain.front()];
    auto const& last = calls[chain.back()];
    captured_call call;
    call.row = row;
    call.parent = first.parent;
    call.recomputed = first.recomputed;
    call.makes_graph = first.makes_graph;
    call.finished = true;
    first.stored->each_argument([&](at::Tensor& input) {
        call.stored = hook::store<at::Tensor, at::Tensor>(
            module,
            [](torch::nn::SequentialImpl& self, at::Tensor value) {
                return self.forward(std::move(value));
            },
            input);
    });
    call.context.emplace(
        call_context{first.context->generators, first.context->thread, buffers_of(calls, chain)});
    call.edits_arguments = writes_input(calls, chain);
    call.has_own_arguments = first.has_own_arguments;
    call.inputs = first.inputs;
    call.outputs = last.outputs;
    call.output_edges = last.output_edges;
    call.has_gradients = last.has_gradients;
    call.gradients = last.gradients;
    return call;
}

}  // namespace detail

/// Adds the calls of one Sequential behind `calls` and makes it the parent of its children's calls.
/// Where a call of its first child is not the begin of such a pass, no call is added at all.
inline void infer_sequential(module_tree const& tree, std::deque<captured_call>& calls,
                             std::size_t row) {
    auto& module = dynamic_cast<torch::nn::SequentialImpl&>(tree.module(row));
    std::vector<std::size_t> children;
    for (auto const& child : module.children())
        children.push_back(static_cast<std::size_t>(tree.row_of(child.get())));
    if (children.empty())
        return;
    std::vector<std::vector<std::size_t>> passes;
    for (std::size_t number = 0; number < calls.size(); ++number) {
        if (calls[number].row != children.front())
            continue;
        if (auto pass = detail::chain_from(calls, children, number))
            passes.push_back(std::move(*pass));
        else if (!tree.is_shared(children.front()))
            return;
    }
    std::int64_t index = 0;
    for (auto const& pass : passes) {
        auto call = detail::joined(calls, pass, module, row);
        call.index = index++;
        for (auto const member : pass)
            calls[member].parent = static_cast<std::ptrdiff_t>(calls.size());
        calls.push_back(std::move(call));
    }
}

/// Puts inferred calls, which were added behind the others, before those of their children.
inline void sort_calls(module_tree const& tree, std::deque<captured_call>& calls) {
    std::vector<std::size_t> begin(calls.size());  // in recorded order
    std::vector<std::size_t> order(calls.size());
    for (std::size_t number = 0; number < calls.size(); ++number)
        begin[number] = order[number] = number;
    for (std::size_t number = 0; number < calls.size(); ++number)
        if (auto const parent = calls[number].parent;
            parent > static_cast<std::ptrdiff_t>(number)) {
            auto& first = begin[static_cast<std::size_t>(parent)];
            first = (std::min)(first, number);
        }
    auto const key = [&](std::size_t number) {
        return std::pair{begin[number], tree.nodes()[calls[number].row].depth};
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    std::vector<std::ptrdiff_t> place(calls.size());
    for (std::size_t position = 0; position < order.size(); ++position)
        place[order[position]] = static_cast<std::ptrdiff_t>(position);
    std::deque<captured_call> sorted;
    for (auto const number : order) {
        auto& call = sorted.emplace_back(std::move(calls[number]));
        if (call.parent != captured_call::none)
            call.parent = place[static_cast<std::size_t>(call.parent)];
    }
    calls = std::move(sorted);
}

}  // namespace component_benchmark::capture
