// LibTorch -> HOOK: batch and instance normalisation, whose forward is a template in a header
// No symbol stands for the whole forward. Its two ends do: it begins with `_check_input_dim` and
// ends with one operator, and both are exported.
#pragma once

#ifndef COMPONENT_BENCHMARK_DETAIL_INTERPOSE
#    error "include <component_benchmark/hook/interpose.hpp> instead"
#endif

#include <ATen/ops/batch_norm_ops.h>
#include <ATen/ops/instance_norm_ops.h>

namespace component_benchmark::hook {

/// A norm that threw before it reached its operator has ended, at the latest when the next begins.
[[gnu::noinline, gnu::cold]] inline void drop_open_norm() {
    if (std::exchange(current->open_norm, false))
        current->fail();
}

/// The forward of `Norm` begins; the operator ends it.
template<class Norm>
[[gnu::noinline, gnu::cold]] void begin_norm(Norm& norm, at::Tensor const& input) {
    auto& listener = *current;
    if (listener.innermost().module == &norm)
        return;
    auto const run = [](torch::nn::Module& module, at::Tensor const& value) {
        return static_cast<Norm&>(module).forward(value);
    };
    listener.begin(
        callee{&norm, &typeid(Norm)},
        [&] {
            torch::nn::Module& module = norm;
            return hook::store<at::Tensor, at::Tensor const&>(module, run, input);
        },
        &hook::why_not_stored<at::Tensor const&>, nullptr);
    listener.open_norm = true;
}

template<class Run>
[[gnu::noinline, gnu::cold]] at::Tensor finish_norm(Run run) {
    auto& listener = *current;
    listener.open_norm = false;
    open_call open{listener};
    auto result = run();
    open.succeed([&](tensor_visitor visit) { visit(result); });
    return result;
}

/// The mangled name of `Norm::_check_input_dim(at::Tensor const&)`: a pointer to a virtual member
/// holds no address to look a name up by.
template<class Norm>
[[nodiscard]] std::string check_input_dim_symbol() {
    std::string nested = typeid(Norm).name();  // "N5torch2nn15BatchNorm1dImplE"
    nested.pop_back();
    return "_Z" + nested + "16_check_input_dimERKN2at6TensorE";
}

using norm_operator = at::Tensor (*)(at::Tensor const&, std::optional<at::Tensor> const&,
                                     std::optional<at::Tensor> const&,
                                     std::optional<at::Tensor> const&,
                                     std::optional<at::Tensor> const&, bool, double, double, bool);

}  // namespace component_benchmark::hook

#define COMPONENT_BENCHMARK_DETAIL_NORM(Impl)                                                   \
    [[gnu::weak]] void torch::nn::Impl::_check_input_dim(at::Tensor const& input) {             \
        static auto* const real = reinterpret_cast<void (*)(void*, at::Tensor const&)>(         \
            component_benchmark::hook::next_symbol(                                             \
                component_benchmark::hook::check_input_dim_symbol<torch::nn::Impl>().c_str())); \
        if (component_benchmark::hook::current != nullptr) [[unlikely]]                         \
            component_benchmark::hook::drop_open_norm();                                        \
        real(this, input);                                                                      \
        if (component_benchmark::hook::listener(*this) != nullptr) [[unlikely]]                 \
            component_benchmark::hook::begin_norm(*this, input);                                \
    }
COMPONENT_BENCHMARK_DETAIL_NORM(BatchNorm1dImpl)
COMPONENT_BENCHMARK_DETAIL_NORM(BatchNorm2dImpl)
COMPONENT_BENCHMARK_DETAIL_NORM(BatchNorm3dImpl)
COMPONENT_BENCHMARK_DETAIL_NORM(InstanceNorm1dImpl)
COMPONENT_BENCHMARK_DETAIL_NORM(InstanceNorm2dImpl)
COMPONENT_BENCHMARK_DETAIL_NORM(InstanceNorm3dImpl)

#define COMPONENT_BENCHMARK_DETAIL_NORM_OPERATOR(operation)                                       \
    [[gnu::weak]] at::Tensor at::_ops::operation::call(                                           \
        at::Tensor const& input, ::std::optional<at::Tensor> const& weight,                       \
        ::std::optional<at::Tensor> const& bias, ::std::optional<at::Tensor> const& mean,         \
        ::std::optional<at::Tensor> const& variance, bool by_batch, double momentum,              \
        double epsilon, bool cudnn) {                                                             \
        static auto const real = reinterpret_cast<component_benchmark::hook::norm_operator>(      \
            component_benchmark::hook::next_definition(                                           \
                reinterpret_cast<void*>(&at::_ops::operation::call)));                            \
        auto const run = [&] {                                                                    \
            return real(input, weight, bias, mean, variance, by_batch, momentum, epsilon, cudnn); \
        };                                                                                        \
        auto* const listener = component_benchmark::hook::current;                                \
        if (listener != nullptr && listener->open_norm) [[unlikely]]                              \
            return component_benchmark::hook::finish_norm(run);                                   \
        return run();                                                                             \
    }
COMPONENT_BENCHMARK_DETAIL_NORM_OPERATOR(batch_norm)
COMPONENT_BENCHMARK_DETAIL_NORM_OPERATOR(instance_norm)

#undef COMPONENT_BENCHMARK_DETAIL_NORM
#undef COMPONENT_BENCHMARK_DETAIL_NORM_OPERATOR
