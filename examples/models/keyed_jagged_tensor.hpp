// data loader -> batch [KEYED JAGGED TENSOR] -> model: the sparse features of a batch, by name
#pragma once

#include "jagged_tensor.hpp"
#include "require.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/sub.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace models {

/// Several jagged features in one piece of memory: all bags of the first key, then all of the next.
class keyed_jagged_tensor {
public:
    keyed_jagged_tensor() = default;
    keyed_jagged_tensor(std::vector<std::string> keys, at::Tensor values, bag_bounds bounds,
                        at::Tensor weights = {})
        : keys_{std::move(keys)}, all_{std::move(values), std::move(bounds), std::move(weights)} {
        check_shapes();
    }

    /// The bags begin at `offsets` [keys * stride + 1]. Reads them once, to check them.
    [[nodiscard]] static keyed_jagged_tensor from_offsets_sync(std::vector<std::string> keys,
                                                               at::Tensor values,
                                                               at::Tensor offsets,
                                                               at::Tensor weights = {}) {
        keyed_jagged_tensor made{std::move(keys), std::move(values),
                                 bag_bounds{{}, std::move(offsets)}, std::move(weights)};
        made.check_offsets();
        return made;
    }

    /// The bags have `lengths` [keys * stride]. Reads them once, to check them.
    [[nodiscard]] static keyed_jagged_tensor from_lengths_sync(std::vector<std::string> keys,
                                                               at::Tensor values,
                                                               at::Tensor lengths,
                                                               at::Tensor weights = {}) {
        keyed_jagged_tensor made{std::move(keys), std::move(values),
                                 bag_bounds{std::move(lengths), {}}, std::move(weights)};
        made.check_offsets();
        return made;
    }

    [[nodiscard]] std::vector<std::string> const& keys() const { return keys_; }
    [[nodiscard]] at::Tensor const& values() const { return all_.values(); }
    [[nodiscard]] at::Tensor const& weights() const {
        return all_.weights();
    }  ///< may be undefined
    [[nodiscard]] at::Tensor const& lengths() const { return all_.lengths(); }  ///< [keys * stride]
    [[nodiscard]] at::Tensor const& offsets() const { return all_.offsets(); }  ///< one more

    /// Rows of the batch.
    [[nodiscard]] std::int64_t stride() const {
        return keys_.empty() ? 0 : all_.stride() / key_count();
    }

    /// Where each key's values begin in `values`, and at last where they end.
    [[nodiscard]] std::vector<std::int64_t> const& offset_per_key() const {
        if (offset_per_key_.empty()) {
            auto const all = on_host(offsets());
            auto const* const offset = all.const_data_ptr<std::int64_t>();
            for (std::int64_t key = 0; key <= key_count(); ++key)
                offset_per_key_.push_back(offset[key * stride()]);
        }
        return offset_per_key_;
    }

    /// How many values each key has.
    [[nodiscard]] std::vector<std::int64_t> length_per_key() const {
        auto const& offset = offset_per_key();
        std::vector<std::int64_t> lengths;
        for (std::size_t key = 0; key < keys_.size(); ++key)
            lengths.push_back(offset[key + 1] - offset[key]);
        return lengths;
    }

    /// One feature; its lengths and values are views.
    [[nodiscard]] jagged_tensor operator[](std::string const& key) const {
        auto const found = std::find(keys_.begin(), keys_.end(), key);
        require(found != keys_.end(), "keyed jagged tensor: expected one of the keys ",
                listed{keys_}, ", given ", key);
        auto const index = static_cast<std::size_t>(found - keys_.begin());
        auto const first_bag = static_cast<std::int64_t>(index) * stride();
        return slice(index, bag_bounds{lengths().slice(0, first_bag, first_bag + stride()), {}});
    }

    /// Every feature, with offsets that begin at 0.
    [[nodiscard]] std::map<std::string, jagged_tensor> to_dict() const {
        std::map<std::string, jagged_tensor> features;
        if (keys_.empty())
            return features;
        // Neighbouring keys share an offset: the last of one is the first of the next.
        auto const global =
            offsets().contiguous().as_strided({key_count(), stride() + 1}, {stride(), 1});
        auto const local = at::sub(global, global.slice(1, 0, 1));
        auto const lengths_by_key = lengths().view({key_count(), stride()});
        for (std::size_t index = 0; index < keys_.size(); ++index) {
            auto const row = static_cast<std::int64_t>(index);
            features.emplace(keys_[index],
                             slice(index, bag_bounds{lengths_by_key[row], local[row]}));
        }
        return features;
    }

    /// Calls `visit(at::Tensor&)` with values, weights, lengths and offsets, as far as given.
    template<class Visit>
    void each_tensor(Visit&& visit) {
        offset_per_key_.clear();
        all_.each_tensor(visit);
    }

private:
    [[nodiscard]] std::int64_t key_count() const { return static_cast<std::int64_t>(keys_.size()); }

    [[nodiscard]] static at::Tensor on_host(at::Tensor const& tensor) {
        return tensor.to(at::kCPU, at::kLong).contiguous();
    }

    [[nodiscard]] jagged_tensor slice(std::size_t index, bag_bounds bounds) const {
        auto const begin = offset_per_key()[index];
        auto const end = offset_per_key()[index + 1];
        return {values().slice(0, begin, end), std::move(bounds),
                weights().defined() ? weights().slice(0, begin, end) : at::Tensor{}};
    }

    void check_shapes() const {
        for (auto const& key : keys_)
            require(std::count(keys_.begin(), keys_.end(), key) == 1,
                    "keyed jagged tensor: expected different keys, given ", listed{keys_});
        require(keys_.empty() ? all_.stride() == 0 : all_.stride() % key_count() == 0,
                "keyed jagged tensor: expected as many bags for each of the keys ", listed{keys_},
                ", given ", all_.stride(), " bags for ", key_count(), " keys");
    }

    void check_offsets() const {
        auto const all = on_host(offsets());
        auto const* const offset = all.const_data_ptr<std::int64_t>();
        auto const count = all.size(0);
        require(offset[0] == 0, "keyed jagged tensor: expected offsets that begin at 0, given ",
                offset[0]);
        for (std::int64_t bag = 1; bag < count; ++bag)
            require(offset[bag - 1] <= offset[bag],
                    "keyed jagged tensor: expected bags of no negative length, given bag ", bag - 1,
                    " from ", offset[bag - 1], " to ", offset[bag]);
        require(offset[count - 1] == values().size(0), "keyed jagged tensor: expected ",
                offset[count - 1], " values by the lengths or offsets, given ", values().size(0));
        static_cast<void>(offset_per_key());
    }

    std::vector<std::string> keys_;
    jagged_tensor all_;
    mutable std::vector<std::int64_t> offset_per_key_;
};

}  // namespace models
