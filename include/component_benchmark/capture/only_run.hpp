// CAPTURE: one pipeline at a time
#pragma once

#include <component_benchmark/core/error.hpp>
#include <component_benchmark/core/options.hpp>

#include <mutex>

namespace component_benchmark::capture {

/// One at a time in a process: two would take each other's changes for the model's state. Another
/// thread waits or is refused; the thread that has one already, from inside a forward, is refused.
class only_run {
public:
    explicit only_run(when_busy busy) {
        if (mine())
            throw error{"a pipeline is running on this thread already; run one at a time"};
        if (busy == when_busy::wait)
            mutex().lock();
        else if (!mutex().try_lock())
            throw error{
                "a pipeline is running on another thread; wait for it, or set "
                "options.busy to when_busy::wait"};
        mine() = true;
    }
    only_run(only_run const&) = delete;
    only_run& operator=(only_run const&) = delete;
    ~only_run() {
        mine() = false;
        mutex().unlock();
    }

private:
    [[gnu::visibility("default")]] static std::mutex& mutex() {
        static std::mutex one;
        return one;
    }
    [[gnu::visibility("default")]] static bool& mine() {
        static thread_local bool flag = false;
        return flag;
    }
};

}  // namespace component_benchmark::capture
