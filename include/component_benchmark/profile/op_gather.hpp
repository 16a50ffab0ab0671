// op call -> OP GATHER -> op traffic: which part of a table an operator with indices touches
#pragma once

#include <component_benchmark/profile/matrix_formulas.hpp>
#include <component_benchmark/profile/op_call.hpp>
#include <component_benchmark/profile/tensor_bytes.hpp>

#include <ATen/core/Tensor.h>
#include <ATen/ops/_unique.h>
#include <ATen/ops/count_nonzero.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace component_benchmark::ops {

/// How many different rows a tensor of indices touches.
[[nodiscard]] inline std::int64_t distinct(at::Tensor const& indices) {
    if (indices.is_meta())
        return indices.numel();
    if (!indices.device().is_cpu())
        return std::get<0>(at::_unique(indices.reshape({-1}))).numel();
    auto const values = indices.to(c10::kLong).contiguous();
    auto const* const begin = values.const_data_ptr<std::int64_t>();
    std::unordered_set<std::int64_t> const seen(begin, begin + values.numel());
    return static_cast<std::int64_t>(seen.size());
}

/// What happens to the rows. `asks`: they are updated if a flag or a reduction is among the
/// arguments, else written.
enum class row_use { read, written, updated, asks };

/// Where an operator has the table that it works on some rows of, and the indices of the rows.
struct gather {
    std::string_view op;
    std::size_t table;
    std::size_t indices;
    bool takes_rows;  ///< whole rows; else single elements
    row_use use;

    /// How often a row that is touched is moved.
    [[nodiscard]] std::int64_t moves(op_call const& call) const {
        if (use != row_use::asks)
            return use == row_use::updated ? 2 : 1;
        if (takes_rows || op == "aten::put_")
            return call.size() > 3 && call[3].isBool() && call[3].toBool() ? 2 : 1;
        return call.size() > 4 ? 2 : 1;  // scatter_ with a reduction
    }
};

[[nodiscard]] inline gather const* gather_of(std::string_view op) {
    using enum row_use;
    static constexpr std::array<gather, 20> table{
        gather{"aten::embedding", 0, 1, true, read},
        gather{"aten::_embedding_bag", 0, 1, true, read},
        gather{"aten::_embedding_bag_forward_only", 0, 1, true, read},
        gather{"aten::index_select", 0, 2, true, read},
        gather{"aten::index", 0, 1, true, read},
        gather{"aten::_unsafe_index", 0, 1, true, read},
        gather{"aten::gather", 0, 2, false, read},
        gather{"aten::take", 0, 1, false, read},
        gather{"aten::index_add_", 0, 2, true, updated},
        gather{"aten::index_copy_", 0, 2, true, written},
        gather{"aten::index_fill_", 0, 2, true, written},
        gather{"aten::index_put_", 0, 1, true, asks},
        gather{"aten::_index_put_impl_", 0, 1, true, asks},
        gather{"aten::scatter_", 0, 2, false, asks},
        gather{"aten::scatter_add_", 0, 2, false, updated},
        gather{"aten::scatter_reduce_", 0, 2, false, updated},
        gather{"aten::index_reduce_", 0, 2, true, updated},
        gather{"aten::put_", 0, 1, false, asks},
        gather{"aten::embedding_renorm_", 0, 1, true, updated},
        gather{"fbgemm::jagged_index_select", 0, 2, true, read}};
    auto const* const found =
        std::find_if(table.begin(), table.end(), [op](gather const& one) { return one.op == op; });
    return found == table.end() ? nullptr : found;
}

/// Rows of a table that lists of indices name. Of one list each row once; the places that several
/// lists name are taken to be different ones.
class named_rows {
public:
    explicit named_rows(at::Tensor const& table) : table_{&table} {}

    /// `dimension`: the first one that these indices are for. Gives the next one.
    std::int64_t add(at::Tensor const& indices, std::int64_t dimension) {
        auto const is_mask =
            indices.scalar_type() == at::kBool || indices.scalar_type() == at::kByte;
        auto const dimensions = is_mask ? indices.dim() : 1;
        for (std::int64_t one = dimension; one < dimension + dimensions; ++one)
            indexed_ *= table_->dim() > one ? table_->size(one) : 1;
        if (is_mask && !indices.is_meta()) {
            auto const chosen = at::count_nonzero(indices).item<std::int64_t>();
            shape_ = formulas::broadcast(shape_, {chosen});
        } else {
            shape_ = formulas::broadcast(shape_, indices.sizes());
        }
        only_ = lists_ == 0 && !is_mask ? &indices : nullptr;
        ++lists_;
        return dimension + dimensions;
    }

    [[nodiscard]] std::int64_t bytes() const {
        auto const all = bytes_of(*table_);
        auto const places = only_ != nullptr ? distinct(*only_) : formulas::product(shape_);
        return indexed_ == 0 ? 0 : (std::min)(places * (all / indexed_), all);
    }

private:
    at::Tensor const* table_;
    std::vector<std::int64_t> shape_;
    std::int64_t indexed_ = 1;  ///< elements of the dimensions that are indexed
    std::size_t lists_ = 0;
    at::Tensor const* only_ = nullptr;
};

/// Bytes of the rows or elements of the table that the indices of a call name.
[[nodiscard]] inline std::int64_t bytes_touched(gather const& rows, op_call const& call) {
    auto const& table = call.tensor(rows.table);
    if (!rows.takes_rows) {
        auto const element = static_cast<std::int64_t>(table.element_size());
        return (std::min)(call.tensor(rows.indices).numel() * element, bytes_of(table));
    }
    named_rows named{table};
    if (call[rows.indices].isTensor()) {
        auto const dimension = rows.indices == 2 && call[1].isInt() ? call[1].toInt() : 0;
        named.add(call.tensor(rows.indices), dimension < 0 ? dimension + table.dim() : dimension);
        return named.bytes();
    }
    std::int64_t dimension = 0;
    for (c10::IValue const& one : call[rows.indices].toListRef())
        dimension = one.isTensor() && one.toTensor().defined()
                        ? named.add(one.toTensor(), dimension)
                        : dimension + 1;
    return named.bytes();
}

}  // namespace component_benchmark::ops
