// CAPTURE: the outside's share of a gradient, where a call returns what another output is made from
#pragma once

#include <component_benchmark/capture/captured_call.hpp>

#include <ATen/core/Tensor.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <unordered_set>
#include <vector>

namespace component_benchmark::capture {

/// A tensor that stands for this place of the graph in a backward.
[[nodiscard]] inline at::Tensor tensor_at(torch::autograd::Edge const& place) {
    auto stand_in = at::empty({0});
    torch::autograd::impl::set_gradient_edge(stand_in, place);
    return stand_in;
}

/// Of one call: a model that returns its logits and the loss made from them gets, by a backward
/// from that loss, the whole gradient at the logits. A replay that is given both would count the
/// way from the loss to the logits twice. (A template as `basic_session` is.)
template<class Call>
class inner_gradients {
    using edge = torch::autograd::Edge;

public:
    /// Looks at the call's outputs; to be made while their graph lives.
    explicit inner_gradients(Call& call) : call_{call} {
        auto const& places = call.output_edges;
        sources_.resize(places.size());
        for (std::size_t output = 0; output < places.size(); ++output)
            for (std::size_t other = 0; other < places.size(); ++other)
                if (other != output && places[output].is_valid() && places[other].is_valid() &&
                    !(places[output] == places[other]) && reaches(places[other], places[output]))
                    sources_[output].push_back(other);
    }

    /// An output is on the way back from another one: `take_out` goes through the graph.
    [[nodiscard]] bool needs_graph() const {
        return std::any_of(sources_.begin(), sources_.end(),
                           [](auto const& of_one) { return !of_one.empty(); });
    }

    /// Takes from the call's gradients what its own outputs send; one that gets nothing from
    /// outside becomes undefined. Uses the graph without using it up; where its nodes do not allow
    /// that, the gradient stays as it was.
    void take_out() {
        drop_repeated();
        std::vector<std::size_t> order(sources_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        // the last made first: what it sends must be known before what it is made from
        std::sort(order.begin(), order.end(),
                  [&](auto a, auto b) { return made_at(a) > made_at(b); });
        for (auto const output : order)
            if (!sources_[output].empty() && call_.gradients[output].defined())
                take_out(output);
    }

private:
    // A number that grows as nodes are made; leaves, whose number is the greatest, come first.
    [[nodiscard]] static std::uint64_t age_of(edge const& place) {
        auto const number = place.function->sequence_nr();
        return number == (std::numeric_limits<std::uint64_t>::max)() ? 0 : number;
    }
    [[nodiscard]] std::uint64_t made_at(std::size_t output) const {
        auto const& place = call_.output_edges[output];
        return place.is_valid() ? age_of(place) : 0;
    }

    // What was made before `to` cannot lead to it.
    [[nodiscard]] static bool reaches(edge const& from, edge const& to) {
        auto const oldest = age_of(to);
        std::unordered_set<void const*> seen;
        std::vector<torch::autograd::Node*> open{from.function.get()};
        while (!open.empty()) {
            auto* const node = open.back();
            open.pop_back();
            for (auto const& next : node->next_edges()) {
                if (!next.is_valid() || !seen.insert(next.function.get()).second)
                    continue;
                if (next.function == to.function)
                    return true;
                if (age_of(next) >= oldest)
                    open.push_back(next.function.get());
            }
        }
        return false;
    }

    // The same tensor returned twice has one gradient.
    void drop_repeated() {
        auto const& places = call_.output_edges;
        for (std::size_t output = 0; output < places.size(); ++output)
            if (places[output].is_valid() &&
                std::find(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(output),
                          places[output]) != places.begin() + static_cast<std::ptrdiff_t>(output))
                call_.gradients[output] = at::Tensor{};
    }

    void take_out(std::size_t output) {
        std::vector<at::Tensor> from;
        std::vector<at::Tensor> gradients;
        for (auto const source : sources_[output])
            if (auto const& gradient = call_.gradients[source]; gradient.defined()) {
                from.push_back(tensor_at(call_.output_edges[source]));
                gradients.push_back(gradient);
            }
        if (from.empty())
            return;
        try {
            auto const sent =
                torch::autograd::grad(from, {tensor_at(call_.output_edges[output])}, gradients,
                                      /*retain_graph=*/true, /*create_graph=*/false,
                                      /*allow_unused=*/true)[0];
            if (!sent.defined())
                return;
            auto& whole = call_.gradients[output];
            // all of it, but for rounding
            whole = at::allclose(whole, sent, /*rtol=*/1e-5, /*atol=*/0.0) ? at::Tensor{}
                                                                           : whole - sent;
        } catch (...) {  // a node that may be used once only
        }
    }

    Call& call_;
    std::vector<std::vector<std::size_t>> sources_;  // of each output, those made from it
};

}  // namespace component_benchmark::capture
