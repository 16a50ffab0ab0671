// dense vector + sparse vectors -> [INTERACTION] -> features: every pair of vectors, or a cross net
#pragma once

#include "cross_net.hpp"
#include "require.hpp"
#include "require_vectors.hpp"
#include <component_benchmark/hook/forward.hpp>

#include <ATen/TensorIndexing.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/triu_indices.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <utility>

namespace models::dlrm {

/// The vectors of a batch below each other, the dense one first: [batch, 1 + features, width].
[[nodiscard]] inline torch::Tensor stacked(torch::Tensor const& dense, torch::Tensor const& sparse,
                                           std::int64_t features, std::int64_t width) {
    require_vectors(dense, width, "inter_arch: expected dense features");
    require(sparse.dim() == 3 && sparse.size(0) == dense.size(0) && sparse.size(1) == features &&
                sparse.size(2) == width,
            "inter_arch: expected sparse features of shape [", dense.size(0), ", ", features, ", ",
            width, "], given ", sparse.sizes());
    return at::cat({dense.unsqueeze(1), sparse}, 1);
}

/// Joins the dense vector with the dot product of every pair of vectors.
class InteractionArchImpl : public torch::nn::Module {
public:
    InteractionArchImpl(std::int64_t num_sparse_features, std::int64_t width)
        : features_{num_sparse_features}, width_{width} {
        // torchrec keeps this buffer out of its checkpoints; LibTorch saves all buffers, so a file
        // that was written here has it.
        triu_indices_ = register_buffer(
            "triu_indices", at::triu_indices(features_ + 1, features_ + 1, /*offset=*/1));
    }

    torch::Tensor forward(torch::Tensor const& dense_features,
                          torch::Tensor const& sparse_features) {
        CB_FORWARD(dense_features, sparse_features);
        auto const vectors = stacked(dense_features, sparse_features, features_, width_);
        auto const products = at::bmm(vectors, vectors.transpose(1, 2));
        using at::indexing::Slice;
        auto const pairs = products.index({Slice{}, triu_indices_[0], triu_indices_[1]});
        return at::cat({dense_features, pairs}, 1);
    }

    /// Columns of the result.
    [[nodiscard]] std::int64_t out_features() const {
        return width_ + features_ * (features_ + 1) / 2;
    }

private:
    std::int64_t features_;
    std::int64_t width_;
    torch::Tensor triu_indices_;
};
TORCH_MODULE(InteractionArch);

/// Sends all vectors together through a cross net.
class InteractionDCNArchImpl : public torch::nn::Module {
public:
    InteractionDCNArchImpl(std::int64_t num_sparse_features, std::int64_t width,
                           LowRankCrossNet crossnet)
        : features_{num_sparse_features},
          width_{width},
          crossnet_{register_module("crossnet", std::move(crossnet))} {}

    torch::Tensor forward(torch::Tensor const& dense_features,
                          torch::Tensor const& sparse_features) {
        CB_FORWARD(dense_features, sparse_features);
        return crossnet_(stacked(dense_features, sparse_features, features_, width_).flatten(1));
    }

private:
    std::int64_t features_;
    std::int64_t width_;
    LowRankCrossNet crossnet_;
};
TORCH_MODULE(InteractionDCNArch);

}  // namespace models::dlrm
