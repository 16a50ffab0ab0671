// document -> table_model -> table_layout: what a table on a terminal is made of
#pragma once

#include <component_benchmark/core/by_call.hpp>
#include <component_benchmark/core/text.hpp>
#include <component_benchmark/result/document.hpp>
#include <component_benchmark/sink/terminal.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace component_benchmark::detail {

struct table_cell {
    std::string text;
    paint with = paint::plain;
};

struct table_row {
    std::size_t node = 0;
    std::size_t indent = 0;
    std::string name;
    std::string type;
    std::string calls;
    table_cell message;  ///< stands in place of numbers

    [[nodiscard]] bool has_numbers() const noexcept { return message.text.empty(); }
};

struct table_column {
    std::string id;
    std::string label;
    std::string unit;
    bool is_text = false;           ///< left-aligned, and may be cut
    std::vector<table_cell> cells;  ///< one a row; empty where the row has a message
};

struct table_model {
    std::vector<table_row> rows;
    std::vector<table_column> columns;   ///< the most important first
    std::size_t important = 0;           ///< so many of them are shown below where there is no room
    std::vector<std::string> no_values;  ///< ids of columns without a single value, and why
    std::size_t filtered = 0;
};

/// As `a_document`: functions that take it so are compiled where they are used.
template<class T>
concept a_table = std::same_as<T, table_model>;

[[nodiscard]] bool is_row(a_document auto const& report, std::ptrdiff_t index) noexcept {
    return index >= 0 && static_cast<std::size_t>(index) < report.nodes.size();
}

[[nodiscard]] node const& row_of(a_document auto const& report, std::ptrdiff_t index) noexcept {
    return report.nodes[static_cast<std::size_t>(index)];
}

/// The value of a column in a row, or null; NaN and infinity are no values.
[[nodiscard]] inline cell const* value_in(column const* from, std::size_t row) noexcept {
    if (from == nullptr || row >= from->cells.size())
        return nullptr;
    auto const& found = from->cells[row];
    return found.has_value() && std::isfinite(found.number()) ? &found : nullptr;
}

inline constexpr std::string_view reused_mark = "=";
inline constexpr std::string_view bound_mark = "\u2265";
inline constexpr std::string_view estimated_mark = "~";
inline constexpr std::string_view negative_self_mark = "!";
inline constexpr std::string_view over_peak_mark = "^";

/// What stands before a number that was not measured here; often empty.
[[nodiscard]] inline std::string_view mark_of(cell const& value) noexcept {
    if (value.from == origin::reused)
        return reused_mark;
    if (value.why.starts_with("lower bound"))
        return bound_mark;
    if (value.why.starts_with(over_the_peak))
        return over_peak_mark;
    return value.from == origin::estimated ? estimated_mark : std::string_view{};
}

/// The path of a component for people; the root is shown by its type.
[[nodiscard]] inline std::string shown_path(node const& of) {
    return text::printable(of.path.empty() ? of.type : of.path);
}

/// Time of the whole step: shares are of this. 0 when it is not known.
[[nodiscard]] double root_total(a_document auto const& report) noexcept {
    auto const* total = value_in(report.find("total_ms"), 0);
    return total == nullptr ? 0.0 : (std::max)(total->number(), 0.0);
}

}  // namespace component_benchmark::detail
