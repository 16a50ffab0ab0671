// CAPTURE: the gradients that the loss really sends to the outputs of every call
#pragma once

#include <component_benchmark/capture/captured_call.hpp>
#include <component_benchmark/capture/inner_gradients.hpp>
#include <component_benchmark/capture/shapes.hpp>
#include <component_benchmark/core/error.hpp>
#include <component_benchmark/core/failure.hpp>
#include <component_benchmark/hook/record.hpp>

#include <ATen/ops/ones_like.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace component_benchmark::capture {

/// One backward from `loss`, a scalar, through the graph of the forward that `listener` has
/// recorded, which it uses up. Forwards that it calls again (checkpointing) are recorded, too.
/// Throws `error` when the loss is no scalar that requires a gradient or the backward throws.
template<class Session>
void find_output_gradients(at::Tensor const& loss, Session& listener) {
    if (!loss.requires_grad() || loss.numel() != 1)
        throw error{"the loss must be one number that requires a gradient; it has shape " +
                    shape_text(loss) + (loss.requires_grad() ? "" : " and requires no gradient")};
    auto& calls = listener.calls();
    auto const before = calls.size();
    // Not the outputs themselves: one that is edited in place later has moved on in the graph.
    torch::autograd::variable_list places;
    std::vector<inner_gradients<captured_call>> inner;
    for (auto& call : calls) {
        for (auto const& edge : call.output_edges)
            if (edge.is_valid())
                places.push_back(tensor_at(edge));
        if (call.output_edges.size() > 1)
            inner.emplace_back(call);
    }
    auto const needs_graph_again =
        std::any_of(inner.begin(), inner.end(), [](auto const& one) { return one.needs_graph(); });
    torch::autograd::variable_list gradients;
    try {
        hook::listening const now{listener};
        if (!places.empty())
            gradients = torch::autograd::grad({loss}, places, {at::ones_like(loss)},
                                              /*retain_graph=*/needs_graph_again,
                                              /*create_graph=*/false, /*allow_unused=*/true);
    } catch (...) {
        throw error{"the backward from the loss failed: " + current_failure()};
    }
    std::size_t next = 0;
    for (std::size_t number = 0; number < before; ++number) {
        auto& call = calls[number];
        call.has_gradients = true;
        for (auto const& edge : call.output_edges)
            call.gradients.push_back(edge.is_valid() ? gradients[next++] : at::Tensor{});
    }
    for (auto& one : inner)
        one.take_out();
}

}  // namespace component_benchmark::capture
