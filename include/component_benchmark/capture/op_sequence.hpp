// CAPTURE: which operators a component ran, on what shapes: what makes two of them cost the same
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

namespace component_benchmark::capture {

namespace sequence {

// As in profile/op_observer.hpp: RecordFunction::inputs() throws in a program that is built without
// NDEBUG; the member itself is right in both. An explicit instantiation may name a private member.
using inputs_member = c10::ArrayRef<const c10::IValue> at::RecordFunction::*;
struct inputs_key {
    friend constexpr inputs_member member_of(inputs_key);
};
template<class Key, inputs_member Member>
struct opened {
    friend constexpr inputs_member member_of(Key) { return Member; }
};
template struct opened<inputs_key, &at::RecordFunction::inputs_>;

}  // namespace sequence

/// Operators of this thread are added while `watch()`'s result lives: name, shapes, strides, types
/// and numbers, in their order. (A template, so that a file which does not use it does not pay for
/// it.)
template<class = void>
class op_sequence {
public:
    class watching {
    public:
        explicit watching(op_sequence* owner) : owner_{owner} {
            if (owner_ == nullptr)
                return;
            current() = owner_;
            handle_ = at::addThreadLocalCallback(
                at::RecordFunctionCallback{&on_begin}.needsInputs(true).scopes(
                    {at::RecordScope::FUNCTION}));
        }
        watching(watching const&) = delete;
        watching& operator=(watching const&) = delete;
        ~watching() {
            if (owner_ == nullptr)
                return;
            at::removeCallback(handle_);
            current() = nullptr;
        }

    private:
        op_sequence* owner_;
        at::RecordFunctionGuard enabled_{true};
        at::CallbackHandle handle_{};
    };

    void clear() noexcept {
        hash_ = 0;
        depends_on_values_ = false;
    }
    [[nodiscard]] watching watch(bool wanted) { return watching{wanted ? this : nullptr}; }

    [[nodiscard]] std::size_t hash() const noexcept { return hash_; }

    /// There was an operator whose time hangs on values, as a gather's does.
    [[nodiscard]] bool depends_on_values() const noexcept { return depends_on_values_; }

private:
    static op_sequence*& current() {
        thread_local op_sequence* one = nullptr;
        return one;
    }

    static std::unique_ptr<at::ObserverContext> on_begin(at::RecordFunction const& function) {
        if (auto* const mine = current(); mine != nullptr)
            mine->add(function);
        return nullptr;
    }

    void add(at::RecordFunction const& function) {
        std::string_view const name = function.name();
        add(std::hash<std::string_view>{}(name));
        add(std::hash<std::string_view>{}(function.overload_name()));
        constexpr std::string_view gathers[] = {
            "embedding", "index",        "gather",      "scatter",          "take",
            "nonzero",   "unique",       "masked",      "nested",           "jagged",
            "sparse",    "searchsorted", "fbgemm",      "bincount",         "histc",
            "sort",      "topk",         "multinomial", "repeat_interleave"};
        for (auto const part : gathers)
            depends_on_values_ = depends_on_values_ || name.find(part) != std::string_view::npos;
        for (auto const& value : function.*member_of(sequence::inputs_key{}))
            add(value);
    }

    void add(std::size_t number) noexcept {
        hash_ ^= number + 0x9e3779b97f4a7c15U + (hash_ << 6U) + (hash_ >> 2U);
    }

    void add(c10::IValue const& value) {
        add(std::hash<std::string>{}(value.tagKind()));
        if (value.isTensor())
            add(value.toTensor());
        else if (value.isTensorList())
            for (auto const& tensor : value.toTensorVector())
                add(tensor);
        else if (value.isInt())
            add(std::hash<std::int64_t>{}(value.toInt()));
        else if (value.isDouble())
            add(std::hash<double>{}(value.toDouble()));
        else if (value.isBool())
            add(value.toBool() ? 2U : 1U);
        else if (value.isIntList())
            for (auto const number : value.toIntVector())
                add(std::hash<std::int64_t>{}(number));
    }

    void add(at::Tensor const& tensor) {
        if (!tensor.defined()) {
            add(std::size_t{7});
            return;
        }
        add(static_cast<std::size_t>(tensor.scalar_type()));
        add(std::hash<c10::Device>{}(tensor.device()));
        if (tensor.is_nested() || tensor.layout() != c10::kStrided) {
            depends_on_values_ = true;
            return;
        }
        for (auto const size : tensor.sizes())
            add(std::hash<std::int64_t>{}(size));
        for (auto const stride : tensor.strides())
            add(std::hash<std::int64_t>{}(stride));
        add(tensor.requires_grad() ? std::size_t{1} : std::size_t{0});
    }

    std::size_t hash_ = 0;
    bool depends_on_values_ = false;
};

}  // namespace component_benchmark::capture
