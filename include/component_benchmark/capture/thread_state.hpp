// CAPTURE: what belongs to the thread that makes a call: modes, current device and stream
#pragma once

#include <ATen/DeviceAccelerator.h>
#include <ATen/ThreadLocalState.h>
#include <c10/core/Stream.h>

#include <optional>
#include <utility>

namespace component_benchmark::capture {

/// The current stream of the accelerator's current device; nothing where there is no device.
[[nodiscard]] inline std::optional<c10::Stream> current_stream() {
    if (at::accelerator::deviceCount() == 0)
        return std::nullopt;
    return at::accelerator::getCurrentStream(at::accelerator::getDeviceIndex());
}

/// Makes its device the current one, too.
inline void make_current(std::optional<c10::Stream> const& stream) {
    if (!stream || current_stream() == stream)
        return;
    at::accelerator::setDeviceIndex(stream->device_index());
    at::accelerator::setCurrentStream(*stream);
}

/// Grad mode, autocast and the like, and where work for a device goes.
struct thread_state {
    at::ThreadLocalState modes;
    std::optional<c10::Stream> stream;

    thread_state(at::ThreadLocalState now = {}) : modes{std::move(now)}, stream{current_stream()} {}
};

/// While it lives, the thread has this state.
class thread_state_guard {
public:
    explicit thread_state_guard(thread_state const& state) : modes_{state.modes} {
        make_current(state.stream);
    }
    thread_state_guard(thread_state_guard const&) = delete;
    thread_state_guard& operator=(thread_state_guard const&) = delete;
    ~thread_state_guard() { make_current(before_); }

private:
    std::optional<c10::Stream> before_ = current_stream();
    at::ThreadLocalStateGuard modes_;
};

}  // namespace component_benchmark::capture
