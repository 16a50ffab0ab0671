// pipeline -> provider: what a run captures and how
// Its twin for programs that are built off is in off.hpp.
#pragma once

#include <component_benchmark/core/clock.hpp>
#include <component_benchmark/core/filter.hpp>
#include <component_benchmark/core/peak_overrides.hpp>

#include <cstddef>
#include <limits>
#include <memory>
#include <vector>

namespace component_benchmark {

struct recorded_run;

/// What a pipeline does while another thread runs one: only one at a time is possible.
enum class when_busy { wait, refuse };

/// When the inputs of components are captured, and so how many are in memory at once.
enum class memory_mode {
    one_forward,    ///< all of them in one forward: the fastest
    level_by_level  ///< those of one level of the model's tree at a time, a forward for each
};

/// The optional last argument of a pipeline. A component is measured when it is not deeper than
/// `depth`, one of `include` fits it or there is none, and none of `exclude` does. The others are
/// rows marked `filtered`.
struct options {
    /// Deepest level that is measured; the root is 0.
    std::size_t depth = (std::numeric_limits<std::size_t>::max)();

    std::vector<filter> include = {};
    std::vector<filter> exclude = {};

    /// Copy every argument when it is captured. Off, only those are copied (in a second capture
    /// pass) whose version counter moves later; that misses writes through raw pointers.
    bool copy_arguments = false;

    memory_mode memory = memory_mode::one_forward;

    when_busy busy = when_busy::wait;

    /// What the device can do at best, where you know it better than the library.
    peak_overrides peaks = {};

    /// What a whole run may take, in seconds, shared out among the components; 0 or infinity: as
    /// long as it needs. When it is spent, each component is still run a few times.
    double time_budget_s = 0.0;
    clock_function clock = &steady_nanoseconds;  ///< of `time_budget_s`

    /// Measure identical components once: the same classes, modes, looks of weights and arguments,
    /// and the same operators on the same shapes. Gathers and jagged inputs are always measured.
    bool reuse_identical = false;

    /// A run that did not come to its end, by `read_journal` of component_benchmark/resume.hpp:
    /// what it has measured is taken over, when the model and what is asked for are the same.
    std::shared_ptr<recorded_run const> resume = {};
};

}  // namespace component_benchmark
