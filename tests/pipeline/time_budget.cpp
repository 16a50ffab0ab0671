#include "support/catch2.hpp"
#include "support/fake_model.hpp"
#include <component_benchmark/pipeline/pipeline.hpp>
#include <component_benchmark/profile/latency.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace cb = component_benchmark;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr std::int64_t ms = 1'000'000;

cb::latency patient() {
    return {.samples = 10'000, .budget_s = 1e9, .clock = &fake::clock};
}

/// Four rows: the first and the last settle at once, the others never.
fake::provider restless() {
    fake::provider provider;
    provider.captured.add(cb::node::none, "", 1, 1 * ms, 0);
    for (auto const* name : {"a", "b", "c"})
        provider.captured.add(0, name, 1, 1 * ms, 0);
    std::vector<std::int64_t> times;
    for (int i = 0; i < 101; ++i)
        times.push_back(ms + 20'000 * (i * 37 % 101));
    for (std::size_t const row : {1U, 2U})
        provider.captured.components[row].groups[0].source.forwards = times;
    return provider;
}

}  // namespace

TEST_CASE("a run shares its time out among its components", "[pipeline][budget]") {
    auto provider = restless();
    auto const run = [&](double seconds) {
        cb::pipeline pipeline{cb::preprocessors{}, cb::profilers{patient()}, cb::sinks{},
                              cb::options{.time_budget_s = seconds, .clock = &fake::clock}};
        auto const begin = fake::now;
        auto report = pipeline.run(provider);
        return std::pair{std::move(report), static_cast<double>(fake::now - begin) / 1e9};
    };
    auto const [report, took] = run(3.0);
    CHECK(took < 3.1);
    CHECK(report[""]["samples"].number() == 6.0);
    CHECK(report["c"]["samples"].number() == 6.0);
    auto const first = report["a"]["samples"].number();
    auto const second = report["b"]["samples"].number();
    // A repetition takes 4 ms with what prepares it, and up to 30 are warm-up. A quarter of 3 s
    // would be 157 samples; the first row left more.
    CHECK(first == Approx(225.0).margin(12.0));
    CHECK(second == Approx(first).margin(3.0));
    CHECK_THAT(report["a"]["latency_ms"].why,
               ContainsSubstring("when its share of the run's time was spent"));
    CHECK(report["c"]["latency_ms"].why.empty());

    CHECK(run(0.0).first["a"]["samples"].number() > second);
    auto const spent = run(1e-9).first;
    for (auto const* path : {"", "a", "b", "c"})
        CHECK(spent[path]["samples"].number() == 5.0);
}

TEST_CASE("the budget stands among the options of the report", "[pipeline][budget]") {
    auto provider = restless();
    cb::pipeline pipeline{cb::preprocessors{}, cb::profilers{patient()}, cb::sinks{},
                          cb::options{.time_budget_s = 2.5, .clock = &fake::clock}};
    auto const options = pipeline.run(provider).document().facts.options;
    CHECK(std::find(options.begin(), options.end(),
                    std::pair<std::string, std::string>{"time_budget_s", "2.5"}) != options.end());
}

TEST_CASE("a budget that is no time is refused before anything is captured", "[pipeline][budget]") {
    auto const check = [](double seconds) {
        cb::pipeline{cb::preprocessors{}, cb::profilers{patient()}, cb::sinks{},
                     cb::options{.time_budget_s = seconds}}
            .check();
    };
    CHECK_NOTHROW(check(std::numeric_limits<double>::infinity()));
    CHECK_THROWS_WITH(check(-0.5), ContainsSubstring("options.time_budget_s is -0.5"));
    CHECK_THROWS_AS(check(std::numeric_limits<double>::quiet_NaN()), cb::error);
}
