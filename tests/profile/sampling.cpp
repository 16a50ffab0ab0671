// When a call is repeated, when that ends, and what is said of it.
#include "support/catch2.hpp"
#include "support/fake_model.hpp"
#include <component_benchmark/profile/latency.hpp>

#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace cb = component_benchmark;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

constexpr std::int64_t ms = 1'000'000;

cb::noise_reading noise_of_test;
cb::noise_reading still() {
    return noise_of_test;
}

/// At each reading 12 further switches, and a clock that is 1,000 MHz slower.
cb::noise_reading noisy() {
    noise_of_test.taken_away += 12;
    noise_of_test.clock_mhz = noise_of_test.clock_mhz == 3400.0 ? 2400.0 : 3400.0;
    return noise_of_test;
}

cb::latency timed() {
    return {.samples = 100, .budget_s = 1e9, .clock = &fake::clock, .noise = &still};
}

fake::component one_call(std::vector<std::int64_t> forwards,
                         std::vector<std::int64_t> backwards = {}) {
    fake::component component{"x", {}, "", {}};
    component.groups.push_back(fake::group(0, 0, {0}));
    component.groups[0].source.forwards = std::move(forwards);
    component.groups[0].source.backwards = std::move(backwards);
    return component;
}

/// Casts its weights in 2 ms, unless it finds them cast.
struct casting_replay : fake::replay {
    bool* under_autocast = nullptr;
    bool kept = false;
    bool has_casts = false;
    void forward() {
        fake::now += has_casts && kept ? 6 * ms : 8 * ms;
        has_casts = true;
    }
    [[nodiscard]] bool is_under_autocast() const { return *under_autocast; }
    void keep_casts(bool wanted) {
        kept = wanted;
        has_casts = false;
    }
};

struct casting_component : fake::component {
    struct group : fake::call_group {
        casting_replay casting;
        [[nodiscard]] casting_replay replay() const { return casting; }
    };
    std::vector<group> casting_groups;
    [[nodiscard]] std::vector<group>& calls() { return casting_groups; }
};

/// Repetitions that spread by `percent` around a millisecond and do not settle.
std::vector<std::int64_t> spread_by(double percent) {
    std::vector<std::int64_t> times;
    for (int i = 0; i < 101; ++i)  // 37 and 101 have no common divisor, so all come once
        times.push_back(static_cast<std::int64_t>(1e6 * (1.0 + 0.0002 * percent * (i * 37 % 101))));
    return times;
}

}  // namespace

TEST_CASE("warms up until two times three repetitions took about as long", "[sampling]") {
    auto component = one_call({90 * ms, 50 * ms, 20 * ms, 9 * ms, 5 * ms, 3 * ms, 2 * ms, 1 * ms});
    component.groups[0].source.forwards.resize(200, 1 * ms);
    auto const found = timed().profile(component);
    CHECK(found.warmup_runs.value() == 12);  // the last six are 2, then 1 ms: medians of 1
    CHECK(found.first_run_ms.value() == 90.0);
    CHECK(found.warmup_ms.value() == Approx(90 + 50 + 20 + 9 + 5 + 3 + 2 + 5 + 12 * 2));
    CHECK(found.latency_ms.value() == 1.0);
    CHECK(found.samples.value() == 6);  // alike, so as few as an interval needs
    CHECK(found.latency_ci_pct.value() == 0.0);
    CHECK(found.latency_ms.why().empty());
}

TEST_CASE("a warm-up that does not settle ends", "[sampling]") {
    std::vector<std::int64_t> doubling;
    for (int i = 0; i < 200; ++i)
        doubling.push_back((i / 3 % 2 + 1) * ms);  // three of one, three of the other
    auto component = one_call(doubling);
    CHECK(timed().profile(component).warmup_runs.value() == 30);
    SECTION("after as many as were allowed") {
        auto few = timed();
        few.most_warmup = 8;
        CHECK(few.profile(component).warmup_runs.value() == 8);
    }
    SECTION("not before as many as were wanted") {
        auto many = timed();
        many.warmup = 40;
        CHECK(many.profile(component).warmup_runs.value() == 40);
    }
    SECTION("when a tenth of the time is spent") {
        auto brief = timed();
        brief.budget_s = 0.1;  // of which 10 ms are four or five repetitions
        CHECK(brief.profile(component).warmup_runs.value() == 4);
    }
}

TEST_CASE("none, or an exact number, of warm-ups where that is asked for", "[sampling]") {
    auto component = one_call(spread_by(50));
    auto wishes = timed();
    wishes.warmup = 0;
    CHECK(wishes.profile(component).warmup_runs.value() == 0);
    CHECK(wishes.profile(component).first_run_ms.value() == 1.0);
    wishes = timed();
    wishes.warmup = 1;
    wishes.samples = 5;
    CHECK(wishes.profile(component).warmup_runs.value() == 1);
}

TEST_CASE("samples until the median is known, and no further", "[sampling]") {
    auto component = one_call(spread_by(5));
    auto wishes = timed();
    wishes.samples = 1000;
    auto const found = wishes.profile(component);
    CHECK(found.samples.value() > 6);
    CHECK(found.samples.value() < 1000);
    CHECK(found.latency_ci_pct.value() <= 1.0);
    CHECK(found.latency_ms.why().empty());
    wishes.target_pct = 0.1;
    CHECK(wishes.profile(component).samples.value() > found.samples.value());
    CHECK(found.latency_p5_ms.value() < found.latency_ms.value());
    CHECK(found.latency_p95_ms.value() > found.latency_ms.value());
    CHECK(found.latency_min_ms.value() <= found.latency_p5_ms.value());
    CHECK(found.latency_mean_ms.value() == Approx(found.latency_ms.value()).epsilon(0.02));
}

TEST_CASE("goes on until forward, backward and both are known", "[sampling]") {
    auto component = one_call({1 * ms}, spread_by(5));
    auto const found = timed().profile(component);
    auto alone = one_call({1 * ms});
    CHECK(timed().profile(alone).samples.value() == 6);
    CHECK(found.samples.value() > 6);
    CHECK(found.latency_bwd_ms.why().empty());
}

TEST_CASE("a target of 0 takes all samples and complains of none", "[sampling]") {
    auto component = one_call({1 * ms});
    auto wishes = timed();
    wishes.target_pct = 0.0;
    auto const found = wishes.profile(component);
    CHECK(found.samples.value() == 100);
    CHECK(found.latency_ms.why().empty());
}

TEST_CASE("says that the samples did not suffice, and what was seen meanwhile", "[sampling]") {
    noise_of_test = {};
    // the first of each is the warm-up's
    auto component = one_call({30'000, 8'030'000, 34'000, 16'038'000, 31'000, 8'029'000, 29'000});
    auto wishes = timed();
    wishes.samples = 50;
    wishes.noise = &noisy;
    auto const found = wishes.profile(component);
    CHECK(found.samples.value() == 50);
    CHECK_THAT(found.latency_ms.why(), StartsWith("not within 1 % after 50 samples: \u00b1"));
    CHECK_THAT(found.latency_ms.why(), ContainsSubstring("samples in 3 groups, 8.0 ms apart"));
    CHECK_THAT(found.latency_ms.why(), ContainsSubstring("clock went from 3,400 to 2,400 MHz"));
    CHECK_THAT(found.latency_ms.why(), ContainsSubstring("the core was taken away 12 times"));
    REQUIRE(found.by_call.size() == 2);  // latency, then processor time
    CHECK(found.by_call[0].why == found.latency_ms.why());
    CHECK(found.by_call[0].samples.size() == 50);  // all of them
}

TEST_CASE("groups are said though the median is known", "[sampling]") {
    std::vector<std::int64_t> times(40, 1 * ms);
    for (std::size_t i = 0; i < times.size(); ++i)
        times[i] = i % 5 == 4 ? 9 * ms + static_cast<std::int64_t>(i) : 1 * ms;
    auto component = one_call(times);
    auto wishes = timed();
    wishes.target_pct = 0.0;
    wishes.samples = 40;
    CHECK(wishes.profile(component).latency_ms.why() == "samples in 2 groups, 8.0 ms apart");
}

TEST_CASE("only what is not known is remarked on", "[sampling]") {
    auto component = one_call({1 * ms}, spread_by(100));
    auto wishes = timed();
    wishes.samples = 20;
    auto const found = wishes.profile(component);
    CHECK(found.latency_ms.why().empty());
    CHECK_THAT(found.latency_bwd_ms.why(), StartsWith("not within 1 % after 20 samples"));
    CHECK_THAT(found.latency_fwd_bwd_ms.why(), StartsWith("not within 1 % after 20 samples"));
}

TEST_CASE("drift is said", "[sampling]") {
    std::vector<std::int64_t> times;
    for (int i = 0; i < 100; ++i)
        times.push_back(1 * ms + 3'000 * i);
    auto component = one_call(times);
    auto wishes = timed();
    wishes.warmup = 0;
    wishes.target_pct = 0.0;
    CHECK(wishes.profile(component).latency_ms.why() ==
          "the second half 14 % slower than the first");
}

TEST_CASE("a budget that is spent ends it after five samples at least, and says so", "[sampling]") {
    auto component = one_call(spread_by(100));
    auto wishes = timed();
    wishes.budget_s = 0.05;
    auto const found = wishes.profile(component);
    CHECK(found.samples.value() > 5);
    CHECK(found.samples.value() < 30);
    CHECK_THAT(found.latency_ms.why(), ContainsSubstring(" samples, when its time was spent: "));
    wishes.budget_s = 0.0;
    CHECK(wishes.profile(component).samples.value() == 5);
    CHECK_THAT(wishes.profile(component).latency_ms.why(), ContainsSubstring("6 are needed"));
    CHECK_THAT(wishes.profile(component).latency_ci_pct.why(), ContainsSubstring("fewer than 6"));
}

TEST_CASE("the budget of the run is shared by the component's calls", "[sampling]") {
    fake::component component{"x", {}, "", {}};
    for (std::size_t number = 0; number < 2; ++number) {
        component.groups.push_back(fake::group(0, 0, {number}));
        component.groups[number].source.forwards = spread_by(100);
    }
    cb::time_budget budget{0.2, &fake::clock};
    auto wishes = timed();
    cb::environment around;
    around.budget = &budget;
    wishes.begin({}, around);
    budget.expect(1);
    budget.next_component();
    auto const found = wishes.profile(component);
    REQUIRE(found.by_call.size() == 4);  // latency, then processor time
    auto const first = found.by_call[0].samples.size();
    auto const second = found.by_call[1].samples.size();
    CHECK(first > 20);
    CHECK(first < 60);
    CHECK(second > 20);
    CHECK(second < 60);
    CHECK_THAT(found.latency_ms.why(),
               ContainsSubstring("when its share of the run's time was spent"));
    CHECK_THAT(found.latency_ms.why(), ContainsSubstring("(and 1 more of its calls)"));
}

TEST_CASE("a clock that stands still gives no time, and an end", "[sampling]") {
    auto component = one_call({0});
    auto const found = timed().profile(component);
    CHECK_FALSE(found.latency_ms.has_value());
    CHECK(found.latency_ms.why() == "the clock did not move on while it ran");
    CHECK(found.latency_ci_pct.why() == "the clock did not move on while it ran");
    CHECK(found.samples.value() == 100);
    for (auto const& one : found.by_call)
        CHECK(one.metric == std::string{"cpu_time_ms"});
}

TEST_CASE("a clock that goes back gives no time, and an end", "[sampling]") {
    auto component = one_call({-5 * ms});
    auto wishes = timed();
    wishes.budget_s = 0.01;
    auto const found = wishes.profile(component);
    CHECK_FALSE(found.latency_ms.has_value());
    CHECK(found.samples.value() == 100);
    // Once back is an outlier like another.
    auto once = one_call({1 * ms, 1 * ms, 1 * ms, 1 * ms, 1 * ms, 1 * ms, 1 * ms, -9 * ms});
    CHECK(timed().profile(once).latency_ms.value() == 1.0);
}

TEST_CASE("a clock that leaps over all it can show is a long time, not a negative one",
          "[sampling]") {
    auto const before = fake::now;
    auto component = one_call({1 * ms});
    component.groups[0].source.during_forward = [] {
        fake::now = fake::now < 0 ? (std::numeric_limits<std::int64_t>::max)() - 100 * ms
                                  : (std::numeric_limits<std::int64_t>::min)() + 100 * ms;
    };
    auto wishes = timed();
    wishes.warmup = 0;
    auto const found = wishes.profile(component);
    CHECK(found.samples.value() > 0);
    CHECK(std::isfinite(found.latency_mean_ms.value()));
    fake::now = before;
}

TEST_CASE("a replay that throws midway ends the component with its own words", "[sampling]") {
    static int left = 0;
    left = 9;
    auto component = one_call(spread_by(50));
    component.groups[0].source.during_forward = [] {
        if (--left == 0)
            throw std::runtime_error{"the ninth is bad"};
    };
    CHECK_THROWS_WITH(timed().profile(component), "the ninth is bad");
    component.groups[0].source.during_forward = nullptr;
    CHECK(timed().profile(component).latency_ms.has_value());
}

TEST_CASE("one sample is a number that says how little is known of it", "[sampling]") {
    auto component = one_call({3 * ms});
    auto wishes = timed();
    wishes.samples = 1;
    auto const found = wishes.profile(component);
    CHECK(found.latency_ms.value() == 3.0);
    CHECK(found.by_call[0].samples == std::vector<double>{3.0});
    CHECK(found.latency_spread_pct.value() == 0.0);
    CHECK(found.latency_ms.why() == "not within 1 % after 1 sample: 6 are needed to tell");
}

TEST_CASE("an interrupted sampling keeps what it has and says so", "[sampling]") {
    static int left = 0;
    left = 20;
    cb::interruption_guard const guard;
    auto component = one_call(spread_by(100));
    component.groups[0].source.during_forward = [] {
        if (--left == 0)
            ::raise(SIGINT);
    };
    auto wishes = timed();
    wishes.warmup = 0;
    auto const found = wishes.profile(component);
    cb::detail::signal_state<SIGINT>::times = 0;  // or the guard raises it again
    CHECK(found.samples.value() == 20);
    CHECK_THAT(found.latency_ms.why(),
               StartsWith("not within 1 % after 20 samples, when the run was interrupted: "));
}

TEST_CASE("what autocast's casts of weights are of a forward is said", "[sampling]") {
    bool under_autocast = true;
    casting_component component;
    component.casting_groups.emplace_back().numbers = {0};
    component.casting_groups[0].casting.under_autocast = &under_autocast;
    auto const found = timed().profile(component);
    CHECK(found.latency_ms.value() == 8.0);  // as in the program, which casts once
    CHECK(found.latency_ms.why() == "2.0 ms of it (25.0 %) casts weights for autocast");
    CHECK(found.samples.value() == 6);
    under_autocast = false;
    CHECK(timed().profile(component).latency_ms.why().empty());
}

TEST_CASE("what is no target or no time is refused by name", "[sampling]") {
    auto wishes = timed();
    CHECK_NOTHROW(wishes.check());
    wishes.target_pct = -1.0;
    CHECK_THROWS_WITH(wishes.check(), ContainsSubstring("latency.target_pct is -1"));
    wishes = timed();
    wishes.budget_s = std::numeric_limits<double>::quiet_NaN();
    CHECK_THROWS_WITH(wishes.check(), ContainsSubstring("latency.budget_s is nan"));
}
