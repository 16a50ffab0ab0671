// CAPTURE: what a profile may disturb in the model and its training, put back and compared by value
#pragma once

#include <component_benchmark/capture/declared_state.hpp>
#include <component_benchmark/capture/generators.hpp>
#include <component_benchmark/capture/tensor_bytes.hpp>
#include <component_benchmark/capture/tensor_parts.hpp>
#include <component_benchmark/capture/thread_state.hpp>
#include <component_benchmark/capture/training_flags.hpp>
#include <component_benchmark/core/failure.hpp>
#include <component_benchmark/core/node.hpp>

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/nn/module.h>

#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace component_benchmark::capture {

/// Saves parameters, buffers, gradients, `requires_grad`, training flags, generators, default
/// dtype, threads, stream and determinism; `put_back` restores all. (Grad mode and autocast are the
/// thread's: they are guarded where user's code runs.) While it lives the model's `.grad` are taken
/// away, so nothing can be added to them. (A template as `basic_session` is.)
template<class Root>
class basic_model_state {
public:
    /// `batch`: the tensors in the arguments of the root, which a forward may write to as well.
    /// `others`: modules of the model that are not registered, with their paths.
    basic_model_state(Root& root, std::vector<at::Tensor> const& batch,
                      std::vector<std::pair<std::string, Root*>> const& others = {})
        : root_{root}, training_{root}, generators_{default_generators()} {
        c10::AutoGradMode const no_grad{false};
        for (auto const& item : root.named_parameters())
            save(item.key(), item.value(), parameter);
        for (auto const& item : root.named_buffers())
            save(item.key(), item.value(), buffer);
        for (auto const& [path, module] : others) {
            training_.append(training_flags{*module});
            for (auto const& item : module->named_parameters())
                save(path + "." + item.key(), item.value(), parameter);
            for (auto const& item : module->named_buffers())
                save(path + "." + item.key(), item.value(), buffer);
        }
        registered_ = tensors_.size();
        for (auto const& tensor : batch)
            save(std::to_string(tensors_.size() - registered_ + 1), tensor, argument);
        // last: nothing throws from here on, so no gradient is lost
        for (auto& saved : tensors_)
            if (saved.tensor.is_leaf() && saved.requires_grad) {
                saved.gradient = std::exchange(saved.tensor.mutable_grad(), at::Tensor{});
                saved.hooks.swap(torch::autograd::impl::hooks(saved.tensor));
            }
    }

    basic_model_state(basic_model_state const&) = delete;
    basic_model_state& operator=(basic_model_state const&) = delete;
    ~basic_model_state() { static_cast<void>(put_back()); }

    /// Everything but the gradients as it was: before a repetition that might see what an earlier
    /// one wrote.
    void rewind() {
        for (auto& saved : tensors_) {
            restore_graph(saved);
            if (restore_value(saved))
                saved.was_changed = true;
        }
        declared_.put_back_detached();
        training_.put_back();
        restore_globals();
        generators_.put_back();
    }

    /// The modules that declare state of their own.
    [[nodiscard]] declared_states& declared() noexcept { return declared_; }
    [[nodiscard]] declared_states const& declared() const noexcept { return declared_; }

    /// One of these parameters is not what it was, by value.
    [[nodiscard]] bool differs(std::vector<at::Tensor> const& parameters) const {
        for (auto const& tensor : parameters)
            if (auto const found = index_.find(tensor.unsafeGetTensorImpl());
                found != index_.end() && !is_unchanged(tensors_[found->second]))
                return true;
        return false;
    }

    /// Something was changed that cannot be put back: the state is not verified.
    void doubt(std::string what) { failures_.push_back(std::move(what)); }

    /// Puts everything back and says what was compared; what cannot be put back is said, and the
    /// rest goes on. Calling it again does nothing.
    verification put_back() noexcept {
        if (std::exchange(done_, true))
            return report_;
        for (auto& saved : tensors_)
            attempt(saved, [&] { restore_gradient(saved); });
        for (auto& saved : tensors_)
            attempt(saved, [&] {
                restore_graph(saved);
                if (restore_value(saved) || saved.was_changed)
                    report_.changed.push_back(title(saved));
            });
        attempt("declared state", [&] { declared_.put_back(); });
        attempt("training flags", [&] { training_.put_back(); });
        attempt("default dtype, threads, stream or determinism", [&] { restore_globals(); });
        attempt("generators", [&] { generators_.put_back(); });
        attempt("the comparison", [&] { verify(); });
        report_.verified = report_.verified && failures_.empty();
        for (auto const& failure : failures_)
            report_.not_compared.push_back(failure);
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
        std::vector<std::unique_ptr<torch::autograd::FunctionPreHook>> hooks;  // a leaf's
        std::shared_ptr<torch::autograd::Node> function;  // that made it; null for a leaf
        std::uint32_t output = 0;
        bool requires_grad = false;
        bool comparable = true;
        bool was_changed = false;
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
                            .hooks = {},
                            .function = tensor.grad_fn(),
                            .output = static_cast<std::uint32_t>(tensor.output_nr()),
                            .requires_grad = tensor.requires_grad(),
                            .comparable = is_plain(tensor) || !parts_of(tensor).empty(),
                            .was_changed = false,
                            .version = version_of(tensor)});
    }

    [[nodiscard]] static std::string title(saved_tensor const& saved) {
        return std::string{kinds[saved.what]} + " " + saved.name;
    }

    [[nodiscard]] static bool is_unchanged(saved_tensor const& saved) {
        return !saved.comparable ||
               (same_memory(saved.tensor, saved.alias) && same_bytes(saved.tensor, saved.value));
    }

    /// True when there was something to put back.
    static bool restore_value(saved_tensor& saved) {
        auto const changed = !is_unchanged(saved);
        if (changed) {
            saved.tensor.set_data(saved.alias);
            overwrite(saved.tensor, saved.value);
        }
        set_version(saved.tensor, saved.version);
        return changed;
    }

    // An in-place operation makes a tensor the output of the graph of the captured forward.
    static void restore_graph(saved_tensor& saved) {
        if (saved.tensor.grad_fn() != saved.function)
            torch::autograd::impl::set_gradient_edge(saved.tensor, {saved.function, saved.output});
        if (saved.tensor.is_leaf() && saved.tensor.requires_grad() != saved.requires_grad)
            saved.tensor.requires_grad_(saved.requires_grad);
    }

    static void restore_gradient(saved_tensor& saved) {
        if (saved.function || !saved.requires_grad)
            return;
        saved.tensor.mutable_grad() = std::exchange(saved.gradient, at::Tensor{});
        saved.hooks.swap(torch::autograd::impl::hooks(saved.tensor));
        saved.hooks.clear();
    }

    template<class Restore>
    void attempt(std::string const& what, Restore restore) noexcept {
        try {
            restore();
        } catch (...) {
            failures_.push_back(what + " could not be put back: " + current_failure());
        }
    }
    template<class Restore>
    void attempt(saved_tensor const& saved, Restore restore) noexcept {
        attempt(title(saved), restore);
    }

    void restore_globals() const {
        if (c10::get_default_dtype() != default_dtype_)
            c10::set_default_dtype(default_dtype_);
        if (at::get_num_threads() != threads_)
            at::set_num_threads(threads_);
        make_current(stream_);
        auto& context = at::globalContext();
        if (context.deterministicAlgorithms() != deterministic_ ||
            context.deterministicAlgorithmsWarnOnly() != deterministic_warn_)
            context.setDeterministicAlgorithms(deterministic_, deterministic_warn_);
        at::autocast::clear_cache();  // its casts of weights may be of another moment
    }

    void verify() {
        std::size_t counts[std::size(kinds)] = {};
        report_.verified =
            generators_.is_current() && training_.is_current() && declared_.is_current();
        for (auto const& saved : tensors_) {
            if (saved.comparable)
                ++counts[saved.what];
            else
                report_.not_compared.push_back(title(saved) +
                                               " (its layout cannot be looked into)");
            report_.verified = report_.verified && is_unchanged(saved) &&
                               saved.tensor.requires_grad() == saved.requires_grad;
        }
        for (auto const what : {parameter, buffer, argument})
            if (counts[what] > 0)
                report_.compared.push_back(std::to_string(counts[what]) + " " + kinds[what] +
                                           (counts[what] == 1 ? "" : "s"));
        report_.compared.emplace_back("generators");
        if (declared_.size() > 0)
            report_.compared.push_back("declared state of " + std::to_string(declared_.size()) +
                                       (declared_.size() == 1 ? " module" : " modules"));
        for (auto const& failure : declared_.failures()) {
            report_.verified = false;
            report_.not_compared.push_back(failure);
        }
        if (!declared_.is_comparable())
            report_.not_compared.emplace_back(
                "declared members of types that cannot be compared (put back)");
        report_.not_compared.emplace_back("undeclared state");
        compare_registrations();
    }

    void compare_registrations() {
        std::size_t now = 0;
        for (auto const& tensors : {root_.parameters(), root_.buffers()})
            for (auto const& tensor : tensors) {
                auto const known = index_.find(tensor.unsafeGetTensorImpl());
                if (tensor.defined() && (known == index_.end() || known->second >= registered_))
                    ++now;
            }
        if (now == 0)
            return;
        report_.verified = false;
        report_.changed.push_back(std::to_string(now) +
                                  " tensors were registered by the forward and stay");
    }

    Root& root_;
    std::vector<saved_tensor> tensors_;
    std::size_t registered_ = 0;  ///< the first so many are parameters and buffers
    std::unordered_map<void const*, std::size_t> index_;  // by address of the tensor
    declared_states declared_;
    training_flags training_;
    generator_states generators_;
    caffe2::TypeMeta default_dtype_ = c10::get_default_dtype();
    int threads_ = at::get_num_threads();
    std::optional<c10::Stream> stream_ = current_stream();
    bool deterministic_ = at::globalContext().deterministicAlgorithms();
    bool deterministic_warn_ = at::globalContext().deterministicAlgorithmsWarnOnly();
    bool done_ = false;
    std::vector<std::string> failures_;
    verification report_;
};

using model_state = basic_model_state<torch::nn::Module>;

}  // namespace component_benchmark::capture
