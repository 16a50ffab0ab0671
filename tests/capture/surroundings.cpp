// What surrounds a call: its backward, writes to its arguments, graphs of CUDA, device and stream.
#include "support/catch2.hpp"
#include "support/quick.hpp"
#include "support/visit.hpp"
#include <component_benchmark/component_benchmark.hpp>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/DeviceAccelerator.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/StreamGuard.h>
#include <torch/torch.h>

#include <cstdint>
#include <dlfcn.h>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cb = component_benchmark;
namespace nn = torch::nn;
using at::Tensor;
using cb::capture::same_bytes;

namespace {

struct Block : nn::Module {
    nn::Linear linear = register_module("linear", nn::Linear(4, 4));
    nn::Dropout dropout = register_module("dropout", nn::Dropout(0.5));
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        return dropout(linear(x)).relu();
    }
};
/// Runs the block without a graph and once more in backward.
struct Checkpoint : torch::autograd::Function<Checkpoint> {
    static Tensor forward(torch::autograd::AutogradContext* context, Tensor x, Block* block) {
        context->save_for_backward({x});
        context->saved_data["block"] = reinterpret_cast<std::int64_t>(block);
        context->saved_data["generator"] =
            at::globalContext().defaultGenerator(at::kCPU).get_state();
        return block->forward(x);
    }
    static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::tensor_list gradients) {
        auto* const block = reinterpret_cast<Block*>(context->saved_data["block"].toInt());
        auto generator = at::globalContext().defaultGenerator(at::kCPU);
        auto const after = generator.get_state();
        generator.set_state(context->saved_data["generator"].toTensor());
        auto const x = context->get_saved_variables()[0].detach().requires_grad_(true);
        c10::AutoGradMode const grad{true};
        auto const y = block->forward(x);
        generator.set_state(after);
        torch::autograd::backward({y}, {gradients[0]});
        return {x.grad(), Tensor{}};
    }
};
struct Checkpointed : nn::Module {
    nn::Linear stem = register_module("stem", nn::Linear(4, 4));
    std::shared_ptr<Block> block = register_module("block", std::make_shared<Block>());
    nn::Linear head = register_module("head", nn::Linear(4, 1));
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        return head(Checkpoint::apply(stem(x), block.get()));
    }
};
}  // namespace

TEST_CASE("calls of a forward again inside backward are marked as recomputation", "[capture]") {
    auto const train = [](bool profiled) {
        torch::manual_seed(1);
        Checkpointed model;
        auto const x = at::rand({3, 4});
        auto const loss = [](Tensor const& y) { return y.sum(); };
        loss(model.forward(x)).backward();
        if (profiled) {
            auto const report = quick().run(cb::provide(model, x).loss(loss));
            CHECK(report["block"].state() == cb::status::ok);
            CHECK(report["block"].calls() == 2);
            CHECK(report["block"].get<cb::latency>().latency_bwd_ms.has_value());
            std::vector<bool> marks;
            for (auto const& call : report.document().calls)
                if (report.document().nodes[call.row].path == "block.linear")
                    marks.push_back(call.recomputed);
            CHECK(marks == std::vector<bool>{false, true});
        }
        loss(model.forward(x)).backward();
        return std::pair{model.block->linear->weight.grad().clone(), model.head->weight.grad()};
    };
    auto const plain = train(false);
    auto const profiled = train(true);
    CHECK(same_bytes(plain.first, profiled.first));
    CHECK(same_bytes(plain.second, profiled.second));
}

namespace {
struct WritesRaw : nn::Module {
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        auto const y = x * 2;
        x.mutable_data_ptr<float>()[0] += 1.0F;  // no version counter moves
        return y;
    }
};
struct HoldsRaw : nn::Module {
    std::shared_ptr<WritesRaw> child = register_module("child", std::make_shared<WritesRaw>());
    nn::ReLU relu = register_module("relu", nn::ReLU(nn::ReLUOptions().inplace(true)));
    nn::Linear linear = register_module("linear", nn::Linear(3, 3));
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        return relu(child->forward(linear(x)));
    }
};
}  // namespace

TEST_CASE("an argument that is written to behind the version counters is found by value",
          "[capture]") {
    HoldsRaw model;
    auto const x = at::rand({2, 3});
    auto const expected = (model.linear(x) * 2).detach();
    auto captured = cb::provide(model, x).capture({.copy_arguments = true});
    visit(*captured, "child", [&](auto& one) {
        auto replay = one.calls().at(0).replay();
        for (int repetition = 0; repetition < 3; ++repetition) {
            replay.prepare();
            replay.forward();
            CHECK(same_bytes(replay.outputs()[0], expected));
        }
    });
    captured.reset();

    auto const report = quick().run(cb::provide(model, x));
    CHECK(report["child"].state() == cb::status::failed);
    CHECK_THAT(report["child"].reason(),
               Catch::Matchers::ContainsSubstring("set cb::options{.copy_arguments = true}"));
    CHECK(report[""].state() == cb::status::ok);
}

TEST_CASE("an operation in place on what requires a gradient is repeated, with its backward",
          "[capture]") {
    HoldsRaw model;
    auto const x = at::rand({2, 3}) - 0.5;
    auto const inner = (model.linear(x) * 2).detach();
    auto captured = cb::provide(model, x).capture({});
    visit(*captured, "relu", [&](auto& one) {
        auto replay = one.calls().at(0).replay();
        for (int repetition = 0; repetition < 3; ++repetition) {
            replay.prepare();
            replay.forward();
            CHECK(same_bytes(replay.outputs()[0], inner.relu()));
            REQUIRE(replay.prepare_backward());
            replay.backward();
            CHECK(torch::equal(replay.gradients().at(0), (inner > 0).to(at::kFloat)));
        }
    });
}

namespace {
int answer = 0;  // of the function that stands for CUDA's
int failure = 0;
c10::Stream current_stream(c10::DeviceIndex) {
    return c10::Stream{c10::Stream::UNSAFE, {c10::kCUDA, 0}, 7};
}
void* native_stream(c10::Stream const* stream) {
    return reinterpret_cast<void*>(stream->id());
}
int is_capturing(void* stream, int* status) {
    CHECK(stream == reinterpret_cast<void*>(7));
    *status = answer;
    return failure;
}
void* lookup(char const* name) {
    std::string_view const symbol{name};
    if (symbol == "cudaStreamIsCapturing")
        return reinterpret_cast<void*>(&is_capturing);
    return symbol == "_ZNK3c104cuda10CUDAStream6streamEv"
               ? reinterpret_cast<void*>(&native_stream)
               : reinterpret_cast<void*>(&current_stream);
}
}  // namespace

TEST_CASE("a run is refused while the current stream is being captured", "[capture]") {
    namespace capture = cb::capture;
    CHECK_NOTHROW(capture::refuse_stream_capture(&lookup));
    answer = 1;
    CHECK_THROWS_WITH(capture::refuse_stream_capture(&lookup),
                      Catch::Matchers::ContainsSubstring("is being captured into a CUDA graph"));
    answer = 0;
    failure = 906;  // the default stream while another one is being captured
    CHECK(capture::stream_is_capturing(&lookup));
    failure = 35;  // no driver
    CHECK_FALSE(capture::stream_is_capturing(&lookup));
    CHECK_FALSE(capture::stream_is_capturing([](char const*) -> void* { return nullptr; }));
    CHECK_NOTHROW(capture::refuse_stream_capture());
    CHECK(dlopen("libc10_cuda.so", RTLD_LAZY | RTLD_NOLOAD) == nullptr);  // nothing was loaded
}

namespace {

/// Two devices without memory, in this test only: `devices` is 0 before and after it.
struct fake_guard final : c10::impl::DeviceGuardImplInterface {
    static constexpr auto kind = c10::DeviceType::PrivateUse1;
    static inline c10::DeviceIndex devices = 0;
    static inline c10::DeviceIndex device = 0;
    static inline std::int64_t streams[2] = {0, 0};

    c10::DeviceType type() const override { return kind; }
    c10::Device exchangeDevice(c10::Device next) const override {
        return {kind, std::exchange(device, next.index())};
    }
    c10::Device getDevice() const override { return {kind, device}; }
    void setDevice(c10::Device next) const override { device = next.index(); }
    void uncheckedSetDevice(c10::Device next) const noexcept override { device = next.index(); }
    c10::Stream getStream(c10::Device of) const override {
        return c10::Stream{c10::Stream::UNSAFE, of, streams[of.index()]};
    }
    c10::Stream getDefaultStream(c10::Device of) const override {
        return c10::Stream{c10::Stream::DEFAULT, of};
    }
    c10::Stream exchangeStream(c10::Stream next) const override {
        auto const before = std::exchange(streams[next.device_index()], next.id());
        return c10::Stream{c10::Stream::UNSAFE, next.device(), before};
    }
    c10::DeviceIndex deviceCount() const noexcept override { return devices; }
};
struct fake_hooks final : at::PrivateUse1HooksInterface {
    at::Generator generator = at::make_generator<at::CPUGeneratorImpl>(1);
    bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
    at::Generator const& getDefaultGenerator(c10::DeviceIndex) const override { return generator; }
};
c10::Stream stream_of(c10::DeviceIndex device, std::int64_t id) {
    return c10::Stream{c10::Stream::UNSAFE, {fake_guard::kind, device}, id};
}

struct Notes : nn::Module {
    std::vector<std::optional<c10::Stream>> seen;
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        seen.push_back(cb::capture::current_stream());
        return x * 2;
    }
};
struct Moves : nn::Module {
    std::shared_ptr<Notes> child = register_module("child", std::make_shared<Notes>());
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        auto y = x;
        {
            c10::StreamGuard const guard{stream_of(1, 5)};
            y = child->forward(y);
        }
        at::accelerator::setDeviceIndex(1);
        at::accelerator::setCurrentStream(stream_of(1, 9));
        return y;
    }
};

}  // namespace

TEST_CASE(
    "calls are made again on the device and stream of their capture, which then are as before",
    "[capture]") {
    static fake_guard guard;
    static fake_hooks hooks;
    c10::impl::DeviceGuardImplRegistrar const registered{fake_guard::kind, &guard};
    c10::register_privateuse1_backend("fake");
    at::RegisterPrivateUse1HooksInterface(&hooks);
    fake_guard::devices = 2;
    at::accelerator::setCurrentStream(stream_of(0, 3));
    {
        Moves model;
        auto captured = cb::provide(model, at::rand({2})).capture({});
        CHECK(cb::capture::current_stream() == stream_of(0, 3));
        visit(*captured, "child", [&](auto& one) {
            model.child->seen.clear();
            auto replay = one.calls().at(0).replay();
            replay.prepare();
            replay.forward();
            CHECK(model.child->seen.at(0) == stream_of(1, 5));
        });
        CHECK(cb::capture::current_stream() == stream_of(0, 3));
        CHECK(captured->put_back().verified);
    }
    CHECK(cb::capture::current_stream() == stream_of(0, 3));
    fake_guard::devices = 0;
}
