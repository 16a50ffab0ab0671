// PIPELINE: preprocessors around the profilers of one component
#pragma once

#include <component_benchmark/core/failure.hpp>

#include <stdexcept>
#include <string>

namespace component_benchmark::detail {

/// A guard of a preprocessor, or its failure with its name.
template<class Plugin, class Component>
auto applied(Plugin& plugin, Component& one) {
    try {
        return plugin.apply(one);
    } catch (...) {
        throw std::runtime_error{"the preprocessor '" + std::string{plugin.name} +
                                 "' failed: " + current_failure()};
    }
}

}  // namespace component_benchmark::detail
