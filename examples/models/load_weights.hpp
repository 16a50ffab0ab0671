// raw_tensors -> [LOAD] -> model and batch: weights and inputs that another program has written
#pragma once

#include "batch.hpp"
#include "keyed_jagged_tensor.hpp"
#include "raw_tensors.hpp"
#include "require.hpp"
#include "shown.hpp"

#include <torch/nn/module.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace models {

/// Each parameter of a model once, under its first path: tied ones have several.
[[nodiscard]] inline std::vector<std::pair<std::string, at::Tensor>> distinct_parameters(
    torch::nn::Module const& model) {
    std::vector<std::pair<std::string, at::Tensor>> distinct;
    for (auto const& parameter : model.named_parameters())
        if (std::none_of(distinct.begin(), distinct.end(), [&](auto const& earlier) {
                return earlier.second.is_same(parameter.value());
            }))
            distinct.emplace_back(parameter.key(), parameter.value());
    return distinct;
}

/// Copies every tensor "param/PATH" into the model's parameter PATH. Names and shapes must be the
/// same on both sides; if they are not, the model is left as it was. A tied parameter is in the
/// file once, under its first path.
inline void load_parameters(torch::nn::Module& model, raw_tensors const& file) {
    std::string const prefix = "param/";
    auto const parameters = distinct_parameters(model);
    for (auto const& name : file.names(prefix))
        require(std::any_of(parameters.begin(), parameters.end(),
                            [&](auto const& one) { return prefix + one.first == name; }),
                file.file(), ": tensor ", shown(name, 100),
                ": expected a parameter of the model, which has none of this name");
    for (auto const& [path, parameter] : parameters) {
        require(file.contains(prefix + path), file.file(), ": expected a tensor ", prefix, path,
                " for the model's parameter, given none");
        auto const& given = file.at(prefix + path);
        require(
            given.sizes() == parameter.sizes() && given.scalar_type() == parameter.scalar_type(),
            file.file(), ": parameter ", path, ": expected ", parameter.scalar_type(), " ",
            parameter.sizes(), ", given ", given.scalar_type(), " ", given.sizes());
    }
    torch::NoGradGuard const no_grad;
    for (auto const& [path, parameter] : parameters)
        parameter.copy_(file.at(prefix + path));
}

/// The inputs "input/dense" and "input/sparse" of the file, without labels.
[[nodiscard]] inline batch load_batch(raw_tensors const& file) {
    return {file.at("input/dense"),
            keyed_jagged_tensor::from_offsets_sync(file.kjt_keys(), file.at("input/sparse.values"),
                                                   file.at("input/sparse.offsets")),
            {}};
}

}  // namespace models
