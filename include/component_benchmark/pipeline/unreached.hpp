// PIPELINE -> result: what a report says of components that a run did not come to
#pragma once

#include <component_benchmark/core/node.hpp>
#include <component_benchmark/result/document.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace component_benchmark::detail {

/// Rows that a provider hands out; the others are aliases, or are not wanted.
[[nodiscard]] inline bool is_handed_out(node const& row) noexcept {
    return row.alias_of == node::none && row.state != status::filtered;
}

[[nodiscard]] inline std::size_t count_handed_out(std::vector<node> const& rows) {
    return static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), is_handed_out));
}

/// Rows that were not `seen` say why in each column. So does the row itself where the interruption
/// has left it without a number, unless it has a better reason or is never called.
void mark_unreached(a_document auto& report, std::vector<bool> seen) {
    seen.resize(report.nodes.size());
    for (std::size_t row = 0; row < seen.size(); ++row) {
        auto& facts = report.nodes[row];
        if (!is_handed_out(facts))
            continue;
        bool has_value = false;
        bool is_cut = !seen[row];
        for (auto& column : report.columns) {
            column.cells.resize((std::max)(column.cells.size(), row + 1));
            auto& mine = column.cells[row];
            if (!seen[row])
                mine.why = run_was_interrupted;
            has_value = has_value || mine.has_value();
            is_cut = is_cut || mine.why == run_was_interrupted;
        }
        auto const counts = facts.state == status::ok || facts.state == status::not_called;
        if (has_value || !is_cut || !counts || facts.calls == 0)
            continue;
        facts.state = status::opaque;
        facts.reason = run_was_interrupted;
    }
}

}  // namespace component_benchmark::detail
