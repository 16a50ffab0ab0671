// The plugins of docs/contributing.md, as they stand there.
#include "plugins/cold_caches.hpp"
#include "plugins/cold_start.hpp"
#include "plugins/function_provider.hpp"
#include "plugins/prepared.hpp"
#include "plugins/times_file.hpp"
#include "support/catch2.hpp"
#include "support/fake_model.hpp"
#include "support/golden.hpp"
#include "support/temporary_folder.hpp"
#include <component_benchmark/pipeline/pipeline.hpp>

#include <memory>
#include <vector>

namespace cb = component_benchmark;

namespace {

/// A table with few rows for as long as this lives.
struct shrunk {
    int& rows;
    int before = rows;
    explicit shrunk(int& table) : rows(table) { rows = 10; }
    shrunk(shrunk const&) = delete;
    ~shrunk() { rows = before; }
};

}  // namespace

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

TEST_CASE("the example provider prepares a model for the profile and puts it back", "[plugins]") {
    int rows = 1000;
    std::vector<int> seen;
    auto const prepare = [&] { return shrunk{rows}; };
    cb::pipeline pipeline{
        cb::preprocessors{},
        cb::profilers{cb::latency{.warmup = 1, .samples = 2, .clock = &fake::clock}}, cb::sinks{}};
    SECTION("after a run") {
        auto const lookup = [&] { seen.push_back(rows); };
        auto const report = pipeline.run(
            plugins::prepared{plugins::function_provider{{"lookup", lookup}}, prepare});
        CHECK(report[""].get<cb::latency>().samples.value() == 2);
        CHECK(report.document().nodes[0].type == "lookup");
        CHECK(seen == std::vector<int>(3, 10));
    }
    SECTION("after a capture that fails") {
        auto const broken = [&](cb::options const&) -> std::unique_ptr<plugins::captured_function> {
            seen.push_back(rows);
            throw cb::error{"no model"};
        };
        struct failing {
            decltype(broken) capture;
        };
        CHECK_THROWS_AS(pipeline.run(plugins::prepared{failing{broken}, prepare}), cb::error);
        CHECK(seen == std::vector<int>{10});
    }
    CHECK(rows == 1000);
}
