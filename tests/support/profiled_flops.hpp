// tests: FLOPs of every module of a model, each alone on what it was called with
#pragma once

#include <component_benchmark/component_benchmark.hpp>

#include <utility>

/// No argument requires a gradient, as for the first module of a model.
struct detached_arguments {
    static constexpr char const* name = "detached";
    struct guard {};
    template<class Component>
    guard apply(Component& one) {
        one.each_argument([](at::Tensor& argument) { argument = argument.detach(); });
        return {};
    }
};

/// The report of a pipeline that counts FLOPs and nothing else.
template<class Convention, class Preprocessors, class Provider>
[[nodiscard]] auto profiled_flops(Preprocessors preprocessors, Provider&& provider) {
    namespace cb = component_benchmark;
    auto pipeline = cb::pipeline{std::move(preprocessors),
                                 cb::profilers{cb::flops_with<Convention>{}}, cb::sinks{}};
    return pipeline.run(std::forward<Provider>(provider));
}
