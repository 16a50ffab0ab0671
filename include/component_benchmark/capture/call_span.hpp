// CAPTURE: from when to when a call of the model's own step ran
#pragma once

#include <component_benchmark/core/clock.hpp>

#include <ATen/SequenceNumber.h>

#include <cstdint>

namespace component_benchmark::capture {

/// Nanoseconds of a clock that stands still while a call is recorded, and the numbers of the
/// autograd nodes that the call made: a thread numbers them as it makes them.
struct call_span {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    std::uint64_t first_node = 0;
    std::uint64_t end_node = 0;  ///< one past the last
};

/// The clock of one forward; `now` tells its time.
class span_clock {
public:
    explicit span_clock(clock_function now) noexcept : now_{now} {}

    /// Stands still while one lives. Without a clock it does nothing.
    class pause {
    public:
        explicit pause(span_clock* clock) noexcept
            : clock_{clock}, since_{clock != nullptr ? clock->now_() : 0} {}
        pause(pause const&) = delete;
        pause& operator=(pause const&) = delete;
        ~pause() {
            if (clock_ == nullptr)
                return;
            auto const now = clock_->now_();
            clock_->paused_ns_ += now - since_;
            if (opens_ == nullptr)
                return;
            opens_->begin_ns = now - clock_->paused_ns_;
            opens_->first_node = at::sequence_number::peek();
        }

        /// It begins when the pause is over.
        void open(call_span& one) noexcept { opens_ = &one; }
        /// It ended when the pause began.
        void close(call_span& one) const noexcept {
            if (clock_ == nullptr)
                return;
            one.end_ns = since_ - clock_->paused_ns_;
            one.end_node = at::sequence_number::peek();
        }

    private:
        span_clock* clock_;
        std::int64_t since_;
        call_span* opens_ = nullptr;
    };

private:
    clock_function now_;
    std::int64_t paused_ns_ = 0;
};

}  // namespace component_benchmark::capture
