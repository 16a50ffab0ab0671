// What many tests profile with, and the loss that they give
#pragma once

#include <component_benchmark/component_benchmark.hpp>

#include <ATen/core/Tensor.h>
#include <ATen/ops/sum.h>

#include <utility>

/// A pipeline with few repetitions and no sink.
[[nodiscard]] inline auto quick(component_benchmark::options wishes = {}) {
    namespace cb = component_benchmark;
    return cb::pipeline{cb::preprocessors{},
                        cb::profilers{cb::model_size{}, cb::latency{.warmup = 1, .samples = 3}},
                        cb::sinks{}, std::move(wishes)};
}

[[nodiscard]] inline at::Tensor sum_of(at::Tensor const& output) {
    return output.sum();
}
