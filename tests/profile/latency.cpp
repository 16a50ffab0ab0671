#include "support/catch2.hpp"
#include "support/fake_model.hpp"
#include <component_benchmark/profile/latency.hpp>
#include <component_benchmark/profile/model_size.hpp>

namespace cb = component_benchmark;

namespace {

cb::latency with(int samples) {
    return {.warmup = 2, .samples = samples, .clock = &fake::clock};
}

fake::component one_call(std::vector<std::int64_t> forwards, std::int64_t backward_ns = 0) {
    fake::component component{"x", {}, "", {}};
    component.groups.push_back(fake::group(0, backward_ns, {0}));
    component.groups[0].source.forwards = std::move(forwards);
    return component;
}

}  // namespace

TEST_CASE("takes the median of the samples after the warm-up", "[latency]") {
    // two slow repetitions to warm up, then 1, 9, 2 ms
    auto component = one_call({50'000'000, 50'000'000, 1'000'000, 9'000'000, 2'000'000});
    auto const found = with(3).profile(component);
    CHECK(found.latency_ms.value() == 2.0);
    REQUIRE(found.by_call.size() == 2);  // latency, then processor time
    CHECK(found.by_call[0].samples == std::vector<double>{1.0, 9.0, 2.0});
    CHECK(found.latency_spread_pct.value() == Approx(100.0 * (5.5 - 1.5) / 2.0));
}

TEST_CASE("what lies between the clock readings is the component's work alone", "[latency]") {
    auto component = one_call({1'000'000}, 3'000'000);
    auto const found = with(4).profile(component);
    CHECK(found.latency_ms.value() == 1.0);
    CHECK(found.latency_bwd_ms.value() == 3.0);
    CHECK(found.latency_fwd_bwd_ms.value() == 4.0);
}

TEST_CASE("processor time is that of all threads in a forward, and nothing else", "[latency]") {
    fake::component component{"x", {}, "", {}};
    component.groups.push_back(fake::group(1'000'000, 3'000'000, {0, 2, 3}));
    component.groups.push_back(fake::group(5'000'000, 3'000'000, {1}));
    auto wishes = with(3);
    wishes.processor = []() noexcept { return 4 * fake::now; };  // four threads at work
    auto const found = wishes.profile(component);
    CHECK(found.cpu_time_ms.value() == Approx((3 * 4.0 + 20.0) / 4));
    CHECK_FALSE(found.cpu_time_total_ms.has_value());  // the report adds the calls up
    REQUIRE(found.by_call.size() == 8);
    CHECK(found.by_call[6].metric == std::string{"cpu_time_ms"});
    CHECK(found.by_call[6].value == Approx(4.0));
    CHECK(found.by_call[7].value == Approx(20.0));
    auto const real = with(3).profile(component);
    CHECK(real.cpu_time_ms.value() >= 0.0);
    CHECK(cb::processor_nanoseconds() > 0);
}

TEST_CASE("prepares every repetition", "[latency]") {
    int prepared = 0;
    fake::component component{"x", {}, "", {}};
    component.groups.push_back(fake::group(1'000, 0, {0}));
    component.groups[0].source.prepared = &prepared;
    static_cast<void>(with(5).profile(component));
    CHECK(prepared == 7);
}

TEST_CASE("weights different calls by how often they occur", "[latency]") {
    fake::component component{"x", {}, "", {}};
    component.groups.push_back(fake::group(1'000'000, 0, {0, 2, 3}));
    component.groups.push_back(fake::group(5'000'000, 0, {1}));
    auto const found = with(3).profile(component);
    CHECK(found.latency_ms.value() == 2.0);
    CHECK_FALSE(found.total_ms.has_value());  // the report adds the calls up
    REQUIRE(found.by_call.size() == 4);
    CHECK(found.by_call[0].calls == std::vector<std::size_t>{0, 2, 3});
    CHECK(found.by_call[1].value == 5.0);
}

TEST_CASE("says why there is no number", "[latency]") {
    fake::component none{"x", {}, "argument 1 is a pointer", {}};
    CHECK_THROWS_WITH(with(3).profile(none), "argument 1 is a pointer");  // becomes the reason

    auto forward_only = one_call({1'000'000});
    CHECK(with(3).profile(forward_only).latency_bwd_ms.why() == "no output requires a gradient");
    auto no_backward = with(3);
    no_backward.backward = false;
    CHECK(no_backward.profile(forward_only).latency_bwd_ms.why() == "backward was not asked for");
}

TEST_CASE("a call that needs no backward counts as none in the row's mean", "[latency]") {
    fake::component component{"x", {}, "", {}};
    component.groups.push_back(fake::group(1'000'000, 4'000'000, {0}));
    component.groups.push_back(fake::group(1'000'000, 0, {1}));
    CHECK(with(3).profile(component).latency_bwd_ms.value() == 2.0);
}

TEST_CASE("stops at the budget, but not before five samples", "[latency]") {
    auto component = one_call({2'000'000'000});
    auto const found = with(20).profile(component);
    CHECK(found.samples.value() == 5);
}

TEST_CASE("samples of zero still give one", "[latency]") {
    auto component = one_call({1'000'000});
    CHECK(with(0).profile(component).samples.value() == 1);
}

TEST_CASE("counts elements and bytes", "[model_size]") {
    fake::component component{"x", {}, "", {{1000}, {24}}};
    auto const found = cb::model_size{}.profile(component);
    CHECK(found.params.value() == 1024);
    CHECK(found.buffers.value() == 0);
    CHECK(found.model_size_mb.value() == Approx(0.004096));
}
