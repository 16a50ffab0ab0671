// CAPTURE: forwards of the model with their calls recorded
#pragma once

#include <component_benchmark/capture/model_state.hpp>
#include <component_benchmark/capture/module_tree.hpp>
#include <component_benchmark/capture/output_gradients.hpp>
#include <component_benchmark/capture/session.hpp>
#include <component_benchmark/capture/shapes.hpp>
#include <component_benchmark/core/clock.hpp>
#include <component_benchmark/core/error.hpp>
#include <component_benchmark/core/failure.hpp>

#include <ATen/ThreadLocalState.h>
#include <ATen/autocast_mode.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace component_benchmark::capture {

/// A `Step` runs the model's forward under a session and gives the loss, undefined when there is
/// none. Every forward begins with the state that the model was found in, so all give their calls
/// the same inputs. (A template as `basic_session` is.)
template<class Step, class Root>
class basic_forward_recorder {
    using module_tree = basic_module_tree<Root>;
    using session = basic_session<module_tree>;
    using model_state = basic_model_state<Root>;

public:
    /// `copy_all`: every argument is copied, not only those that are seen to be edited.
    basic_forward_recorder(Step run, module_tree const& tree, model_state& state, bool copy_all)
        : run_{std::move(run)}, tree_{tree}, state_{state}, copy_all_{copy_all} {}

    /// One forward, with `details` of the calls of each row. In one more, the first time that
    /// parameters are written where no version counter shows whether before the backward or in it.
    /// Throws `error` when it fails.
    [[nodiscard]] std::unique_ptr<session> record(std::vector<call_detail> const& details) {
        return record(details, {});
    }

    /// The same as `first`, which `record` gave, with copies of the arguments that were edited
    /// after they were captured: by their own call or by what came later. In one more forward,
    /// unless there are none.
    [[nodiscard]] std::unique_ptr<session> record_edited(std::unique_ptr<session> first,
                                                         std::vector<call_detail> const& details) {
        auto const to_copy = edited(*first, copy_all_ || state_.tensors().has_silent_edits());
        if (std::find(to_copy.begin(), to_copy.end(), true) == to_copy.end())
            return first;
        first.reset();
        auto second = record(details, to_copy);
        auto const again = edited(*second, false);
        for (std::size_t number = 0; number < again.size(); ++number)
            if (auto& call = second->calls()[number]; again[number] && !call.has_own_arguments)
                call.opaque = "its arguments are edited, but not in every forward";
        return second;
    }

    /// One forward with the calls timed by `now`, and the loss, if the step gives one. Throws what
    /// the forward throws.
    [[nodiscard]] std::pair<std::unique_ptr<session>, at::Tensor> time(
        std::vector<call_detail> const& details, clock_function now) {
        rewind();
        auto seen =
            std::make_unique<session>(tree_, details, std::vector<bool>{}, &state_.declared());
        seen->time_calls(now);
        at::ThreadLocalStateGuard const grad_mode_and_autocast{at::ThreadLocalState{}};
        auto loss = run_(*seen);
        at::autocast::clear_cache();
        return {std::move(seen), std::move(loss)};
    }

    /// Puts back what the last forward changed.
    void rewind() {
        if (auto const written = std::exchange(written_, std::nullopt))
            state_.rewind_after(*written);
        else
            state_.rewind();
    }

    /// The step gave a loss.
    [[nodiscard]] bool has_loss() const noexcept { return has_loss_; }

    /// Parameters and buffers that the last backward of the loss wrote.
    [[nodiscard]] std::vector<at::Tensor> const& written_backward() const noexcept {
        return written_backward_;
    }

private:
    [[nodiscard]] std::unique_ptr<session> record(std::vector<call_detail> const& details,
                                                  std::vector<bool> const& to_copy) {
        auto seen = run(details, to_copy);
        if (by_value_ || !is_unclear())
            return seen;
        by_value_ = true;
        seen.reset();
        auto const unclear = std::exchange(written_backward_, {});
        seen = run(details, to_copy);
        // What is not written this time may be so by a backward now and then.
        for (auto const& tensor : unclear)
            if (std::none_of(written_->begin(), written_->end(),
                             [&](at::Tensor const& one) { return one.is_same(tensor); }))
                written_backward_.push_back(tensor);
        return seen;
    }

    [[nodiscard]] std::unique_ptr<session> run(std::vector<call_detail> const& details,
                                               std::vector<bool> const& to_copy) {
        rewind();
        auto seen = std::make_unique<session>(tree_, details, to_copy, &state_.declared());
        at::Tensor loss;
        try {
            at::ThreadLocalStateGuard const grad_mode_and_autocast{at::ThreadLocalState{}};
            loss = run_(*seen);
        } catch (error const&) {
            throw;
        } catch (...) {
            throw error{failure_in(*seen, current_failure())};
        }
        at::autocast::clear_cache();
        has_loss_ = loss.defined();
        std::unordered_map<void const*, std::size_t> before;  // hashes, by address
        if (has_loss_) {
            for (auto const& tensor :
                 by_value_ ? state_.tensors().differing() : state_.tensors().seen_written())
                before.emplace(tensor.unsafeGetTensorImpl(), hash_of_bytes(tensor));
            find_output_gradients(loss, *seen);
        }
        written_ = state_.tensors().differing();
        written_backward_.clear();
        if (has_loss_)
            std::copy_if(written_->begin(), written_->end(), std::back_inserter(written_backward_),
                         [&](at::Tensor const& tensor) {
                             auto const known = before.find(tensor.unsafeGetTensorImpl());
                             return known == before.end() || known->second != hash_of_bytes(tensor);
                         });
        return seen;
    }

    // A fused optimizer in backward, or a forward that writes weights by raw pointers?
    [[nodiscard]] bool is_unclear() const {
        return std::any_of(
            written_backward_.begin(), written_backward_.end(),
            [&](at::Tensor const& tensor) { return state_.tensors().hides_writes(tensor); });
    }

    [[nodiscard]] std::string failure_in(session const& seen, std::string const& what) const {
        auto const* deepest = seen.deepest_failure();
        if (deepest == nullptr)
            return "the forward to be captured failed: " + what;
        auto const& facts = tree_.nodes()[deepest->row];
        return "the forward to be captured failed in " + name_in_text(facts) + " (" + facts.type +
               ") on inputs " + shapes_text(deepest->inputs) + ": " + what;
    }

    [[nodiscard]] static std::vector<bool> edited(session& seen, bool all) {
        std::vector<bool> found;
        for (auto const& call : seen.calls())
            found.push_back(call.stored != nullptr && (all || call.arguments_moved()));
        return found;
    }

    Step run_;
    module_tree const& tree_;
    model_state& state_;
    bool copy_all_;
    bool has_loss_ = false;
    bool by_value_ = false;  // what is written before the backward is found by value, always
    // What differs as long as nothing but a forward has run: nothing before the first. After a
    // failure, or when components may have run, it is not known.
    std::optional<std::vector<at::Tensor>> written_ = std::vector<at::Tensor>{};
    std::vector<at::Tensor> written_backward_;
};

}  // namespace component_benchmark::capture
