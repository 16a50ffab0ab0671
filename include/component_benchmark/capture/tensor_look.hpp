// CAPTURE: what a call's tensors looked like, without keeping their memory
#pragma once

#include <component_benchmark/capture/tensor_bytes.hpp>
#include <component_benchmark/capture/tensor_parts.hpp>

#include <ATen/core/DimVector.h>
#include <ATen/core/Tensor.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/UndefinedTensorImpl.h>
#include <c10/util/intrusive_ptr.h>

#include <cstdint>
#include <string>

namespace component_benchmark::capture {

/// "[32, 64]"
[[nodiscard]] inline std::string sizes_text(at::IntArrayRef sizes) {
    std::string text = "[";
    for (auto const size : sizes) {
        if (text.size() > 1)
            text += ", ";
        text += std::to_string(size);
    }
    return text + "]";
}

/// What a tensor that is not strided costs by: the sizes of its indices and values; of a nested one
/// those of the tensors in it.
template<class Tensor>
[[nodiscard]] std::string parts_text(Tensor const& tensor) {
    auto text = std::to_string(static_cast<int>(tensor.layout()));
    auto const parts = parts_of(tensor);
    for (auto const& part : parts)
        text += sizes_text(part.sizes());
    if (tensor.is_nested() && !parts.empty())  // its sizes and strides
        for (auto const& numbers : {parts[0], parts[1]})
            for (std::int64_t index = 0; index < numbers.numel(); ++index)
                text +=
                    std::to_string(numbers.template const_data_ptr<std::int64_t>()[index]) + ',';
    return text;
}

/// A defined tensor at one moment. It may die meanwhile: its address is not used again as long as
/// the look lives, its memory is. (A template as `basic_module_tree` is.)
template<class Tensor>
class basic_tensor_look {
public:
    basic_tensor_look(Tensor const& tensor)  // NOLINT(google-explicit-constructor): it is one
        : identity_{tensor.getIntrusivePtr()},
          counter_{tensor.unsafeGetTensorImpl()->version_counter()},
          version_{version_of(tensor)},
          storage_{tensor.has_storage() ? tensor.storage().unsafeGetStorageImpl() : nullptr},
          dtype{tensor.scalar_type()},
          device{tensor.device()},
          requires_grad{tensor.requires_grad()},
          is_nested{tensor.is_nested()} {
        if (!is_nested)
            sizes.assign(tensor.sizes().begin(), tensor.sizes().end());
        if (is_plain(tensor))
            strides.assign(tensor.strides().begin(), tensor.strides().end());
        else
            parts = parts_text(tensor);
    }

    [[nodiscard]] bool is_same(basic_tensor_look const& other) const noexcept {
        return identity_ == other.identity_;
    }

    /// Both had the same memory. Of tensors that died this may be said by mistake.
    [[nodiscard]] bool shares_memory_with(basic_tensor_look const& other) const noexcept {
        return storage_ != nullptr && storage_ == other.storage_;
    }

    /// Its version counter, which it shares with its views, has moved since.
    [[nodiscard]] bool was_written() const {
        return counter_.enabled() && counter_.current_version() != version_;
    }

private:
    c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl> identity_;
    c10::VariableVersion counter_;
    std::uint32_t version_;
    void const* storage_;

public:
    c10::ScalarType dtype;
    c10::Device device;
    bool requires_grad;
    bool is_nested;
    at::DimVector sizes;    ///< empty where nested
    at::DimVector strides;  ///< empty where not strided
    std::string parts;      ///< see `parts_text`; empty where strided
};

using tensor_look = basic_tensor_look<at::Tensor>;

}  // namespace component_benchmark::capture
