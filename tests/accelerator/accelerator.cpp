// Components on an accelerator whose time is made up: a program of its own, since LibTorch keeps an
// accelerator for as long as the process lives.
#include "fake_accelerator.hpp"
#include "support/catch2.hpp"
#include <component_benchmark/component_benchmark.hpp>

#include <torch/torch.h>

#include <string>

namespace cb = component_benchmark;
namespace nn = torch::nn;
using at::Tensor;
using fake_accelerator::timeline;

namespace {

/// A linear layer without bias, there from the beginning: `Module::to` swaps data between kinds of
/// tensors that LibTorch knows.
struct LinearImpl : nn::Module {
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        return x.mm(weight);
    }
    Tensor weight = register_parameter("weight", at::rand({8, 8}).to(fake_accelerator::device));
};
TORCH_MODULE(Linear);

/// Fifty kernels, one after the other.
struct TinyImpl : nn::Module {
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        auto y = x;
        for (int kernel = 0; kernel < 50; ++kernel)
            y = y * 2;
        return y;
    }
};
TORCH_MODULE(Tiny);

/// Waits for the device in its middle, as `.item()` does.
struct WaitingImpl : nn::Module {
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        return x * x.sum().item<float>();
    }
};
TORCH_MODULE(Waiting);

/// Adds on a stream of its own.
struct ElsewhereImpl : nn::Module {
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        auto y = x * 2;
        c10::StreamGuard const other{fake_accelerator::guard::of(2)};
        timeline::kernel_ns = 20'000;
        for (int kernel = 0; kernel < 50; ++kernel)
            y = y + 1;
        timeline::kernel_ns = 2'000;
        return y;
    }
};
TORCH_MODULE(Elsewhere);

struct ModelImpl : nn::Module {
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        return elsewhere(waiting(tiny(linear(x)))).sum();
    }
    Linear linear = register_module("linear", Linear());
    Tiny tiny = register_module("tiny", Tiny());
    Waiting waiting = register_module("waiting", Waiting());
    Elsewhere elsewhere = register_module("elsewhere", Elsewhere());
};
TORCH_MODULE(Model);

auto profiled() {
    fake_accelerator::install();
    timeline::kernel_ns = 2'000;
    Model model;
    auto const x = at::rand({4, 8}).to(fake_accelerator::device);
    cb::pipeline pipeline{
        cb::preprocessors{},
        cb::profilers{cb::latency{.samples = 10, .clock = &fake_accelerator::clock},
                      cb::device_time{.clock = &fake_accelerator::clock}, cb::in_context{},
                      cb::flops{}},
        cb::sinks{}};
    return pipeline.run(cb::provide(model, x));
}

}  // namespace

TEST_CASE("a step's parts on a device end when its work is done") {
    fake_accelerator::install();
    auto const x = at::rand({4, 8}).to(fake_accelerator::device);
    Tiny tiny;
    auto const forward_ms = [&](void (*wait)() noexcept) {
        cb::step_ledger ledger{&fake_accelerator::clock, wait};
        ledger.step(4, [&] { ledger.forward([&] { static_cast<void>(tiny(x)); }); });
        cb::wait_for_accelerator();
        return 1e-6 *
               static_cast<double>(
                   ledger.middle().part_ns[static_cast<std::size_t>(cb::step_part::forward)]);
    };
    timeline::kernel_ns = 20'000;
    CHECK(forward_ms(nullptr) == Approx(0.250));
    CHECK(forward_ms(&cb::wait_for_accelerator) == Approx(1.005));
    timeline::kernel_ns = 2'000;
}

TEST_CASE("components on a device are timed until their work is done") {
    auto const report = profiled();
    auto const tiny = report["tiny"];
    INFO(tiny.reason());
    auto const latency = tiny.get<cb::latency>();
    CHECK(latency.latency_ms.value() == Approx(0.252));
    auto const device = tiny.get<cb::device_time>();
    CHECK(device.gpu_time_ms.value() == Approx(0.100));
    CHECK(device.gpu_time_total_ms.value() == Approx(0.100));
    CHECK(device.launch_share_pct.value() == Approx(100.0 * (1.0 - 0.100 / 0.252)));
    CHECK(device.wall_ms.value() == Approx(0.252));
    CHECK(report.document().facts.unchanged.verified);

    auto const linear = report["linear"];
    CHECK(linear.get<cb::latency>().latency_ms.value() == Approx(0.007));
    CHECK(linear.get<cb::latency>().latency_bwd_ms.value() ==
          Approx(0.007));  // that for its weight
    CHECK(linear.get<cb::device_time>().gpu_time_bwd_ms.has_value());
    CHECK(linear.get<cb::flops>().flops_fwd.value() == 2 * 4 * 8 * 8);

    auto const waiting = report["waiting"];
    CHECK(waiting.get<cb::latency>().latency_ms.value() > 0.014);
    CHECK(waiting.get<cb::device_time>().gpu_time_total_ms.why() == cb::waits_for_its_device);
    CHECK(waiting.get<cb::device_time>().wall_ms.has_value());

    auto const elsewhere = report["elsewhere"].get<cb::latency>();
    CHECK(elsewhere.latency_ms.value() > 1.0);
    CHECK_THAT(elsewhere.latency_ms.why(),
               Catch::Contains("on other streams than that of its call"));

    CHECK_THAT(tiny.get<cb::in_context>().in_context_ms.why(), Catch::Contains("of launches"));
}
