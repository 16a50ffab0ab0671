// hook -> CAPTURE: one recorded call with all that a replay needs
#pragma once

#include <component_benchmark/capture/call_span.hpp>
#include <component_benchmark/capture/declared_state.hpp>
#include <component_benchmark/capture/generators.hpp>
#include <component_benchmark/capture/tensor_bytes.hpp>
#include <component_benchmark/capture/tensor_look.hpp>
#include <component_benchmark/capture/thread_state.hpp>
#include <component_benchmark/capture/training_flags.hpp>
#include <component_benchmark/hook/stored_call.hpp>

#include <torch/csrc/autograd/edge.h>

#include <concepts>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace component_benchmark::capture {

/// How much of a row's calls is kept; none of it: they are only counted.
struct call_detail {
    bool looks = false;      ///< of arguments and results
    bool context = false;    ///< what a replay finds around it
    bool arguments = false;  ///< their memory stays
    bool gradients = false;  ///< that the loss sends to the results

    static constexpr call_detail all() noexcept { return {true, true, true, true}; }

    constexpr call_detail& operator|=(call_detail const& other) noexcept {
        looks = looks || other.looks;
        context = context || other.context;
        arguments = arguments || other.arguments;
        gradients = gradients || other.gradients;
        return *this;
    }
    bool operator==(call_detail const&) const = default;
};

/// Buffers and their values at one moment; the values are shared by calls that saw the same.
using buffer_values = std::vector<std::pair<at::Tensor, at::Tensor>>;

/// What surrounded the call when it began: without it a replay of a parent gives its children
/// other inputs (dropout, buffers, branches).
struct call_context {
    std::shared_ptr<generator_states const> generators;
    thread_state thread;
    training_flags training;
    buffer_values buffers;
    state_copies declared;
};

/// One call of a module. (A template as `basic_module_tree` is.)
template<class Context>
struct basic_captured_call {
    static constexpr std::ptrdiff_t none = -1;

    std::size_t row = 0;
    std::int64_t index = 0;  ///< among the calls of its module
    std::ptrdiff_t parent = none;
    bool recomputed = false;
    bool makes_graph = false;  ///< gradients were enabled
    bool autocast = false;
    bool finished = false;  ///< the module returned; false: it threw
    std::string opaque;     ///< why it cannot be replayed

    std::unique_ptr<hook::stored_call> stored;
    std::optional<Context> context;
    bool edits_arguments = false;     ///< the call itself wrote to an argument
    bool has_own_arguments = false;   ///< they were copied at entry
    bool begins_with_tensor = false;  ///< and could be stored

    std::vector<tensor_look> inputs;   ///< as given; only while capturing
    std::vector<tensor_look> outputs;  ///< as returned; only while capturing
    std::vector<at::Tensor> returned;  ///< what it gave in the model; empty where not known
    std::vector<torch::autograd::Edge> output_edges;  ///< only while capturing
    bool has_gradients = false;                       ///< the loss was given
    std::vector<at::Tensor> gradients;  ///< of the outputs, undefined where the loss needs none

    call_span span;                 ///< of a forward whose calls are timed
    std::string state_sizes;        ///< of the declared state in the module and below
    std::int64_t result_bytes = 0;  ///< of outputs with memory of their own, where that is known
    std::string in_shapes;
    std::string out_shapes;
    std::string dtypes;
    std::string signature;  ///< calls with the same one are measured once

    [[nodiscard]] bool replayable() const noexcept {
        return stored != nullptr && finished && opaque.empty();
    }

    /// The call gets arguments of its own.
    void copy_arguments() {
        storage_copies copies;
        same_for_same arguments;
        stored->each_argument([&](at::Tensor& tensor) {
            arguments.replace(tensor, [&](at::Tensor const& original) {
                auto copy = copies.copy(original);
                return original.requires_grad() ? copy.requires_grad_(true) : copy;
            });
        });
        has_own_arguments = true;
    }

    /// It cannot be replayed, for this reason.
    void give_up(std::string why) {
        opaque = std::move(why);
        outputs.clear();
        returned.clear();
        output_edges.clear();
        stored.reset();
    }

    /// A version counter of an argument has moved since it was given.
    [[nodiscard]] bool arguments_moved() const {
        for (auto const& input : inputs)
            if (input.was_written())
                return true;
        return false;
    }

    /// Cuts the arguments off the graph of the captured forward; they become leaves.
    void detach() {
        same_for_same arguments;
        auto const cut = [](at::Tensor const& original) {
            if (original.is_inference())
                return original;
            auto leaf = original.detach();
            return original.requires_grad() ? leaf.requires_grad_(true) : leaf;
        };
        if (stored != nullptr && !has_own_arguments)
            stored->each_argument([&](at::Tensor& argument) { arguments.replace(argument, cut); });
        for (auto const& output : outputs)
            if (output.was_written())
                returned.clear();  // what it was is not known any more
        inputs.clear();
        outputs.clear();
        output_edges.clear();
    }

    /// Gives back what only a replay needs.
    void release() {
        stored.reset();
        context.reset();
        gradients.clear();
        returned.clear();
    }
};

using captured_call = basic_captured_call<call_context>;

/// Functions that take the calls so are compiled where they are used, and not in every file that
/// includes the umbrella.
template<class T>
concept captured_calls = std::same_as<T, std::deque<captured_call>>;

}  // namespace component_benchmark::capture
