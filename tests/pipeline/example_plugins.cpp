// The plugins of docs/contributing.md, as they stand there.
#include "plugins/cold_caches.hpp"
#include "plugins/cold_start.hpp"
#include "plugins/function_provider.hpp"
#include "plugins/times_file.hpp"
#include "support/catch2.hpp"
#include "support/fake_model.hpp"
#include "support/golden.hpp"
#include "support/temporary_folder.hpp"
#include <component_benchmark/pipeline/pipeline.hpp>

namespace cb = component_benchmark;

TEST_CASE("the example plugins measure a plain function", "[plugins]") {
    cb::test::temporary_folder const folder;
    auto const file = folder / "times.txt";
    cb::pipeline pipeline{
        cb::preprocessors{plugins::cold_caches{.bytes = 1000}},
        cb::profilers{plugins::cold_start{.clock = &fake::clock},
                      cb::latency{.warmup = 1, .samples = 3, .clock = &fake::clock}},
        cb::sinks{plugins::times_file{file}}};
    int runs = 0;
    auto const report = pipeline.run(plugins::function_provider{{"load", [&] {
                                                                     fake::now += 3'000'000;
                                                                     ++runs;
                                                                 }}});
    CHECK(runs == 5);  // of them one cold and one warm-up
    CHECK(report[""].get<plugins::cold_start>().cold_ms.value() == 3.0);
    CHECK(report.document().nodes[0].type == "load");
    CHECK(cb::test::read_file(file) == "\t3\n");
}
