// CAPTURE -> profile: one call made again, alone, as it was
#pragma once

#include <component_benchmark/capture/captured_call.hpp>
#include <component_benchmark/capture/device_timer.hpp>
#include <component_benchmark/capture/graph_leaves.hpp>
#include <component_benchmark/capture/model_state.hpp>
#include <component_benchmark/capture/saved_tensor.hpp>
#include <component_benchmark/capture/tensor_parts.hpp>
#include <component_benchmark/capture/thread_state.hpp>
#include <component_benchmark/core/by_call.hpp>

#include <ATen/autocast_mode.h>
#include <ATen/ops/ones_like.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/nn/module.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace component_benchmark::capture {

/// While it lives, the thread's state (grad mode, autocast, stream) is the one of the captured
/// call. For each repetition: `prepare`, `forward`, and, when `prepare_backward` is true,
/// `backward`. Only `forward` and `backward` are the component's own work. (A template as
/// `basic_session` is.)
template<class State>
class basic_replay {
    using saved_tensor = basic_saved_tensor<State>;

public:
    /// `written`: tensors that the call writes, its arguments and own buffers aside; every
    /// repetition finds them as they are now. `refused`: why there must be no backward, or empty.
    basic_replay(captured_call const& call, std::vector<at::Tensor> const& parameters,
                 std::vector<at::Tensor> const& written = {}, std::string refused = {})
        : call_{call}, refused_{std::move(refused)}, thread_{call.context->thread} {
        // as they are now: a preprocessor may have been at work
        for (auto const& tensor : written)
            written_.push_back(saved_tensor::of(saved_tensor::parameter, {}, tensor));
        for (auto const& parameter : parameters) {
            if (parameter.requires_grad())
                parameters_.push_back(parameter);
            if (!accelerator_)
                accelerator_ = accelerator_of(parameter);
        }
    }

    basic_replay(basic_replay const&) = delete;
    basic_replay& operator=(basic_replay const&) = delete;

    /// Fresh arguments where the call edits them, generators and buffers as at its entry.
    void prepare() {
        release();
        for (auto& saved : written_) {
            saved.restore_graph();
            saved.restore_value();
        }
        call_.context->training.put_back();
        if (!keeps_casts_)
            at::autocast::clear_cache();  // or only the first repetition casts the weights
        call_.context->generators->put_back();
        for (auto const& [buffer, value] : call_.context->buffers)
            if (!same_bytes(buffer, value))  // one with overlapping memory cannot be written
                overwrite(buffer, value);
        declared_.clear();
        for (auto const& state : call_.context->declared) {
            state->put_back_detached();
            for (auto const& leaf : state->leaves())
                declared_.push_back(leaf);
        }
        if (stored_ == nullptr || needs_copies() || call_.stored->writes_arguments())
            make_arguments();
    }

    /// Whether autocast may cast weights in this call.
    [[nodiscard]] bool is_under_autocast() const {
        for (auto const device : at::autocast::_AUTOCAST_SUPPORTED_DEVICES)
            if (at::autocast::is_autocast_enabled(device))
                return true;
        return false;
    }

    /// Whether a repetition finds the weights that another one has cast.
    void keep_casts(bool kept) {
        keeps_casts_ = kept;
        at::autocast::clear_cache();
    }

    /// The device that it works on: that of its arguments, or else of its parameters, with the
    /// stream of the captured call. Null: the CPU.
    [[nodiscard]] device_timer<>* device() {
        if (!device_is_known_) {
            device_is_known_ = true;
            std::optional<c10::DeviceIndex> found;
            call_.stored->each_argument([&](at::Tensor& argument) {
                if (!found)
                    found = accelerator_of(argument);
            });
            if (found || accelerator_)
                device_.emplace(found ? *found : *accelerator_);
        }
        return device_ ? &*device_ : nullptr;
    }

    /// From now on each repetition gets copies of its arguments that no other one has used.
    void copy_arguments_each_time() noexcept { copies_each_time_ = true; }

    void forward() { stored_->run(); }

    /// Pairs the outputs with their gradients; false when there is nothing to go back through, and
    /// `why_no_backward` says why.
    [[nodiscard]] bool prepare_backward() {
        std::size_t position = 0;
        bool any_needs = false;
        stored_->each_result([&](at::Tensor& output) {
            auto const given = position < call_.gradients.size();
            auto const gradient = given ? call_.gradients[position] : at::Tensor{};
            ++position;
            if (!output.requires_grad())
                return;
            any_needs = true;
            if (call_.has_gradients && !gradient.defined())
                return;
            outputs_.push_back(output);
            output_gradients_.push_back(gradient.defined() ? gradient : ones_for(output));
        });
        targets_ = leaves_;
        targets_.insert(targets_.end(), parameters_.begin(), parameters_.end());
        targets_.insert(targets_.end(), declared_.begin(), declared_.end());
        std::string_view why;
        if (!any_needs)
            why = stored_->knows_result() ? no_gradient_needed : result_is_unknown;
        else if (outputs_.empty())
            why = not_in_the_loss;
        else if (targets_.empty())
            why = nothing_to_reach;
        else
            why = refused_;
        why_no_backward_ = why;
        return why_no_backward_.empty();
    }

    /// Gradients of inputs and parameters; `.grad` and its accumulation are left alone.
    void backward() {
        results_ = torch::autograd::grad(outputs_, targets_, output_gradients_,
                                         /*retain_graph=*/false, /*create_graph=*/false,
                                         /*allow_unused=*/true);
    }

    /// Drops the outputs and gradients of the last repetition.
    void release() {
        outputs_.clear();
        output_gradients_.clear();
        results_.clear();
        if (stored_ != nullptr)
            stored_->forget_result();
    }

    [[nodiscard]] std::string const& why_no_backward() const noexcept { return why_no_backward_; }

    /// Something that requires a gradient in the last forward is out of the reach of its backward.
    /// To be asked between `prepare_backward` and `backward`.
    [[nodiscard]] bool misses_leaves() const { return capture::misses_leaves(outputs_, targets_); }

    /// Tensors of the last forward's result.
    [[nodiscard]] std::vector<at::Tensor> outputs() {
        std::vector<at::Tensor> found;
        stored_->each_result([&](at::Tensor& output) { found.push_back(output); });
        return found;
    }

    /// Gradients of the last backward: of the inputs that require one, then of the parameters, then
    /// of declared state, each undefined when the outputs do not depend on it.
    [[nodiscard]] std::vector<at::Tensor> const& gradients() const noexcept { return results_; }

private:
    [[nodiscard]] bool needs_copies() const noexcept {
        return call_.edits_arguments || copies_each_time_;
    }

    void make_arguments() {
        stored_ = call_.stored->copy();
        leaves_.clear();
        storage_copies copies;
        same_for_same arguments;
        stored_->each_argument([&](at::Tensor& argument) {
            arguments.replace(argument, [&](at::Tensor const& kept) {
                if (kept.requires_grad())
                    leaves_.push_back(kept);
                return needs_copies() ? editable(kept, copies) : kept;
            });
        });
    }

    // at::ones_like knows no sparse tensors, nor nested ones that are not contiguous.
    static at::Tensor ones_for(at::Tensor const& output) {
        auto const parts = is_plain(output) ? std::vector<at::Tensor>{} : parts_of(output);
        if (parts.empty())
            return at::ones_like(output);
        auto ones = output.detach().clone();
        parts_of(ones).back().variable_data().fill_(1);
        return ones;
    }

    // An in-place operation on a leaf that requires a gradient throws; this one is no leaf.
    static at::Tensor editable(at::Tensor const& leaf, storage_copies& copies) {
        auto copy = copies.copy(leaf);
        if (leaf.requires_grad())
            torch::autograd::impl::set_gradient_edge(copy,
                                                     torch::autograd::impl::gradient_edge(leaf));
        return copy;
    }

    captured_call const& call_;
    std::vector<saved_tensor> written_;
    std::string refused_;
    thread_state_guard thread_;
    std::vector<at::Tensor> parameters_;
    std::vector<at::Tensor> declared_;  // leaves that require a gradient
    std::unique_ptr<hook::stored_call> stored_;
    std::vector<at::Tensor> leaves_;
    std::vector<at::Tensor> outputs_;
    std::vector<at::Tensor> output_gradients_;
    std::vector<at::Tensor> targets_;
    std::vector<at::Tensor> results_;
    std::string why_no_backward_;
    bool copies_each_time_ = false;
    bool keeps_casts_ = false;
    std::optional<c10::DeviceIndex> accelerator_;  // of a parameter
    std::optional<device_timer<>> device_;
    bool device_is_known_ = false;
};

using replay = basic_replay<model_state>;

}  // namespace component_benchmark::capture
