// Times of components in the model's own step.
#include "support/catch2.hpp"
#include <component_benchmark/component_benchmark.hpp>

#include <torch/torch.h>

#include <chrono>
#include <stdexcept>

namespace cb = component_benchmark;
namespace nn = torch::nn;
using at::Tensor;
using Catch::Contains;

namespace {

/// Busy for so long, whatever else the machine does.
void spin(int ms) {
    using clock = std::chrono::steady_clock;
    auto const end = clock::now() + std::chrono::milliseconds{ms};
    while (clock::now() < end) {
    }
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
        spin(forward_ms_);
        return slow_square::apply(x * parameters()[0], backward_ms_);
    }
    int forward_ms_;
    int backward_ms_;
};
TORCH_MODULE(Slow);

struct ModelImpl : nn::Module {
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        auto const y = twice(twice(x));
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
                        cb::profilers{cb::latency{.warmup = 0, .samples = 2}, cb::in_context{}},
                        cb::sinks{}};
}

Tensor sum_of(Tensor const& output) {
    return output.sum();
}

/// What was spun, and what a busy machine may add.
void check_about(double found_ms, double spun_ms) {
    CHECK(found_ms >= spun_ms);
    CHECK(found_ms < spun_ms + 40.0);
}

}  // namespace

TEST_CASE("what a component takes in its step stands beside what it takes alone", "[in_context]") {
    Model model;
    auto const x = at::rand({3});
    auto const report = pipeline().run(cb::provide(model, x).loss(sum_of));
    auto const times = [&](char const* path) { return report[path].get<cb::in_context>(); };
    check_about(times("twice").in_context_ms.value(), 2);
    check_about(times("twice").in_context_bwd_ms.value(), 3);
    check_about(times("chain").in_context_ms.value(), 4);  // no hook sees it
    check_about(times("chain").in_context_bwd_ms.value(), 5);
    check_about(times("chain.0").in_context_bwd_ms.value(), 4);
    check_about(times("").in_context_ms.value(), 10);
    check_about(times("").in_context_bwd_ms.value(), 11);
    CHECK(times("unused_gradient").in_context_bwd_ms.value() < 50);  // its nodes do not run
    CHECK(times("").in_context_ms.value() >=
          2 * times("twice").in_context_ms.value() + times("chain").in_context_ms.value());
    CHECK_FALSE(times("never").in_context_ms.has_value());
    auto const gap = times("twice").context_gap_pct;
    auto const alone = report["twice"].get<cb::latency>().latency_ms.value();
    CHECK(gap.value() ==
          Approx(100.0 * (times("twice").in_context_ms.value() / alone - 1.0)).margin(1e-6));
    CHECK(report.document().facts.unchanged.verified);
    // both calls have their own
    auto const* column = report.document().find("in_context_ms");
    std::size_t of_twice = 0;
    for (std::size_t call = 0; call < column->calls.size(); ++call)
        if (report.document().nodes[report.document().calls[call].row].path == "twice") {
            check_about(column->calls[call].number(), 2);
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
    CHECK(report["once"].get<cb::in_context>().in_context_ms.value() >= 2.0);
    CHECK_THAT(report["once"].get<cb::in_context>().context_gap_pct.why(), Contains("no more"));
}

TEST_CASE("a step that fails while it is timed costs these numbers alone", "[in_context]") {
    Around model;
    model->once->allowed = 2;
    auto const x = at::rand({3});
    auto const report = pipeline().run(cb::provide(model, x));
    CHECK_THAT(report[""].get<cb::in_context>().in_context_ms.why(), Contains("no more"));
}
