// component -> OP PASS -> flops, bandwidth: one run of a call with an observer of its operators
#pragma once

#include <component_benchmark/profile/op_observer.hpp>

#include <string>

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

}  // namespace component_benchmark
