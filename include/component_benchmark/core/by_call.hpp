// profile -> result: a metric of single calls, beside the one of the row
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace component_benchmark {

/// A profiler's result may have a member `std::vector<by_call> by_call` besides its metrics: what
/// one of them (`metric` is its name) is for calls that are alike, with the raw samples.
struct by_call {
    std::string metric;
    std::vector<std::size_t> calls;  ///< positions among the calls of the report
    double value = 0.0;
    std::vector<double> samples;
    std::string why = {};  ///< what to know about the value; often empty
};

/// Reasons for which a call has no backward. Such a call costs nothing, and its parent's number is
/// whole without it.
inline constexpr std::string_view no_gradient_needed = "no output requires a gradient";
inline constexpr std::string_view not_in_the_loss = "the loss does not depend on it";

[[nodiscard]] constexpr bool costs_nothing(std::string_view why) noexcept {
    return why == no_gradient_needed || why == not_in_the_loss;
}

/// Reasons for which a call's backward is not measured though it has one.
inline constexpr std::string_view nothing_to_reach =
    "what requires a gradient in it is neither registered below it nor declared in CB_STATE";
inline constexpr std::string_view result_is_unknown =
    "tensors in its result are not seen: return them in a class whose members are known "
    "(BOOST_HANA_ADAPT_STRUCT names them)";
inline constexpr std::string_view hidden_state =
    "it writes its weights and leaves other values when it runs again from the same state: it has "
    "state that is neither registered nor declared in CB_STATE";

/// What comes before the names of operators in a remark: FLOPs, or traffic, without theirs.
inline constexpr std::string_view no_formula_for = "no formula for ";
inline constexpr std::string_view not_known_for = "not known for ";

/// How the remark on a utilization over 100 % begins.
inline constexpr std::string_view over_the_peak = "over the peak";

/// How the remark on a median begins that is not known as well as was asked.
inline constexpr std::string_view not_within = "not within ";

/// Why there is no time where the clock showed none.
inline constexpr std::string_view clock_stood_still = "the clock did not move on while it ran";

/// Remarks on a component that is measured.
inline constexpr std::string_view writes_now_and_then =
    "its parameters changed while it was measured, and not in its first run: it has state that is "
    "neither registered nor declared in CB_STATE, or a plugin changed them";
inline constexpr std::string_view backward_is_partial =
    "its backward stops at a tensor that is neither registered below it nor declared in CB_STATE";

}  // namespace component_benchmark
