// A model of your own, one line in each of its forwards, and its components as a tree.
#include <component_benchmark/component_benchmark.hpp>

#include <torch/torch.h>

#include <cstdio>

namespace cb = component_benchmark;

struct MlpImpl : torch::nn::Module {
    torch::nn::Linear up = register_module("up", torch::nn::Linear(256, 1024));
    torch::nn::GELU gelu = register_module("gelu", torch::nn::GELU());
    torch::nn::Linear down = register_module("down", torch::nn::Linear(1024, 256));
    torch::nn::Dropout dropout = register_module("dropout", torch::nn::Dropout(0.1));

    torch::Tensor forward(torch::Tensor x) {
        CB_FORWARD(x);  // the only edit: first line, names of all parameters
        return dropout(down(gelu(up(x))));
    }
};
TORCH_MODULE(Mlp);

struct ModelImpl : torch::nn::Module {
    torch::nn::LayerNorm norm =
        register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({256})));
    Mlp mlp = register_module("mlp", Mlp());

    torch::Tensor forward(torch::Tensor x) {
        CB_FORWARD(x);
        return x + mlp(norm(x));
    }
};
TORCH_MODULE(Model);

int main() {
    torch::manual_seed(0);
    torch::set_num_threads(1);
    Model model;
    auto const batch = torch::rand({64, 256});

    auto pipeline =
        cb::pipeline{cb::preprocessors{}, cb::profilers{cb::model_size{}, cb::latency{}},
                     cb::sinks{cb::table{}}};
    auto const report = pipeline.run(cb::provide(model, batch));

    auto const up = report["mlp.up"].get<cb::latency>().latency_ms;
    if (up.has_value())  // a number that is not known is never a zero
        std::printf("\nmlp.up alone: %.3g ms forward\n", up.value());
}
