// data loader -> [BATCH] -> model: what one step of training is given
#pragma once

#include "keyed_jagged_tensor.hpp"

#include <ATen/core/Tensor.h>

namespace models {

struct batch {
    at::Tensor dense;            ///< [rows, numbers]
    keyed_jagged_tensor sparse;  ///< a bag of ids for each row and feature
    at::Tensor labels;           ///< [rows, 1], 0 or 1; undefined where nothing is to be learned
};

}  // namespace models
