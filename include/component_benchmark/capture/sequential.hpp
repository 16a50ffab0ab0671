// CAPTURE: calls of torch::nn::Sequential, whose forward is a template that no hook can see
// A call is inferred where its children were called in their order, under one parent, each with
// exactly the tensor that the one before returned. Children that somebody calls by hand in just
// this way cannot be told from it, and do the same work.
#pragma once

#include <component_benchmark/capture/captured_call.hpp>
#include <component_benchmark/capture/module_tree.hpp>

#include <torch/nn/modules/container/sequential.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <typeinfo>
#include <unordered_set>
#include <utility>
#include <vector>

namespace component_benchmark::capture {

/// Not for classes derived from it: their forward may do more.
[[nodiscard]] inline bool is_sequential(torch::nn::Module const& module) {
    return typeid(module) == typeid(torch::nn::SequentialImpl);
}

namespace detail {

/// The numbers of calls with one parent, in their order, and where each call stands among them.
struct call_order {
    std::vector<std::vector<std::size_t>> below;  // of parent + 1
    std::vector<std::size_t> place;

    explicit call_order(captured_calls auto const& calls)
        : below(calls.size() + 1), place(calls.size()) {
        for (std::size_t number = 0; number < calls.size(); ++number) {
            auto& siblings = below[static_cast<std::size_t>(calls[number].parent + 1)];
            place[number] = siblings.size();
            siblings.push_back(number);
        }
    }
};

/// The calls of one pass through the children, the first of which is `first`.
[[nodiscard]] std::optional<std::vector<std::size_t>> pass_from(
    captured_calls auto const& calls, call_order const& order,
    std::vector<std::size_t> const& children, std::size_t first, std::size_t recorded_parent) {
    auto const& siblings = order.below[recorded_parent];
    auto const begin = order.place[first];
    if (begin + children.size() > siblings.size())
        return std::nullopt;
    std::vector<std::size_t> pass;
    for (std::size_t position = 0; position < children.size(); ++position) {
        auto const number = siblings[begin + position];
        auto const& call = calls[number];
        auto const fits = call.row == children[position] && call.finished && call.opaque.empty() &&
                          call.inputs.size() == 1 && call.begins_with_tensor &&
                          (position + 1 == children.size() || call.outputs.size() == 1) &&
                          (position == 0 || calls[pass.back()].outputs[0].is_same(call.inputs[0]));
        if (!fits)
            return std::nullopt;
        pass.push_back(number);
    }
    return pass;
}

/// The buffers of all children as the first child found them.
[[nodiscard]] buffer_values buffers_of(captured_calls auto const& calls,
                                       std::vector<std::size_t> const& pass) {
    buffer_values buffers;
    std::unordered_set<void const*> known;  // by address
    for (auto const number : pass)
        for (auto const& entry : calls[number].context->buffers)
            if (known.insert(entry.first.unsafeGetTensorImpl()).second)
                buffers.push_back(entry);
    return buffers;
}

/// A child wrote to the memory that the Sequential was given.
[[nodiscard]] bool writes_input(captured_calls auto const& calls,
                                std::vector<std::size_t> const& chain) {
    auto const& given = calls[chain.front()].inputs[0];
    for (auto const number : chain) {
        auto const& call = calls[number];
        if (call.edits_arguments && call.inputs[0].shares_memory_with(given))
            return true;
    }
    return false;
}

[[nodiscard]] captured_call joined(captured_calls auto& calls,
                                   std::vector<std::size_t> const& chain,
                                   torch::nn::SequentialImpl& module, std::size_t row,
                                   bool with_arguments) {
    auto const& first = calls[chain.front()];
    auto const& last = calls[chain.back()];
    captured_call call;
    call.row = row;
    call.parent = first.parent;
    call.recomputed = first.recomputed;
    call.makes_graph = first.makes_graph;
    call.finished = true;
    call.autocast = first.autocast;
    call.begins_with_tensor = true;
    if (with_arguments && first.stored != nullptr) {
        first.stored->each_argument([&](at::Tensor& input) {
            call.stored = hook::store<at::Tensor, at::Tensor>(
                module,
                [](torch::nn::SequentialImpl& self, at::Tensor value) {
                    return self.forward(std::move(value));
                },
                input);
        });
        training_flags training;
        for (auto const number : chain)
            training.append(calls[number].context->training);
        call.context.emplace(call_context{first.context->generators, first.context->thread,
                                          std::move(training), buffers_of(calls, chain),
                                          first.context->declared});
    }
    call.edits_arguments = writes_input(calls, chain);
    call.has_own_arguments = first.has_own_arguments;
    call.inputs = first.inputs;
    call.outputs = last.outputs;
    call.output_edges = last.output_edges;
    call.has_gradients = last.has_gradients;
    call.gradients = last.gradients;
    call.returned = last.returned;
    call.span = {first.span.begin_ns, last.span.end_ns, first.span.first_node, last.span.end_node};
    return call;
}

struct sequential_row {
    std::size_t row;
    std::vector<std::size_t> children;  // rows
};

/// The Sequentials that `wanted` wants more of than a count and whose calls can be told from
/// others: the longest first, so that the shorter ones get what those leave.
template<class Tree>
[[nodiscard]] std::vector<sequential_row> sequentials_of(Tree const& tree,
                                                         std::vector<call_detail> const& wanted) {
    auto const& nodes = tree.nodes();
    std::vector<sequential_row> found;
    std::vector<bool> is_called_apart(nodes.size());  // a module of another kind holds it, too
    for (std::size_t row = 0; row < nodes.size(); ++row) {
        if (tree.is_region(row))
            continue;
        auto& module = tree.module(row);
        auto const above = nodes[row].parent;
        if (above == node::none || !is_sequential(tree.module(static_cast<std::size_t>(above))))
            is_called_apart[static_cast<std::size_t>(tree.row_of(&module))] = true;
        if (!wanted[row].looks || nodes[row].alias_of != node::none || !is_sequential(module))
            continue;
        sequential_row one{row, {}};
        for (auto const& child : module.children())
            one.children.push_back(static_cast<std::size_t>(tree.row_of(child.get())));
        if (!one.children.empty())
            found.push_back(std::move(one));
    }
    std::stable_sort(found.begin(), found.end(), [](auto const& left, auto const& right) {
        auto const a = left.children.size();
        auto const b = right.children.size();
        return a != b ? a > b : left.children < right.children;
    });
    std::vector<sequential_row> told;
    for (std::size_t place = 0; place < found.size(); ++place) {
        auto const& children = found[place].children;
        auto const like = [&](std::size_t other) {
            return other < found.size() && found[other].children == children;
        };
        if (!like(place - 1) && !like(place + 1) &&
            !(children.size() == 1 && is_called_apart[children.front()]))
            told.push_back(found[place]);
    }
    return told;
}

}  // namespace detail

/// Adds the calls of every Sequential that `wanted` wants more of than a count behind `calls`, and
/// makes them the parents of their children's calls. Where a call of a first child is not the begin
/// of such a pass, that Sequential gets no call at all. No more do those whose calls are like those
/// of another: of Sequentials with the same children, or with one child that others hold as well.
void infer_sequentials(module_tree const& tree, captured_calls auto& calls,
                       std::vector<call_detail> const& wanted) {
    detail::call_order const order{calls};
    std::vector<std::size_t> parents(calls.size());
    std::vector<std::vector<std::size_t>> of_row(tree.nodes().size());
    for (std::size_t number = 0; number < calls.size(); ++number) {
        parents[number] = static_cast<std::size_t>(calls[number].parent + 1);
        of_row[calls[number].row].push_back(number);
    }
    std::vector<bool> taken(calls.size());
    for (auto const& [row, children] : detail::sequentials_of(tree, wanted)) {
        std::vector<std::vector<std::size_t>> passes;
        for (auto const first : of_row[children.front()]) {
            auto const maker = calls[first].parent;
            if (taken[first] ||
                (maker != captured_call::none && calls[static_cast<std::size_t>(maker)].row == row))
                continue;  // the latter: of the root, whose call is seen
            auto pass = detail::pass_from(calls, order, children, first, parents[first]);
            auto const is_free = pass && std::none_of(pass->begin(), pass->end(),
                                                      [&](auto number) { return taken[number]; });
            if (is_free) {
                for (auto const number : *pass)
                    taken[number] = true;
                passes.push_back(std::move(*pass));
            } else if (!tree.is_shared(children.front())) {
                for (auto const& others : passes)
                    for (auto const number : others)
                        taken[number] = false;
                passes.clear();
                break;
            }
        }
        std::int64_t index = 0;
        for (auto const& pass : passes) {
            auto call = detail::joined(calls, pass,
                                       dynamic_cast<torch::nn::SequentialImpl&>(tree.module(row)),
                                       row, wanted[row].arguments);
            call.index = index++;
            for (auto const member : pass)
                calls[member].parent = static_cast<std::ptrdiff_t>(calls.size());
            calls.push_back(std::move(call));
        }
    }
}

/// Puts inferred calls, which were added behind the others, before those of their children.
void sort_calls(module_tree const& tree, captured_calls auto& calls) {
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
