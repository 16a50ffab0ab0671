// A training that is profiled while it runs, and a model that is not as tidy as a demo: state of
// its own, members that nobody registered, functional code between the modules.
//
//     COMPONENT_BENCHMARK=step=20 ./03_live_training      (or every=10, signal, off)
#include <component_benchmark/component_benchmark.hpp>

#include <ATen/CPUGeneratorImpl.h>
#include <torch/torch.h>

#include <cstdio>
#include <vector>

namespace cb = component_benchmark;

class Mixer : public torch::nn::Module {
public:
    torch::Tensor forward(torch::Tensor const& x) {
        CB_FORWARD(x);
        ++steps_;
        auto const noise = at::rand(x.sizes(), noise_) * 0.01;
        auto y = x + noise;
        for (auto& layer : layers_)
            y = layer(y).relu();
        mean_ = 0.9 * mean_ + 0.1 * y.detach().mean(0);
        return cb::region("mix", &Mixer::mix, this, y, x);
    }

    /// The optimizer has to know what is registered nowhere.
    [[nodiscard]] std::vector<torch::Tensor> all_parameters() {
        std::vector<torch::Tensor> found;
        for (auto const& layer : layers_)
            for (auto const& parameter : layer->parameters())
                found.push_back(parameter);
        return found;
    }

private:
    torch::Tensor mix(torch::Tensor const& y, torch::Tensor const& x) {
        return (y * x).sum(1, true) + (y - mean_).square().sum(1, true);
    }

    std::vector<torch::nn::Linear> layers_{torch::nn::Linear(128, 128),
                                           torch::nn::Linear(128, 128)};
    torch::Tensor mean_ = torch::zeros({128});
    at::Generator noise_ = at::make_generator<at::CPUGeneratorImpl>(1);
    long steps_ = 0;

    CB_COMPONENTS(layers_);
    CB_STATE(mean_, noise_, steps_);
};

int main() try {
    torch::manual_seed(0);
    torch::set_num_threads(1);
    Mixer model;
    torch::optim::Adam optimizer{model.all_parameters(), torch::optim::AdamOptions(1e-3)};

    auto due = cb::schedule::from_environment("step=20");
    auto pipeline = cb::pipeline{cb::preprocessors{},
                                 cb::profilers{cb::model_size{}, cb::latency{.samples = 20}},
                                 cb::sinks{cb::table{}}};
    torch::Tensor loss;
    for (int step = 0; step < 40; ++step) {
        auto const batch = torch::randn({64, 128});
        optimizer.zero_grad();
        loss = model.forward(batch).square().mean();
        loss.backward();
        optimizer.step();
        if (due())
            pipeline.run(cb::provide(model, batch).loss([](torch::Tensor const& output) {
                return output.square().mean();
            }));
    }
    std::printf("loss after 40 steps: %.9g\n", loss.item<double>());
} catch (cb::error const& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
}
