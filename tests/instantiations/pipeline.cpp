// A pipeline that does not see torch.
#include "support/fake_model.hpp"
#include <component_benchmark/pipeline/pipeline.hpp>
#include <component_benchmark/profile/latency.hpp>
#include <component_benchmark/sink/json.hpp>
#include <component_benchmark/sink/table.hpp>

namespace cb = component_benchmark;

void profile(fake::provider& provider) {
    cb::pipeline pipeline{cb::preprocessors{}, cb::profilers{cb::latency{}},
                          cb::sinks{cb::table{}, cb::json{"report.json"}}};
    static_cast<void>(pipeline.run(provider));
}
