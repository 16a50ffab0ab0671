// CAPTURE: what a profile may disturb in the model and its training, put back and compared by value
#pragma once

#include <component_benchmark/capture/declared_state.hpp>
#include <component_benchmark/capture/generators.hpp>
#include <component_benchmark/capture/saved_tensor.hpp>
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

/// The arguments of the root: the tensors in them, and what cannot be looked into, with the reason.
struct batch_look {
    std::vector<at::Tensor> tensors;
    std::vector<std::string> unknown;
};

/// Saves parameters, buffers, gradients, `requires_grad`, training flags, generators, default
/// dtype, threads, stream and determinism; `put_back` restores all. (Grad mode and autocast are the
/// thread's: they are guarded where user's code runs.) While it lives the model's `.grad` are taken
/// away, so nothing can be added to them. (A template as `basic_session` is.)
template<class Root>
class basic_model_state {
    using saved_tensor = basic_saved_tensor<Root>;

public:
    /// `batch`: a forward may write to it as well.
    /// `others`: modules of the model that are not registered, with their paths.
    basic_model_state(Root& root, batch_look const& batch,
                      std::vector<std::pair<std::string, Root*>> const& others = {})
        : root_{root}, training_{root}, generators_{default_generators()} {
        c10::AutoGradMode const no_grad{false};
        for (auto const& item : root.named_parameters())
            save(item.key(), item.value(), saved_tensor::parameter);
        for (auto const& item : root.named_buffers())
            save(item.key(), item.value(), saved_tensor::buffer);
        for (auto const& [path, module] : others) {
            training_.append(training_flags{*module});
            for (auto const& item : module->named_parameters())
                save(path + "." + item.key(), item.value(), saved_tensor::parameter);
            for (auto const& item : module->named_buffers())
                save(path + "." + item.key(), item.value(), saved_tensor::buffer);
        }
        registered_ = tensors_.size();
        failures_ = batch.unknown;
        for (auto const& tensor : batch.tensors)
            save(std::to_string(tensors_.size() - registered_ + 1), tensor, saved_tensor::argument);
        // last: nothing throws from here on, so no gradient is lost
        for (auto& saved : tensors_)
            saved.take_gradient();
    }

    basic_model_state(basic_model_state const&) = delete;
    basic_model_state& operator=(basic_model_state const&) = delete;
    ~basic_model_state() { static_cast<void>(put_back()); }

    /// Everything but the gradients as it was: before a repetition that might see what an earlier
    /// one wrote.
    void rewind() {
        for (auto& saved : tensors_) {
            saved.restore_graph();
            if (saved.restore_value())
                saved.was_changed = true;
        }
        put_back_surroundings();
    }

    /// The same of these tensors only, where nothing else can have changed.
    void rewind(std::vector<at::Tensor> const& tensors) {
        for (auto const& tensor : tensors)
            if (auto const found = index_.find(tensor.unsafeGetTensorImpl());
                found != index_.end()) {
                auto& saved = tensors_[found->second];
                saved.restore_graph();
                if (saved.restore_value())
                    saved.was_changed = true;
            }
        put_back_surroundings();
    }

    /// The modules that declare state of their own.
    [[nodiscard]] declared_states& declared() noexcept { return declared_; }
    [[nodiscard]] declared_states const& declared() const noexcept { return declared_; }

    /// By value, one of these parameters is not what it was, or one that is known to be written.
    [[nodiscard]] bool differs(std::vector<at::Tensor> const& parameters) const {
        for (auto const& tensor : parameters)
            if (auto const found = index_.find(tensor.unsafeGetTensorImpl());
                found != index_.end() && tensors_[found->second].differs())
                return true;
        for (auto const& saved : tensors_)
            if (saved.what == saved_tensor::parameter && saved.was_changed && saved.differs())
                return true;
        return false;
    }

    /// One of these is not what it was, and none was ever found so before.
    [[nodiscard]] bool differs_unexplained(std::vector<at::Tensor> const& parameters) const {
        for (auto const& tensor : parameters)
            if (auto const found = index_.find(tensor.unsafeGetTensorImpl());
                found != index_.end() && !tensors_[found->second].was_changed &&
                tensors_[found->second].differs())
                return true;
        return false;
    }

    /// Parameters and buffers that are not what they were, whoever wrote them.
    [[nodiscard]] std::vector<at::Tensor> differing() const {
        std::vector<at::Tensor> found;
        for (auto const& saved : tensors_)
            if (saved.what != saved_tensor::argument && saved.differs())
                found.push_back(saved.tensor);
        return found;
    }

    /// A tensor of the batch has another value and the same version: nothing else shows the edit.
    [[nodiscard]] bool has_silent_edits() const {
        for (auto const& saved : tensors_)
            if (saved.what == saved_tensor::argument && saved.version == version_of(saved.tensor) &&
                saved.differs())
                return true;
        return false;
    }

    /// "parameter a.weight"
    [[nodiscard]] std::string title_of(at::Tensor const& tensor) const {
        auto const found = index_.find(tensor.unsafeGetTensorImpl());
        return found == index_.end() ? "a tensor" : tensors_[found->second].title();
    }

    /// Something was changed that cannot be put back: the state is not verified.
    void doubt(std::string what) { failures_.push_back(std::move(what)); }

    /// Puts everything back and says what was compared; what cannot be put back is said, and the
    /// rest goes on. Calling it again does nothing.
    verification put_back() noexcept {
        if (std::exchange(done_, true))
            return report_;
        for (auto& saved : tensors_)
            attempt(saved, [&] { saved.restore_gradient(); });
        for (auto& saved : tensors_)
            attempt(saved, [&] {
                saved.restore_graph();
                // whatever is known to write parameters was put back at once
                if (saved.what == saved_tensor::parameter && saved.differs())
                    doubt(saved.title() + " was written by a component that was not seen to do so");
                if (saved.restore_value() || saved.was_changed)
                    report_.changed.push_back(saved.title());
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
    void save(std::string name, at::Tensor const& tensor, typename saved_tensor::kind what) {
        if (!tensor.defined() ||
            !index_.emplace(tensor.unsafeGetTensorImpl(), tensors_.size()).second)
            return;
        tensors_.push_back(saved_tensor::of(what, std::move(name), tensor));
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
        attempt(saved.title(), restore);
    }

    void put_back_surroundings() {
        declared_.put_back_detached();
        training_.put_back();
        restore_globals();
        generators_.put_back();
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
        std::size_t counts[std::size(saved_tensor::kinds)] = {};
        report_.verified =
            generators_.is_current() && training_.is_current() && declared_.is_current();
        for (auto const& saved : tensors_) {
            if (saved.comparable)
                ++counts[saved.what];
            else
                report_.not_compared.push_back(saved.title() +
                                               " (its layout cannot be looked into)");
            report_.verified = report_.verified && saved.is_unchanged() &&
                               saved.tensor.requires_grad() == saved.requires_grad;
        }
        for (auto const what :
             {saved_tensor::parameter, saved_tensor::buffer, saved_tensor::argument})
            if (counts[what] > 0)
                report_.compared.push_back(std::to_string(counts[what]) + " " +
                                           saved_tensor::kinds[what] +
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
