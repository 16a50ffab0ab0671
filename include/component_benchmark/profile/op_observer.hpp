// replay -> OP OBSERVER -> flops, bandwidth: what the dispatcher runs, on every thread
#pragma once

#include <component_benchmark/core/clock.hpp>
#include <component_benchmark/profile/op_call.hpp>
#include <component_benchmark/profile/op_catalogue.hpp>

#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <memory>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

namespace component_benchmark {

/// What an operator called, whether or not that are events.
struct op_contents {
    bool counted = false;     ///< FLOPs
    bool calculates = false;  ///< more than moving values
    bool unknown = false;

    void add(op_contents const& more) noexcept {
        counted = counted || more.counted;
        calculates = calculates || more.calculates;
        unknown = unknown || more.unknown;
    }
};

/// An operator that is being called. An *event* is an operator that does work: the outermost one
/// that is not made of others. (So the calls that `TorchDispatchMode` of Python sees are events.)
struct op_frame {
    op_info const* op = nullptr;  ///< null for a range that is no operator
    bool silent = false;          ///< within an operator that accounts for all that it calls
    bool within = false;          ///< within an event
    bool event = false;
    bool rewritten = false;  ///< autocast casts its arguments and calls it again
    bool accounts = false;   ///< what it calls is silent
    op_contents inside;
    std::int64_t amount = 0;     ///< for the observer
    std::size_t place = 0;       ///< for the observer
    int likeness = 0;            ///< for the observer
    bool wants_results = false;  ///< for the observer
    std::int64_t began_ns = 0;
    at::RecordFunction const* call = nullptr;
    int unwinding = 0;    ///< exceptions on their way as it began
    bool failed = false;  ///< threw one
};

/// What a watch tells of operators, from every thread that calls one. Must not throw.
///     void begin(op_frame& frame, op_call const& call) noexcept;
/// of an operator that is not silent; may set `event`, `accounts` and what is for the observer.
///     void end(op_frame const& frame, op_frame* around, results) noexcept;
/// with the frame that called it, or null, to whose `inside` it may add, and what the operator
/// gave, if the watch was asked for results.
template<class Observer>
concept op_observer = requires(Observer& observer, op_frame& frame, op_call const& call,
                               std::vector<c10::IValue> const& results) {
    { observer.begin(frame, call) }
    noexcept;
    { observer.end(frame, &frame, results) }
    noexcept;
};

/// An observer may also be told when nodes of the autograd graph begin and end to run, each on its
/// thread.
template<class Observer>
concept node_observer = requires(Observer& observer) {
    { observer.begin_node() }
    noexcept;
    { observer.end_node() }
    noexcept;
};

namespace ops {

// RecordFunction::inputs() throws in a program that is built without NDEBUG, since the release
// library never sets the flag that it asserts on; the member itself is right in both. An explicit
// instantiation may name a private member.
using inputs_member = c10::ArrayRef<const c10::IValue> at::RecordFunction::*;
struct inputs_key {
    friend constexpr inputs_member member_of(inputs_key);
};
template<class Key, inputs_member Member>
struct opened {
    friend constexpr inputs_member member_of(Key) { return Member; }
};
template struct opened<inputs_key, &at::RecordFunction::inputs_>;

template<class Frame = op_frame>
struct open_frames {
    std::uint64_t watch = 0;
    std::vector<Frame> frames;
    op_catalogue<> catalogue;
    bool observing = false;  ///< the observer itself calls operators
};

template<class Frame = op_frame>
[[nodiscard]] open_frames<Frame>& of_this_thread() {
    thread_local open_frames<Frame> mine;
    return mine;
}

/// Every watch has a number of its own, whatever it tells.
template<class = void>
[[nodiscard]] std::uint64_t next_watch() {
    static std::uint64_t number = 0;
    return ++number;
}

/// Whether autocast takes the call apart: it casts the arguments and calls the operator again.
template<class = void>
[[nodiscard]] bool is_rewritten(op_info const& op, op_call const& call) {
    auto const* const first = call.first_tensor();
    if (first == nullptr)
        return false;
    auto const device = first->device().type();
    if (!at::autocast::is_autocast_available(device) || !at::autocast::is_autocast_enabled(device))
        return false;
    auto const key = at::autocast::get_autocast_dispatch_key_from_device_type(device);
    return !c10::impl::tls_is_dispatch_key_excluded(key) && op.handle.hasKernelForDispatchKey(key);
}

}  // namespace ops

/// While it lives, `observer` sees every operator. One at a time in a process. (A template, so that
/// a file which does not use it does not pay for it.)
template<op_observer Observer>
class op_watch {
public:
    explicit op_watch(Observer& observer, bool wants_results = false)
        : number_{ops::next_watch()}, enabled_{true} {
        state& now = shared();
        now.number.store(number_);
        now.accounting.store(0);
        now.observer.store(&observer);
        handle_ = at::addGlobalCallback(at::RecordFunctionCallback{&on_begin, &on_end}
                                            .needsInputs(true)
                                            .needsOutputs(wants_results)
                                            .scopes(scopes()));
    }
    op_watch(op_watch const&) = delete;
    op_watch& operator=(op_watch const&) = delete;
    ~op_watch() {
        at::removeCallback(handle_);
        shared().observer.store(nullptr);
        while (shared().inside.load() != 0)  // another thread is in the observer
            std::this_thread::yield();
    }

private:
    struct state {
        std::atomic<Observer*> observer{nullptr};
        std::atomic<std::uint64_t> number{0};
        std::atomic<int> inside{0};
        /// Operators that account for what they call, and were not called by a parallel region.
        std::atomic<int> accounting{0};
    };
    static state& shared() {
        static state one;
        return one;
    }
    struct visit {
        visit() {
            shared().inside.fetch_add(1);  // first: from here on the observer stays, if it is there
            observer = shared().observer.load();
        }
        ~visit() { shared().inside.fetch_sub(1); }
        visit(visit const&) = delete;
        visit& operator=(visit const&) = delete;
        Observer* observer = nullptr;
    };

    [[nodiscard]] static std::unordered_set<at::RecordScope> scopes() {
        if constexpr (node_observer<Observer>)
            return {at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION};
        else
            return {at::RecordScope::FUNCTION};
    }

    static std::unique_ptr<at::ObserverContext> on_begin(at::RecordFunction const& function) {
        visit const now;
        auto& mine = ops::of_this_thread();
        if (now.observer == nullptr || mine.observing)
            return nullptr;
        if constexpr (node_observer<Observer>)
            if (function.scope() == at::RecordScope::BACKWARD_FUNCTION) {
                now.observer->begin_node();
                return nullptr;
            }
        if (auto const number = shared().number.load(); mine.watch != number) {
            mine.watch = number;
            mine.frames.clear();
        }
        op_frame frame;
        frame.call = &function;
        frame.unwinding = std::uncaught_exceptions();
        if (!mine.frames.empty()) {
            frame.silent = mine.frames.back().silent || mine.frames.back().accounts;
            frame.within = mine.frames.back().within || mine.frames.back().event;
        } else if (at::in_parallel_region()) {
            frame.silent = shared().accounting.load() > 0;  // a worker of an operator elsewhere
        }
        mine.frames.push_back(frame);  // first, since its end will take it away
        if (!frame.silent)
            begin(mine, mine.frames.back(), function, *now.observer);
        return nullptr;
    }

    static void begin(ops::open_frames<>& mine, op_frame& frame, at::RecordFunction const& function,
                      Observer& observer) {
        frame.op = mine.catalogue.of(function);
        if (frame.op == nullptr)
            return;
        op_call const call(frame.op->name, function.*member_of(ops::inputs_key{}));
        frame.rewritten = ops::is_rewritten(*frame.op, call);
        frame.event = !frame.within && !frame.op->composite && !frame.rewritten;
        mine.observing = true;
        observer.begin(frame, call);
        mine.observing = false;
        if (frame.accounts && !at::in_parallel_region())
            shared().accounting.fetch_add(1);
        frame.began_ns = frame.within ? 0 : steady_nanoseconds();
    }

    static void on_end(at::RecordFunction const& function, at::ObserverContext*) {
        visit const now;
        auto& mine = ops::of_this_thread();
        if (now.observer == nullptr || mine.observing)
            return;
        if constexpr (node_observer<Observer>)
            if (function.scope() == at::RecordScope::BACKWARD_FUNCTION)
                return now.observer->end_node();
        if (mine.frames.empty() || mine.watch != shared().number.load())
            return;
        auto const mine_is = [&](op_frame const& one) { return one.call == &function; };
        auto const found = std::find_if(mine.frames.rbegin(), mine.frames.rend(), mine_is);
        if (found == mine.frames.rend())
            return;  // it began on another thread, or before the watch
        auto frame = *found;
        frame.failed = std::uncaught_exceptions() > frame.unwinding;
        mine.frames.erase(std::prev(found.base()), mine.frames.end());
        if (frame.silent)
            return;
        auto* const around = mine.frames.empty() ? nullptr : &mine.frames.back();
        if (frame.accounts && !at::in_parallel_region())
            shared().accounting.fetch_sub(1);
        if (frame.op == nullptr) {
            if (around != nullptr)
                around->inside.add(frame.inside);
            return;
        }
        mine.observing = true;
        now.observer->end(frame, around, function.outputs());
        mine.observing = false;
    }

    std::uint64_t number_;
    at::RecordFunctionGuard enabled_;
    at::CallbackHandle handle_{};
};

}  // namespace component_benchmark
