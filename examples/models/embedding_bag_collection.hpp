// keyed_jagged_tensor -> [EMBEDDING BAGS] -> keyed_tensor: one table of vectors for each kind of id
#pragma once

#include "keyed_jagged_tensor.hpp"
#include "keyed_tensor.hpp"
#include "require.hpp"
#include <component_benchmark/hook/forward.hpp>

#include <torch/nn/modules/container/moduledict.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/pimpl.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace models {

enum class pooling { sum, mean };

/// One table and the features whose ids are looked up in it; without features, its own name.
struct embedding_bag_config {
    std::string name;
    std::int64_t embedding_dim = 0;
    std::int64_t num_embeddings = 0;
    std::vector<std::string> feature_names;
    models::pooling pooling = models::pooling::sum;
};

/// Looks up the ids of every feature in its table and pools each bag to one vector.
class EmbeddingBagCollectionImpl : public torch::nn::Module {
public:
    explicit EmbeddingBagCollectionImpl(std::vector<embedding_bag_config> tables)
        : tables_{std::move(tables)} {
        embedding_bags_ = register_module("embedding_bags", torch::nn::ModuleDict{});
        for (auto& table : tables_) {
            check(table);
            if (table.feature_names.empty())
                table.feature_names.push_back(table.name);
            bags_.push_back(make_bag(table));
            embedding_bags_->update({{table.name, bags_.back().ptr()}});
        }
        // torchrec fills its tables twice too: so one seed gives both the same model.
        for (std::size_t index = 0; index < tables_.size(); ++index)
            randomize(bags_[index]->weight.data(), tables_[index]);
        for (std::size_t index = 0; index < tables_.size(); ++index)
            for (auto const& feature : tables_[index].feature_names) {
                keys_.push_back(is_shared(feature) ? feature + "@" + tables_[index].name : feature);
                lengths_.push_back(tables_[index].embedding_dim);
            }
    }

    keyed_tensor forward(keyed_jagged_tensor const& features) {
        CB_FORWARD(features);
        auto const by_name = features.to_dict();
        std::vector<torch::Tensor> pooled;
        pooled.reserve(keys_.size());
        for (std::size_t index = 0; index < tables_.size(); ++index) {
            auto const& table = tables_[index];
            for (auto const& name : table.feature_names) {
                auto const feature = by_name.find(name);
                require(feature != by_name.end(), path, ": table ", table.name,
                        " expected the feature ", name, ", given the features ",
                        listed{features.keys()});
                check_ids(table, name, feature->second.values());
                pooled.push_back(bags_[index](feature->second.values(), feature->second.offsets()));
            }
        }
        return {keys_, lengths_, at::cat(pooled, 1)};
    }

    [[nodiscard]] std::vector<embedding_bag_config> const& tables() const { return tables_; }

    /// Features in the order of the result: for each table in order, each of its features.
    [[nodiscard]] std::vector<std::string> const& feature_keys() const { return keys_; }

private:
    static constexpr char const* path = "sparse_arch.embedding_bag_collection";

    void check(embedding_bag_config const& table) const {
        require(!embedding_bags_->contains(table.name), path,
                ": expected different table names, given ", table.name, " twice");
        require(table.num_embeddings > 0 && table.embedding_dim > 0, path, ": expected table ",
                table.name, " to have rows and columns, given [", table.num_embeddings, ", ",
                table.embedding_dim, "]");
    }

    static torch::Tensor randomize(torch::Tensor weight, embedding_bag_config const& table) {
        auto const bound = 1.0 / std::sqrt(static_cast<double>(table.num_embeddings));
        return weight.uniform_(-bound, bound);
    }

    [[nodiscard]] static torch::nn::EmbeddingBag make_bag(embedding_bag_config const& table) {
        auto options = torch::nn::EmbeddingBagOptions{table.num_embeddings, table.embedding_dim};
        if (table.pooling == models::pooling::mean)
            options.mode(torch::kMean);
        else
            options.mode(torch::kSum);
        options.include_last_offset(true);
        // Given ready-made, or the module would fill the table a first time with normal numbers.
        options._weight(
            randomize(torch::empty({table.num_embeddings, table.embedding_dim}), table));
        return torch::nn::EmbeddingBag{options};
    }

    // Several tables may look up one feature; then each result needs a name of its own.
    [[nodiscard]] bool is_shared(std::string const& feature) const {
        int uses = 0;
        for (auto const& table : tables_)
            for (auto const& name : table.feature_names)
                uses += name == feature ? 1 : 0;
        return uses > 1;
    }

    // A plain loop, and no tensor operation, so that a profile of this module shows its own work
    // only. On another device the check would wait for the device, so the kernel's own must do.
    static void check_ids(embedding_bag_config const& table, std::string const& feature,
                          torch::Tensor const& ids) {
        if (!ids.device().is_cpu() || !ids.is_contiguous())
            return;
        if (ids.scalar_type() == torch::kLong)
            check_ids(table, feature, ids.const_data_ptr<std::int64_t>(), ids.numel());
        else if (ids.scalar_type() == torch::kInt)
            check_ids(table, feature, ids.const_data_ptr<std::int32_t>(), ids.numel());
    }

    template<class Id>
    static void check_ids(embedding_bag_config const& table, std::string const& feature,
                          Id const* ids, std::int64_t count) {
        for (std::int64_t at = 0; at < count; ++at)
            require(ids[at] >= 0 && ids[at] < table.num_embeddings, path, ".embedding_bags.",
                    table.name, ": expected ids from 0 to ", table.num_embeddings - 1, " (",
                    table.num_embeddings, " rows) for the feature ", feature, ", given ", ids[at]);
    }

    std::vector<embedding_bag_config> tables_;
    torch::nn::ModuleDict embedding_bags_{nullptr};
    std::vector<torch::nn::EmbeddingBag> bags_;
    std::vector<std::string> keys_;
    std::vector<std::int64_t> lengths_;
};
TORCH_MODULE(EmbeddingBagCollection);

/// Of all its tables, for a `model` that needs them alike.
[[nodiscard]] inline std::int64_t common_width(EmbeddingBagCollectionImpl const& collection,
                                               char const* model) {
    auto const& tables = collection.tables();
    require(!tables.empty(), model, ": expected at least one table, given none");
    for (auto const& table : tables)
        require(table.embedding_dim == tables.front().embedding_dim, model,
                ": expected tables of one embedding_dim, given ", tables.front().embedding_dim,
                " in ", tables.front().name, " and ", table.embedding_dim, " in ", table.name);
    return tables.front().embedding_dim;
}

}  // namespace models
