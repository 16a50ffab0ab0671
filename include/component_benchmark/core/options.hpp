// pipeline -> provider: what a run captures and how
#pragma once

#include <cstddef>
#include <limits>

namespace component_benchmark {

/// What a pipeline does while another thread runs one: only one at a time is possible.
enum class when_busy { wait, refuse };

/// The optional last argument of a pipeline.
struct options {
    /// Deepest level that is measured; the root is 0. Deeper components are rows marked `filtered`.
    std::size_t depth = (std::numeric_limits<std::size_t>::max)();

    /// Copy every argument when it is captured. Off, only those are copied (in a second capture
    /// pass) whose version counter moves later; that misses writes through raw pointers.
    bool copy_arguments = false;

    when_busy busy = when_busy::wait;
};

}  // namespace component_benchmark
