// tests: a user's program with LibTorch, where the CUDA headers are hidden or are in sight
#if __has_include(<component_benchmark/component_benchmark.hpp>)
#    include <component_benchmark/component_benchmark.hpp>
#endif
#include <torch/torch.h>

#include <cstdio>

// Otherwise the script proves nothing.
#if CONSUMER_SEES_CUDA != __has_include(<cuda_runtime_api.h>)
#    error "the CUDA headers are in sight where they should not be, or the other way round"
#endif

int main() {
    torch::nn::Linear linear(3, 4);
    auto const output = linear->forward(torch::ones({2, 3}));
    std::printf("%lld\n", static_cast<long long>(output.numel()));
    return output.numel() == 8 ? 0 : 1;
}
