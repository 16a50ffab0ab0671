// atomic files -> [MOVIELENS] -> batches: who liked which film, with what is known of both
#pragma once

#include "atomic_file.hpp"
#include "batch.hpp"
#include "embedding_bag_collection.hpp"
#include "movielens_tables.hpp"
#include "require.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace models {

/// MovieLens as RecBole packs it: NAME.inter, NAME.user and NAME.item in one folder.
/// A label is 1 for a rating of 4 or 5. Sparse features have one id a row, but for the genres: a
/// film has from one to six of them.
class movielens {
public:
    static constexpr std::int64_t num_dense_features = 3;  ///< age, release year, time of rating

    [[nodiscard]] static movielens load(std::filesystem::path const& folder,
                                        std::string const& name = "ml-100k") {
        return {user_table{atomic_file::read(folder / (name + ".user"))},
                item_table{atomic_file::read(folder / (name + ".item"))},
                atomic_file::read(folder / (name + ".inter"))};
    }

    /// Number of ratings.
    [[nodiscard]] std::size_t size() const { return labels_.size(); }
    [[nodiscard]] std::size_t users() const { return users_.ids().size(); }
    [[nodiscard]] std::size_t items() const { return items_.ids().size(); }

    /// One table for each sparse feature, with a row for each value that occurs.
    [[nodiscard]] std::vector<embedding_bag_config> tables(std::int64_t embedding_dim) const {
        std::vector<embedding_bag_config> tables;
        auto const add = [&](std::string const& name, std::size_t rows) {
            tables.push_back({name, embedding_dim, signed_size(rows), {name}});
        };
        for (auto const& feature : users_.features())
            add(feature.name, feature.rows);
        for (auto const& feature : items_.features())
            add(feature.name, feature.rows);
        add("genre", std::max<std::size_t>(1, items_.genres().rows));
        return tables;
    }

    /// The ratings with these numbers, from 0 to `size() - 1`.
    [[nodiscard]] batch make(std::span<std::size_t const> ratings) const {
        for (auto const rating : ratings)
            require(rating < size(), "MovieLens: expected ratings from 0 to ", size() - 1,
                    ", given ", rating);
        return {make_dense(ratings), make_sparse(ratings), make_labels(ratings)};
    }

private:
    [[nodiscard]] static std::int64_t signed_size(std::size_t size) {
        return static_cast<std::int64_t>(size);
    }

    movielens(user_table users, item_table items, atomic_file const& ratings)
        : users_{std::move(users)}, items_{std::move(items)} {
        auto const user = ratings.column("user_id", "token");
        auto const item = ratings.column("item_id", "token");
        auto const rating = ratings.column("rating", "float");
        auto const timestamp = ratings.column("timestamp", "float");
        require(ratings.rows() > 0, ratings.file(), ", line 2: expected a rating, given none");
        once_each seen{ratings, {user, item}};
        std::vector<std::optional<double>> times;
        for (std::size_t row = 0; row < ratings.rows(); ++row) {
            users_of_.push_back(users_.ids().known(ratings, row, user, "a user of the .user file"));
            items_of_.push_back(
                items_.ids().known(ratings, row, item, "an item of the .item file"));
            labels_.push_back(ratings.number(row, rating) >= 4 ? 1.0F : 0.0F);
            times.emplace_back(ratings.number(row, timestamp));
            seen.check(row);
        }
        auto const liked = std::count(labels_.begin(), labels_.end(), 1.0F);
        auto const has_both = liked > 0 && std::cmp_less(liked, labels_.size());
        require(has_both, ratings.file(), ", column ", rating + 1,
                " (rating): expected ratings of 4 and more and lower ones, given only ",
                liked > 0 ? "the former" : "the latter");
        times_ = standardised(times);
    }

    [[nodiscard]] at::Tensor make_dense(std::span<std::size_t const> ratings) const {
        auto dense = at::empty({signed_size(ratings.size()), num_dense_features});
        auto* out = dense.mutable_data_ptr<float>();
        for (auto const rating : ratings) {
            *out++ = users_.ages()[users_of_[rating]];
            *out++ = items_.years()[items_of_[rating]];
            *out++ = times_[rating];
        }
        return dense;
    }

    [[nodiscard]] at::Tensor make_labels(std::span<std::size_t const> ratings) const {
        auto labels = at::empty({signed_size(ratings.size()), 1});
        auto* out = labels.mutable_data_ptr<float>();
        for (auto const rating : ratings)
            *out++ = labels_[rating];
        return labels;
    }

    [[nodiscard]] keyed_jagged_tensor make_sparse(std::span<std::size_t const> ratings) const {
        auto const& genres = items_.genres();
        auto const single = users_.features().size() + items_.features().size();
        auto total = single * ratings.size();
        for (auto const rating : ratings)
            total += genres.count(items_of_[rating]);
        auto values = at::empty({signed_size(total)}, at::kLong);
        auto lengths = at::ones({signed_size((single + 1) * ratings.size())}, at::kLong);
        auto* value = values.mutable_data_ptr<std::int64_t>();
        auto* length = lengths.mutable_data_ptr<std::int64_t>() + single * ratings.size();
        std::vector<std::string> keys;
        for (auto const& feature : users_.features()) {
            keys.push_back(feature.name);
            for (auto const rating : ratings)
                *value++ = signed_size(feature.id_of[users_of_[rating]]);
        }
        for (auto const& feature : items_.features()) {
            keys.push_back(feature.name);
            for (auto const rating : ratings)
                *value++ = signed_size(feature.id_of[items_of_[rating]]);
        }
        keys.emplace_back("genre");
        for (auto const rating : ratings) {
            auto const item = items_of_[rating];
            *length++ = signed_size(genres.count(item));
            for (auto at = genres.begin_of[item]; at < genres.begin_of[item + 1]; ++at)
                *value++ = signed_size(genres.ids[at]);
        }
        return keyed_jagged_tensor::from_lengths_sync(std::move(keys), values, lengths);
    }

    user_table users_;
    item_table items_;
    std::vector<std::size_t> users_of_;
    std::vector<std::size_t> items_of_;
    std::vector<float> labels_;
    std::vector<float> times_;
};

}  // namespace models
