// component -> OP PASS -> flops, bandwidth: one run of a call with an observer of its operators
#pragma once

#include <component_benchmark/profile/observed_call.hpp>
#include <component_benchmark/profile/op_observer.hpp>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace component_benchmark {

/// Makes a call once while `counter` watches, forward and, if wanted, backward. Says why there was
/// no backward, or nothing. Nothing is timed here: an observer slows down what it sees.
template<class Group, class Counter>
[[nodiscard]] std::string observe_once(Group& group, Counter& counter, bool backward,
                                       bool wants_results) {
    auto replay = group.replay();
    replay.prepare();
    {
        op_watch const watch{counter, wants_results};
        replay.forward();
    }
    std::string why = "backward was not asked for";
    if (backward && replay.prepare_backward()) {
        counter.in_backward(true);
        op_watch const watch{counter, wants_results};
        replay.backward();
        why.clear();
    } else if (backward) {
        why = replay.why_no_backward();
    }
    replay.release();
    return why;
}

/// Whether they were made within a backward, for groups of calls that know it.
template<class Group>
[[nodiscard]] bool made_again(Group const& group) {
    if constexpr (requires { group.recomputed(); })
        return group.recomputed();
    return false;
}

/// Makes each distinct call of a component once, each with a counter that `make_counter()` gives.
/// Throws with the reason when there is none.
template<class Component, class MakeCounter>
[[nodiscard]] auto observe_calls(Component& component, MakeCounter make_counter, bool backward,
                                 bool wants_results) {
    using tally = decltype(make_counter()->take());
    std::vector<observed_call<tally>> calls;
    for (auto& group : component.calls()) {
        auto const counter = make_counter();
        auto why = observe_once(group, *counter, backward, wants_results);
        calls.push_back(
            {group.count(), group.members(), counter->take(), std::move(why), made_again(group)});
    }
    if (calls.empty())
        throw std::runtime_error{component.why_no_calls()};
    return calls;
}

}  // namespace component_benchmark
