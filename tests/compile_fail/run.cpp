// A run on what is no provider, and a result of a profiler that did not run, are refused.
// RUN_ON_A_MODEL
//     pipeline.run needs a provider: write `pipeline.run(cb::provide(model, arguments...))`
// CAPTURE_GIVES_NO_MODEL
//     pipeline.run needs a provider: write `pipeline.run(cb::provide(model, arguments...))`
// RESULT_OF_ANOTHER
//     report[path].get<P>() needs P among the profilers of the pipeline that made the report
#include "support/fake_model.hpp"
#include <component_benchmark/pipeline/pipeline.hpp>
#include <component_benchmark/profile/latency.hpp>
#include <component_benchmark/profile/model_size.hpp>

#include <memory>

namespace cb = component_benchmark;

#ifdef RESULT_OF_ANOTHER
using asked = cb::model_size;
#else
using asked = cb::latency;
#endif

struct numbers_only {
    std::unique_ptr<int> capture(cb::options const&) { return nullptr; }
};

void profile(fake::provider& model) {
    auto pipeline = cb::pipeline{cb::preprocessors{}, cb::profilers{cb::latency{}}, cb::sinks{}};
#if defined(RUN_ON_A_MODEL)
    auto const report = pipeline.run(model.captured);
#elif defined(CAPTURE_GIVES_NO_MODEL)
    auto const report = pipeline.run(numbers_only{});
#else
    auto const report = pipeline.run(model);
#endif
    static_cast<void>(report["layer"].get<asked>());
}
