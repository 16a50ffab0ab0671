// hook -> CAPTURE: does this build see what it should?
#pragma once

#include <component_benchmark/hook/record.hpp>

#include <ATen/ops/zeros.h>
#include <torch/nn/modules/linear.h>

namespace component_benchmark::capture {

/// One Linear is called and must be recorded. False where LibTorch's forwards are not interposed: a
/// static LibTorch, or a program that does not link `component_benchmark::torch`. Uses up random
/// numbers.
template<class Linear = torch::nn::LinearImpl>
[[nodiscard]] bool interposition_is_live() {
    struct probe final : hook::recorder {
        bool seen = false;
        [[nodiscard]] hook::callee innermost() const noexcept override {
            return {nullptr, &typeid(void)};
        }
        void begin(hook::callee, maker, std::string (*)(), hook::state_maker) noexcept override {
            seen = true;
        }
        void succeed(results) noexcept override {}
        void fail() noexcept override {}
        void missed(torch::nn::Module const&) noexcept override {}
    };
    c10::AutoGradMode const no_grad{false};
    Linear linear{1, 1};
    probe listener;
    hook::listening const now{listener};
    static_cast<void>(linear.forward(at::zeros({1, 1})));
    return listener.seen;
}

}  // namespace component_benchmark::capture
