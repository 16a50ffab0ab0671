// raw_tensors -> [LOAD] -> model and batch: weights and inputs that another program has written
#pragma once

#include "batch.hpp"
#include "keyed_jagged_tensor.hpp"
#include "raw_tensors.hpp"
#include "require.hpp"
#include "shown.hpp"

#include <torch/nn/module.h>

#include <string>
#include <utility>
#include <vector>

namespace models {

/// Copies every tensor "param/PATH" into the model's parameter PATH. Names and shapes must be the
/// same on both sides; if they are not, the model is left as it was.
inline void load_parameters(torch::nn::Module& model, raw_tensors const& file) {
    std::string const prefix = "param/";
    auto const parameters = model.named_parameters();
    for (auto const& name : file.names(prefix))
        require(parameters.contains(name.substr(prefix.size())), file.file(), ": tensor ",
                shown(name, 100),
                ": expected a parameter of the model, which has none of this name");
    for (auto const& parameter : parameters) {
        require(file.contains(prefix + parameter.key()), file.file(), ": expected a tensor ",
                prefix, parameter.key(), " for the model's parameter, given none");
        auto const& given = file.at(prefix + parameter.key());
        require(given.sizes() == parameter.value().sizes() &&
                    given.scalar_type() == parameter.value().scalar_type(),
                file.file(), ": parameter ", parameter.key(), ": expected ",
                parameter.value().scalar_type(), " ", parameter.value().sizes(), ", given ",
                given.scalar_type(), " ", given.sizes());
    }
    torch::NoGradGuard const no_grad;
    for (auto const& parameter : parameters)
        parameter.value().copy_(file.at(prefix + parameter.key()));
}

/// The inputs "input/dense" and "input/sparse" of the file, without labels.
[[nodiscard]] inline batch load_batch(raw_tensors const& file) {
    return {file.at("input/dense"),
            keyed_jagged_tensor::from_offsets_sync(file.kjt_keys(), file.at("input/sparse.values"),
                                                   file.at("input/sparse.offsets")),
            {}};
}

}  // namespace models
