// What a latency pass runs with: no observer, fresh arguments where asked for, casts said.
#include "support/catch2.hpp"
#include <component_benchmark/component_benchmark.hpp>

#include <ATen/autocast_mode.h>
#include <ATen/record_function.h>
#include <torch/torch.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace cb = component_benchmark;
using Catch::Matchers::ContainsSubstring;

namespace {

bool timing = false;  // a profiler of times is at work
std::vector<bool> observed;
std::set<void const*> arguments;

/// Tells what it sees of a run.
struct watching : torch::nn::Module {
    torch::nn::Linear linear{torch::nn::LinearOptions{256, 256}};
    watching() { register_module("linear", linear); }
    at::Tensor forward(at::Tensor const& x) {
        CB_FORWARD(x);
        if (timing) {
            observed.push_back(at::hasCallbacks());
            arguments.insert(x.const_data_ptr());
        }
        return torch::relu(linear(x));
    }
};

/// Stand before and behind what is watched.
struct begin_timing {
    static constexpr char const* name = "begin_timing";
    struct result {
        BOOST_HANA_DEFINE_STRUCT(result, (cb::metric<cb::count>, begins));
    };
    template<class Component>
    result profile(Component&) const {
        timing = true;
        return {};
    }
};
struct end_timing {
    static constexpr char const* name = "end_timing";
    struct result {
        BOOST_HANA_DEFINE_STRUCT(result, (cb::metric<cb::count>, ends));
    };
    template<class Component>
    result profile(Component&) const {
        timing = false;
        return {};
    }
};

}  // namespace

TEST_CASE("one metric a pass: nothing observes operators while times are taken", "[timing]") {
    observed.clear();
    watching model;
    cb::pipeline pipeline{cb::preprocessors{},
                          cb::profilers{cb::flops{}, begin_timing{}, cb::latency{.samples = 10},
                                        cb::cold_latency{.samples = 3, .cache_bytes = 4096},
                                        end_timing{}, cb::bandwidth{}},
                          cb::sinks{}};
    auto const report = pipeline.run(cb::provide(model, torch::rand({8, 256})));
    CHECK(report[""].get<cb::flops>().flops_fwd.value() > 0);  // there was an observer
    CHECK(report[""].get<cb::bandwidth>().traffic_mb.has_value());
    CHECK(observed.size() >= 14);
    CHECK(std::none_of(observed.begin(), observed.end(), [](bool is) { return is; }));
}

namespace {

/// Changes nothing, as far as it says.
struct touches {
    static constexpr char const* name = "touches";
    template<class Component>
    int apply(Component&) const {
        return 0;
    }
};

/// Its backward fails.
struct no_way_back : torch::autograd::Function<no_way_back> {
    static at::Tensor forward(torch::autograd::AutogradContext*, at::Tensor const& x) {
        return x * 2;
    }
    static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                   torch::autograd::variable_list const&) {
        ++times;
        throw std::runtime_error{"there is no way back"};
    }
    static inline int times = 0;
};
struct one_way : torch::nn::Module {
    at::Tensor scale = register_parameter("scale", at::ones({1}));
    at::Tensor forward(at::Tensor const& x) {
        CB_FORWARD(x);
        return no_way_back::apply(x * scale);
    }
};

}  // namespace

TEST_CASE("the run that checks a component is a part of its warm-up, unless its call was changed",
          "[timing]") {
    watching model;
    cb::latency const wishes{.warmup = 2, .most_warmup = 2, .samples = 6, .target_pct = 0};
    auto const timed_runs = [&](auto preprocessors, cb::latency latency) {
        observed.clear();
        cb::pipeline pipeline{preprocessors, cb::profilers{begin_timing{}, latency, end_timing{}},
                              cb::sinks{}};
        auto const report = pipeline.run(cb::provide(model, torch::rand({8, 256})));
        CHECK(report[""].template get<cb::latency>().warmup_runs.value() == latency.warmup);
        return observed.size();
    };
    CHECK(timed_runs(cb::preprocessors{}, wishes) == 1 + 6);
    CHECK(timed_runs(cb::preprocessors{touches{}}, wishes) == 2 + 6);
    auto none = wishes;
    none.warmup = 0;
    CHECK(timed_runs(cb::preprocessors{}, none) == 6);
    auto quick = wishes;
    quick.samples = 3;
    CHECK(timed_runs(cb::preprocessors{}, quick) == 2 + 3);
}

TEST_CASE("where nobody wants a backward none is run", "[timing]") {
    one_way model;
    auto const run = [&](bool backward) {
        no_way_back::times = 0;
        cb::pipeline pipeline{
            cb::preprocessors{},
            cb::profilers{cb::model_size{}, cb::latency{.samples = 6, .backward = backward}},
            cb::sinks{}};
        return pipeline.run(cb::provide(model, torch::rand({4})));
    };
    auto const forward = run(false);
    CHECK(forward[""].state() == cb::status::ok);
    CHECK(forward[""].get<cb::latency>().latency_ms.has_value());
    CHECK(no_way_back::times == 0);
    CHECK(run(true)[""].state() == cb::status::failed);
    CHECK(no_way_back::times > 0);
}

TEST_CASE("cold repetitions have arguments that are not those of the capture", "[timing]") {
    watching model;
    auto input = torch::rand({8, 256}).requires_grad_();
    auto const run = [&](auto profiler) {
        arguments.clear();
        cb::pipeline pipeline{cb::preprocessors{},
                              cb::profilers{begin_timing{}, profiler, end_timing{}}, cb::sinks{}};
        return pipeline.run(cb::provide(model, input));
    };
    auto const cold = run(cb::cold_latency{.samples = 6, .cache_bytes = 4096});
    CHECK(arguments.count(input.const_data_ptr()) == 0);
    CHECK_FALSE(arguments.empty());
    auto const found = cold[""].template get<cb::cold_latency>();
    CHECK(found.latency_cold_ms.value() > 0.0);
    CHECK(found.latency_cold_bwd_ms.value() > 0.0);
    static_cast<void>(run(cb::latency{.samples = 2}));
    CHECK(arguments == std::set<void const*>{input.const_data_ptr()});
    CHECK_FALSE(input.grad().defined());
}

namespace {

std::int64_t now = 0;  // nanoseconds
std::int64_t fake_clock() noexcept {
    return now;
}

/// While it lives, an operator takes 0.1 ms by the fake clock, and one that copies 0.9 ms more.
class priced_operators {
public:
    priced_operators()
        : handle_{at::addGlobalCallback(
              at::RecordFunctionCallback{&price}.scopes({at::RecordScope::FUNCTION}))} {}
    priced_operators(priced_operators const&) = delete;
    priced_operators& operator=(priced_operators const&) = delete;
    ~priced_operators() { at::removeCallback(handle_); }

private:
    static std::unique_ptr<at::ObserverContext> price(at::RecordFunction const& one) {
        now += std::string{one.name()} == "aten::_to_copy" ? 1'000'000 : 100'000;
        return nullptr;
    }
    at::CallbackHandle handle_;
};

}  // namespace

TEST_CASE("what casts of weights cost under autocast is measured", "[timing]") {
    watching model;
    auto const input = torch::rand({1, 256});
    priced_operators const prices;
    auto const remarks = [&](bool on) {
        at::autocast::set_autocast_enabled(at::kCPU, on);
        at::autocast::increment_nesting();
        cb::pipeline pipeline{
            cb::preprocessors{},
            cb::profilers{cb::latency{.samples = 30, .backward = false, .clock = &fake_clock}},
            cb::sinks{}};
        auto const report = pipeline.run(cb::provide(model, input));
        at::autocast::set_autocast_enabled(at::kCPU, false);
        if (at::autocast::decrement_nesting() == 0)
            at::autocast::clear_cache();
        return report["linear"].template get<cb::latency>().latency_ms.why();
    };
    // The bias alone: autocast sees the weight transposed, and keeps no casts of views.
    CHECK_THAT(remarks(true), ContainsSubstring("1.3 ms of it ("));
    CHECK_THAT(remarks(true), ContainsSubstring("%) casts weights for autocast"));
    CHECK_THAT(remarks(false), !ContainsSubstring("casts weights for autocast"));
}
