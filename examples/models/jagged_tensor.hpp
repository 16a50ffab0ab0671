// data loader -> batch [JAGGED TENSORS] -> model: lists of ids whose lengths differ from row to row
#pragma once

#include "require.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/diff.h>
#include <ATen/ops/zeros.h>

#include <cstdint>
#include <utility>

namespace models {

/// Where each bag of a jagged tensor begins and how long it is: either is computed from the other
/// when it is first asked for.
class bag_bounds {
public:
    bag_bounds() = default;
    bag_bounds(at::Tensor lengths, at::Tensor offsets)
        : lengths_{std::move(lengths)},
          offsets_{std::move(offsets)},
          lengths_given_{lengths_.defined()},
          offsets_given_{offsets_.defined()} {
        require(lengths_given_ || offsets_given_,
                "jagged tensor: expected lengths or offsets, given neither");
        for (auto const* tensor : {&lengths_, &offsets_}) {
            if (!tensor->defined())
                continue;
            require(tensor->dim() == 1,
                    "jagged tensor: expected lengths and offsets of shape [n], ", "given ",
                    tensor->sizes());
            auto const type = tensor->scalar_type();
            require(type == at::kLong || type == at::kInt,
                    "jagged tensor: expected lengths and offsets of int32 or int64, given ", type);
        }
        require(!offsets_given_ || offsets_.size(0) > 0,
                "jagged tensor: expected at least one offset (bags + 1), given [0]");
        require(!lengths_given_ || !offsets_given_ || offsets_.size(0) == lengths_.size(0) + 1,
                "jagged tensor: expected one offset more than lengths, given lengths ",
                lengths_.sizes(), " and offsets ", offsets_.sizes());
    }

    [[nodiscard]] std::int64_t count() const {
        return offsets_.defined()   ? offsets_.size(0) - 1
               : lengths_.defined() ? lengths_.size(0)
                                    : 0;
    }

    [[nodiscard]] at::Tensor const& lengths() const {
        if (!lengths_.defined() && offsets_.defined())
            lengths_ = at::diff(offsets_);
        return lengths_;
    }

    [[nodiscard]] at::Tensor const& offsets() const {
        if (!offsets_.defined() && lengths_.defined()) {
            offsets_ = at::zeros({lengths_.size(0) + 1}, lengths_.options());
            offsets_.slice(0, 1).copy_(at::cumsum(lengths_, 0));
        }
        return offsets_;
    }

    // Visits what was given. What was computed from it is forgotten, since the visitor may have
    // replaced its source, and since the number of tensors must not depend on what was asked
    // before.
    template<class Visit>
    void each_tensor(Visit&& visit) {
        for (auto const& [tensor, given] :
             {std::pair{&lengths_, lengths_given_}, std::pair{&offsets_, offsets_given_}}) {
            if (given)
                visit(*tensor);
            else
                tensor->reset();
        }
    }

private:
    mutable at::Tensor lengths_;
    mutable at::Tensor offsets_;
    bool lengths_given_ = false;
    bool offsets_given_ = false;
};

/// One feature: a bag of values for each row of the batch.
class jagged_tensor {
public:
    jagged_tensor() = default;
    jagged_tensor(at::Tensor values, bag_bounds bounds, at::Tensor weights = {})
        : values_{std::move(values)}, weights_{std::move(weights)}, bounds_{std::move(bounds)} {
        require(values_.defined(), "jagged tensor: expected values, given an undefined tensor");
        require(!weights_.defined() || weights_.sizes() == values_.sizes(),
                "jagged tensor: expected weights of the values' shape ", values_.sizes(),
                ", given ", weights_.defined() ? weights_.sizes() : at::IntArrayRef{});
    }

    [[nodiscard]] at::Tensor const& values() const { return values_; }
    [[nodiscard]] at::Tensor const& weights() const { return weights_; }  ///< undefined if none
    [[nodiscard]] at::Tensor const& lengths() const { return bounds_.lengths(); }
    [[nodiscard]] at::Tensor const& offsets() const { return bounds_.offsets(); }
    [[nodiscard]] std::int64_t stride() const { return bounds_.count(); }

    /// Calls `visit(at::Tensor&)` with values, weights, lengths and offsets, as far as given.
    template<class Visit>
    void each_tensor(Visit&& visit) {
        if (values_.defined())
            visit(values_);
        if (weights_.defined())
            visit(weights_);
        bounds_.each_tensor(visit);
    }

private:
    at::Tensor values_;
    at::Tensor weights_;
    bag_bounds bounds_;
};

}  // namespace models
