// dense vector + keyed_tensor -> [INTERACTION] -> features: the two halves that give DeepFM its
// name
#pragma once

#include "keyed_tensor.hpp"
#include "require.hpp"
#include <component_benchmark/hook/forward.hpp>

#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace models {

/// All tensors of a batch side by side: [batch, total width].
[[nodiscard]] inline torch::Tensor flat_and_joined(std::vector<torch::Tensor> const& tensors,
                                                   char const* path) {
    require(!tensors.empty(), path, ": expected at least one tensor, given none");
    std::vector<torch::Tensor> flat;
    flat.reserve(tensors.size());
    for (auto const& tensor : tensors) {
        require(tensor.dim() >= 2 && tensor.size(0) == tensors.front().size(0), path,
                ": expected tensors of shape [",
                tensors.front().dim() > 0 ? tensors.front().size(0) : 0, ", ...], given ",
                tensor.sizes());
        flat.push_back(tensor.flatten(1));
    }
    return torch::cat(flat, 1);
}

/// The deep half: a network over all vectors at once.
class DeepFMImpl : public torch::nn::Module {
public:
    explicit DeepFMImpl(torch::nn::Sequential dense_module)
        : dense_module_{register_module("dense_module", std::move(dense_module))} {}

    torch::Tensor forward(std::vector<torch::Tensor> const& embeddings) {
        CB_FORWARD(embeddings);
        return dense_module_->forward(flat_and_joined(embeddings, "inter_arch.deep_fm"));
    }

private:
    torch::nn::Sequential dense_module_;
};
TORCH_MODULE(DeepFM);

/// The factorization machine: the sum of the products of all pairs of inputs.
class FactorizationMachineImpl : public torch::nn::Module {
public:
    torch::Tensor forward(std::vector<torch::Tensor> const& embeddings) {
        CB_FORWARD(embeddings);
        auto const inputs = flat_and_joined(embeddings, "inter_arch.fm");
        // The square of a sum holds each pair twice, and each square once.
        auto const sum = inputs.sum(1, /*keepdim=*/true);
        auto const squares = (inputs * inputs).sum(1, /*keepdim=*/true);
        return (sum * sum - squares).sum(1, /*keepdim=*/true) * 0.5;
    }
};
TORCH_MODULE(FactorizationMachine);

/// Joins the dense vector with what both halves make of it and of the sparse vectors.
class FMInteractionArchImpl : public torch::nn::Module {
public:
    FMInteractionArchImpl(std::int64_t fm_in_features, std::vector<std::string> feature_names,
                          std::int64_t deep_fm_dimension)
        : feature_names_{std::move(feature_names)},
          fm_in_features_{fm_in_features},
          deep_fm_{register_module(
              "deep_fm",
              DeepFM{torch::nn::Sequential{torch::nn::Linear{fm_in_features, deep_fm_dimension},
                                           torch::nn::ReLU{}}})},
          fm_{register_module("fm", FactorizationMachine{})} {}

    torch::Tensor forward(torch::Tensor const& dense_features,
                          keyed_tensor const& sparse_features) {
        CB_FORWARD(dense_features, sparse_features);
        if (feature_names_.empty())
            return dense_features;
        check(dense_features, sparse_features);
        std::vector<torch::Tensor> inputs{dense_features};
        for (auto const& name : feature_names_)
            inputs.push_back(sparse_features[name]);
        return torch::cat({dense_features, deep_fm_(inputs), fm_(inputs)}, 1);
    }

private:
    void check(torch::Tensor const& dense, keyed_tensor const& sparse) const {
        require(dense.dim() == 2 && dense.size(0) == sparse.values().size(0),
                "inter_arch: expected dense features of shape [", sparse.values().size(0),
                ", width] as the sparse ones are ", sparse.values().sizes(), ", given ",
                dense.sizes());
        auto width = dense.size(1);
        for (auto const& name : feature_names_) {
            require(sparse.contains(name), "inter_arch: expected the feature ", name,
                    ", given the features ", listed{sparse.keys()});
            width += sparse.length_of(name);
        }
        require(width == fm_in_features_, "inter_arch: expected dense and sparse features of ",
                fm_in_features_, " columns together, given ", width, " (dense ", dense.sizes(),
                ", sparse ", sparse.values().sizes(), ")");
    }

    std::vector<std::string> feature_names_;
    std::int64_t fm_in_features_;
    DeepFM deep_fm_;
    FactorizationMachine fm_;
};
TORCH_MODULE(FMInteractionArch);

}  // namespace models
