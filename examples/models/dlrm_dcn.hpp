// batch -> [DLRM DCN] -> logits: DLRM with a deep cross network in place of dot products
#pragma once

#include "cross_net.hpp"
#include "dlrm.hpp"
#include "dlrm_interaction.hpp"
#include "embedding_bag_collection.hpp"

#include <torch/nn/pimpl.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace models::dlrm {

/// torchrec's DLRM_DCN: only inter_arch, and the width of over_arch's input, are not DLRM's.
class DLRM_DCNImpl : public DLRMImpl {
public:
    // DLRM's own over_arch is made first and thrown away: torchrec does so, and one seed is to give
    // both the same weights.
    DLRM_DCNImpl(EmbeddingBagCollection embedding_bag_collection, std::int64_t dense_in_features,
                 std::vector<std::int64_t> const& dense_arch_layer_sizes,
                 std::vector<std::int64_t> const& over_arch_layer_sizes,
                 std::int64_t dcn_num_layers, std::int64_t dcn_low_rank_dim)
        : DLRMImpl{std::move(embedding_bag_collection), dense_in_features, dense_arch_layer_sizes,
                   over_arch_layer_sizes} {
        auto const all = (features() + 1) * width();
        LowRankCrossNet crossnet{all, dcn_num_layers, dcn_low_rank_dim};
        inter_arch_ =
            replace_interaction(InteractionDCNArch{features(), width(), std::move(crossnet)},
                                OverArch{all, over_arch_layer_sizes});
    }

protected:
    [[nodiscard]] torch::Tensor interact(torch::Tensor const& dense,
                                         torch::Tensor const& sparse) override {
        return inter_arch_(dense, sparse);
    }

private:
    InteractionDCNArch inter_arch_{nullptr};
};
TORCH_MODULE(DLRM_DCN);

}  // namespace models::dlrm
