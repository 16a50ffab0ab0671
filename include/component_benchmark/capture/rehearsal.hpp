// CAPTURE: one run of a component before anything is measured
#pragma once

#include <component_benchmark/capture/argument_watch.hpp>
#include <component_benchmark/capture/component.hpp>
#include <component_benchmark/capture/model_state.hpp>
#include <component_benchmark/capture/module_tree.hpp>
#include <component_benchmark/capture/tensor_bytes.hpp>
#include <component_benchmark/core/by_call.hpp>
#include <component_benchmark/core/failure.hpp>

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace component_benchmark::capture {

/// What a component was found to do when it ran alone for the first time.
struct rehearsed {
    std::string failure = {};  ///< why it cannot run alone, or empty
    std::string remark = {};   ///< what is missing in its numbers, or empty
    bool writes = false;       ///< it leaves other parameters behind
};

/// Shows whether a component runs alone, and, by value, whether it writes parameters, even where
/// no version counter moves. A component that does is put back before every repetition; one that
/// writes to its arguments so gets fresh ones. If it leaves other values when it runs again, as an
/// optimizer inside backward whose momentum nobody knows of, there is state that cannot be put
/// back: its backward is not repeated any more.
template<class Tree, class State, class Component>
class rehearsal {
public:
    rehearsal(Tree const& tree, State& state)
        : tree_{tree}, state_{state}, reached_(tree.nodes().size()) {}

    [[nodiscard]] rehearsed run(std::size_t row, Component& one) {
        rehearsed found;
        try {
            auto const look = !proven_clean(row, one);
            bool clean = !one.calls().empty();
            tensor_set reached;
            for (auto& group : one.calls()) {
                auto first = run_once(group, one, look);
                reached.merge(first.reached);
                clean = clean && !first.writes && !first.misses_leaves;
                if (first.misses_leaves)
                    found.remark = backward_is_partial;
                if (first.writes)
                    look_again(row, group, one, found);
            }
            if (clean)
                reached_[row] = std::move(reached);
        } catch (...) {
            found.failure = current_failure();
            state_.rewind();
            if (found.failure.empty())
                found.failure = "it threw";
        }
        return found;
    }

    /// Rows whose state is not known entirely.
    [[nodiscard]] std::vector<std::size_t> const& hidden() const noexcept { return hidden_; }

private:
    using tensor_set = std::unordered_set<void const*>;  // by address

    struct run_facts {
        bool misses_leaves = false;
        bool writes = false;  ///< parameters, or buffers in its backward
        tensor_set reached;   ///< parameters for which the backward found a gradient
    };

    [[nodiscard]] run_facts run_once(auto& group, Component const& one, bool look) const {
        run_facts found;
        auto state = one.buffers();
        state.insert(state.end(), one.reachable().begin(), one.reachable().end());
        argument_watch arguments{group.captured(), state};
        auto again = group.replay();
        again.prepare();
        again.forward();
        auto const buffers = look ? hash_of_bytes(one.buffers()) : 0;
        if (again.prepare_backward()) {
            found.misses_leaves = again.misses_leaves();
            again.backward();
            for (auto const& parameter : again.reached_parameters())
                found.reached.insert(parameter.unsafeGetTensorImpl());
        } else {
            found.misses_leaves = again.why_no_backward() == nothing_to_reach;
        }
        arguments.look();
        found.writes =
            look && (state_.differs(one.reachable()) || hash_of_bytes(one.buffers()) != buffers);
        return found;
    }

    // The same call from the same state: it leaves the same values if that is all the state it has.
    void look_again(std::size_t row, auto& group, Component const& one, rehearsed& found) {
        auto const values = [&] {
            return std::pair{hash_of_bytes(one.reachable()), hash_of_bytes(one.buffers())};
        };
        auto const first = values();
        if (state_.differs(one.reachable())) {
            group.rewind_with(state_);
            found.writes = true;
        }
        state_.rewind();
        static_cast<void>(run_once(group, one, /*look=*/false));
        if (values() != first) {
            group.refuse_backward(hidden_state);
            // its ancestors were found to have it, too: this says it more exactly
            std::erase_if(hidden_, [&](std::size_t above) { return tree_.is_below(row, above); });
            hidden_.push_back(row);
        }
        state_.rewind();
    }

    // A run of an ancestor that wrote nothing has gone through this module, forward and backward:
    // it found a gradient for each parameter that requires one. Nothing less shows it, because an
    // ancestor may cut its children off the graph, or not call them at all.
    [[nodiscard]] bool proven_clean(std::size_t row, Component const& one) const {
        auto const& parameters = one.reachable();
        auto const all_in = [&](tensor_set const& reached) {
            return std::all_of(parameters.begin(), parameters.end(), [&](auto const& parameter) {
                return reached.contains(parameter.unsafeGetTensorImpl());
            });
        };
        for (auto above = tree_.nodes()[row].parent; !parameters.empty() && above != node::none;
             above = tree_.nodes()[static_cast<std::size_t>(above)].parent)
            if (all_in(reached_[static_cast<std::size_t>(above)]))
                return true;
        return false;
    }

    Tree const& tree_;
    State& state_;
    std::vector<tensor_set> reached_;  // by clean runs, of each row
    std::vector<std::size_t> hidden_;
};

}  // namespace component_benchmark::capture
