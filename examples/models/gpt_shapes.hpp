// name -> [SHAPES] -> model and batch: nanoGPT in two sizes, with made-up tokens
#pragma once

#include "gpt.hpp"
#include "require.hpp"

#include <ATen/ops/randint.h>
#include <torch/utils.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace models::nanogpt {

/// All that decides the size of a GPT and of its batch.
struct gpt_shape {
    std::string name;
    gpt_config config;
    std::int64_t batch_size = 1;
    std::int64_t length = 0;
};

/// `tiny` runs in a millisecond, `124m` is nanoGPT's default, of GPT-2's size.
[[nodiscard]] inline std::vector<gpt_shape> gpt_shapes() {
    return {{"tiny",
             {.block_size = 32, .vocab_size = 128, .layers = 2, .heads = 2, .width = 32},
             1,
             32},
            {"124m", {}, 1, 64}};
}

[[nodiscard]] inline gpt_shape gpt_shape_named(std::string_view name) {
    std::vector<std::string> known;
    for (auto const& shape : gpt_shapes()) {
        if (shape.name == name)
            return shape;
        known.push_back(shape.name);
    }
    require(false, "expected one of the shapes ", listed{known}, ", given ", name);
    return {};
}

[[nodiscard]] inline GPT make_model(gpt_shape const& shape, std::uint64_t seed = 1) {
    torch::manual_seed(seed);
    return GPT{shape.config};
}

struct gpt_batch {
    torch::Tensor idx;
    torch::Tensor targets;
};

/// Random tokens, and as random ones to be predicted.
[[nodiscard]] inline gpt_batch make_batch(gpt_shape const& shape, std::uint64_t seed = 2) {
    torch::manual_seed(seed);
    auto const tokens = [&] {
        return at::randint(shape.config.vocab_size, {shape.batch_size, shape.length}, torch::kLong);
    };
    auto const idx = tokens();
    return {idx, tokens()};
}

}  // namespace models::nanogpt
