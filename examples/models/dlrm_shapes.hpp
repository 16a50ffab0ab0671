// name -> [SHAPES] -> model and batch: DLRM in two sizes, with made-up data
#pragma once

#include "batch.hpp"
#include "dlrm.hpp"
#include "dlrm_dcn.hpp"
#include "embedding_bag_collection.hpp"
#include "random_bags.hpp"
#include "require.hpp"

#include <ATen/ops/rand.h>
#include <torch/utils.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace models::dlrm {

/// How the vectors of a batch meet: torchrec's DLRM or its DLRM_DCN.
enum class interaction { dot, dcn };

/// All that decides the size of a DLRM and of its batch.
struct dlrm_shape {
    std::string name;
    std::int64_t num_dense_features = 0;
    std::vector<std::int64_t> dense_arch_layer_sizes;
    std::vector<std::int64_t> over_arch_layer_sizes;
    std::int64_t dcn_num_layers = 0;    ///< of the cross net, where there is one
    std::int64_t dcn_low_rank_dim = 0;  ///< likewise
    std::vector<embedding_bag_config> tables;
    std::vector<std::int64_t> ids_per_bag;  ///< of each table's features
    std::int64_t batch_size = 0;
};

/// The 26 tables of Criteo's terabyte, none with more than `most_rows`, and how many ids MLPerf
/// gives to each.
[[nodiscard]] inline dlrm_shape criteo_shape(std::int64_t most_rows, std::int64_t batch_size) {
    constexpr std::int64_t width = 128;
    std::int64_t const rows[] = {
        40'000'000, 39'060,     17'295,     7'424,      20'265,  3,      7'122, 1'543, 63,
        40'000'000, 3'067'956,  405'282,    10,         2'209,   11'938, 155,   4,     976,
        14,         40'000'000, 40'000'000, 40'000'000, 590'152, 12'973, 108,   36};
    dlrm_shape shape{
        "criteo",
        13,
        {512, 256, width},
        {1'024, 1'024, 512, 256, 1},
        3,
        512,
        {},
        {3, 2, 1, 2, 6, 1, 1, 1, 1, 7, 3, 8, 1, 6, 9, 5, 1, 1, 1, 12, 100, 27, 10, 3, 1, 1},
        batch_size};
    shape.tables = equal_tables(26, most_rows, width);
    for (std::size_t table = 0; table < shape.tables.size(); ++table)
        shape.tables[table].num_embeddings = std::min(most_rows, rows[table]);
    return shape;
}

/// `small` runs in a millisecond; `criteo` has the layers of MLPerf, and small tables.
[[nodiscard]] inline std::vector<dlrm_shape> dlrm_shapes() {
    return {{"small",
             13,
             {64, 32, 16},
             {64, 32, 1},
             2,
             16,
             equal_tables(8, 1'000, 16),
             std::vector<std::int64_t>(8, 4),
             32},
            criteo_shape(2'000, 64)};
}

[[nodiscard]] inline dlrm_shape dlrm_shape_named(std::string_view name) {
    std::vector<std::string> known;
    for (auto const& shape : dlrm_shapes()) {
        if (shape.name == name)
            return shape;
        known.push_back(shape.name);
    }
    require(false, "expected one of the shapes ", listed{known}, ", given ", name);
    return {};
}

/// The same seed gives the weights that torchrec's model has after `torch.manual_seed(seed)`.
[[nodiscard]] inline DLRM make_model(dlrm_shape const& shape, interaction how,
                                     std::uint64_t seed = 1) {
    torch::manual_seed(seed);
    EmbeddingBagCollection collection{shape.tables};
    if (how == interaction::dot)
        return DLRM{collection, shape.num_dense_features, shape.dense_arch_layer_sizes,
                    shape.over_arch_layer_sizes};
    std::shared_ptr<DLRMImpl> const model = std::make_shared<DLRM_DCNImpl>(
        collection, shape.num_dense_features, shape.dense_arch_layer_sizes,
        shape.over_arch_layer_sizes, shape.dcn_num_layers, shape.dcn_low_rank_dim);
    return DLRM{model};
}

/// A random batch without labels.
[[nodiscard]] inline batch make_batch(dlrm_shape const& shape, std::uint64_t seed = 2) {
    torch::manual_seed(seed);
    auto const dense = at::rand({shape.batch_size, shape.num_dense_features});
    return {dense, random_bags(shape.tables, shape.batch_size, shape.ids_per_bag), {}};
}

}  // namespace models::dlrm
