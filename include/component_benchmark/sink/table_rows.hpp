// document -> table_rows -> table_layout: the tree, and what stands where nothing was measured
#pragma once

#include <component_benchmark/core/text.hpp>
#include <component_benchmark/result/document.hpp>
#include <component_benchmark/sink/table_model.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace component_benchmark::detail {

/// The nearest row above that is shown.
[[nodiscard]] std::ptrdiff_t shown_parent(a_document auto const& report, std::size_t row) {
    auto above = report.nodes[row].parent;
    while (is_row(report, above) && row_of(report, above).state == status::filtered)
        above = row_of(report, above).parent;
    return above;
}

/// The last part of the path, or all of it that no row above shows.
[[nodiscard]] std::string name_below(a_document auto const& report, node const& of,
                                     std::ptrdiff_t above) {
    if (of.parent == node::none)
        return text::printable(of.type);
    if (above == of.parent)
        return text::printable(of.name);
    auto const shown = is_row(report, above) ? row_of(report, above).path.size() : 0;
    std::string_view const path = of.path;
    return text::printable(path.substr((std::min)(shown == 0 ? 0 : shown + 1, path.size())));
}

/// What is said of a component in place of its numbers; empty when it has some.
[[nodiscard]] table_cell message_of(a_document auto const& report, std::size_t row) {
    auto const& of = report.nodes[row];
    if (is_row(report, of.alias_of))
        return {"\u2192 " + shown_path(row_of(report, of.alias_of)), paint::dim};
    if (of.state == status::not_called)
        return {"not called", paint::dim};
    auto const has_value = [row](column const& c) { return value_in(&c, row) != nullptr; };
    auto const& columns = report.columns;
    auto const reason = text::printable(text::first_line(of.reason));
    auto const failed = of.state == status::failed;
    if (!failed && (reason.empty() || std::any_of(columns.begin(), columns.end(), has_value)))
        return {};
    return {std::string{name_of(of.state)} + (reason.empty() ? "" : ": " + reason),
            failed ? paint::hot : paint::dim};
}

/// Adds the rows that are shown and counts the others.
void add_rows(a_document auto const& report, a_table auto& table) {
    std::vector<std::size_t> indents(report.nodes.size(), 0);
    for (std::size_t i = 0; i < report.nodes.size(); ++i) {
        auto const& of = report.nodes[i];
        if (of.state == status::filtered) {
            ++table.filtered;
            continue;
        }
        auto const above = shown_parent(report, i);
        if (is_row(report, above))
            indents[i] = indents[static_cast<std::size_t>(above)] + 1;
        table_row row{i, indents[i], name_below(report, of, above), {}, text::whole(of.calls), {}};
        if (of.parent != node::none)
            row.type = text::printable(of.type);
        row.message = message_of(report, i);
        table.rows.push_back(std::move(row));
    }
}

}  // namespace component_benchmark::detail
