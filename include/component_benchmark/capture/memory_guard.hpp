// CAPTURE: components for which there is too little memory are not run
#pragma once

#include <component_benchmark/capture/component.hpp>
#include <component_benchmark/capture/training_flags.hpp>
#include <component_benchmark/core/memory_to_spare.hpp>
#include <component_benchmark/core/text.hpp>

#include <ATen/DeviceAccelerator.h>
#include <torch/nn/modules/embedding.h>

#include <cstdint>
#include <malloc.h>
#include <string>
#include <unordered_set>
#include <utility>

namespace component_benchmark::capture {

/// Linux does not refuse memory that it has not got: it kills the process that uses it. So what a
/// replay needs at the least is held against what there is: its results, and for a backward the
/// gradients of all that it reaches. (A template as `basic_session` is.)
template<class Component>
class memory_guard {
public:
    /// `root`: before the paths of the system's files, for tests.
    explicit memory_guard(std::string root = {}) : root_{std::move(root)} {}

    /// Why `one` must not be run, or nothing. One whose forward fits and whose backward does not
    /// keeps its forward.
    [[nodiscard]] std::string check(Component& one) const try {
        auto const spare = machine::memory_to_spare(root_);
        if (spare == 0)
            return {};  // the system does not say
        std::string why;
        auto const gradients = one.calls().empty() ? 0 : gradient_bytes(one);
        for (auto& group : one.calls()) {
            auto const& call = group.captured();
            if (call.result_bytes > spare)
                why = text_of("it is not run: its results take ", call.result_bytes, spare);
            else if (auto const bytes = call.result_bytes + gradients;
                     call.makes_graph && bytes > spare)
                group.refuse_backward(
                    text_of("its backward is not run: results and gradients take ", bytes, spare));
        }
        return why;
    } catch (...) {  // then a run alone shows what is the matter
        return {};
    }

    /// Gives back what a component left, so that the next one finds it.
    static void give_back() noexcept {
        malloc_trim(0);
        try {
            if (at::accelerator::deviceCount() > 0)
                at::accelerator::emptyCache();
        } catch (...) {  // the device may be lost
        }
    }

private:
    // Of parameters on the CPU. An embedding may be told to make sparse ones.
    [[nodiscard]] static std::int64_t gradient_bytes(Component const& one) {
        std::unordered_set<void const*> sparse;  // by address
        for (auto const& module : modules_of(one.module()))
            if (auto const* table = module->template as<torch::nn::EmbeddingImpl>();
                table != nullptr && table->options.sparse())
                sparse.insert(table->weight.unsafeGetTensorImpl());
            else if (auto const* bag = module->template as<torch::nn::EmbeddingBagImpl>();
                     bag != nullptr && bag->options.sparse())
                sparse.insert(bag->weight.unsafeGetTensorImpl());
        std::int64_t sum = 0;
        for (auto const& tensor : one.reachable())
            if (tensor.requires_grad() && is_plain(tensor) && tensor.is_cpu() &&
                !sparse.contains(tensor.unsafeGetTensorImpl()))
                sum += static_cast<std::int64_t>(tensor.nbytes());
        return sum;
    }

    [[nodiscard]] static std::string text_of(char const* what, std::int64_t bytes,
                                             std::int64_t spare) {
        auto const mb = [](std::int64_t number) {
            return text::number(static_cast<double>(number) / 1e6) + " MB";
        };
        return what + mb(bytes) + " and " + mb(spare) + " are to spare: out of memory";
    }

    std::string root_;
};

}  // namespace component_benchmark::capture
