// op pass -> OBSERVED CALL -> flops, bandwidth: what a pass over a component's calls found
#pragma once

#include <component_benchmark/core/by_call.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace component_benchmark {

/// A call's tally, and for how many calls it stands.
template<class Tally>
struct observed_call {
    std::int64_t count = 0;
    std::vector<std::size_t> members;
    Tally tally;
    std::string why_no_backward;  ///< empty where there was one
    bool made_again = false;      ///< within a backward (checkpointing): its forward is known work
};

/// Why a component has no number for the backward, or nothing. Calls that cost nothing there do not
/// matter as long as another one has a backward.
template<class Tally>
[[nodiscard]] std::string why_no_backward_of(std::vector<observed_call<Tally>> const& calls) {
    std::string why;
    bool any_backward = false;
    for (auto const& one : calls) {
        any_backward = any_backward || one.why_no_backward.empty();
        if (!one.why_no_backward.empty() && (why.empty() || !costs_nothing(one.why_no_backward)))
            why = one.why_no_backward;
    }
    return any_backward && costs_nothing(why) ? std::string{} : why;
}

}  // namespace component_benchmark
