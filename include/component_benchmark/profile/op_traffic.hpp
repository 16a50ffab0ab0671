// op call -> OP TRAFFIC -> bandwidth: bytes that an operator must move at least
#pragma once

#include <component_benchmark/profile/op_call.hpp>
#include <component_benchmark/profile/op_catalogue.hpp>

#include <ATen/core/Tensor.h>
#include <ATen/ops/_unique.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace component_benchmark::ops {

/// Calls `visit(tensor)` for a tensor, or each of a list.
template<class Visit>
void each_tensor_in(c10::IValue const& value, Visit&& visit) {
    if (value.isTensor()) {
        if (value.toTensor().defined())
            visit(value.toTensor());
    } else if (value.isTensorList()) {
        for (at::Tensor const& one : value.toTensorVector())
            if (one.defined())
                visit(one);
    } else if (value.isList()) {
        for (c10::IValue const& one : value.toListRef())  // optional tensors
            if (one.isTensor() && one.toTensor().defined())
                visit(one.toTensor());
    }
}

/// Bytes of the elements that a tensor really has: a dimension that is expanded is one element.
[[nodiscard]] inline std::int64_t bytes_of(at::Tensor const& tensor) {
    if (tensor.layout() == c10::kSparse)
        return bytes_of(tensor._indices()) + bytes_of(tensor._values());
    if (tensor.layout() != c10::kStrided || tensor.is_quantized() ||
        tensor.unsafeGetTensorImpl()->is_python_dispatch() || tensor.is_nested())
        return static_cast<std::int64_t>(tensor.has_storage() ? tensor.storage().nbytes() : 0);
    std::int64_t elements = 1;
    for (std::int64_t dimension = 0; dimension < tensor.dim(); ++dimension)
        elements *= tensor.stride(dimension) == 0 && tensor.size(dimension) > 0
                        ? 1
                        : tensor.size(dimension);
    return elements * static_cast<std::int64_t>(tensor.element_size());
}

/// How many different rows a tensor of indices touches.
template<class = void>
[[nodiscard]] std::int64_t distinct(at::Tensor const& indices) {
    if (!indices.device().is_cpu())
        return std::get<0>(at::_unique(indices.reshape({-1}))).numel();
    auto const values = indices.to(c10::kLong).contiguous();
    auto const* const begin = values.const_data_ptr<std::int64_t>();
    std::unordered_set<std::int64_t> const seen(begin, begin + values.numel());
    return static_cast<std::int64_t>(seen.size());
}

/// Where an operator has the table that it gathers rows from, and the rows.
struct gather {
    std::string_view op;
    std::size_t table;
    std::size_t indices;
    bool takes_rows;  ///< whole rows; else single elements
    bool writes;      ///< the rows are those of the result: added to or written
};

[[nodiscard]] inline gather const* gather_of(std::string_view op) {
    static constexpr std::array<gather, 20> table{
        gather{"aten::embedding", 0, 1, true, false},
        gather{"aten::_embedding_bag", 0, 1, true, false},
        gather{"aten::_embedding_bag_forward_only", 0, 1, true, false},
        gather{"aten::index_select", 0, 2, true, false},
        gather{"aten::index", 0, 1, true, false},
        gather{"aten::_unsafe_index", 0, 1, true, false},
        gather{"aten::gather", 0, 2, false, false},
        gather{"aten::take", 0, 1, false, false},
        gather{"aten::index_add_", 0, 2, true, true},
        gather{"aten::index_copy_", 0, 2, true, true},
        gather{"aten::index_fill_", 0, 2, true, true},
        gather{"aten::index_put_", 0, 1, true, true},
        gather{"aten::_index_put_impl_", 0, 1, true, true},
        gather{"aten::scatter_", 0, 2, false, true},
        gather{"aten::scatter_add_", 0, 2, false, true},
        gather{"aten::scatter_reduce_", 0, 2, false, true},
        gather{"aten::index_reduce_", 0, 2, true, true},
        gather{"aten::put_", 0, 1, false, true},
        gather{"aten::embedding_renorm_", 0, 1, true, true},
        gather{"fbgemm::jagged_index_select", 0, 2, true, false}};
    auto const* const found =
        std::find_if(table.begin(), table.end(), [op](gather const& one) { return one.op == op; });
    return found == table.end() ? nullptr : found;
}

/// Operators whose result is not written: the memory of an argument, or memory as it was found.
[[nodiscard]] inline bool moves_nothing(op_info const& op) {
    static constexpr std::array<std::string_view, 11> names{
        "aten::_unsafe_view",   "aten::unsafe_split", "aten::unsafe_split_with_sizes",
        "aten::_reshape_alias", "aten::empty",        "aten::empty_like",
        "aten::empty_strided",  "aten::new_empty",    "aten::new_empty_strided",
        "aten::empty_permuted", "aten::resize_"};
    return std::find(names.begin(), names.end(), op.name) != names.end() ||
           (op.handle.hasSchema() && is_view(op.handle.schema()));
}

/// Operators that do not read what they overwrite.
[[nodiscard]] inline bool only_writes(std::string_view op) {
    static constexpr std::array<std::string_view, 15> names{
        "aten::copy_",          "aten::fill_",          "aten::zero_",       "aten::normal_",
        "aten::uniform_",       "aten::bernoulli_",     "aten::random_",     "aten::exponential_",
        "aten::cauchy_",        "aten::geometric_",     "aten::log_normal_", "aten::set_",
        "aten::_foreach_zero_", "aten::_foreach_copy_", "aten::index_fill_"};
    return std::find(names.begin(), names.end(), op) != names.end();
}

/// What one call of an operator reads and writes. Each tensor once, however often it is an
/// argument; what is kept in registers and caches between the operators of a call is not known
/// here, so each operator reads its arguments and writes its results.
template<class Address = void const*>
struct basic_op_traffic {
    std::int64_t bytes = 0;
    bool writes_arguments = false;  ///< so the results are counted
    std::vector<std::pair<Address, std::int64_t>> seen;

    [[nodiscard]] static basic_op_traffic of_arguments(op_info const& op, op_call const& call) {
        basic_op_traffic found;
        auto const* const rows = gather_of(op.name);
        auto const& arguments = op.handle.schema().arguments();
        for (std::size_t position = 0; position < call.size(); ++position) {
            auto const* const alias =
                position < arguments.size() ? arguments[position].alias_info() : nullptr;
            auto const written = alias != nullptr && alias->isWrite();
            auto const is_result = written && arguments[position].is_out();
            if (rows != nullptr && rows->table == position && !is_result) {
                auto const touched = found.touched(*rows, call);
                found.bytes += touched * (rows->writes ? 2 : 1);
                found.writes_arguments = found.writes_arguments || rows->writes;
                continue;
            }
            each_tensor_in(call[position], [&](at::Tensor const& tensor) {
                if (written) {
                    found.writes_arguments = true;
                    found.bytes += bytes_of(tensor);
                }
                if (!written || (!is_result && !only_writes(op.name)))
                    found.read(tensor);
            });
        }
        return found;
    }

    void add_results(std::vector<c10::IValue> const& results) {
        if (writes_arguments)
            return;
        for (auto const& result : results)
            each_tensor_in(result, [this](at::Tensor const& tensor) { bytes += bytes_of(tensor); });
    }

private:
    void read(at::Tensor const& tensor) {
        auto const size = bytes_of(tensor);
        std::pair<Address, std::int64_t> const one{
            tensor.has_storage() ? tensor.const_data_ptr() : tensor.unsafeGetTensorImpl(), size};
        if (std::find(seen.begin(), seen.end(), one) != seen.end())
            return;
        seen.push_back(one);
        bytes += size;
    }

    /// Bytes of the rows or elements of the table that the indices name. Rows that are named twice
    /// are moved once, unless several dimensions are indexed at a time.
    [[nodiscard]] static std::int64_t touched(gather const& rows, op_call const& call) {
        auto const& table = call.tensor(rows.table);
        auto const all = bytes_of(table);
        std::int64_t places = 0;
        std::int64_t indexed = 1;  // elements of the dimensions that are indexed
        std::size_t lists = 0;
        auto const note = [&](at::Tensor const& indices, std::int64_t dimension) {
            auto const is_mask =
                indices.scalar_type() == at::kBool || indices.scalar_type() == at::kByte;
            auto const count = rows.takes_rows && !is_mask ? distinct(indices) : indices.numel();
            places = (std::max)(places, count);
            indexed *= table.dim() > dimension ? table.size(dimension) : 1;
            ++lists;
        };
        if (call[rows.indices].isTensor()) {
            auto const by_dimension = rows.indices == 2 && call[1].isInt();
            auto const dimension = by_dimension ? call[1].toInt() : 0;
            note(call.tensor(rows.indices), dimension < 0 ? dimension + table.dim() : dimension);
        } else {
            std::int64_t dimension = 0;
            for (c10::IValue const& one : call[rows.indices].toListRef()) {
                if (one.isTensor() && one.toTensor().defined())
                    note(one.toTensor(), dimension);
                ++dimension;
            }
        }
        if (!rows.takes_rows)
            return (std::min)(places * static_cast<std::int64_t>(table.element_size()), all);
        if (lists > 1)
            places = (std::max)(places, largest(call, rows));
        return indexed == 0 ? 0 : (std::min)(places * (all / indexed), all);
    }

    [[nodiscard]] static std::int64_t largest(op_call const& call, gather const& rows) {
        std::int64_t most = 0;
        each_tensor_in(call[rows.indices], [&](at::Tensor const& indices) {
            most = (std::max)(most, indices.numel());
        });
        return most;
    }
};

using op_traffic = basic_op_traffic<>;

}  // namespace component_benchmark::ops
