// batch -> [DLRM] -> logits: torchrec's DLRM, with its tree, names and shapes
#pragma once

#include "dlrm_interaction.hpp"
#include "embedding_bag_collection.hpp"
#include "keyed_jagged_tensor.hpp"
#include "mlp.hpp"
#include "require.hpp"
#include "require_vectors.hpp"
#include <component_benchmark/hook/forward.hpp>

#include <ATen/ops/cat.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace models::dlrm {

/// Turns the ids of a batch into a vector for each feature: [batch, features, width].
class SparseArchImpl : public torch::nn::Module {
public:
    explicit SparseArchImpl(EmbeddingBagCollection embedding_bag_collection)
        : embedding_bag_collection_{
              register_module("embedding_bag_collection", std::move(embedding_bag_collection))} {}

    torch::Tensor forward(keyed_jagged_tensor const& features) {
        CB_FORWARD(features);
        auto const pooled = embedding_bag_collection_(features);
        std::vector<torch::Tensor> vectors;
        vectors.reserve(pooled.keys().size());
        for (auto const& name : pooled.keys())
            vectors.push_back(pooled[name]);
        auto const count = static_cast<std::int64_t>(vectors.size());
        return at::cat(vectors, 1).reshape({features.stride(), count, -1});
    }

private:
    EmbeddingBagCollection embedding_bag_collection_;
};
TORCH_MODULE(SparseArch);

/// Turns the numbers of a batch into one more such vector.
class DenseArchImpl : public torch::nn::Module {
public:
    DenseArchImpl(std::int64_t in_features, std::vector<std::int64_t> const& layer_sizes)
        : in_features_{in_features},
          model_{register_module("model", MLP{in_features, layer_sizes})} {}

    torch::Tensor forward(torch::Tensor const& features) {
        CB_FORWARD(features);
        require_vectors(features, in_features_, "dense_arch: expected dense features");
        return model_(features);
    }

private:
    std::int64_t in_features_;
    MLP model_;
};
TORCH_MODULE(DenseArch);

/// Turns what the interaction found into logits; the last layer has no activation.
class OverArchImpl : public torch::nn::Module {
public:
    OverArchImpl(std::int64_t in_features, std::vector<std::int64_t> layer_sizes)
        : in_features_{in_features} {
        require(layer_sizes.size() > 1, "over_arch: expected at least two layers, given ",
                layer_sizes.size());
        auto const last = layer_sizes.back();
        layer_sizes.pop_back();
        require(last > 0, "over_arch: expected a last layer of at least 1, given ", last);
        MLP hidden{in_features, layer_sizes};
        model_ = register_module(
            "model",
            torch::nn::Sequential{std::move(hidden), torch::nn::Linear{layer_sizes.back(), last}});
    }

    torch::Tensor forward(torch::Tensor const& features) {
        CB_FORWARD(features);
        require_vectors(features, in_features_, "over_arch: expected features");
        return model_->forward(features);
    }

private:
    std::int64_t in_features_;
    torch::nn::Sequential model_{nullptr};
};
TORCH_MODULE(OverArch);

/// Predicts a click from numbers and from lists of ids: the logit of its probability.
class DLRMImpl : public torch::nn::Module {
public:
    DLRMImpl(EmbeddingBagCollection embedding_bag_collection, std::int64_t dense_in_features,
             std::vector<std::int64_t> const& dense_arch_layer_sizes,
             std::vector<std::int64_t> const& over_arch_layer_sizes)
        : width_{common_width(*embedding_bag_collection, "DLRM")},
          features_{static_cast<std::int64_t>(embedding_bag_collection->feature_keys().size())} {
        auto const last = dense_arch_layer_sizes.empty() ? 0 : dense_arch_layer_sizes.back();
        require(last == width_, "DLRM: expected the last layer of dense_arch to be as wide as the ",
                "tables (embedding_dim ", width_, "), given ", last);
        sparse_arch_ =
            register_module("sparse_arch", SparseArch{std::move(embedding_bag_collection)});
        dense_arch_ =
            register_module("dense_arch", DenseArch{dense_in_features, dense_arch_layer_sizes});
        inter_arch_ = register_module("inter_arch", InteractionArch{features_, width_});
        over_arch_ = register_module("over_arch",
                                     OverArch{inter_arch_->out_features(), over_arch_layer_sizes});
    }

    torch::Tensor forward(torch::Tensor const& dense_features,
                          keyed_jagged_tensor const& sparse_features) {
        CB_FORWARD(dense_features, sparse_features);
        require(dense_features.dim() > 0 && dense_features.size(0) == sparse_features.stride(),
                "DLRM: expected a bag of each sparse feature for each row of the dense features ",
                dense_features.sizes(), ", given ", sparse_features.stride(), " bags of each of ",
                listed{sparse_features.keys()});
        auto const dense = dense_arch_(dense_features);
        auto const sparse = sparse_arch_(sparse_features);
        return over_arch_(interact(dense, sparse));
    }

protected:
    [[nodiscard]] virtual torch::Tensor interact(torch::Tensor const& dense,
                                                 torch::Tensor const& sparse) {
        return inter_arch_(dense, sparse);
    }

    [[nodiscard]] std::int64_t width() const { return width_; }
    [[nodiscard]] std::int64_t features() const { return features_; }

    /// Puts another interaction in the place of the pairwise one, with an over_arch that fits it.
    template<class Interaction>
    Interaction replace_interaction(Interaction interaction, OverArch over_arch) {
        inter_arch_ = nullptr;
        over_arch_ = replace_module("over_arch", std::move(over_arch));
        return replace_module("inter_arch", std::move(interaction));
    }

private:
    std::int64_t width_;
    std::int64_t features_;
    SparseArch sparse_arch_{nullptr};
    DenseArch dense_arch_{nullptr};
    InteractionArch inter_arch_{nullptr};
    OverArch over_arch_{nullptr};
};
TORCH_MODULE(DLRM);

}  // namespace models::dlrm
