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
    /// Cheap: most forwards have no backward that asks.
    void add(op_call const& call) {
        auto const begin = memory_.size();
        auto const key = look_at(call, [this](at::Tensor const& tensor) {
            memory_.push_back(tensor.storage().getWeakStorageImpl());
        });
        operators_.push_back({key, begin, memory_.size()});
    }

    [[nodiscard]] likeness of(op_call const& call) {
        for (; indexed_ < operators_.size(); ++indexed_)
            by_key_[operators_[indexed_].key].push_back(indexed_);
        std::vector<Storage const*> now;
        auto const key = look_at(call, [&now](at::Tensor const& tensor) {
            now.push_back(tensor.storage().unsafeGetStorageImpl());
        });
        auto const same_key = by_key_.find(key);
        if (same_key == by_key_.end())
            return likeness::none;
        auto best = likeness::none;
        auto place = nowhere;
        for (auto const index : same_key->second) {
            auto const found = compare(now, index);
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

    struct traced {
        std::size_t key = 0;  ///< of the operator and how its arguments lie
        std::size_t begin = 0;
        std::size_t end = 0;  ///< of its memory
    };

    /// The key. Gives each argument with memory to `visit`.
    template<class Visit>
    [[nodiscard]] static std::size_t look_at(op_call const& call, Visit visit) {
        auto key = std::hash<std::string_view>{}(call.name());
        auto const mix = [&](std::size_t value) {
            key ^= value + 0x9e3779b97f4a7c15ULL + (key << 6U) + (key >> 2U);
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
            visit(tensor);
        };
        for (std::size_t position = 0; position < call.size(); ++position) {
            mix(position);
            if (call.has_tensor(position))
                see(call.tensor(position));
            else if (call[position].isTensorList())
                for (at::Tensor const& one : call[position].toTensorVector())
                    see(one);
        }
        return key;
    }

    /// Memory of the forward that is still there and is another one speaks against it.
    [[nodiscard]] likeness compare(std::vector<Storage const*> const& now,
                                   std::size_t index) const {
        auto const& [key, begin, end] = operators_[index];
        std::size_t same = 0;
        std::size_t other = 0;
        for (std::size_t one = 0; one < (std::min)(now.size(), end - begin); ++one)
            if (auto const& then = memory_[begin + one]; !then.expired())
                ++(then._unsafe_get_target() == now[one] ? same : other);
        if (same > 1 && same == now.size())
            return likeness::exact;
        if (same > 0)
            return other == 0 ? likeness::repeated : likeness::similar;
        if (other > 0)
            return likeness::none;
        return index == next_ ? likeness::repeated : likeness::similar;
    }

    std::vector<traced> operators_;
    std::vector<weak_storage> memory_;  ///< of all arguments
    std::unordered_map<std::size_t, std::vector<std::size_t>> by_key_;
    std::size_t indexed_ = 0;     ///< so many operators are in `by_key_`
    std::size_t next_ = nowhere;  ///< after the last that was repeated
};

}  // namespace component_benchmark
