// CAPTURE: what a profile may disturb in the model and its training, put back and compared by value
#pragma once

#include <component_benchmark/capture/generators.hpp>
#include <component_benchmark/capture/tensor_bytes.hpp>
#include <component_benchmark/core/node.hpp>

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <torch/nn/module.h>

#include <iterator>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace component_benchmark::capture {

/// Saves parameters, buffers, gradients, `requires_grad`, training flags, generators, default
/// dtype, threads and determinism; `put_back` restores all. (Grad mode and autocast are the
/// thread's: they are guarded where user's code runs.) While it lives the model's `.grad` are taken
/// away, so nothing can be added to them.
class model_state {
public:
    /// `batch`: the tensors in the arguments of the root, which a forward may write to as well.
    model_state(torch::nn::Module& root, std::vector<at::Tensor> const& batch)
        : generators_{default_generators()} {
        c10::AutoGradMode const no_grad{false};
        for (auto const& item : root.named_parameters())
            save(item.key(), item.value(), parameter);
        for (auto const& item : root.named_buffers())
            save(item.key(), item.value(), buffer);
        for (auto const& tensor : batch)
            save(std::to_string(tensors_.size()), tensor, argument);
        for (auto const& module : root.modules(/*include_self=*/false))
            training_.emplace_back(module.get(), module->is_training());
        training_.insert(training_.begin(), {&root, root.is_training()});
        // last: nothing throws from here on, so no gradient is lost
        for (auto& saved : tensors_)
            if (saved.tensor.is_leaf() && saved.requires_grad)
                saved.gradient = std::exchange(saved.tensor.mutable_grad(), at::Tensor{});
    }

    model_state(model_state const&) = delete;
    model_state& operator=(model_state const&) = delete;

    ~model_state() {
        try {
            static_cast<void>(put_back());
        } catch (...) {  // NOLINT: nothing more can be done on this way out
        }
    }

    /// Values of parameters and buffers and the generators as they were: before every repetition
    /// that might see what an earlier one wrote.
    void rewind() {
        for (auto& tensor : tensors_)
            restore_value(tensor);
        generators_.put_back();
    }

    /// A parameter of `part` is not what it was, by value.
    [[nodiscard]] bool differs(torch::nn::Module const& part) const {
        for (auto const& tensor : part.parameters())
            if (auto const found = index_.find(tensor.unsafeGetTensorImpl());
                found != index_.end() && !is_unchanged(tensors_[found->second]))
                return true;
        return false;
    }

    /// Puts everything back and says what was compared. Calling it again does nothing.
    verification put_back() {
        if (done_)
            return report_;
        done_ = true;
        for (auto& tensor : tensors_) {
            if (restore_value(tensor))
                report_.changed.push_back(std::string{kinds[tensor.what]} + " " + tensor.name);
            restore_flags(tensor);
        }
        for (auto const& [module, flag] : training_)
            if (module->is_training() != flag)
                module->train(flag);
        generators_.put_back();
        restore_globals();
        verify();
        return report_;
    }

private:
    enum kind { parameter, buffer, argument };
    static constexpr char const* kinds[] = {"parameter", "buffer", "argument"};

    struct saved_tensor {
        kind what = parameter;
        std::string name;
        at::Tensor tensor;
        at::Tensor alias;  // of the storage it had
        at::Tensor value;
        at::Tensor gradient;
        bool requires_grad = false;
        bool comparable = true;
        std::uint32_t version = 0;
    };

    void save(std::string name, at::Tensor const& tensor, kind what) {
        if (!tensor.defined() ||
            !index_.emplace(tensor.unsafeGetTensorImpl(), tensors_.size()).second)
            return;
        tensors_.push_back({.what = what,
                            .name = std::move(name),
                            .tensor = tensor,
                            .alias = tensor.detach(),
                            .value = tensor.detach().clone(),
                            .gradient = {},
                            .requires_grad = tensor.requires_grad(),
                            .comparable = tensor.layout() == c10::kStrided,
                            .version = version_of(tensor)});
    }

    [[nodiscard]] static bool is_unchanged(saved_tensor const& saved) {
        return !saved.comparable ||
               (saved.tensor.has_storage() && saved.alias.has_storage() &&
                saved.tensor.storage().data() == saved.alias.storage().data() &&
                same_bytes(saved.tensor, saved.value));
    }

    /// True when there was something to put back.
    static bool restore_value(saved_tensor& saved) {
        auto const changed = !is_unchanged(saved);
        if (changed) {
            if (saved.tensor.storage().data() != saved.alias.storage().data() ||
                saved.tensor.sizes() != saved.alias.sizes())
                saved.tensor.set_data(saved.alias);
            overwrite(saved.tensor, saved.value);
        }
        if (!saved.tensor.is_inference() && version_of(saved.tensor) != saved.version) {
            auto counter = saved.tensor.unsafeGetTensorImpl()->version_counter();  // a handle
            counter.set_version(saved.version);
        }
        return changed;
    }

    static void restore_flags(saved_tensor& saved) {
        if (saved.tensor.is_leaf() && saved.tensor.requires_grad() != saved.requires_grad)
            saved.tensor.requires_grad_(saved.requires_grad);
        if (saved.tensor.is_leaf() && saved.requires_grad)
            saved.tensor.mutable_grad() = std::exchange(saved.gradient, at::Tensor{});
    }

    void restore_globals() const {
        if (c10::get_default_dtype() != default_dtype_)
            c10::set_default_dtype(default_dtype_);
        if (at::get_num_threads() != threads_)
            at::set_num_threads(threads_);
        auto& context = at::globalContext();
        if (context.deterministicAlgorithms() != deterministic_ ||
            context.deterministicAlgorithmsWarnOnly() != deterministic_warn_)
            context.setDeterministicAlgorithms(deterministic_, deterministic_warn_);
    }

    void verify() {
        std::size_t counts[std::size(kinds)] = {};
        report_.verified = generators_.is_current();
        for (auto const& saved : tensors_) {
            if (saved.comparable)
                ++counts[saved.what];
            else
                report_.not_compared.push_back(std::string{kinds[saved.what]} + " " + saved.name +
                                               " (not a strided tensor)");
            report_.verified = report_.verified && is_unchanged(saved);
        }
        for (auto const what : {parameter, buffer, argument})
            if (counts[what] > 0)
                report_.compared.push_back(std::to_string(counts[what]) + " " + kinds[what] +
                                           (counts[what] == 1 ? "" : "s"));
        report_.compared.emplace_back("generators");
        report_.not_compared.emplace_back("unregistered tensors");
    }

    std::vector<saved_tensor> tensors_;
    std::unordered_map<c10::TensorImpl const*, std::size_t> index_;
    std::vector<std::pair<torch::nn::Module*, bool>> training_;
    generator_states generators_;
    caffe2::TypeMeta default_dtype_ = c10::get_default_dtype();
    int threads_ = at::get_num_threads();
    bool deterministic_ = at::globalContext().deterministicAlgorithms();
    bool deterministic_warn_ = at::globalContext().deterministicAlgorithmsWarnOnly();
    bool done_ = false;
    verification report_;
};

}  // namespace component_benchmark::capture
