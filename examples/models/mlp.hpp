// vectors -> [MLP] -> vectors: torchrec's stack of perceptrons
#pragma once

#include "require.hpp"
#include <component_benchmark/hook/forward.hpp>

#include <ATen/ops/relu.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <vector>

namespace models {

/// A linear layer whose activation is a function, no module: it has no row of its own.
class PerceptronImpl : public torch::nn::Module {
public:
    PerceptronImpl(std::int64_t in_size, std::int64_t out_size)
        : linear_{register_module("_linear", torch::nn::Linear{in_size, out_size})} {}

    torch::Tensor forward(torch::Tensor const& input) {
        CB_FORWARD(input);
        return at::relu(linear_(input));
    }

private:
    torch::nn::Linear linear_;
};
TORCH_MODULE(Perceptron);

/// Perceptrons of the given sizes, one after the other; the last has its ReLU too.
class MLPImpl : public torch::nn::Module {
public:
    MLPImpl(std::int64_t in_size, std::vector<std::int64_t> const& layer_sizes) {
        require(!layer_sizes.empty(), "MLP: expected at least one layer, given none");
        auto before = in_size;
        for (auto const size : layer_sizes) {
            require(before > 0 && size > 0, "MLP: expected layers of at least 1, given ", before,
                    " and ", size);
            mlp_->push_back(Perceptron{before, size});
            before = size;
        }
        register_module("_mlp", mlp_);
    }

    torch::Tensor forward(torch::Tensor const& input) {
        CB_FORWARD(input);
        return mlp_->forward(input);
    }

private:
    torch::nn::Sequential mlp_;
};
TORCH_MODULE(MLP);

}  // namespace models
