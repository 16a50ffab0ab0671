// pipeline -> profile: Ctrl-C ends a run early, but not before its report is written
#pragma once

#include <component_benchmark/core/signal_watch.hpp>

#include <signal.h>

namespace component_benchmark {

/// Whether Ctrl-C (SIGINT) came since the pipeline's run began. A profiler that repeats its work
/// asks between two repetitions and keeps what it has.
[[nodiscard]] inline bool interrupted() noexcept {
    return detail::signal_watch<SIGINT>::times() != 0;
}

/// While it lives, the first SIGINT is only noted, and a second one ends the process. The last of
/// them puts the program's own handling back and then raises a signal that was noted again. Does
/// nothing in a process that ignores SIGINT.
class interruption_guard {
public:
    interruption_guard() = default;
    interruption_guard(interruption_guard const&) = delete;
    interruption_guard& operator=(interruption_guard const&) = delete;
    ~interruption_guard() {
        if (watch_.end() != 0)
            detail::raise_again(SIGINT);
    }

private:
    using watch = detail::signal_watch<SIGINT>;
    watch watch_{watch::second::acts, watch::ignored::stays_ignored};
};

}  // namespace component_benchmark
