// tests: FLOPs of a piece of code, as the profiler counts them
#pragma once

#include <component_benchmark/profile/flop_counter.hpp>
#include <component_benchmark/profile/flop_formulas.hpp>
#include <component_benchmark/profile/op_observer.hpp>

#include <string>
#include <utility>
#include <vector>

/// Counts what `work` runs; a backward in it counts as forward.
template<class Convention = component_benchmark::strict, class Work>
[[nodiscard]] component_benchmark::flop_tally tally_of(
    Work&& work,
    component_benchmark::causal_attention causal = component_benchmark::causal_attention::dense,
    std::vector<component_benchmark::flop_formula> const& own = {}) {
    namespace cb = component_benchmark;
    cb::flop_counter counter{cb::counting_rules::of<Convention>(causal), own};
    {
        cb::op_watch const watch{counter};
        std::forward<Work>(work)();
    }
    return counter.take();
}

/// Their sum, and -1 where an operator is not known.
template<class Convention = component_benchmark::strict, class Work>
[[nodiscard]] double count_flops(Work&& work) {
    auto const found = tally_of<Convention>(std::forward<Work>(work));
    return found.coverage.unknown.empty() ? found.forward.total() : -1.0;
}
