// Times of components in the model's own step.
#include "support/catch2.hpp"
#include <component_benchmark/component_benchmark.hpp>

#include <torch/torch.h>

#include <atomic>
#include <cstdint>
#include <stdexcept>

namespace cb = component_benchmark;
namespace nn = torch::nn;
using at::Tensor;
using Catch::Contains;

namespace {

std::atomic<std::int64_t> now{0};  // nanoseconds
std::int64_t fake_clock() noexcept {
    return now;
}

/// What `Model::twice` takes more in the model than alone.
int crowded_ms = 0;

/// Takes so long by the fake clock.
void spin(int ms) {
    now += std::int64_t{1'000'000} * ms;
}

struct slow_square : torch::autograd::Function<slow_square> {
    static Tensor forward(torch::autograd::AutogradContext* context, Tensor const& x, int ms) {
        context->save_for_backward({x});
        context->saved_data["ms"] = ms;
        return x * x;
    }
    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                   torch::autograd::variable_list gradients) {
        spin(static_cast<int>(context->saved_data["ms"].toInt()));
        return {2 * context->get_saved_variables()[0] * gradients[0], Tensor{}};
    }
};

/// Forward takes `forward_ms`, backward `backward_ms`.
struct SlowImpl : nn::Module {
    SlowImpl(int forward_ms, int backward_ms) : forward_ms_{forward_ms}, backward_ms_{backward_ms} {
        register_parameter("scale", at::ones({1}));
    }
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        spin(forward_ms_ + crowded_ms);
        return slow_square::apply(x * parameters()[0], backward_ms_);
    }
    int forward_ms_;
    int backward_ms_;
};
TORCH_MODULE(Slow);

struct ModelImpl : nn::Module {
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        crowded_ms = 1;
        auto const y = twice(twice(x));
        crowded_ms = 0;
        spin(1);  // the parent's own
        return chain->forward(y) + 0 * unused_gradient(x).detach();
    }
    Slow twice = register_module("twice", Slow(2, 3));
    nn::Sequential chain = register_module("chain", nn::Sequential(Slow(1, 4), Slow(3, 1)));
    Slow unused_gradient = register_module("unused_gradient", Slow(1, 50));
    Slow never = register_module("never", Slow(1, 1));
};
TORCH_MODULE(Model);

auto pipeline() {
    return cb::pipeline{cb::preprocessors{},
                        cb::profilers{cb::latency{.warmup = 0, .samples = 2, .clock = &fake_clock},
                                      cb::in_context{.clock = &fake_clock}},
                        cb::sinks{}};
}

Tensor sum_of(Tensor const& output) {
    return output.sum();
}

}  // namespace

TEST_CASE("what a component takes in its step stands beside what it takes alone", "[in_context]") {
    Model model;
    auto const x = at::rand({3});
    auto const report = pipeline().run(cb::provide(model, x).loss(sum_of));
    auto const times = [&](char const* path) { return report[path].get<cb::in_context>(); };
    CHECK(times("twice").in_context_ms.value() == Approx(3));
    CHECK(times("twice").in_context_bwd_ms.value() == Approx(3));
    CHECK(times("chain").in_context_ms.value() == Approx(4));  // no hook sees it
    CHECK(times("chain").in_context_bwd_ms.value() == Approx(5));
    CHECK(times("chain.0").in_context_bwd_ms.value() == Approx(4));
    CHECK(times("").in_context_ms.value() == Approx(12));
    CHECK(times("").in_context_bwd_ms.value() == Approx(11));
    CHECK(times("unused_gradient").in_context_bwd_ms.value() == 0);  // its nodes do not run
    CHECK_FALSE(times("never").in_context_ms.has_value());
    CHECK(report["twice"].get<cb::latency>().latency_ms.value() == Approx(2));
    CHECK(times("twice").context_gap_pct.value() == Approx(50));
    CHECK(times("chain").context_gap_pct.value() == Approx(0).margin(1e-6));
    CHECK(report.document().facts.unchanged.verified);
    // both calls have their own
    auto const* column = report.document().find("in_context_ms");
    std::size_t of_twice = 0;
    for (std::size_t call = 0; call < column->calls.size(); ++call)
        if (report.document().nodes[report.document().calls[call].row].path == "twice") {
            CHECK(column->calls[call].number() == Approx(3));
            ++of_twice;
        }
    CHECK(of_twice == 2);
}

TEST_CASE("without a loss there is no backward in context", "[in_context]") {
    Model model;
    auto const x = at::rand({3});
    auto const report = pipeline().run(cb::provide(model, x));
    auto const times = report["twice"].get<cb::in_context>();
    CHECK(times.in_context_ms.has_value());
    CHECK_THAT(times.in_context_bwd_ms.why(), Contains("no loss was given"));
}

namespace {

/// Fails when it is run alone.
struct OnceImpl : nn::Module {
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        if (++runs > allowed)
            throw std::runtime_error{"no more"};
        spin(2);
        return x * 2;
    }
    int runs = 0;
    int allowed = 0;
};
TORCH_MODULE(Once);

struct AroundImpl : nn::Module {
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        return once(x);
    }
    Once once = register_module("once", Once());
};
TORCH_MODULE(Around);

}  // namespace

TEST_CASE("a component that fails alone has its time in the step", "[in_context]") {
    Around model;
    model->once->allowed = 1 + 3;  // the captured forward and the timed ones
    auto const x = at::rand({3});
    auto const report = pipeline().run(cb::provide(model, x));
    CHECK(report["once"].state() == cb::status::failed);
    CHECK(report["once"].get<cb::in_context>().in_context_ms.value() == Approx(2));
    CHECK_THAT(report["once"].get<cb::in_context>().context_gap_pct.why(), Contains("no more"));
}

TEST_CASE("a step that fails while it is timed costs these numbers alone", "[in_context]") {
    Around model;
    model->once->allowed = 2;
    auto const x = at::rand({3});
    auto const report = pipeline().run(cb::provide(model, x));
    CHECK_THAT(report[""].get<cb::in_context>().in_context_ms.why(), Contains("no more"));
}
