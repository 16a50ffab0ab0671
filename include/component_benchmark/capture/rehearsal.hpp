// CAPTURE: one run of a component before anything is measured
#pragma once

#include <component_benchmark/capture/argument_watch.hpp>
#include <component_benchmark/capture/component.hpp>
#include <component_benchmark/capture/model_state.hpp>
#include <component_benchmark/capture/module_tree.hpp>
#include <component_benchmark/core/failure.hpp>

#include <string>
#include <vector>

namespace component_benchmark::capture {

/// Shows whether a component runs alone, and, by value, whether it writes parameters, even where
/// no version counter moves. A component that does is put back before every repetition; one that
/// writes to its arguments so gets fresh ones.
template<class State>
class rehearsal {
public:
    rehearsal(module_tree const& tree, State& state)
        : tree_{tree}, state_{state}, clean_(tree.nodes().size()) {}

    /// Why the component cannot run alone, or empty. `writes` says afterwards whether it leaves
    /// other parameters behind.
    [[nodiscard]] std::string run(std::size_t row, component& one, bool& writes) {
        try {
            auto const look = !proven_clean(row);
            for (auto& group : one.calls()) {
                run_once(group, one);
                if (look && state_.differs(one.reachable())) {
                    group.rewind_with(state_);
                    state_.rewind();
                    writes = true;
                }
            }
            if (!one.calls().empty() && !writes)
                clean_[row] = true;
            return {};
        } catch (...) {
            auto why = current_failure();
            state_.rewind();
            return why.empty() ? "it threw" : why;
        }
    }

private:
    static void run_once(call_group& group, component const& one) {
        auto state = one.buffers();
        state.insert(state.end(), one.reachable().begin(), one.reachable().end());
        argument_watch arguments{group.captured(), state};
        auto again = group.replay();
        again.prepare();
        again.forward();
        if (again.prepare_backward())
            again.backward();
        arguments.look();
    }

    // The run of an ancestor ran this module too, and wrote nothing.
    [[nodiscard]] bool proven_clean(std::size_t row) const {
        for (auto above = static_cast<std::ptrdiff_t>(row); above != node::none;
             above = tree_.nodes()[static_cast<std::size_t>(above)].parent)
            if (clean_[static_cast<std::size_t>(above)])
                return true;
        return false;
    }

    module_tree const& tree_;
    State& state_;
    std::vector<bool> clean_;
};

}  // namespace component_benchmark::capture
