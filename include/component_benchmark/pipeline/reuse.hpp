// PIPELINE -> result: what was measured on an identical component
#pragma once

#include <component_benchmark/core/metric.hpp>
#include <component_benchmark/result/document.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
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

/// What an identical component is to a row: the other row, and its call for each of this one's.
struct identical_row {
    std::size_t row = 0;
    std::vector<std::pair<std::size_t, std::size_t>> calls = {};  ///< this one's, the other's
};

[[nodiscard]] identical_row identical_to(a_document auto const& report, std::size_t row,
                                         std::size_t from) {
    identical_row found{from};
    std::vector<std::size_t> mine;
    std::vector<std::size_t> theirs;
    for (std::size_t call = 0; call < report.calls.size(); ++call)
        if (report.calls[call].row == row)
            mine.push_back(call);
        else if (report.calls[call].row == from)
            theirs.push_back(call);
    for (std::size_t call = 0; call < (std::min)(mine.size(), theirs.size()); ++call)
        found.calls.emplace_back(mine[call], theirs[call]);
    return found;
}

/// Gives `row` what column number `index` says of an identical one, call by call, too.
void take_over(a_document auto& report, std::size_t index, std::size_t row,
               identical_row const& from) {
    auto& column = report.columns[index];
    if (column.cells.size() <= (std::max)(row, from.row))
        column.cells.resize((std::max)(row, from.row) + 1);
    column.cells[row] = as_reused(column.cells[from.row]);
    for (auto const& [mine, theirs] : from.calls) {
        if (theirs >= column.calls.size())
            continue;
        if (column.calls.size() <= mine)
            column.calls.resize(mine + 1);
        column.calls[mine] = as_reused(column.calls[theirs]);
    }
}

[[nodiscard]] inline std::string reused_from(node const& other) {
    return "reused from " + (other.path.empty() ? other.type : other.path);
}

}  // namespace component_benchmark::detail
