// CAPTURE: what a profile may disturb in the model and its training, put back and compared by value
#pragma once

#include <component_benchmark/capture/declared_state.hpp>
#include <component_benchmark/capture/generators.hpp>
#include <component_benchmark/capture/process_settings.hpp>
#include <component_benchmark/capture/saved_tensors.hpp>
#include <component_benchmark/capture/tensor_bytes.hpp>
#include <component_benchmark/capture/tensor_parts.hpp>
#include <component_benchmark/capture/training_flags.hpp>
#include <component_benchmark/core/failure.hpp>
#include <component_benchmark/core/node.hpp>

#include <torch/csrc/autograd/variable.h>
#include <torch/nn/module.h>

#include <iterator>
#include <string>
#include <unordered_set>
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
            tensors_.save(item.key(), item.value(), saved_tensor::parameter);
        for (auto const& item : root.named_buffers())
            tensors_.save(item.key(), item.value(), saved_tensor::buffer);
        for (auto const& [path, module] : others) {
            training_.append(training_flags{*module});
            for (auto const& item : module->named_parameters())
                tensors_.save(path + "." + item.key(), item.value(), saved_tensor::parameter);
            for (auto const& item : module->named_buffers())
                tensors_.save(path + "." + item.key(), item.value(), saved_tensor::buffer);
        }
        failures_ = batch.unknown;
        auto const registered = tensors_.all().size();
        for (auto const& tensor : batch.tensors)
            tensors_.save(std::to_string(tensors_.all().size() - registered + 1), tensor,
                          saved_tensor::argument);
        // last: nothing throws from here on, so no gradient is lost
        for (auto& saved : tensors_.all())
            saved.take_gradient();
    }

    basic_model_state(basic_model_state const&) = delete;
    basic_model_state& operator=(basic_model_state const&) = delete;
    ~basic_model_state() { static_cast<void>(put_back()); }

    /// Everything but the gradients as it was: before a repetition that might see what an earlier
    /// one wrote.
    void rewind() {
        rewind_where([](saved_tensor const&) { return true; });
    }

    /// The same where nothing has run since `differing` gave all that is `written`, so that the
    /// others need not be compared once more.
    void rewind_after(std::vector<at::Tensor> const& written) {
        std::unordered_set<void const*> known;
        for (auto const& tensor : written)
            known.insert(tensor.unsafeGetTensorImpl());
        rewind_where([&](saved_tensor const& saved) {
            return saved.what == saved_tensor::argument || !saved.is_in_place() ||
                   known.contains(saved.tensor.unsafeGetTensorImpl());
        });
    }

    /// The same of these tensors only, where nothing else can have changed.
    void rewind(std::vector<at::Tensor> const& tensors) {
        for (auto const& tensor : tensors)
            if (auto* saved = tensors_.find(tensor); saved != nullptr) {
                saved->restore_graph();
                if (saved->restore_value())
                    saved->was_changed = true;
            }
        put_back_surroundings();
    }

    [[nodiscard]] basic_saved_tensors<Root> const& tensors() const noexcept { return tensors_; }

    /// The modules that declare state of their own.
    [[nodiscard]] declared_states& declared() noexcept { return declared_; }
    [[nodiscard]] declared_states const& declared() const noexcept { return declared_; }

    /// Something was changed that cannot be put back: the state is not verified.
    void doubt(std::string what) { failures_.push_back(std::move(what)); }

    /// Puts everything back and says what was compared; what cannot be put back is said, and the
    /// rest goes on. Calling it again does nothing.
    verification put_back() noexcept {
        if (std::exchange(done_, true))
            return report_;
        for (auto& saved : tensors_.all())
            attempt(saved, [&] { saved.restore_gradient(); });
        for (auto& saved : tensors_.all())
            attempt(saved, [&] {
                saved.restore_graph();
                auto const was_in_place = saved.is_in_place();
                auto const differed = saved.restore_value();
                saved.is_back = !differed || saved.is_unchanged();
                // whatever is known to write parameters was put back at once
                if (saved.what == saved_tensor::parameter && was_in_place && differed)
                    doubt(saved.title() + " was written by a component that was not seen to do so");
                if (differed || saved.was_changed)
                    report_.changed.push_back(saved.title());
            });
        // These run code of the user's, which may write to tensors.
        auto const compare_again = declared_.size() > 0 || !training_.is_current();
        attempt("declared state", [&] { declared_.put_back(); });
        attempt("training flags", [&] { training_.put_back(); });
        attempt("default dtype, threads, stream or determinism", [&] { settings_.put_back(); });
        attempt("generators", [&] { generators_.put_back(); });
        attempt("the comparison", [&] { verify(compare_again); });
        report_.verified = report_.verified && failures_.empty();
        for (auto const& failure : failures_)
            report_.not_compared.push_back(failure);
        return report_;
    }

private:
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

    template<class Test>
    void rewind_where(Test may_differ) {
        for (auto& saved : tensors_.all()) {
            saved.restore_graph();
            if (!may_differ(saved))
                set_version(saved.tensor, saved.version);
            else if (saved.restore_value())
                saved.was_changed = true;
        }
        put_back_surroundings();
    }

    void put_back_surroundings() {
        declared_.put_back_detached();
        training_.put_back();
        settings_.put_back();
        generators_.put_back();
    }

    void verify(bool compare_again) {
        std::size_t counts[std::size(saved_tensor::kinds)] = {};
        report_.verified =
            generators_.is_current() && training_.is_current() && declared_.is_current();
        for (auto const& saved : tensors_.all()) {
            if (saved.comparable)
                ++counts[saved.what];
            else
                report_.not_compared.push_back(saved.title() +
                                               " (its layout cannot be looked into)");
            report_.verified = report_.verified && saved.is_back &&
                               (!compare_again || saved.is_unchanged()) &&
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
                auto const* known = tensors_.find(tensor);
                if (tensor.defined() && (known == nullptr || known->what == saved_tensor::argument))
                    ++now;
            }
        if (now == 0)
            return;
        report_.verified = false;
        report_.changed.push_back(std::to_string(now) +
                                  " tensors were registered by the forward and stay");
    }

    Root& root_;
    basic_saved_tensors<Root> tensors_;
    declared_states declared_;
    training_flags training_;
    generator_states generators_;
    basic_process_settings<Root> settings_;
    bool done_ = false;
    std::vector<std::string> failures_;
    verification report_;
};

using model_state = basic_model_state<torch::nn::Module>;

}  // namespace component_benchmark::capture
