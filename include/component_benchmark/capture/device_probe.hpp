// CAPTURE: whether a device still works after a component has failed on it
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/ones.h>
#include <c10/core/Device.h>
#include <c10/core/TensorOptions.h>

namespace component_benchmark::capture {

/// After some errors, as an illegal access, nothing works on a device any more in this process: the
/// smallest piece of work shows it. A CPU always works.
[[nodiscard]] inline bool device_works(c10::Device device) noexcept {
    if (device.is_cpu())
        return true;
    try {
        return at::ones({1}, c10::TensorOptions{device}).add_(1).item<double>() == 2.0;
    } catch (...) {
        return false;
    }
}

/// What is asked; a test may put something else in its place.
inline bool (*device_probe)(c10::Device) noexcept = &device_works;

}  // namespace component_benchmark::capture
