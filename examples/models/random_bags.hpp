// tables -> [RANDOM BAGS] -> batch: made-up ids for the sparse features of a model
#pragma once

#include "embedding_bag_collection.hpp"
#include "keyed_jagged_tensor.hpp"
#include "require.hpp"

#include <ATen/ops/cat.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/zeros.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace models {

/// Tables t0, t1, ... with one feature each: f0, f1, ...
[[nodiscard]] inline std::vector<embedding_bag_config> equal_tables(std::int64_t count,
                                                                    std::int64_t rows,
                                                                    std::int64_t width) {
    std::vector<embedding_bag_config> tables;
    for (std::int64_t index = 0; index < count; ++index) {
        auto const number = std::to_string(index);
        tables.push_back({"t" + number, width, rows, {"f" + number}});
    }
    return tables;
}

/// For each feature of the tables `batch_size` bags, of as many ids as `ids_per_bag` says for its
/// table.
[[nodiscard]] inline keyed_jagged_tensor random_bags(
    std::vector<embedding_bag_config> const& tables, std::int64_t batch_size,
    std::vector<std::int64_t> const& ids_per_bag) {
    require(ids_per_bag.size() == tables.size(), "random bags: expected a number of ids for each ",
            "of ", tables.size(), " tables, given ", ids_per_bag.size());
    std::vector<std::string> keys;
    std::vector<at::Tensor> values;
    std::vector<at::Tensor> lengths;
    for (std::size_t table = 0; table < tables.size(); ++table)
        for (auto const& feature : tables[table].feature_names) {
            keys.push_back(feature);
            values.push_back(at::randint(tables[table].num_embeddings,
                                         {batch_size * ids_per_bag[table]}, at::kLong));
            lengths.push_back(at::full({batch_size}, ids_per_bag[table], at::kLong));
        }
    auto const ends = at::cumsum(at::cat(lengths), 0);
    return keyed_jagged_tensor::from_offsets_sync(std::move(keys), at::cat(values),
                                                  at::cat({at::zeros({1}, at::kLong), ends}));
}

}  // namespace models
