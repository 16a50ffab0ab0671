// PIPELINE -> result: what was measured on an identical component
#pragma once

#include <component_benchmark/core/metric.hpp>
#include <component_benchmark/result/document.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace component_benchmark::detail {

/// The row of a component that costs the same, if the provider looks for such.
template<class Component>
[[nodiscard]] std::optional<std::size_t> row_like(Component const& one) {
    if constexpr (requires { one.like(); })
        return one.like();
    else
        return std::nullopt;
}

[[nodiscard]] inline cell as_reused(cell value) {
    if (value.has_value() && (value.from == origin::measured || value.from == origin::derived))
        value.from = origin::reused;
    return value;
}

/// Gives `row` what column number `index` says of the row `from`, call by call, too.
void take_over(a_document auto& report, std::size_t index, std::size_t row, std::size_t from) {
    auto& column = report.columns[index];
    if (column.cells.size() <= (std::max)(row, from))
        column.cells.resize((std::max)(row, from) + 1);
    column.cells[row] = as_reused(column.cells[from]);
    std::vector<std::size_t> theirs;
    std::size_t next = 0;
    for (std::size_t call = 0; call < report.calls.size(); ++call)
        if (report.calls[call].row == from)
            theirs.push_back(call);
    for (std::size_t call = 0; call < report.calls.size(); ++call) {
        if (report.calls[call].row != row)
            continue;
        auto const like = next < theirs.size() ? theirs[next++] : column.calls.size();
        if (like >= column.calls.size())
            continue;
        if (column.calls.size() <= call)
            column.calls.resize(call + 1);
        column.calls[call] = as_reused(column.calls[like]);
    }
}

[[nodiscard]] inline std::string reused_from(node const& other) {
    return "reused from " + (other.path.empty() ? other.type : other.path);
}

}  // namespace component_benchmark::detail
