// Well-known kinds of models: 50 steps of each are bit-identical with a profile in their middle.
#include "support/catch2.hpp"
#include <component_benchmark/component_benchmark.hpp>

#include <torch/torch.h>

#include <tuple>
#include <vector>

namespace cb = component_benchmark;
namespace nn = torch::nn;
namespace F = torch::nn::functional;
using at::Tensor;

namespace {

struct CnnImpl : nn::Module {
    nn::Sequential features = register_module(
        "features",
        nn::Sequential(nn::Conv2d(nn::Conv2dOptions(1, 4, 3).bias(false)), nn::BatchNorm2d(4),
                       nn::ReLU(nn::ReLUOptions().inplace(true)), nn::MaxPool2d(2)));
    nn::Linear head = register_module("head", nn::Linear(4 * 3 * 3, 3));
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        return head(features->forward(x).flatten(1));
    }
    static Tensor batch() { return at::rand({8, 1, 8, 8}); }
};
TORCH_MODULE(Cnn);

struct BlockImpl : nn::Module {
    nn::LayerNorm first = register_module("first", nn::LayerNorm(nn::LayerNormOptions({16})));
    nn::MultiheadAttention attention = register_module(
        "attention", nn::MultiheadAttention(nn::MultiheadAttentionOptions(16, 2).dropout(0.1)));
    nn::LayerNorm second = register_module("second", nn::LayerNorm(nn::LayerNormOptions({16})));
    nn::Linear up = register_module("up", nn::Linear(16, 32));
    nn::Linear down = register_module("down", nn::Linear(32, 16));
    nn::Dropout dropout = register_module("dropout", nn::Dropout(0.2));
    Tensor forward(Tensor x, Tensor const& mask) {
        CB_FORWARD(x, mask);
        auto const y = first(x);
        x = x + std::get<0>(attention->forward(y, y, y, {}, false, mask));
        return x + dropout(down(F::gelu(up(second(x)))));
    }
};
TORCH_MODULE(Block);

struct GptImpl : nn::Module {
    nn::Embedding tokens = register_module("tokens", nn::Embedding(20, 16));
    nn::ModuleList blocks = register_module("blocks", nn::ModuleList(Block(), Block()));
    nn::Linear head = register_module("head", nn::Linear(16, 3));
    Tensor forward(Tensor const& ids) {
        CB_FORWARD(ids);
        auto x = tokens(ids).transpose(0, 1);
        auto const mask = at::full({x.size(0), x.size(0)}, -1e9).triu(1);
        for (auto const& block : *blocks)
            x = block->as<Block>()->forward(x, mask);
        return head(x.mean(0));
    }
    static Tensor batch() { return at::randint(20, {8, 6}); }
};
TORCH_MODULE(Gpt);

struct LstmImpl : nn::Module {
    nn::LSTM lstm = register_module(
        "lstm", nn::LSTM(nn::LSTMOptions(5, 8).num_layers(2).dropout(0.3).batch_first(true)));
    nn::Linear head = register_module("head", nn::Linear(8, 3));
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        return head(std::get<0>(lstm(x)).select(1, -1));
    }
    static Tensor batch() { return at::rand({8, 7, 5}); }
};
TORCH_MODULE(Lstm);

template<class Model, class Optimizer, class Options>
std::vector<Tensor> train(Options const& how, bool profiled) {
    torch::manual_seed(11);
    Model model;
    Optimizer optimizer{model->parameters(), how};
    auto pipeline = cb::pipeline{
        cb::preprocessors{}, cb::profilers{cb::latency{.warmup = 1, .samples = 2}}, cb::sinks{}};
    for (int step = 0; step < 50; ++step) {
        auto const x = Model::ContainedType::batch();
        auto const labels = at::randint(3, {8});
        auto const loss = [&](Tensor const& output) { return F::cross_entropy(output, labels); };
        if (profiled && step == 25) {
            auto const report = pipeline.run(cb::provide(model, x).loss(loss));
            CHECK(report.document().facts.unchanged.verified);
            for (auto const& row : report.document().nodes)
                CHECK(row.state != cb::status::failed);
        }
        optimizer.zero_grad();
        loss(model->forward(x)).backward();
        optimizer.step();
    }
    std::vector<Tensor> state;
    for (auto const& parameter : model->parameters())
        state.push_back(parameter.detach().clone());
    for (auto const& buffer : model->buffers())
        state.push_back(buffer.clone());
    state.push_back(at::rand({4}));
    return state;
}

template<class Model>
void check_model() {
    auto const compare = [](std::vector<Tensor> const& plain, std::vector<Tensor> const& profiled) {
        REQUIRE(plain.size() == profiled.size());
        for (std::size_t index = 0; index < plain.size(); ++index)
            CHECK(cb::capture::same_bytes(plain[index], profiled[index]));
    };
    auto const sgd = torch::optim::SGDOptions(0.05).momentum(0.9);
    compare(train<Model, torch::optim::SGD>(sgd, false),
            train<Model, torch::optim::SGD>(sgd, true));
    auto const adam = torch::optim::AdamOptions(1e-2);
    compare(train<Model, torch::optim::Adam>(adam, false),
            train<Model, torch::optim::Adam>(adam, true));
}

}  // namespace

TEST_CASE("a CNN with batch normalisation trains on bit-identically", "[capture]") {
    check_model<Cnn>();
}
TEST_CASE("a GPT with dropout trains on bit-identically", "[capture]") {
    check_model<Gpt>();
}
TEST_CASE("an LSTM trains on bit-identically", "[capture]") {
    check_model<Lstm>();
}
