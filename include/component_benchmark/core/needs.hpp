// profile, sink -> pipeline: the list of what a plugin needs
#pragma once

namespace component_benchmark {

/// In a plugin, `using needs = cb::needs<cb::latency>;` names the profilers it cannot do without.
template<class... Profiler>
struct needs {};

}  // namespace component_benchmark
