// batch -> [DEEPFM] -> probability: torchrec's SimpleDeepFMNN, with its tree, names and shapes
#pragma once

#include "deepfm_interaction.hpp"
#include "embedding_bag_collection.hpp"
#include "keyed_jagged_tensor.hpp"
#include "keyed_tensor.hpp"
#include "require.hpp"
#include "require_vectors.hpp"
#include <component_benchmark/hook/forward.hpp>

#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <string>
#include <utility>

namespace models {

/// Turns the ids of a batch into vectors.
class SparseArchImpl : public torch::nn::Module {
public:
    explicit SparseArchImpl(EmbeddingBagCollection embedding_bag_collection)
        : embedding_bag_collection_{
              register_module("embedding_bag_collection", std::move(embedding_bag_collection))} {}

    keyed_tensor forward(keyed_jagged_tensor const& features) {
        CB_FORWARD(features);
        return embedding_bag_collection_(features);
    }

private:
    EmbeddingBagCollection embedding_bag_collection_;
};
TORCH_MODULE(SparseArch);

/// Turns the numbers of a batch into one vector of the tables' width.
class DenseArchImpl : public torch::nn::Module {
public:
    DenseArchImpl(std::int64_t in_features, std::int64_t hidden_layer_size,
                  std::int64_t embedding_dim)
        : in_features_{in_features},
          model_{register_module(
              "model", torch::nn::Sequential{torch::nn::Linear{in_features, hidden_layer_size},
                                             torch::nn::ReLU{},
                                             torch::nn::Linear{hidden_layer_size, embedding_dim},
                                             torch::nn::ReLU{}})} {}

    torch::Tensor forward(torch::Tensor const& features) {
        CB_FORWARD(features);
        require_vectors(features, in_features_, "dense_arch: expected dense features");
        return model_->forward(features);
    }

private:
    std::int64_t in_features_;
    torch::nn::Sequential model_;
};
TORCH_MODULE(DenseArch);

/// Turns what the interaction found into a probability.
class OverArchImpl : public torch::nn::Module {
public:
    explicit OverArchImpl(std::int64_t in_features)
        : in_features_{in_features},
          model_{register_module("model", torch::nn::Sequential{torch::nn::Linear{in_features, 1},
                                                                torch::nn::Sigmoid{}})} {}

    torch::Tensor forward(torch::Tensor const& features) {
        CB_FORWARD(features);
        require_vectors(features, in_features_, "over_arch: expected features");
        return model_->forward(features);
    }

private:
    std::int64_t in_features_;
    torch::nn::Sequential model_;
};
TORCH_MODULE(OverArch);

/// Predicts a click from numbers and from lists of ids.
class SimpleDeepFMNNImpl : public torch::nn::Module {
public:
    SimpleDeepFMNNImpl(std::int64_t num_dense_features,
                       EmbeddingBagCollection embedding_bag_collection,
                       std::int64_t hidden_layer_size, std::int64_t deep_fm_dimension) {
        auto const width = common_width(*embedding_bag_collection, "SimpleDeepFMNN");
        auto const features = embedding_bag_collection->feature_keys();
        auto const count = static_cast<std::int64_t>(features.size());
        sparse_arch_ =
            register_module("sparse_arch", SparseArch{std::move(embedding_bag_collection)});
        dense_arch_ =
            register_module("dense_arch", DenseArch{num_dense_features, hidden_layer_size, width});
        inter_arch_ = register_module(
            "inter_arch", FMInteractionArch{(count + 1) * width, features, deep_fm_dimension});
        over_arch_ = register_module("over_arch", OverArch{width + deep_fm_dimension + 1});
    }

    torch::Tensor forward(torch::Tensor const& dense_features,
                          keyed_jagged_tensor const& sparse_features) {
        CB_FORWARD(dense_features, sparse_features);
        require(dense_features.dim() > 0 && dense_features.size(0) == sparse_features.stride(),
                "SimpleDeepFMNN: expected a bag of each sparse feature for each row of the dense ",
                "features ", dense_features.sizes(), ", given ", sparse_features.stride(),
                " bags of each of ", listed{sparse_features.keys()});
        auto const dense = dense_arch_(dense_features);
        auto const sparse = sparse_arch_(sparse_features);
        return over_arch_(inter_arch_(dense, sparse));
    }

private:
    SparseArch sparse_arch_{nullptr};
    DenseArch dense_arch_{nullptr};
    FMInteractionArch inter_arch_{nullptr};
    OverArch over_arch_{nullptr};
};
TORCH_MODULE(SimpleDeepFMNN);

}  // namespace models
