// CAPTURE -> profile: times of work on a stream of a device, of whatever kind LibTorch knows
#pragma once

#include <ATen/DeviceAccelerator.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>
#include <c10/core/Event.h>
#include <c10/core/Stream.h>
#include <c10/core/TensorOptions.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

namespace component_benchmark::capture {

/// The number of the accelerator that the tensor is on; nothing for one on the CPU.
[[nodiscard]] inline std::optional<c10::DeviceIndex> accelerator_of(at::Tensor const& tensor) {
    if (!tensor.defined() || tensor.device().is_cpu() || at::accelerator::deviceCount() == 0)
        return std::nullopt;
    auto const type = at::accelerator::getAccelerator(/*checked=*/true);
    if (!type || tensor.device().type() != *type)
        return std::nullopt;
    return tensor.device().index();
}

/// Waits for all work of the accelerator in use, if there is one: what `step_ledger` may be given
/// as its `wait`.
inline void wait_for_accelerator() noexcept {
    try {
        if (at::accelerator::deviceCount() > 0)
            at::accelerator::synchronizeDevice(at::accelerator::getDeviceIndex());
    } catch (...) {  // whoever works on it next learns of it
    }
}

/// Marks two points of the current stream of a device, and tells the time between them; see
/// `device_of` in profile/lap.hpp. (A template, so that a file which does not use it does not pay
/// for it.)
template<class = void>
class device_timer {
public:
    explicit device_timer(c10::DeviceIndex index)
        : stream_{at::accelerator::getCurrentStream(index)},
          begin_{stream_.device_type(), c10::EventFlag::BACKEND_DEFAULT},
          end_{stream_.device_type(), c10::EventFlag::BACKEND_DEFAULT} {}

    [[nodiscard]] int index() const noexcept { return stream_.device_index(); }
    void wait() { at::accelerator::synchronizeDevice(stream_.device_index()); }
    void start() { begin_.record(stream_); }
    void stop() { end_.record(stream_); }
    void wait_for_stop() { end_.synchronize(); }
    [[nodiscard]] double elapsed_ms() const { return begin_.elapsedTime(end_); }

    /// Gives the device other work, of at least so long, to be done before what comes next.
    void hold(double ms) {
        at::NoGradGuard const no_graph;
        if (!product_.defined())
            prepare_to_hold();
        constexpr double most = 1e5;
        auto const times = static_cast<int>((std::min)(most, std::ceil(ms / product_ms_)));
        for (int time = 0; time < times; ++time)
            at::mm_out(product_, factor_, factor_);
    }

    /// The device has not come to `start()` yet.
    [[nodiscard]] bool is_held() const { return !begin_.query(); }

private:
    // A product of matrices takes longer than its launch on any device, and little memory.
    void prepare_to_hold() {
        constexpr std::int64_t size = 1024;
        constexpr int runs = 3;
        auto const options =
            c10::TensorOptions{c10::Device{stream_.device_type(), stream_.device_index()}};
        factor_ = at::zeros({size, size}, options);
        product_ = at::zeros({size, size}, options);
        at::mm_out(product_, factor_, factor_);
        wait();
        start();
        for (int run = 0; run < runs; ++run)
            at::mm_out(product_, factor_, factor_);
        stop();
        wait();
        constexpr double least_ms = 1e-3;
        product_ms_ = (std::max)(least_ms, elapsed_ms() / runs);
    }

    c10::Stream stream_;
    c10::Event begin_;
    c10::Event end_;
    at::Tensor factor_;
    at::Tensor product_;
    double product_ms_ = 0.0;
};

}  // namespace component_benchmark::capture

namespace component_benchmark {
using capture::wait_for_accelerator;
}
