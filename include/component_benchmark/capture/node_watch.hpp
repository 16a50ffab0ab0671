// CAPTURE: how long each autograd node of a backward ran
#pragma once

#include <component_benchmark/core/clock.hpp>

#include <ATen/record_function.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace component_benchmark::capture {

/// While it lives, backward nodes of the forward of this thread are timed, on whatever thread they
/// run; afterwards they can be asked for. One at a time. (A template, so that a file which does not
/// use it does not pay for it.)
template<class = void>
class node_watch {
public:
    explicit node_watch(clock_function now) : now_{now} {
        shared().store(this);
        handle_ = at::addGlobalCallback(at::RecordFunctionCallback{&on_begin, &on_end}
                                            .needsInputs(false)
                                            .needsOutputs(false)
                                            .scopes({at::RecordScope::BACKWARD_FUNCTION}));
    }
    node_watch(node_watch const&) = delete;
    node_watch& operator=(node_watch const&) = delete;
    ~node_watch() { stop(); }

    /// No node is seen any more.
    void stop() {
        if (!std::exchange(is_on_, false))
            return;
        at::removeCallback(handle_);
        std::lock_guard const lock{mutex_of_all()};
        shared().store(nullptr);
    }

    /// Of the nodes with these numbers. After `stop`.
    [[nodiscard]] std::int64_t nanoseconds(std::uint64_t first, std::uint64_t end) {
        if (!is_summed_)
            sum_up();
        auto const before = [&](std::uint64_t number) {
            auto const place = std::lower_bound(
                seen_.begin(), seen_.end(), number,
                [](auto const& one, std::uint64_t wanted) { return one.first < wanted; });
            return place == seen_.begin() ? std::int64_t{0} : std::prev(place)->second;
        };
        return before(end) - before(first);
    }

private:
    struct running final : at::ObserverContext {
        clock_function now = nullptr;
        std::int64_t since = 0;
    };
    static std::atomic<node_watch*>& shared() {
        static std::atomic<node_watch*> one{nullptr};
        return one;
    }
    static std::mutex& mutex_of_all() {
        static std::mutex one;
        return one;
    }

    static std::unique_ptr<at::ObserverContext> on_begin(at::RecordFunction const&) {
        std::lock_guard const lock{mutex_of_all()};
        auto const* const mine = shared().load();
        if (mine == nullptr)
            return nullptr;
        auto made = std::make_unique<running>();
        made->now = mine->now_;
        made->since = made->now();
        return made;
    }
    static void on_end(at::RecordFunction const& node, at::ObserverContext* context) {
        auto const* const ran = static_cast<running*>(context);
        if (ran == nullptr)
            return;
        auto const took = ran->now() - ran->since;
        std::lock_guard const lock{mutex_of_all()};
        auto* const mine = shared().load();
        if (mine == nullptr || node.seqNr() < 0 || node.forwardThreadId() != mine->thread_)
            return;
        mine->seen_.emplace_back(static_cast<std::uint64_t>(node.seqNr()), took);
    }

    // From the time of each node to that of it and all before it.
    void sum_up() {
        std::sort(seen_.begin(), seen_.end());
        std::int64_t sum = 0;
        for (auto& one : seen_)
            one.second = sum += one.second;
        is_summed_ = true;
    }

    clock_function now_;
    std::uint64_t thread_ = at::RecordFunction::currentThreadId();
    at::RecordFunctionGuard enabled_{true};
    at::CallbackHandle handle_{};
    std::vector<std::pair<std::uint64_t, std::int64_t>> seen_;
    bool is_on_ = true;
    bool is_summed_ = false;
};

}  // namespace component_benchmark::capture
