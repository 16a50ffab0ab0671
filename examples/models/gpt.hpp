// token ids -> [GPT] -> logits and loss: nanoGPT's model, with its tree, names and shapes
#pragma once

#include "gpt_block.hpp"
#include "require.hpp"
#include <component_benchmark/hook/forward.hpp>

#include <boost/hana/adapt_struct.hpp>

#include <ATen/core/Reduction.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/randn.h>
#include <torch/nn/modules/container/moduledict.h>
#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>
#include <torch/utils.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace models::nanogpt {

struct gpt_output {
    torch::Tensor logits;  ///< [batch, length, vocab], without targets of the last position only
    torch::Tensor loss;    ///< a number; undefined without targets
};

/// Predicts the token that follows, for each position of a batch.
class GPTImpl : public torch::nn::Module {
public:
    explicit GPTImpl(gpt_config const& config)
        : block_size_{config.block_size}, vocab_size_{config.vocab_size} {
        check(config);
        // Random numbers are drawn as PyTorch's constructors would in this order, so that a seed
        // gives the weights of a GPT written so in Python: this is the table that the tied one
        // replaces.
        static_cast<void>(at::randn({config.vocab_size, config.width}));
        wpe_ = torch::nn::Embedding{config.block_size, config.width};
        torch::nn::ModuleList h;
        for (std::int64_t layer = 0; layer < config.layers; ++layer)
            h->push_back(blocks_.emplace_back(config));
        drop_ = torch::nn::Dropout{config.dropout};
        ln_f_ = LayerNorm{config.width, config.bias};
        lm_head_ = make_linear(config.width, config.vocab_size, /*bias=*/false);
        wte_ = torch::nn::Embedding{
            torch::nn::EmbeddingOptions{config.vocab_size, config.width}._weight(lm_head_->weight)};

        using named = std::pair<std::string, std::shared_ptr<torch::nn::Module>>;
        auto const transformer = register_module(
            "transformer", torch::nn::ModuleDict{std::vector<named>{{"wte", wte_.ptr()},
                                                                    {"wpe", wpe_.ptr()},
                                                                    {"drop", drop_.ptr()},
                                                                    {"h", h.ptr()},
                                                                    {"ln_f", ln_f_.ptr()}}});
        register_module("lm_head", lm_head_);
        initialize(*transformer, config.layers);
    }

    /// `idx` and `targets` are int64 [batch, length]; a target of -1 does not count.
    gpt_output forward(torch::Tensor const& idx, torch::Tensor const& targets = {}) {
        CB_FORWARD(idx, targets);
        check(idx, targets);
        auto hidden = drop_(wte_(idx) + wpe_(at::arange(idx.size(1), idx.options())));
        for (auto& block : blocks_)
            hidden = block(hidden);
        hidden = ln_f_(hidden);
        if (!targets.defined())
            return {lm_head_(hidden.slice(1, idx.size(1) - 1)), {}};
        auto const logits = lm_head_(hidden);
        return {logits, at::cross_entropy_loss(logits.flatten(0, 1), targets.flatten(), {},
                                               at::Reduction::Mean, ignored)};
    }

private:
    static constexpr std::int64_t ignored = -1;

    static void check(gpt_config const& config) {
        for (auto const& [what, size] : {std::pair{"a block_size", config.block_size},
                                         {"a vocab_size", config.vocab_size},
                                         {"layers", config.layers},
                                         {"heads", config.heads},
                                         {"a width", config.width}})
            require(size > 0, "GPT: expected ", what, " of at least 1, given ", size);
        require(config.width % config.heads == 0,
                "GPT: expected a width that is a multiple of the heads, given the width ",
                config.width, " and ", config.heads, " heads");
        require(config.dropout >= 0 && config.dropout < 1,
                "GPT: expected a dropout from 0 to below 1, given ", config.dropout);
    }

    void check(torch::Tensor const& idx, torch::Tensor const& targets) const {
        require(
            idx.defined() && idx.dim() == 2 && idx.numel() > 0 && idx.scalar_type() == torch::kLong,
            "GPT: expected idx of shape [batch, length] and int64, given ", described{idx});
        require(idx.size(1) <= block_size_, "GPT: expected at most ", block_size_,
                " tokens in a row (the block_size), given ", idx.size(1));
        check_range("idx", idx, 0);
        if (!targets.defined())
            return;
        require(targets.sizes() == idx.sizes() && targets.scalar_type() == torch::kLong,
                "GPT: expected targets of idx's shape ", idx.sizes(), " and int64, given ",
                described{targets});
        check_range("targets", targets, ignored);
    }

    // A plain loop, and no tensor operation, so that a profile of this module shows its own work
    // only. On another device the check would wait for the device, so the kernel's own must do.
    void check_range(char const* name, torch::Tensor const& ids, std::int64_t least) const {
        if (!ids.device().is_cpu() || !ids.is_contiguous())
            return;
        auto const* const id = ids.const_data_ptr<std::int64_t>();
        for (std::int64_t at = 0; at < ids.numel(); ++at)
            require(id[at] >= least && id[at] < vocab_size_, "GPT: expected ", name, " from ",
                    least, " to ", vocab_size_ - 1, ", given ", id[at]);
    }

    // A tensor's type and shape as text, written only if somebody prints them.
    struct described {
        torch::Tensor const& tensor;

        friend std::ostream& operator<<(std::ostream& out, described const& what) {
            if (!what.tensor.defined())
                return out << "an undefined tensor";
            return out << what.tensor.sizes() << " and " << what.tensor.scalar_type();
        }
    };

    // Nothing of lm_head here: its only parameter is wte's.
    static void initialize(torch::nn::Module& transformer, std::int64_t layers) {
        torch::NoGradGuard const no_grad;
        for (auto& parameter : transformer.named_parameters()) {
            std::string_view const name = parameter.key();
            // Each layer adds twice to what passes through; so the sum keeps its size.
            auto const divisor =
                name.ends_with("c_proj.weight") ? std::sqrt(2.0 * static_cast<double>(layers)) : 1;
            if (parameter.value().dim() == 2)
                parameter.value().normal_(0.0, 0.02 / divisor);
            else if (name.ends_with("bias"))
                parameter.value().zero_();
        }
    }

    std::int64_t block_size_;
    std::int64_t vocab_size_;
    torch::nn::Embedding wte_{nullptr};
    torch::nn::Embedding wpe_{nullptr};
    torch::nn::Dropout drop_{nullptr};
    std::vector<Block> blocks_;
    LayerNorm ln_f_{nullptr};
    torch::nn::Linear lm_head_{nullptr};
};
TORCH_MODULE(GPT);

}  // namespace models::nanogpt

BOOST_HANA_ADAPT_STRUCT(models::nanogpt::gpt_output, logits, loss);
