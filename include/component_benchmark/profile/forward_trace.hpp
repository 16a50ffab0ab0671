// op call -> FORWARD TRACE -> flop counter: whether a backward runs an operator of the forward
// again
#pragma once

#include <component_benchmark/profile/op_call.hpp>

#include <ATen/core/Tensor.h>
#include <c10/core/StorageImpl.h>
#include <c10/util/intrusive_ptr.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace component_benchmark {

/// How much a call in a backward is like one of the forward.
enum class likeness {
    none,
    similar,   ///< operator, shapes and strides, and nothing that speaks against it
    repeated,  ///< and on the same weights, or next in order after one that is repeated
    exact      ///< and all arguments are the same memory
};

/// The operators of a forward, in order. Keeps no memory of tensors alive. (A template as
/// `op_watch` is. Not for several threads at once.)
template<class Storage = c10::StorageImpl>
class forward_trace {
public:
    void add(op_call const& call) {
        auto now = look_at(call);
        operators_.emplace_back();
        for (auto const& tensor : now.tensors)
            operators_.back().push_back(tensor.storage().getWeakStorageImpl());
        by_key_[now.key].push_back(operators_.size() - 1);
    }

    [[nodiscard]] likeness of(op_call const& call) {
        auto const now = look_at(call);
        auto const same_key = by_key_.find(now.key);
        if (same_key == by_key_.end())
            return likeness::none;
        auto best = likeness::none;
        auto place = nowhere;
        for (auto const index : same_key->second) {
            auto const found = compare(now.tensors, index);
            if (found > best || (found == best && place < next_ && index >= next_)) {
                best = found;
                place = index;
            }
        }
        if (best >= likeness::repeated)
            next_ = place + 1;
        return best;
    }

private:
    static constexpr auto nowhere = static_cast<std::size_t>(-1);
    using weak_storage = c10::weak_intrusive_ptr<Storage>;

    struct look {
        std::size_t key = 0;  ///< of the operator and how its arguments lie
        std::vector<at::Tensor> tensors;
    };

    [[nodiscard]] static look look_at(op_call const& call) {
        look made{std::hash<std::string_view>{}(call.name()), {}};
        auto const mix = [&](std::size_t value) {
            made.key ^= value + 0x9e3779b97f4a7c15ULL + (made.key << 6U) + (made.key >> 2U);
        };
        auto const see = [&](at::Tensor const& tensor) {
            if (!tensor.defined() || !tensor.has_storage() || tensor.is_nested())
                return;
            mix(static_cast<std::size_t>(tensor.scalar_type()));
            mix(static_cast<std::size_t>(tensor.dim()));
            for (auto const size : tensor.sizes())
                mix(static_cast<std::size_t>(size));
            for (auto const stride : tensor.strides())
                mix(static_cast<std::size_t>(stride));
            made.tensors.push_back(tensor);
        };
        for (std::size_t position = 0; position < call.size(); ++position) {
            mix(position);
            if (call.has_tensor(position))
                see(call.tensor(position));
            else if (call[position].isTensorList())
                for (at::Tensor const& one : call[position].toTensorVector())
                    see(one);
        }
        return made;
    }

    /// Memory of the forward that is still there and is another one speaks against it.
    [[nodiscard]] likeness compare(std::vector<at::Tensor> const& now, std::size_t index) const {
        auto const& then = operators_[index];
        std::size_t same = 0;
        std::size_t other = 0;
        for (std::size_t one = 0; one < (std::min)(now.size(), then.size()); ++one)
            if (!then[one].expired())
                ++(then[one]._unsafe_get_target() == now[one].storage().unsafeGetStorageImpl()
                       ? same
                       : other);
        if (same > 1 && same == now.size())
            return likeness::exact;
        if (same > 0)
            return other == 0 ? likeness::repeated : likeness::similar;
        if (other > 0)
            return likeness::none;
        return index == next_ ? likeness::repeated : likeness::similar;
    }

    std::vector<std::vector<weak_storage>> operators_;
    std::unordered_map<std::size_t, std::vector<std::size_t>> by_key_;
    std::size_t next_ = nowhere;  ///< after the last that was repeated
};

}  // namespace component_benchmark
