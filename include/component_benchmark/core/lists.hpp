// pipeline: the three lists of plugins
#pragma once

#include <tuple>
#include <utility>

namespace component_benchmark {

/// Change a component's calls before it is profiled, in this order.
template<class... Plugin>
struct preprocessors {
    explicit preprocessors(Plugin... list) : plugins{std::move(list)...} {}
    [[no_unique_address]] std::tuple<Plugin...> plugins;
};

/// Measure each component, in this order.
template<class... Plugin>
struct profilers {
    explicit profilers(Plugin... list) : plugins{std::move(list)...} {}
    [[no_unique_address]] std::tuple<Plugin...> plugins;
};

/// Show or keep the finished report.
template<class... Plugin>
struct sinks {
    explicit sinks(Plugin... list) : plugins{std::move(list)...} {}
    [[no_unique_address]] std::tuple<Plugin...> plugins;
};

}  // namespace component_benchmark
