// tests: a user's program with LibTorch: a module is profiled, and LibTorch's own modules are seen
#include <component_benchmark/component_benchmark.hpp>

#include <torch/torch.h>

#include <cstdio>

// Otherwise the scripts that hide the CUDA headers, or show them, prove nothing.
#if defined(CONSUMER_SEES_CUDA) && CONSUMER_SEES_CUDA != __has_include(<cuda_runtime_api.h>)
#    error "the CUDA headers are in sight where they should not be, or the other way round"
#endif

namespace cb = component_benchmark;

struct model : torch::nn::Module {
    torch::nn::Linear linear = register_module("linear", torch::nn::Linear(3, 4));
    torch::Tensor forward(torch::Tensor const& x) { return linear(x).relu(); }
};

int main() {
    model module;
    cb::pipeline pipeline{cb::preprocessors{},
                          cb::profilers{cb::latency{.warmup = 1, .samples = 1}}, cb::sinks{}};
    auto const report = pipeline.run(cb::provide(module, torch::ones({2, 3})));
    std::printf("linear: %d call\n", static_cast<int>(report["linear"].calls()));
    return report["linear"].calls() == 1 && report.document().facts.warnings.empty() ? 0 : 1;
}
