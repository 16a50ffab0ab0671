// op -> OP CALL -> formula: the arguments of one call of an operator
#pragma once

#include <component_benchmark/core/error.hpp>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace component_benchmark {

/// What a formula sees of one call of an operator: its arguments, in the order of its schema. A
/// question that does not fit throws `error`; the operator is then reported as unknown, with what
/// was thrown as the reason.
class op_call {
public:
    op_call(std::string_view name, c10::ArrayRef<c10::IValue> arguments)
        : name_{name}, arguments_(arguments) {}  // braces: a list of one value

    /// With its namespace and without its overload, e.g. "aten::addmm".
    [[nodiscard]] std::string_view name() const noexcept { return name_; }

    /// Number of arguments.
    [[nodiscard]] std::size_t size() const noexcept { return arguments_.size(); }

    [[nodiscard]] c10::IValue const& operator[](std::size_t position) const {
        if (position >= arguments_.size())
            fail(position, "an argument");
        return arguments_[position];
    }

    /// Whether there is a tensor at this position that is defined.
    [[nodiscard]] bool has_tensor(std::size_t position) const {
        return position < size() && arguments_[position].isTensor() &&
               arguments_[position].toTensor().defined();
    }

    /// The first tensor that is defined, alone or in a list; null where there is none.
    [[nodiscard]] at::Tensor const* first_tensor() const {
        for (std::size_t position = 0; position < size(); ++position) {
            if (has_tensor(position))
                return &arguments_[position].toTensor();
            if (!arguments_[position].isList())
                continue;
            for (c10::IValue const& one : arguments_[position].toListRef())
                if (one.isTensor() && one.toTensor().defined())
                    return &one.toTensor();
        }
        return nullptr;
    }

    /// Whether a tensor is nested: it has no sizes.
    [[nodiscard]] bool has_nested() const {
        for (std::size_t position = 0; position < size(); ++position)
            if (has_tensor(position) && arguments_[position].toTensor().is_nested())
                return true;
        return false;
    }

    [[nodiscard]] at::Tensor const& tensor(std::size_t position) const {
        if (!has_tensor(position))
            fail(position, "a tensor");
        return arguments_[position].toTensor();
    }

    /// Sizes of the tensor at this position.
    [[nodiscard]] c10::IntArrayRef shape(std::size_t position) const {
        return tensor(position).sizes();
    }

    /// One size of the tensor at this position; a negative `dimension` counts from the last one.
    [[nodiscard]] std::int64_t size_of(std::size_t position, std::int64_t dimension) const {
        auto const sizes = shape(position);
        auto const rank = static_cast<std::int64_t>(sizes.size());
        auto const index = dimension < 0 ? dimension + rank : dimension;
        if (index < 0 || index >= rank)
            fail(position, "a tensor with a dimension " + std::to_string(dimension));
        return sizes[static_cast<std::size_t>(index)];
    }

    [[nodiscard]] bool flag(std::size_t position) const {
        if (!(*this)[position].isBool())
            fail(position, "a bool");
        return arguments_[position].toBool();
    }

private:
    [[noreturn]] void fail(std::size_t position, std::string const& wanted) const {
        throw error{std::string{name_} + ": argument " + std::to_string(position) + " is not " +
                    wanted};
    }

    std::string_view name_;
    c10::ArrayRef<c10::IValue> arguments_;
};

}  // namespace component_benchmark
