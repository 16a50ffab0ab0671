// sparse part of a model -> [KEYED TENSOR] -> interaction: dense vectors of a batch, by name
#pragma once

#include "require.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace models {

/// Several features side by side in one tensor, along dimension `key_dim`.
class keyed_tensor {
public:
    keyed_tensor() = default;
    keyed_tensor(std::vector<std::string> keys, std::vector<std::int64_t> length_per_key,
                 at::Tensor values, std::int64_t key_dim = 1)
        : keys_{std::move(keys)},
          length_per_key_{std::move(length_per_key)},
          values_{std::move(values)},
          key_dim_{key_dim} {
        require(keys_.size() == length_per_key_.size(), "keyed tensor: expected a length for each ",
                "of the keys ", listed{keys_}, ", given ", length_per_key_.size(), " lengths");
        require(values_.defined() && key_dim_ >= 0 && key_dim_ < values_.dim(),
                "keyed tensor: expected values with a dimension ", key_dim_, ", given ",
                values_.defined() ? values_.dim() : 0, " dimensions");
        auto const width =
            std::accumulate(length_per_key_.begin(), length_per_key_.end(), std::int64_t{0});
        require(values_.size(key_dim_) == width, "keyed tensor: expected values of size ", width,
                " in dimension ", key_dim_, ", given ", values_.sizes());
    }

    /// Puts one tensor for each key side by side.
    [[nodiscard]] static keyed_tensor from_tensor_list(std::vector<std::string> keys,
                                                       std::vector<at::Tensor> const& tensors,
                                                       std::int64_t key_dim = 1) {
        require(keys.size() == tensors.size(), "keyed tensor: expected a tensor for each of the ",
                "keys ", listed{keys}, ", given ", tensors.size(), " tensors");
        require(!tensors.empty(), "keyed tensor: expected at least one tensor, given none");
        std::vector<std::int64_t> lengths;
        for (auto const& tensor : tensors)
            lengths.push_back(tensor.size(key_dim));
        return {std::move(keys), std::move(lengths), at::cat(tensors, key_dim), key_dim};
    }

    [[nodiscard]] std::vector<std::string> const& keys() const { return keys_; }
    [[nodiscard]] std::vector<std::int64_t> const& length_per_key() const {
        return length_per_key_;
    }
    [[nodiscard]] at::Tensor const& values() const { return values_; }
    [[nodiscard]] std::int64_t key_dim() const { return key_dim_; }

    [[nodiscard]] bool contains(std::string const& key) const {
        return std::find(keys_.begin(), keys_.end(), key) != keys_.end();
    }

    /// The width of the part that belongs to a key.
    [[nodiscard]] std::int64_t length_of(std::string const& key) const {
        return length_per_key_[static_cast<std::size_t>(index_of(key))];
    }

    /// The part that belongs to a key: a view.
    [[nodiscard]] at::Tensor operator[](std::string const& key) const {
        auto const index = index_of(key);
        auto const lengths = length_per_key_.begin();
        auto const begin = std::accumulate(lengths, lengths + index, std::int64_t{0});
        return values_.narrow(key_dim_, begin, lengths[index]);
    }

    /// Calls `visit(at::Tensor&)` with the values.
    template<class Visit>
    void each_tensor(Visit&& visit) {
        if (values_.defined())
            visit(values_);
    }

private:
    [[nodiscard]] std::ptrdiff_t index_of(std::string const& key) const {
        auto const found = std::find(keys_.begin(), keys_.end(), key);
        require(found != keys_.end(), "keyed tensor: expected one of the keys ", listed{keys_},
                ", given ", key);
        return found - keys_.begin();
    }

    std::vector<std::string> keys_;
    std::vector<std::int64_t> length_per_key_;
    at::Tensor values_;
    std::int64_t key_dim_ = 1;
};

}  // namespace models
