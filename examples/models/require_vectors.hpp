// everywhere in the example models: a batch of vectors is as wide as the layer that gets it
#pragma once

#include "require.hpp"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace models {

/// `what`: "over_arch: expected features".
inline void require_vectors(at::Tensor const& given, std::int64_t width, char const* what) {
    require(given.dim() == 2 && given.size(1) == width, what, " of shape [batch, ", width,
            "], given ", given.sizes());
}

}  // namespace models
