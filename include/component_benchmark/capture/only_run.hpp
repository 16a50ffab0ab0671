// CAPTURE: one pipeline at a time
#pragma once

#include <component_benchmark/core/error.hpp>
#include <component_benchmark/core/options.hpp>

#include <condition_variable>
#include <mutex>
#include <thread>

namespace component_benchmark::capture {

/// One at a time in a process: two would take each other's changes for the model's state. Another
/// thread waits or is refused; the thread that has one already, from inside a forward, is refused.
class only_run {
public:
    explicit only_run(when_busy busy) {
        auto& run = shared();
        std::unique_lock lock{run.mutex};
        if (run.is_on && run.owner == std::this_thread::get_id())
            throw error{"a pipeline is running on this thread already; run one at a time"};
        if (run.is_on && busy == when_busy::refuse)
            throw error{
                "a pipeline is running on another thread; wait for it, or set "
                "options.busy to when_busy::wait"};
        run.ended.wait(lock, [&] { return !run.is_on; });
        run.is_on = true;
        run.owner = std::this_thread::get_id();
    }
    only_run(only_run const&) = delete;
    only_run& operator=(only_run const&) = delete;
    ~only_run() {
        auto& run = shared();
        {
            std::lock_guard const lock{run.mutex};
            run.is_on = false;
        }
        run.ended.notify_one();
    }

private:
    struct state {
        std::mutex mutex;
        std::condition_variable ended;
        bool is_on = false;
        std::thread::id owner;
    };
    [[gnu::visibility("default")]] static state& shared() {
        static state one;
        return one;
    }
};

}  // namespace component_benchmark::capture
