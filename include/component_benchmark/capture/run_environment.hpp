// CAPTURE -> result: what a captured forward says of the run as a whole
#pragma once

#include <component_benchmark/core/environment.hpp>
#include <component_benchmark/core/error.hpp>
#include <component_benchmark/core/step_times.hpp>

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <torch/version.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace component_benchmark::capture {

[[nodiscard]] inline std::string called_elsewhere(std::int64_t times) {
    return "called on another thread, where calls are not captured (" + std::to_string(times) +
           (times == 1 ? " call)" : " calls)");
}

/// Adds a sentence for each row with calls that were not captured, and for each class of modules
/// without a row. (A template as `basic_session` is.)
template<class Tree, class Session>
void warn_of_calls(Tree const& tree, Session const& seen, std::vector<std::string>& warnings) {
    for (std::size_t row = 0; row < tree.nodes().size(); ++row)
        if (auto const missed = seen.missed_calls()[row]; missed > 0)
            warnings.push_back("'" + tree.nodes()[row].path + "' was " + called_elsewhere(missed));
    for (auto const& [type, times] : seen.unregistered())
        warnings.push_back(type + ", called " + std::to_string(times) +
                           (times == 1 ? " time" : " times") +
                           ", has no row: register it, or declare it in CB_COMPONENTS of each "
                           "class from the root down to it");
}

/// Throws `error` when nothing but the root was seen to be called.
template<class Tree, class Session>
void refuse_without_calls(Tree const& tree, std::size_t calls, Session const& seen) {
    auto const& missed = seen.missed_calls();
    if (tree.nodes().size() > 1 && calls <= 1 &&
        std::all_of(missed.begin(), missed.end(), [](auto number) { return number == 0; }))
        throw error{"no call of a submodule of " + tree.nodes()[0].type +
                    " was captured: link component_benchmark::torch, and write "
                    "CB_FORWARD(arguments...); as the first line of the forward of your modules; "
                    "calls on other threads are not captured"};
}

[[nodiscard]] inline c10::Device device_of(std::vector<at::Tensor> const& parameters) {
    return parameters.empty() ? c10::Device{c10::kCPU} : parameters.front().device();
}

/// The device is that of the first of the model's `parameters`.
template<class Tensor>
[[nodiscard]] environment environment_of(std::vector<Tensor> const& parameters,
                                         std::string gradients, std::vector<std::string> warnings,
                                         step_times const& step) {
    auto const device = device_of(parameters);
    return {TORCH_VERSION,
            device.str(),
            at::get_num_threads(),
            std::move(gradients),
            std::move(warnings),
            c10::DeviceTypeName(device.type(), /*lower_case=*/true),
            step};
}

}  // namespace component_benchmark::capture
