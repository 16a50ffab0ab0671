// capture: copies and comparisons of tensors by value, blind to version counters
#pragma once

#include <component_benchmark/capture/tensor_parts.hpp>
#include <component_benchmark/core/same_memory.hpp>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <c10/core/GradMode.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace component_benchmark::capture {

/// 0 where a tensor has no version counter.
[[nodiscard]] inline std::uint32_t version_of(at::Tensor const& tensor) {
    return tensor.defined() && !tensor.is_inference()
               ? tensor.unsafeGetTensorImpl()->version_counter().current_version()
               : 0;
}

/// Replaces tensors one by one; the same tensor, given twice, is replaced by one. (A template as
/// `basic_module_tree` is.)
template<class Tensor>
class basic_same_for_same {
public:
    template<class Make>
    void replace(Tensor& tensor, Make make) {
        auto const [known, is_new] = made_.emplace(tensor.unsafeGetTensorImpl(), Tensor{});
        if (is_new) {
            originals_.push_back(tensor);
            known->second = make(tensor);
        }
        tensor = known->second;
    }

private:
    std::unordered_map<void const*, Tensor> made_;  // by address of the original
    std::vector<Tensor> originals_;                 // alive, so that no address comes again
};

using same_for_same = basic_same_for_same<at::Tensor>;

/// Tensors of one call, copied together: sizes, strides, offsets and what they share stay as they
/// are. (A template likewise.)
template<class Tensor>
class basic_storage_copies {
public:
    /// A leaf with memory of its own that requires no gradient.
    [[nodiscard]] at::Tensor copy(at::Tensor const& tensor) {
        c10::AutoGradMode const no_grad{false};
        return plain_strided(tensor) ? with_storage(tensor) : tensor.detach().clone();
    }

private:
    static bool plain_strided(at::Tensor const& tensor) {
        return is_plain(tensor) && tensor.has_storage() && !tensor.is_quantized() &&
               !tensor.is_conj() && !tensor.is_neg() && !tensor._is_zerotensor();
    }

    at::Tensor with_storage(at::Tensor const& tensor) {
        auto* const key = tensor.storage().unsafeGetStorageImpl();
        auto& bytes = copies_[key];
        if (!bytes.defined()) {
            auto const size = static_cast<std::int64_t>(tensor.storage().nbytes());
            auto const options = tensor.options().dtype(at::kByte).requires_grad(false);
            auto const source = at::empty({0}, options).set_(tensor.storage(), 0, {size}, {1});
            bytes = source.clone();
        }
        return at::empty({0}, tensor.options().requires_grad(false))
            .set_(bytes.storage(), tensor.storage_offset(), tensor.sizes(), tensor.strides());
    }

    std::unordered_map<void const*, Tensor> copies_;  // by address of the storage
};

using storage_copies = basic_storage_copies<at::Tensor>;

/// The storage has been given back (as sharded training does): there is nothing to read.
[[nodiscard]] inline bool lost_storage(at::Tensor const& tensor) {
    return tensor.has_storage() && tensor.numel() > 0 && tensor.storage().nbytes() == 0;
}

/// What a strided tensor says it holds, one after the other in memory.
template<class Tensor>
[[nodiscard]] Tensor as_bytes(Tensor const& tensor) {
    auto const bare = tensor.detach();
    auto const real = bare._is_zerotensor() ? bare.clone() : bare.resolve_conj().resolve_neg();
    return real.contiguous();
}

/// Every bit equal, NaNs included; false for layouts that cannot be looked into.
template<class Tensor>
[[nodiscard]] bool same_bytes(Tensor const& left, Tensor const& right) {
    c10::AutoGradMode const no_grad{false};
    return all_parts(left, right, [](at::Tensor const& one, at::Tensor const& other) {
        if (one.scalar_type() != other.scalar_type() || one.sizes() != other.sizes() ||
            lost_storage(one) || lost_storage(other))
            return false;
        if (one.numel() == 0 || (one.is_meta() && other.is_meta()))
            return true;
        auto const a = as_bytes(one);
        auto const b = as_bytes(other);
        if (a.is_cpu() && b.is_cpu())
            return same_contents(a.const_data_ptr(), b.const_data_ptr(), a.nbytes());
        return at::equal(a.reshape({-1}).view(at::kByte), b.reshape({-1}).view(at::kByte));
    });
}

/// Of the values, whatever the layout. On a device the sum of the bytes has to do.
template<class Tensor>
[[nodiscard]] std::size_t hash_of_bytes(Tensor const& tensor) {
    c10::AutoGradMode const no_grad{false};
    std::size_t hash = 0;
    for (auto const& part : parts_of(tensor)) {
        if (part.numel() == 0 || part.is_meta() || lost_storage(part))
            continue;
        auto const bytes = as_bytes(part);
        hash = hash * 31 +
               (bytes.is_cpu()
                    ? std::hash<std::string_view>{}(
                          {static_cast<char const*>(bytes.const_data_ptr()), bytes.nbytes()})
                    : static_cast<std::size_t>(bytes.reshape({-1})
                                                   .view(at::kByte)
                                                   .sum(at::kLong)
                                                   .template item<std::int64_t>()));
    }
    return hash;
}
template<class Tensor>
[[nodiscard]] std::size_t hash_of_bytes(std::vector<Tensor> const& tensors) {
    std::size_t hash = 0;
    for (auto const& tensor : tensors)
        if (tensor.defined())
            hash = hash * 31 + hash_of_bytes(tensor);
    return hash;
}

/// Gives `target` the contents of `value`, also where it has another shape by now, without a trace
/// in the version counter or the graph.
template<class Tensor>
void overwrite(Tensor target, Tensor const& value) {
    c10::AutoGradMode const no_grad{false};
    auto const fits = all_parts(target, value, [](at::Tensor const& part, at::Tensor const& other) {
        return part.sizes() == other.sizes() && !lost_storage(part);
    });
    if (!fits) {
        target.set_data(value.clone());
    } else if (is_plain(target)) {
        target.variable_data().copy_(value);
    } else {
        auto const into = parts_of(target);
        auto const from = parts_of(value);
        for (std::size_t part = 0; part < into.size(); ++part)
            into[part].variable_data().copy_(from[part]);
    }
}

/// Sets the version counter that `tensor` and its views share.
inline void set_version(at::Tensor const& tensor, std::uint32_t version) {
    if (tensor.is_inference() || version_of(tensor) == version)
        return;
    auto counter = tensor.unsafeGetTensorImpl()->version_counter();  // a handle
    counter.set_version(version);
}

}  // namespace component_benchmark::capture
