// vector -> [CROSS NET] -> vector: products of a vector's elements, by matrices of low rank
#pragma once

#include "require.hpp"
#include "require_vectors.hpp"
#include <component_benchmark/hook/forward.hpp>

#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros.h>
#include <torch/nn/init.h>
#include <torch/nn/modules/container/parameterlist.h>
#include <torch/nn/pimpl.h>

#include <cstddef>
#include <cstdint>

namespace models {

/// x_0 is the input; each layer makes x = x_0 * (W (V x) + b) + x.
class LowRankCrossNetImpl : public torch::nn::Module {
public:
    LowRankCrossNetImpl(std::int64_t in_features, std::int64_t num_layers, std::int64_t low_rank)
        : in_features_{in_features},
          w_kernels_{register_module("W_kernels", torch::nn::ParameterList{})},
          v_kernels_{register_module("V_kernels", torch::nn::ParameterList{})},
          bias_{register_module("bias", torch::nn::ParameterList{})} {
        require(in_features > 0 && num_layers > 0 && low_rank > 0,
                "LowRankCrossNet: expected in_features, num_layers and low_rank of at least 1, ",
                "given ", in_features, ", ", num_layers, " and ", low_rank);
        // First all of the one kind, then all of the other, as torchrec draws its random numbers.
        for (std::int64_t layer = 0; layer < num_layers; ++layer)
            w_kernels_->append(random_kernel(in_features, low_rank));
        for (std::int64_t layer = 0; layer < num_layers; ++layer)
            v_kernels_->append(random_kernel(low_rank, in_features));
        for (std::int64_t layer = 0; layer < num_layers; ++layer)
            bias_->append(at::zeros({in_features, 1}).requires_grad_());
    }

    torch::Tensor forward(torch::Tensor const& input) {
        CB_FORWARD(input);
        require_vectors(input, in_features_, "LowRankCrossNet: expected an input");
        auto const first = input.unsqueeze(2);
        auto crossed = first;
        for (std::size_t layer = 0; layer < bias_->size(); ++layer) {
            auto const narrow = at::matmul((*v_kernels_)[layer], crossed);
            auto const wide = at::matmul((*w_kernels_)[layer], narrow);
            crossed = first * (wide + (*bias_)[layer]) + crossed;
        }
        return crossed.squeeze(2);
    }

private:
    // A ParameterList registers what it is given as it is, so it has to require its gradient.
    [[nodiscard]] static torch::Tensor random_kernel(std::int64_t rows, std::int64_t columns) {
        return torch::nn::init::xavier_normal_(at::empty({rows, columns})).requires_grad_();
    }

    std::int64_t in_features_;
    torch::nn::ParameterList w_kernels_;
    torch::nn::ParameterList v_kernels_;
    torch::nn::ParameterList bias_;
};
TORCH_MODULE(LowRankCrossNet);

}  // namespace models
