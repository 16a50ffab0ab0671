// A pipeline whose lists are missing or out of order is refused.
// SINKS_FIRST
//     a pipeline takes cb::preprocessors{...}, cb::profilers{...}, cb::sinks{...} and, if wanted,
// NO_PREPROCESSORS
//     a pipeline takes cb::preprocessors{...}, cb::profilers{...}, cb::sinks{...} and, if wanted,
// BARE_PLUGIN
//     a pipeline takes cb::preprocessors{...}, cb::profilers{...}, cb::sinks{...} and, if wanted,
// NOTHING
//     a pipeline takes cb::preprocessors{...}, cb::profilers{...}, cb::sinks{...} and, if wanted,
#include <component_benchmark/pipeline/pipeline.hpp>
#include <component_benchmark/profile/latency.hpp>

namespace cb = component_benchmark;

void make() {
#if defined(SINKS_FIRST)
    cb::pipeline pipeline{cb::sinks{}, cb::preprocessors{}, cb::profilers{cb::latency{}}};
#elif defined(NO_PREPROCESSORS)
    cb::pipeline pipeline{cb::profilers{cb::latency{}}, cb::sinks{}};
#elif defined(BARE_PLUGIN)
    cb::pipeline pipeline{cb::preprocessors{}, cb::latency{}, cb::sinks{}};
#elif defined(NOTHING)
    cb::pipeline pipeline{};
#else
    cb::pipeline pipeline{cb::preprocessors{}, cb::profilers{cb::latency{}}, cb::sinks{},
                          cb::options{.depth = 1}};
#endif
    static_cast<void>(pipeline);
}
