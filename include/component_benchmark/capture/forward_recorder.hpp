// CAPTURE: forwards of the model with their calls recorded
#pragma once

#include <component_benchmark/capture/model_state.hpp>
#include <component_benchmark/capture/module_tree.hpp>
#include <component_benchmark/capture/output_gradients.hpp>
#include <component_benchmark/capture/session.hpp>
#include <component_benchmark/capture/shapes.hpp>
#include <component_benchmark/core/error.hpp>
#include <component_benchmark/core/failure.hpp>

#include <ATen/ThreadLocalState.h>
#include <ATen/autocast_mode.h>

#include <algorithm>
#include <memory>
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

    /// One forward, with `details` of the calls of each row. Throws `error` when it fails.
    [[nodiscard]] std::unique_ptr<session> record(std::vector<call_detail> const& details) {
        return record(details, {});
    }

    /// The same as `first`, which `record` gave, with copies of the arguments that were edited
    /// after they were captured: by their own call or by what came later. In one more forward,
    /// unless there are none.
    [[nodiscard]] std::unique_ptr<session> record_edited(std::unique_ptr<session> first,
                                                         std::vector<call_detail> const& details) {
        auto const to_copy = edited(*first, copy_all_ || state_.has_silent_edits());
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

    /// The step gave a loss.
    [[nodiscard]] bool has_loss() const noexcept { return has_loss_; }

    /// Parameters and buffers that the last backward of the loss wrote.
    [[nodiscard]] std::vector<at::Tensor> const& written_backward() const noexcept {
        return written_backward_;
    }

private:
    [[nodiscard]] std::unique_ptr<session> record(std::vector<call_detail> const& details,
                                                  std::vector<bool> const& to_copy) {
        state_.rewind();
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
        if (has_loss_) {
            std::unordered_map<void const*, std::size_t> before;  // hashes, by address
            for (auto const& tensor : state_.differing())
                before.emplace(tensor.unsafeGetTensorImpl(), hash_of_bytes(tensor));
            find_output_gradients(loss, *seen);
            written_backward_ = state_.differing();
            std::erase_if(written_backward_, [&](at::Tensor const& tensor) {
                auto const known = before.find(tensor.unsafeGetTensorImpl());
                return known != before.end() && known->second == hash_of_bytes(tensor);
            });
        }
        return seen;
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
    std::vector<at::Tensor> written_backward_;
};

}  // namespace component_benchmark::capture
