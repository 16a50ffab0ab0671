// provider -> CAPTURE: the user's batch, put back where the captured forward wrote to it
#pragma once

#include <component_benchmark/capture/tensor_bytes.hpp>
#include <component_benchmark/hook/argument.hpp>
#include <component_benchmark/hook/tensors.hpp>

#include <cstdint>
#include <tuple>
#include <vector>

namespace component_benchmark::capture {

/// Values of all tensors in the arguments of the root. Without it the second capture of a model
/// whose first layer works in place would get what the first one left, and so would the training.
class argument_values {
public:
    template<class... Arguments>
    explicit argument_values(std::tuple<Arguments...> const& arguments) {
        std::apply([&](auto const&... argument) { (save<Arguments>(argument), ...); }, arguments);
    }
    argument_values(argument_values const&) = delete;
    argument_values& operator=(argument_values const&) = delete;

    ~argument_values() {
        try {
            put_back();
        } catch (...) {  // NOLINT: nothing more can be done on this way out
        }
    }

    void put_back() const {
        for (auto const& [tensor, value, version] : saved_) {
            auto const moved = version_of(tensor) != version;
            if (moved || (tensor.layout() == c10::kStrided && !same_bytes(tensor, value)))
                overwrite(tensor, value);
            if (moved) {
                auto counter = tensor.unsafeGetTensorImpl()->version_counter();  // a handle
                counter.set_version(version);
            }
        }
    }

private:
    struct saved_tensor {
        at::Tensor tensor;
        at::Tensor value;
        std::uint32_t version;
    };

    template<class Argument, class Value>
    void save(Value const& argument) {
        if constexpr (hook::why_not_kept<Argument>() == nullptr) {
            auto kept = hook::keep<Argument>(argument);
            hook::each_tensor(kept, [this](at::Tensor& tensor) {
                c10::AutoGradMode const no_grad{false};
                saved_.push_back({tensor, tensor.detach().clone(), version_of(tensor)});
            });
        }
    }

    std::vector<saved_tensor> saved_;
};

}  // namespace component_benchmark::capture
