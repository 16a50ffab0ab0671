// name -> [SHAPES] -> model and batch: DeepFM in three sizes, with made-up data
#pragma once

#include "batch.hpp"
#include "deepfm.hpp"
#include "embedding_bag_collection.hpp"
#include "keyed_jagged_tensor.hpp"
#include "random_bags.hpp"
#include "require.hpp"

#include <ATen/ops/rand.h>
#include <torch/utils.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace models {

/// All that decides the size of a DeepFM and of its batch.
struct deepfm_shape {
    std::string name;
    std::int64_t num_dense_features = 0;
    std::int64_t hidden_layer_size = 0;
    std::int64_t deep_fm_dimension = 0;
    std::vector<embedding_bag_config> tables;
    std::int64_t batch_size = 0;
    std::int64_t ids_per_bag = 0;  ///< 0: the few fixed ids of torchrec's unit test
};

/// `unit` runs in no time, `cpu-small` in under a millisecond, `paper` has the paper's layers.
[[nodiscard]] inline std::vector<deepfm_shape> deepfm_shapes() {
    return {{"unit", 100, 20, 5, {{"t1", 8, 100, {"f1", "f3"}}, {"t2", 8, 100, {"f2"}}}, 2, 0},
            {"cpu-small", 64, 128, 32, equal_tables(4, 1'000, 32), 32, 4},
            {"paper", 1'024, 4'096, 512, equal_tables(8, 10'000, 512), 64, 4}};
}

[[nodiscard]] inline deepfm_shape deepfm_shape_named(std::string_view name) {
    std::vector<std::string> known;
    for (auto const& shape : deepfm_shapes()) {
        if (shape.name == name)
            return shape;
        known.push_back(shape.name);
    }
    require(false, "expected one of the shapes ", listed{known}, ", given ", name);
    return {};
}

/// The same seed gives the weights that torchrec's model has after `torch.manual_seed(seed)`.
[[nodiscard]] inline SimpleDeepFMNN make_model(deepfm_shape const& shape, std::uint64_t seed = 1) {
    torch::manual_seed(seed);
    return SimpleDeepFMNN{shape.num_dense_features, EmbeddingBagCollection{shape.tables},
                          shape.hidden_layer_size, shape.deep_fm_dimension};
}

[[nodiscard]] inline keyed_jagged_tensor fixed_ids() {
    return keyed_jagged_tensor::from_offsets_sync(
        {"f1", "f3", "f2"}, torch::tensor({1, 2, 4, 5, 4, 3, 2, 9, 1, 2, 3}, torch::kLong),
        torch::tensor({0, 2, 4, 6, 8, 10, 11}, torch::kLong));
}

/// A random batch without labels.
[[nodiscard]] inline batch make_batch(deepfm_shape const& shape, std::uint64_t seed = 2) {
    torch::manual_seed(seed);
    auto const dense = torch::rand({shape.batch_size, shape.num_dense_features});
    if (shape.ids_per_bag == 0)
        return {dense, fixed_ids(), {}};
    std::vector<std::int64_t> const ids(shape.tables.size(), shape.ids_per_bag);
    return {dense, random_bags(shape.tables, shape.batch_size, ids), {}};
}

}  // namespace models
