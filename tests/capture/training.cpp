// A profile in the middle of a training leaves no trace in it.
#include "models/deepfm_shapes.hpp"
#include "support/catch2.hpp"
#include "support/quick.hpp"
#include <component_benchmark/component_benchmark.hpp>

#include <torch/torch.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cb = component_benchmark;
namespace nn = torch::nn;
using at::Tensor;

namespace {

bool same(std::vector<Tensor> const& a, std::vector<Tensor> const& b) {
    if (a.size() != b.size())
        return false;
    for (std::size_t index = 0; index < a.size(); ++index)
        if (!cb::capture::same_bytes(a[index], b[index]))
            return false;
    return true;
}

/// Everything that decides how the training goes on.
std::vector<Tensor> state_of(nn::Module& model) {
    std::vector<Tensor> state;
    for (auto const& parameter : model.parameters()) {
        state.push_back(parameter.detach().clone());
        if (parameter.grad().defined())
            state.push_back(parameter.grad().clone());
    }
    for (auto const& buffer : model.buffers())
        state.push_back(buffer.clone());
    state.push_back(at::rand({4}));  // the generator
    return state;
}

/// Trains for `steps`; `profile` is called in the middle, before the step's own forward.
template<class Model, class MakeBatch, class Optimizer>
std::vector<Tensor> train(Model model, MakeBatch make_batch, Optimizer optimizer, int steps,
                          bool profiled) {
    for (int step = 0; step < steps; ++step) {
        auto const [input, sparse, labels] = make_batch(step);
        auto const loss = [&, &labels = labels](Tensor const& output) {
            return nn::functional::binary_cross_entropy(output, labels);
        };
        if (step % 2 == 0)
            optimizer
                .zero_grad();  // gradients add up over two steps: they are alive at the profile
        if (profiled && step == steps / 2 + 1) {
            auto const report = quick().run(cb::provide(model, input, sparse).loss(loss));
            CHECK(report.document().facts.unchanged.verified);
            CHECK(report[""].template get<cb::latency>().latency_bwd_ms.has_value());
        }
        loss(model(input, sparse)).backward();
        if (step % 2 == 1)
            optimizer.step();
    }
    return state_of(*model);
}

template<class MakeOptimizer>
std::vector<Tensor> train_deepfm(MakeOptimizer make_optimizer, bool profiled) {
    auto const shape = models::deepfm_shape_named("cpu-small");
    auto model = models::make_model(shape);
    torch::manual_seed(5);
    auto const batch = [&](int step) {
        auto const made = models::make_batch(shape, 100 + static_cast<std::uint64_t>(step));
        return std::tuple{made.dense, made.sparse,
                          at::rand({shape.batch_size, 1}).round().to(at::kFloat)};
    };
    return train(model, batch, make_optimizer(model->parameters()), 50, profiled);
}

}  // namespace

TEST_CASE("50 steps of DeepFM are bit-identical with a profile in their middle", "[capture]") {
    auto const sgd = [](auto parameters) {
        return torch::optim::SGD{parameters, torch::optim::SGDOptions(0.05).momentum(0.9)};
    };
    auto const plain = train_deepfm(sgd, false);
    CHECK(same(plain, train_deepfm(sgd, false)));
    CHECK(same(plain, train_deepfm(sgd, true)));
    auto const adam = [](auto parameters) {
        return torch::optim::Adam{parameters, torch::optim::AdamOptions(1e-2)};
    };
    CHECK(same(train_deepfm(adam, false), train_deepfm(adam, true)));
}

namespace {

/// Disturbs all it can: buffers, random numbers, a parameter in forward, in-place operations.
struct RestlessImpl : nn::Module {
    nn::Linear linear = register_module("linear", nn::Linear(8, 8));
    nn::BatchNorm1d norm = register_module("norm", nn::BatchNorm1d(8));
    nn::Dropout dropout = register_module("dropout", nn::Dropout(0.3));
    nn::ReLU relu = register_module("relu", nn::ReLU(nn::ReLUOptions().inplace(true)));
    Tensor power = register_buffer("power", at::ones({8}));
    Tensor average = register_parameter("average", at::zeros({8}), /*requires_grad=*/false);
    bool touches = true;
    Tensor forward(Tensor x, int sparse) {
        CB_FORWARD(x, sparse);
        if (touches) {
            torch::NoGradGuard const no_grad;
            power.copy_(at::mv(linear->weight, power) / at::mv(linear->weight, power).norm());
            average.mul_(0.9).add_(x.mean(0), 0.1);
        }
        return at::sigmoid((dropout(relu(norm(linear(x)))) + 0.01 * power + average).sum(1, true));
    }
};
TORCH_MODULE(Restless);

std::vector<Tensor> train_restless(bool profiled) {
    torch::manual_seed(3);
    Restless model;
    auto const batch = [](int) {
        return std::tuple{at::rand({16, 8}), 0, at::rand({16, 1}).round()};
    };
    return train(
        model, batch,
        torch::optim::SGD{model->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9)}, 12,
        profiled);
}

}  // namespace

TEST_CASE("a model that disturbs itself trains on bit-identically", "[capture]") {
    CHECK(same(train_restless(false), train_restless(true)));
}

TEST_CASE("what a forward writes into parameters is put back and named", "[capture]") {
    torch::manual_seed(3);
    Restless model;
    auto const x = at::rand({16, 8});
    auto const average = model->average.clone();
    auto const report = quick().run(cb::provide(model, x, 0));
    CHECK(cb::capture::same_bytes(model->average, average));
    auto const& unchanged = report.document().facts.unchanged;
    CHECK(unchanged.verified);
    CHECK(unchanged.compared.at(0) == "5 parameters");
}

namespace {

/// Its backward updates the weight behind autograd's back, as a fused optimizer does.
struct FusedUpdate : torch::autograd::Function<FusedUpdate> {
    static Tensor forward(torch::autograd::AutogradContext* context, Tensor x, Tensor weight) {
        context->save_for_backward({x});
        context->saved_data["weight"] = weight.detach();
        return x * weight.detach();
    }
    static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::tensor_list gradients) {
        auto const weight = context->saved_data["weight"].toTensor();
        auto* const raw = weight.mutable_data_ptr<float>();
        for (std::int64_t index = 0; index < weight.numel(); ++index)
            raw[index] -= 0.5F;
        return {gradients[0] * weight, Tensor{}};
    }
};
struct FusedImpl : nn::Module {
    Tensor weight = register_parameter("weight", at::ones({4}));
    Tensor forward(Tensor x) {
        CB_FORWARD(x);
        return FusedUpdate::apply(x, weight);
    }
};
struct FusedHolderImpl : nn::Module {
    nn::Linear linear = register_module("linear", nn::Linear(4, 4));
    std::shared_ptr<FusedImpl> fused = register_module("fused", std::make_shared<FusedImpl>());
    Tensor forward(Tensor x) {
        CB_FORWARD(x);
        return fused->forward(linear(x));
    }
};

}  // namespace

TEST_CASE("a write that no version counter shows is found by value", "[capture]") {
    FusedHolderImpl model;
    auto const x = at::rand({2, 4});
    auto captured = cb::provide(model, x).loss([](Tensor const& y) { return y.sum(); }).capture({});
    captured->for_each([&](std::size_t, auto& one) {
        if (one.path() != "fused")
            return;
        auto replay = one.calls().at(0).replay();
        std::vector<Tensor> outputs;
        for (int repetition = 0; repetition < 3; ++repetition) {
            replay.prepare();
            replay.forward();
            outputs.push_back(replay.outputs()[0].detach().clone());
            REQUIRE(replay.prepare_backward());
            replay.backward();
        }
        CHECK(torch::equal(outputs[0], outputs[1]));
        CHECK(torch::equal(outputs[0], outputs[2]));
    });
    auto const report = captured->put_back();
    CHECK(report.verified);
    CHECK(torch::equal(model.fused->weight, at::ones({4})));
}

TEST_CASE("flags, modes and gradients are as before, on every way out", "[capture]") {
    struct MeddlingImpl : nn::Module {
        nn::Linear linear = register_module("linear", nn::Linear(4, 4));
        nn::Linear other = register_module("other", nn::Linear(4, 4));
        bool fail = false;
        Tensor forward(Tensor x) {
            CB_FORWARD(x);
            linear->eval();
            other->weight.requires_grad_(false);
            torch::set_default_dtype(at::scalarTypeToTypeMeta(at::kDouble));
            at::set_num_threads(1);
            torch::GradMode::set_enabled(false);
            linear->weight.set_data(at::zeros({4, 4}, at::kFloat));
            static_cast<void>(at::rand({5}, at::kFloat));
            if (fail)
                throw std::runtime_error{"meddled"};
            return linear(x);
        }
    };
    auto const threads = at::get_num_threads();
    at::set_num_threads(2);
    for (auto const fail : {false, true}) {
        MeddlingImpl model;
        model.fail = fail;
        auto const x = at::rand({2, 4});
        model.linear(x).sum().backward();
        auto const gradient = model.linear->weight.grad();
        auto const weight = model.linear->weight.detach().clone();
        auto const* const memory = model.linear->weight.const_data_ptr();
        torch::manual_seed(11);
        auto const expected = at::rand({3});
        torch::manual_seed(11);
        if (fail)
            CHECK_THROWS_WITH(cb::provide(model, x).capture({}),
                              Catch::Matchers::ContainsSubstring("meddled"));
        else
            static_cast<void>(quick().run(cb::provide(model, x)));
        CHECK(torch::GradMode::is_enabled());
        CHECK(torch::get_default_dtype() == at::scalarTypeToTypeMeta(at::kFloat));
        CHECK(at::get_num_threads() == 2);
        CHECK(model.linear->is_training());
        CHECK(model.other->weight.requires_grad());
        CHECK(model.linear->weight.grad().is_same(gradient));
        CHECK(torch::equal(model.linear->weight, weight));
        CHECK(model.linear->weight.const_data_ptr() == memory);
        CHECK(cb::capture::same_bytes(at::rand({3}), expected));
    }
    at::set_num_threads(threads);
}

TEST_CASE("a graph that is waiting for its backward is not disturbed", "[capture]") {
    torch::manual_seed(3);
    Restless model;
    model->touches = false;
    auto const x = at::rand({16, 8});
    auto const waiting = model(x, 0).sum();
    static_cast<void>(quick().run(cb::provide(model, x, 0)));
    CHECK_NOTHROW(waiting.backward());
    CHECK(model->linear->weight.grad().defined());
}

namespace {

/// Returns what the loss is made from beside the loss, and the input, and the loss once more.
struct TwoWaysImpl : nn::Module {
    TwoWaysImpl() { first = register_module("first", nn::Linear(4, 3)); }
    std::vector<Tensor> forward(Tensor const& x) {
        CB_FORWARD(x);
        auto const hidden = first(x);
        auto const squares = hidden * hidden;
        auto const loss = squares.sum();
        return {hidden, squares, loss, loss};
    }
    nn::Linear first{nullptr};
};
TORCH_MODULE(TwoWays);

}  // namespace

TEST_CASE("an output that another one is made from gets only what comes from outside",
          "[capture]") {
    torch::manual_seed(3);
    TwoWays model;
    auto const x = at::rand({5, 4}).requires_grad_(true);
    using outputs_of = std::vector<Tensor> const&;
    auto const weigh = [](Tensor const& at) { return at.sum() * 0.25; };
    std::function<Tensor(outputs_of)> const losses[] = {
        [](outputs_of out) { return out[2]; },                          // all by way of the loss
        [](outputs_of out) { return out[3] + out[2]; },                 // the same tensor twice
        [&](outputs_of out) { return out[2] + weigh(out[0]); },         // and from outside
        [&](outputs_of out) { return weigh(out[0]) + weigh(out[1]); },  // the loss is not used
        [&](outputs_of out) { return weigh(out[1]) * out[2]; }};
    for (auto const& loss : losses) {
        auto const expected =
            torch::autograd::grad({loss(model->forward(x))}, {x, model->first->weight});
        auto captured = cb::provide(model, x).loss(loss).capture({});
        std::size_t seen = 0;
        captured->for_each([&](std::size_t, auto& one) {
            auto replay = one.calls().front().replay();
            replay.prepare();
            replay.forward();
            REQUIRE(replay.prepare_backward());
            replay.backward();
            CHECK(at::allclose(replay.gradients()[0], expected[0], 1e-5, 1e-6));
            CHECK(at::allclose(replay.gradients()[1], expected[1], 1e-5, 1e-6));
            ++seen;
        });
        CHECK(seen == 2);
        CHECK(captured->put_back().verified);
    }
}
