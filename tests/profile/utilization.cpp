// What follows from FLOPs, bytes, times and peaks, without torch: the numbers are given.
#include "support/catch2.hpp"
#include "support/environment_variable.hpp"
#include "support/fake_model.hpp"
#include <component_benchmark/device/known_peaks.hpp>
#include <component_benchmark/pipeline/pipeline.hpp>
#include <component_benchmark/profile/bandwidth_result.hpp>
#include <component_benchmark/profile/flop_result.hpp>
#include <component_benchmark/profile/latency.hpp>
#include <component_benchmark/profile/mfu.hpp>
#include <component_benchmark/profile/roofline.hpp>
#include <component_benchmark/profile/throughput.hpp>
#include <component_benchmark/result/report.hpp>
#include <component_benchmark/sink/json.hpp>
#include <component_benchmark/sink/table.hpp>

#include <cstdint>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace cb = component_benchmark;
using Catch::Matchers::Contains;

namespace {

/// 10 TFLOP/s in fp32, 100 in bf16, 100 GB/s, 1 MB of cache.
struct fake_device {
    static cb::device_peaks peaks(std::string const& device, cb::wanted_peaks const& wanted,
                                  cb::peak_overrides const& overrides) {
        cb::device_peaks found{.name = "Fake 1", .kind = device};
        if (wanted.has(cb::number_format::fp32))
            found.set(cb::number_format::fp32, {10.0, cb::peak_source::datasheet});
        if (wanted.has(cb::number_format::bf16))
            found.set(cb::number_format::bf16, {100.0, cb::peak_source::datasheet});
        if (wanted.bandwidth)
            found.bandwidth = cb::bandwidth_peak{100.0, cb::peak_source::measured};
        cb::peaks::apply(found, overrides, cb::peak_overrides{});
        return found;
    }
    static std::int64_t cache_bytes(cb::device_peaks const&) { return 1'000'000; }
};

/// FLOPs by path, as a counting run would have found them.
struct given_flops {
    static constexpr char const* name = "flops";
    using result = cb::flop_result;
    std::map<std::string, cb::flop_tally> tallies;

    template<class Component>
    [[nodiscard]] result profile(Component& one) const {
        std::vector<cb::counted_call> calls;
        for (auto& group : one.calls()) {
            cb::counted_call call;
            call.count = group.count();
            call.members = group.members();
            if (auto const known = tallies.find(one.path()); known != tallies.end())
                call.tally = known->second;
            calls.push_back(std::move(call));
        }
        if (calls.empty())
            throw std::runtime_error{one.why_no_calls()};
        return cb::formulas::flops_of_calls(calls, 2);
    }
};

/// Megabytes by path.
struct given_traffic {
    static constexpr char const* name = "bandwidth";
    using result = cb::bandwidth_result;
    std::map<std::string, double> megabytes;

    template<class Component>
    [[nodiscard]] result profile(Component& one) const {
        if (one.calls().empty())
            throw std::runtime_error{one.why_no_calls()};
        result made;
        auto const known = megabytes.find(one.path());
        double const moved = known == megabytes.end() ? 0.0 : known->second;
        if (moved < 0.0) {
            made.traffic_mb = decltype(made.traffic_mb)::unavailable("not known for mylib::lookup");
            return made;
        }
        made.traffic_mb = moved;
        for (auto& group : one.calls())
            made.by_call.push_back({"traffic_mb", group.members(), moved, {}});
        return made;
    }
};

using mfu = cb::basic_mfu<given_flops, fake_device>;
using throughput = cb::basic_throughput<given_flops>;
using roofline = cb::basic_roofline<given_flops, given_traffic, fake_device>;

cb::flop_tally tally(cb::number_format format, double forward, double backward = 0.0,
                     double recomputed = 0.0) {
    cb::flop_tally made;
    auto const place = static_cast<std::size_t>(format);
    made.forward.by_format[place] = forward;
    made.backward.by_format[place] = backward;
    made.recomputed.by_format[place] = recomputed;
    return made;
}

/// A component with one call of 1 ms, forward, and 3 ms, backward.
cb::report<cb::latency, given_flops, throughput, mfu> profiled(cb::flop_tally const& what,
                                                               cb::options wishes = {}) {
    fake::model model;
    model.add(cb::node::none, "", 1, 1'000'000, 3'000'000);
    auto pipeline =
        cb::pipeline{cb::preprocessors{},
                     cb::profilers{cb::latency{.warmup = 0, .samples = 3, .clock = &fake::clock},
                                   given_flops{{{"", what}}}, throughput{}, mfu{}},
                     cb::sinks{}, std::move(wishes)};
    return pipeline.run(fake::provider{model});
}

}  // namespace

TEST_CASE("MFU adds up the formats, each by its own peak") {
    auto what = tally(cb::number_format::bf16, 1e9);
    what.forward.by_format[static_cast<std::size_t>(cb::number_format::fp32)] = 1e9;
    auto const found = profiled(what)[""].get<mfu>();
    CHECK(found.mfu_fwd_pct.value() == Approx(11.0));
    CHECK(found.mfu_pct.value() == Approx(11.0));
    CHECK(found.mfu_pct.from() == cb::origin::derived);
}

TEST_CASE("recomputation counts for the hardware, not for the model") {
    auto const report = profiled(tally(cb::number_format::fp32, 1e9, 2e9, 1e9));
    auto const found = report[""].get<mfu>();
    CHECK(found.mfu_fwd_pct.value() == Approx(10.0));
    CHECK(found.mfu_fwd_bwd_pct.value() == Approx(100.0 * 3e9 / 10e12 / 4e-3));
    CHECK(found.hfu_pct.value() == Approx(100.0 * 4e9 / 10e12 / 4e-3));
    CHECK(report[""].get<throughput>().tflops_per_s.value() == Approx(1.0));
    CHECK(report[""].get<throughput>().tflops_per_s_fwd_bwd.value() == Approx(0.75));
    CHECK(report[""].get<given_flops>().flops_fwd_bwd.value() == 3'000'000'000);
}

TEST_CASE("a peak that is not known makes no number") {
    auto const missing = profiled(tally(cb::number_format::fp8, 1e9))[""].get<mfu>();
    REQUIRE_FALSE(missing.mfu_pct.has_value());
    CHECK_THAT(missing.mfu_pct.why(), Contains("fp8") && Contains("Fake 1"));
    CHECK_FALSE(missing.hfu_pct.has_value());

    cb::flop_tally integers;
    integers.forward.by_format[cb::flop_amounts::other] = 1e9;
    CHECK_THAT(profiled(integers)[""].get<mfu>().mfu_pct.why(), Contains("no peak"));

    auto const given = profiled(tally(cb::number_format::fp8, 1e9),
                                {.peaks = {.tflops = {{"fp8", 20.0}}, .bandwidth_gbps = {}}});
    CHECK(given[""].get<mfu>().mfu_pct.value() == Approx(5.0));
}

TEST_CASE("a share over 100 % is shown and said") {
    auto const report = profiled(tally(cb::number_format::fp32, 11e9));
    auto const found = report[""].get<mfu>();
    CHECK(found.mfu_pct.value() == Approx(110.0));
    CHECK_THAT(found.mfu_pct.why(), Catch::Matchers::StartsWith(std::string{cb::over_the_peak}));
    auto const text = cb::to_table(report.document(), 160);
    CHECK_THAT(text, Contains("^110") && Contains("^ over the peak"));
}

TEST_CASE("operators without a formula make a lower bound, and alone no number") {
    auto what = tally(cb::number_format::fp32, 1e9, 2e9);
    what.coverage.note("aten::mm", cb::op_class::counted, 900);
    what.coverage.note("mylib::fused", cb::op_class::unknown, 100);
    auto const report = profiled(what);
    auto const found = report[""].get<given_flops>();
    CHECK(found.flops_fwd.value() == 1'000'000'000);
    CHECK_THAT(found.flops_fwd.why(), Contains("lower bound") && Contains("mylib::fused"));
    CHECK(found.covered_calls_pct.value() == Approx(50.0));
    CHECK(found.covered_time_pct.value() == Approx(90.0));
    CHECK_THAT(report[""].get<mfu>().mfu_pct.why(), Contains("lower bound"));
    CHECK_THAT(cb::to_table(report.document(), 160), Contains("\u22651,000,000,000"));

    cb::flop_tally nothing;
    nothing.coverage.note("mylib::fused", cb::op_class::unknown, 100);
    nothing.coverage.note_failure("mylib::fused", "it threw");
    auto const alone = profiled(nothing);
    auto const none = alone[""].get<given_flops>();
    REQUIRE_FALSE(none.flops_fwd.has_value());
    CHECK_THAT(none.flops_fwd.why(), Contains("mylib::fused") && Contains("it threw"));
    CHECK_FALSE(alone[""].get<mfu>().mfu_pct.has_value());
    CHECK_FALSE(alone[""].get<throughput>().tflops_per_s.has_value());
}

TEST_CASE("a container that is never called has the MFU of all that its leaves do") {
    fake::model model;
    auto const root = model.add(cb::node::none, "", 0);
    auto const box = model.add(static_cast<std::ptrdiff_t>(root), "box", 0);
    auto const below = static_cast<std::ptrdiff_t>(box);
    model.add(below, "a", 1, 1'000'000, 2'000'000);
    model.add(below, "b", 2, 4'000'000, 5'000'000);
    model.add(below, "c", 1, 500'000, 500'000);
    model.add(static_cast<std::ptrdiff_t>(root), "d", 1, 2'000'000, 7'000'000);
    auto pipeline = cb::pipeline{
        cb::preprocessors{},
        cb::profilers{cb::latency{.warmup = 0, .samples = 3, .clock = &fake::clock},
                      given_flops{{{"box.a", tally(cb::number_format::fp32, 2e9, 4e9)},
                                   {"box.b", tally(cb::number_format::bf16, 30e9, 9e9)},
                                   {"d", tally(cb::number_format::fp32, 3e9, 1e9)}}},
                      throughput{}, mfu{}},
        cb::sinks{}};
    auto const report = pipeline.run(fake::provider{model});

    auto const ideal = 2e9 / 10e12 + 2 * 30e9 / 100e12;  // seconds in the box
    auto const measured = 1e-3 + 2 * 4e-3 + 0.5e-3;
    auto const found = report["box"].get<mfu>();
    CHECK(found.mfu_fwd_pct.value() == Approx(100.0 * ideal / measured));
    CHECK(found.mfu_fwd_pct.from() == cb::origin::estimated);
    CHECK_THAT(found.mfu_fwd_pct.why(), Contains("weighted by latency"));
    auto const ideal_both = 6e9 / 10e12 + 2 * 39e9 / 100e12;
    auto const measured_both = 3e-3 + 2 * 9e-3 + 1e-3;
    CHECK(found.mfu_fwd_bwd_pct.value() == Approx(100.0 * ideal_both / measured_both));
    CHECK(report[""].get<mfu>().mfu_fwd_pct.value() ==
          Approx(100.0 * (ideal + 3e9 / 10e12) / (measured + 2e-3)));
    CHECK(report["box"].get<throughput>().tflops_per_s.value() == Approx(62e9 / measured / 1e12));
    CHECK(report["box"].get<given_flops>().flops_fwd.value() == 62'000'000'000);
}

TEST_CASE("the roofline says what limits a component and what could be gained") {
    fake::model model;
    auto const root = model.add(cb::node::none, "", 1, 10'000'000, 0);
    model.add(static_cast<std::ptrdiff_t>(root), "products", 1, 4'000'000, 0);
    model.add(static_cast<std::ptrdiff_t>(root), "sums", 1, 2'000'000, 0);
    auto pipeline = cb::pipeline{
        cb::preprocessors{},
        cb::profilers{cb::latency{.warmup = 0, .samples = 3, .clock = &fake::clock},
                      given_flops{{{"", tally(cb::number_format::fp32, 22e9)},
                                   {"products", tally(cb::number_format::fp32, 20e9)},
                                   {"sums", tally(cb::number_format::fp32, 1e9)}}},
                      given_traffic{{{"", 300.0}, {"products", 50.0}, {"sums", 100.0}}},
                      roofline{}},
        cb::sinks{}};
    auto const report = pipeline.run(fake::provider{model});

    auto const products = report["products"].get<roofline>();
    CHECK(products.intensity.value() == Approx(400.0));
    CHECK(products.bound.value() == "compute");
    CHECK(products.compute_roof_ms.value() == Approx(2.0));
    CHECK(products.memory_roof_ms.value() == Approx(0.5));
    CHECK(products.roofline_util_pct.value() == Approx(50.0));
    CHECK(products.opportunity_ms.value() == Approx(2.0));
    auto const sums = report["sums"].get<roofline>();
    CHECK(sums.bound.value() == "memory");
    CHECK(sums.roofline_util_pct.value() == Approx(50.0));
    CHECK(sums.opportunity_ms.value() == Approx(1.0));
    // of its own: 4 ms, 1 GFLOP (0.1 ms) and 150 MB (1.5 ms)
    CHECK(report[""].get<roofline>().opportunity_ms.value() == Approx(2.5));
    CHECK(report[""]["bound"].words() == "memory");
    CHECK_THAT(cb::to_json(report.document()), Contains("\"compute\"") && Contains("peaks"));
}

TEST_CASE("numbers of the conventions and peaks stand in every output") {
    auto const report = profiled(tally(cb::number_format::fp32, 1e9));
    CHECK_THAT(cb::to_table(report.document(), 100),
               Contains("mfu: forward") && Contains("fp32 10.00 TFLOP/s (datasheet)"));
    CHECK_THAT(cb::to_json(report.document()),
               Contains("\"mfu\": \"forward\"") && Contains("\"tflops\": 10"));
}

TEST_CASE("a peak that is no positive number is refused by its name") {
    for (double const wrong : {0.0, -3.0, std::numeric_limits<double>::quiet_NaN(),
                               std::numeric_limits<double>::infinity()})
        CHECK_THROWS_WITH(profiled(tally(cb::number_format::fp32, 1e9),
                                   {.peaks = {.tflops = {{"bf16", wrong}}, .bandwidth_gbps = {}}}),
                          Contains("bf16"));
}

TEST_CASE("the parent of a part that is not known is a lower bound, not a zero") {
    fake::model model;
    auto const root = static_cast<std::ptrdiff_t>(model.add(cb::node::none, "", 0));
    model.add(root, "known", 1, 1'000'000, 0);
    model.add(root, "opaque", 1, 1'000'000, 0);
    cb::flop_tally unknown;
    unknown.coverage.note("mylib::fused", cb::op_class::unknown, 100);
    auto pipeline = cb::pipeline{
        cb::preprocessors{},
        cb::profilers{
            cb::latency{.warmup = 0, .samples = 3, .clock = &fake::clock},
            given_flops{{{"known", tally(cb::number_format::fp32, 1e9)}, {"opaque", unknown}}},
            given_traffic{{{"known", 10.0}, {"opaque", -1.0}}}, roofline{}},
        cb::sinks{}};
    auto const report = pipeline.run(fake::provider{model});
    CHECK(report[""]["flops_fwd"].number() == 1e9);
    CHECK_THAT(report[""]["flops_fwd"].why, Contains("lower bound"));
    CHECK_FALSE(report["opaque"]["flops_fwd"].has_value());
    auto const roof = report["opaque"].get<roofline>();
    CHECK_FALSE(roof.memory_roof_ms.has_value());
    CHECK_FALSE(roof.bound.has_value());
    CHECK_FALSE(roof.intensity.has_value());
    CHECK_THAT(roof.memory_roof_ms.why(), Contains("mylib::lookup"));
    CHECK_THAT(report[""]["memory_roof_ms"].why, Contains("lower bound"));
}

TEST_CASE("what only the backward does not know leaves the forward exact") {
    auto what = tally(cb::number_format::fp32, 1e9, 2e9);
    what.coverage_bwd.note("mylib::fused_backward", cb::op_class::unknown, 100);
    auto const report = profiled(what);
    auto const found = report[""].get<given_flops>();
    CHECK(found.flops_fwd.why().empty());
    CHECK_THAT(found.flops_bwd.why(), Contains("mylib::fused_backward"));
    CHECK_THAT(found.flops_fwd_bwd.why(), Contains("lower bound"));
}

TEST_CASE("a call that needs no gradient costs its forward") {
    fake::model model;
    model.add(cb::node::none, "", 2, 1'000'000, 2'000'000);
    auto& groups = model.components[0].groups;
    groups.clear();
    groups.push_back(fake::group(1'000'000, 2'000'000, {0}));
    groups.push_back(fake::group(1'000'000, 0, {1}));
    auto pipeline = cb::pipeline{
        cb::preprocessors{},
        cb::profilers{cb::latency{.warmup = 0, .samples = 3, .clock = &fake::clock}}, cb::sinks{}};
    auto const times = pipeline.run(fake::provider{model})[""].get<cb::latency>();
    CHECK(times.latency_ms.value() == Approx(1.0));
    CHECK(times.latency_bwd_ms.value() == Approx(1.0));
    CHECK(times.latency_fwd_bwd_ms.value() == Approx(2.0));  // 3 and 1
}

TEST_CASE("a mean over parts weighs what it is the mean of") {
    fake::model model;
    auto const root = static_cast<std::ptrdiff_t>(model.add(cb::node::none, "", 0));
    auto const a = static_cast<std::ptrdiff_t>(model.add(root, "a", 0));
    model.add(a, "x", 1, 1'000'000, 0);
    model.add(a, "y", 1, 9'000'000, 0);
    model.add(root, "b", 1, 10'000'000, 0);
    cb::flop_tally unknown;
    unknown.coverage.note("mylib::fused", cb::op_class::unknown, 100);
    auto pipeline =
        cb::pipeline{cb::preprocessors{},
                     cb::profilers{cb::latency{.warmup = 0, .samples = 3, .clock = &fake::clock},
                                   given_flops{{{"a.x", tally(cb::number_format::fp32, 1e9)},
                                                {"a.y", unknown},
                                                {"b", tally(cb::number_format::fp32, 50e9)}}},
                                   mfu{}},
                     cb::sinks{}};
    auto const report = pipeline.run(fake::provider{model});
    CHECK(report["a"]["mfu_pct"].number() == Approx(10.0));
    CHECK(report[""]["mfu_pct"].number() == Approx((10.0 * 1 + 50.0 * 10) / 11));
    CHECK_THAT(report["a"]["mfu_pct"].why, Contains("those of its children that have a value"));
}

TEST_CASE("a peak in the environment that is nonsense is refused before anything is measured") {
    cb::test::environment_variable const wrong{cb::peaks::tflops_variable, "bf16=many"};
    CHECK_THROWS_WITH(profiled(tally(cb::number_format::fp32, 1e9)), Contains("bf16=many"));
}

TEST_CASE("shares of self time are the whole") {
    fake::model model;
    auto const root = static_cast<std::ptrdiff_t>(model.add(cb::node::none, "", 1, 9'000'000, 0));
    auto const a = static_cast<std::ptrdiff_t>(model.add(root, "a", 2, 3'000'000, 0));
    model.add(a, "b", 2, 1'000'000, 0);
    auto pipeline = cb::pipeline{
        cb::preprocessors{},
        cb::profilers{cb::latency{.warmup = 0, .samples = 3, .clock = &fake::clock}}, cb::sinks{}};
    auto const report = pipeline.run(fake::provider{model});
    double shares = 0.0;
    for (char const* path : {"", "a", "a.b"})
        shares += 100.0 * report[path]["self_ms"].number() / report[""]["total_ms"].number();
    CHECK(shares == Approx(100.0));
}
