#include "support/catch2.hpp"
#include "support/fake_model.hpp"
#include <component_benchmark/device/cache_flush.hpp>
#include <component_benchmark/pipeline/pipeline.hpp>
#include <component_benchmark/profile/cold_latency.hpp>
#include <component_benchmark/profile/latency.hpp>
#include <component_benchmark/profile/sampling.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace cb = component_benchmark;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr std::int64_t ms = 1'000'000;
constexpr std::int64_t mebibyte = 1024 * 1024;

std::vector<std::string> steps;

/// A replay that tells what it is asked for.
struct telling_replay : fake::replay {
    void prepare() { steps.emplace_back("prepare"); }
    void forward() {
        steps.emplace_back("forward");
        fake::now += ms;
    }
    bool prepare_backward() {
        steps.emplace_back("prepare backward");
        return true;
    }
    void backward() {
        steps.emplace_back("backward");
        fake::now += 2 * ms;
    }
};

struct telling_before {
    void starts(telling_replay&) { steps.emplace_back("starts"); }
    void operator()() {
        steps.emplace_back("empties");
        fake::now += 50 * ms;  // must never be part of a number
    }
};

struct copying_replay : fake::replay {
    int* asked = nullptr;
    void copy_arguments_each_time() { ++*asked; }
};

cb::cold_latency cold() {
    return {.samples = 3, .cache_bytes = 4096, .clock = &fake::clock};
}

}  // namespace

TEST_CASE("caches are emptied when all is prepared, and not in what is timed", "[cold]") {
    steps.clear();
    telling_replay replay;
    telling_before before;
    cb::sampling_plan const plan{.warmup = 0, .samples = 1, .budget_s = 1e9, .clock = &fake::clock};
    auto const found = cb::sampling{replay, plan, before}.run();
    CHECK(steps == std::vector<std::string>{"starts", "prepare", "empties", "forward",
                                            "prepare backward", "empties", "backward"});
    CHECK(found.forward == std::vector<double>{1.0});
    CHECK(found.backward == std::vector<double>{2.0});
}

TEST_CASE("a replay that can is asked once for fresh arguments", "[cold]") {
    int asked = 0;
    copying_replay copying;
    copying.asked = &asked;
    cb::detail::empties_caches before{cb::cache_flush<>{4096}};
    before.starts(copying);
    CHECK(asked == 1);
    fake::replay plain;
    before.starts(plain);  // compiles, and does nothing
}

TEST_CASE("every line of the buffer is written each time", "[cold]") {
    cb::cache_flush<> flush{1000};
    auto const first = flush.data()[0];
    flush();
    for (std::size_t line = 0; line < flush.size(); line += 64)
        CHECK(flush.data()[line] == first + 1);
    for (int round = 0; round < 300; ++round)  // past what a byte can count
        flush();
    CHECK(cb::cache_flush<>{0}.size() == 1);
}

TEST_CASE("twice the caches are written, within bounds", "[cold]") {
    constexpr auto enough = std::int64_t{1} << 40;
    CHECK(cb::bytes_to_flush(32 * mebibyte, 256 * mebibyte, enough) == 64 * mebibyte);
    CHECK(cb::bytes_to_flush(480 * mebibyte, 256 * mebibyte, enough) == 256 * mebibyte);
    CHECK(cb::bytes_to_flush(0, 256 * mebibyte, enough) == 64 * mebibyte);
    CHECK(cb::bytes_to_flush(32 * mebibyte, 256 * mebibyte, 40 * mebibyte) == 10 * mebibyte);
    CHECK(cb::bytes_to_flush(32 * mebibyte, 256 * mebibyte, 0) == 4096);
    constexpr auto most = (std::numeric_limits<std::int64_t>::max)();
    CHECK(cb::bytes_to_flush(most, most, most) == most / 4);
}

TEST_CASE("hot and cold are columns of their own", "[cold]") {
    fake::provider provider;
    provider.captured.add(cb::node::none, "", 1, 3 * ms, 4 * ms);
    cb::pipeline pipeline{cb::preprocessors{},
                          cb::profilers{cb::latency{.samples = 3, .clock = &fake::clock}, cold()},
                          cb::sinks{}};
    auto const report = pipeline.run(provider);
    CHECK(report[""]["latency_ms"].number() == 3.0);
    CHECK(report[""].get<cb::cold_latency>().latency_cold_ms.value() == 3.0);
    CHECK(report[""]["latency_cold_bwd_ms"].number() == 4.0);
    CHECK(report[""]["samples_cold"].number() == 3.0);
    auto const& facts = report.document().facts;
    bool said = false;
    for (auto const& [key, value] : facts.conventions)
        said =
            said || (key == "cold_caches" && value.find("MB written before") != std::string::npos);
    CHECK(said);
    CHECK(facts.warnings.empty());
    std::size_t sets = 0;
    for (auto const& set : report.document().samples)
        sets += set.column.starts_with("latency_cold") ? 1U : 0U;
    CHECK(sets == 2);
}

TEST_CASE("caches that are larger than what may be written are said", "[cold]") {
    auto wishes = cold();
    wishes.cache_bytes = 480 * mebibyte;
    cb::run_notes notes;
    wishes.tell(notes);
    REQUIRE(notes.warnings.size() == 1);
    CHECK_THAT(notes.warnings[0], ContainsSubstring("caches of 503 MB, so something may be left"));
}

TEST_CASE("on another device there is no number, and a reason", "[cold]") {
    auto wishes = cold();
    cb::environment around;
    around.device_kind = "cuda";
    wishes.begin({}, around);
    fake::component component{"x", {}, "", {}};
    component.groups.push_back(fake::group(ms, 0, {0}));
    CHECK_THROWS_WITH(wishes.profile(component), "caches are emptied on a CPU only");
}

TEST_CASE("bytes that are none are refused by name", "[cold]") {
    auto wishes = cold();
    CHECK_NOTHROW(wishes.check());
    wishes.most_bytes = 0;
    CHECK_THROWS_WITH(wishes.check(), ContainsSubstring("most_bytes 0: give bytes"));
}
