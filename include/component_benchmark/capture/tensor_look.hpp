// CAPTURE: what a call's tensors looked like, without keeping their memory
#pragma once

#include <component_benchmark/capture/tensor_bytes.hpp>

#include <ATen/core/DimVector.h>
#include <ATen/core/Tensor.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/UndefinedTensorImpl.h>
#include <c10/util/intrusive_ptr.h>

#include <cstdint>

namespace component_benchmark::capture {

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
        if (is_nested)
            return;
        sizes.assign(tensor.sizes().begin(), tensor.sizes().end());
        if (tensor.layout() == c10::kStrided)
            strides.assign(tensor.strides().begin(), tensor.strides().end());
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
};

using tensor_look = basic_tensor_look<at::Tensor>;

}  // namespace component_benchmark::capture
