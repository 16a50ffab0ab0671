// token vectors -> [BLOCK] -> token vectors: the layer that a GPT repeats, with nanoGPT's names
#pragma once

#include <component_benchmark/hook/forward.hpp>

#include <ATen/ops/layer_norm.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace models::nanogpt {

/// Attention as one operator of LibTorch, or as the multiplications, mask and softmax it is made
/// of.
enum class attention_kind { fused, manual };

/// All that decides the size of a GPT; what is given here is nanoGPT's default.
struct gpt_config {
    std::int64_t block_size = 1'024;  ///< most tokens in a row
    std::int64_t vocab_size = 50'304;
    std::int64_t layers = 12;
    std::int64_t heads = 12;
    std::int64_t width = 768;
    double dropout = 0;
    bool bias = true;  ///< in Linear and LayerNorm
    attention_kind attention = attention_kind::fused;
};

/// LibTorch's own has no way to leave out the bias.
class LayerNormImpl : public torch::nn::Module {
public:
    LayerNormImpl(std::int64_t width, bool with_bias)
        : weight_{register_parameter("weight", torch::ones({width}))} {
        if (with_bias)
            bias_ = register_parameter("bias", torch::zeros({width}));
    }

    torch::Tensor forward(torch::Tensor const& input) {
        CB_FORWARD(input);
        return at::layer_norm(input, weight_.sizes(), weight_, bias_, 1e-5);
    }

private:
    torch::Tensor weight_;
    torch::Tensor bias_;
};
TORCH_MODULE(LayerNorm);

[[nodiscard]] inline torch::nn::Linear make_linear(std::int64_t in, std::int64_t out, bool bias) {
    return torch::nn::Linear{torch::nn::LinearOptions{in, out}.bias(bias)};
}

/// Each token looks at itself and at those before it.
class CausalSelfAttentionImpl : public torch::nn::Module {
public:
    explicit CausalSelfAttentionImpl(gpt_config const& config)
        : heads_{config.heads},
          dropout_{config.dropout},
          c_attn_{
              register_module("c_attn", make_linear(config.width, 3 * config.width, config.bias))},
          c_proj_{register_module("c_proj", make_linear(config.width, config.width, config.bias))},
          attn_dropout_{register_module("attn_dropout", torch::nn::Dropout{config.dropout})},
          resid_dropout_{register_module("resid_dropout", torch::nn::Dropout{config.dropout})} {
        if (config.attention == attention_kind::manual)
            mask_ = register_buffer(
                "bias", torch::ones({1, 1, config.block_size, config.block_size}).tril());
    }

    torch::Tensor forward(torch::Tensor const& input) {
        CB_FORWARD(input);
        auto const batch = input.size(0);
        auto const length = input.size(1);
        auto const width = input.size(2);
        auto const by_head = [&](torch::Tensor const& part) {
            return part.view({batch, length, heads_, width / heads_}).transpose(1, 2);
        };
        auto const parts = c_attn_(input).split(width, 2);
        auto const seen = attend(by_head(parts[0]), by_head(parts[1]), by_head(parts[2]));
        auto const joined = seen.transpose(1, 2).contiguous().view({batch, length, width});
        return resid_dropout_(c_proj_(joined));
    }

private:
    // [batch, heads, length, width of a head], all three and the result
    torch::Tensor attend(torch::Tensor const& query, torch::Tensor const& key,
                         torch::Tensor const& value) {
        if (!mask_.defined())
            return at::scaled_dot_product_attention(
                query, key, value, {}, is_training() ? dropout_ : 0.0, /*is_causal=*/true);
        auto const length = query.size(2);
        auto const scale = 1.0 / std::sqrt(static_cast<double>(key.size(3)));
        auto const later = mask_.slice(2, 0, length).slice(3, 0, length) == 0;
        auto const scores = (at::matmul(query, key.transpose(2, 3)) * scale)
                                .masked_fill(later, -std::numeric_limits<double>::infinity());
        return at::matmul(attn_dropout_(scores.softmax(-1)), value);
    }

    std::int64_t heads_;
    double dropout_;
    torch::nn::Linear c_attn_;
    torch::nn::Linear c_proj_;
    torch::nn::Dropout attn_dropout_;  // called by manual attention only
    torch::nn::Dropout resid_dropout_;
    torch::Tensor mask_;  // undefined for fused attention
};
TORCH_MODULE(CausalSelfAttention);

/// Each token by itself, through a layer four times as wide.
class MLPImpl : public torch::nn::Module {
public:
    explicit MLPImpl(gpt_config const& config)
        : c_fc_{register_module("c_fc", make_linear(config.width, 4 * config.width, config.bias))},
          gelu_{register_module("gelu", torch::nn::GELU{})},
          c_proj_{
              register_module("c_proj", make_linear(4 * config.width, config.width, config.bias))},
          dropout_{register_module("dropout", torch::nn::Dropout{config.dropout})} {}

    torch::Tensor forward(torch::Tensor const& input) {
        CB_FORWARD(input);
        return dropout_(c_proj_(gelu_(c_fc_(input))));
    }

private:
    torch::nn::Linear c_fc_;
    torch::nn::GELU gelu_;
    torch::nn::Linear c_proj_;
    torch::nn::Dropout dropout_;
};
TORCH_MODULE(MLP);

/// Attention, then the MLP, each added to what came in.
class BlockImpl : public torch::nn::Module {
public:
    explicit BlockImpl(gpt_config const& config)
        : ln_1_{register_module("ln_1", LayerNorm{config.width, config.bias})},
          attn_{register_module("attn", CausalSelfAttention{config})},
          ln_2_{register_module("ln_2", LayerNorm{config.width, config.bias})},
          mlp_{register_module("mlp", MLP{config})} {}

    torch::Tensor forward(torch::Tensor const& input) {
        CB_FORWARD(input);
        auto const attended = input + attn_(ln_1_(input));
        return attended + mlp_(ln_2_(attended));
    }

private:
    LayerNorm ln_1_;
    CausalSelfAttention attn_;
    LayerNorm ln_2_;
    MLP mlp_;
};
TORCH_MODULE(Block);

}  // namespace models::nanogpt
