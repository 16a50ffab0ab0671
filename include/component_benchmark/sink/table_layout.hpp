// table_columns -> table_layout -> table: which columns fit, and the lines that show them
#pragma once

#include <component_benchmark/core/text.hpp>
#include <component_benchmark/sink/table_model.hpp>
#include <component_benchmark/sink/terminal.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace component_benchmark::detail {

inline constexpr std::size_t column_gap = 2;
inline constexpr std::string_view calls_label = "Calls";

struct fitted_table {
    std::size_t width = 0;  ///< of the whole line
    std::size_t name_width = 0;
    std::size_t calls_width = 0;
    std::vector<std::size_t> column_widths;  ///< of the columns that fit, which are the first ones
};

/// One line of output; spaces are held back until something follows them.
class table_line {
public:
    table_line(std::string& out, bool coloured) : out_{out}, coloured_{coloured} {}
    table_line(table_line const&) = delete;
    table_line& operator=(table_line const&) = delete;
    ~table_line() { out_ += '\n'; }

    void space(std::size_t columns) { pending_ += columns; }

    void put(std::string_view text, paint with = paint::plain) {
        if (text.empty())
            return;
        out_.append(pending_, ' ').append(coloured_ ? painted(text, with) : std::string{text});
        pending_ = 0;
    }

    /// The text in a field of that width.
    void put(table_cell const& cell, std::size_t width, bool to_the_left) {
        auto const text = to_the_left ? text::cut_middle(cell.text, width) : cell.text;
        auto const rest = width - (std::min)(width, text::display_width(text));
        space(to_the_left ? 0 : rest);
        put(text, cell.with);
        space(to_the_left ? rest : 0);
    }

private:
    std::string& out_;
    std::size_t pending_ = 0;
    bool coloured_;
};

[[nodiscard]] inline std::string heading_of(table_column const& column) {
    auto const says_it = column.unit.empty() || column.label.starts_with(column.unit);  // "FLOPs"
    return says_it ? column.label : column.label + " " + column.unit;
}

/// Room for every cell and for the longest word of the heading, within reason.
[[nodiscard]] inline std::size_t natural_width(table_column const& column) {
    constexpr std::size_t longest = 16;
    auto const heading = heading_of(column);
    std::size_t width = 1;
    for (std::size_t start = 0; start < heading.size();) {
        auto const end = (std::min)(heading.find(' ', start), heading.size());
        auto const word = std::string_view{heading}.substr(start, end - start);
        width = (std::max)(width, (std::min)(longest, text::display_width(word)));
        start = end + 1;
    }
    for (auto const& cell : column.cells)
        width = (std::max)(width, text::display_width(cell.text));
    return width;
}

/// As many of the first columns as fit; what is left goes to the names, then to the texts.
[[nodiscard]] fitted_table fit(a_table auto const& table, std::size_t width) {
    constexpr std::size_t shortest_text = 16;
    fitted_table fitted{width, 1, calls_label.size(), {}};
    std::size_t natural_name = 1;
    for (auto const& row : table.rows) {
        auto const type = row.type.empty() ? 0 : column_gap + text::display_width(row.type);
        natural_name = (std::max)(natural_name,
                                  row.indent * column_gap + text::display_width(row.name) + type);
        fitted.calls_width = (std::max)(fitted.calls_width, row.calls.size());
    }
    fitted.name_width = (std::min)(natural_name, std::max<std::size_t>(16, width * 2 / 5));
    auto used = fitted.name_width + column_gap + fitted.calls_width;
    for (auto const& column : table.columns) {
        auto const natural = natural_width(column);
        auto const least = column.is_text ? (std::min)(natural, shortest_text) : natural;
        if (used + column_gap + least > width)
            break;
        used += column_gap + least;
        fitted.column_widths.push_back(least);
    }
    auto spare = width - (std::min)(width, used);
    auto const grow = [&spare](std::size_t& field, std::size_t natural) {
        auto const more = (std::min)(spare, natural - (std::min)(natural, field));
        field += more;
        spare -= more;
    };
    grow(fitted.name_width, natural_name);
    for (std::size_t i = 0; i < fitted.column_widths.size(); ++i)
        grow(fitted.column_widths[i], natural_width(table.columns[i]));
    return fitted;
}

void print_heading(std::string& out, a_table auto const& table, fitted_table const& fitted,
                   bool coloured) {
    std::vector<std::vector<std::string>> headings;
    std::size_t height = 1;
    for (std::size_t i = 0; i < fitted.column_widths.size(); ++i) {
        headings.push_back(text::wrapped(heading_of(table.columns[i]), fitted.column_widths[i]));
        height = (std::max)(height, headings.back().size());
    }
    auto used = fitted.name_width + column_gap + fitted.calls_width;
    for (std::size_t from_bottom = height; from_bottom-- > 0;) {
        table_line line{out, coloured};
        bool const last = from_bottom == 0;
        line.put({last ? "Component" : "", paint::bold}, fitted.name_width, true);
        line.space(column_gap);
        line.put({last ? std::string{calls_label} : "", paint::bold}, fitted.calls_width, false);
        for (std::size_t i = 0; i < headings.size(); ++i) {
            auto const& words = headings[i];
            line.space(column_gap);
            line.put({from_bottom < words.size() ? words[words.size() - 1 - from_bottom] : "",
                      paint::bold},
                     fitted.column_widths[i], table.columns[i].is_text);
        }
    }
    for (auto const width : fitted.column_widths)
        used += column_gap + width;
    std::string rule;
    for (std::size_t i = 0; i < used; ++i)
        rule += "\u2500";
    table_line{out, coloured}.put(rule, paint::dim);
}

/// Indent, name and type; the type gives way first.
inline void print_name(table_line& line, table_row const& row, std::size_t width) {
    auto const indent = (std::min)(row.indent * column_gap, width / 3);
    auto const name = text::cut_middle(row.name, width - indent);
    auto rest = width - indent - text::display_width(name);
    line.space(indent);
    line.put(name, row.indent == 0 ? paint::bold : paint::plain);
    if (!row.type.empty() && rest >= column_gap + 4) {
        line.space(column_gap);
        line.put({row.type, paint::dim}, rest - column_gap, true);
    } else {
        line.space(rest);
    }
}

void print_row(std::string& out, a_table auto const& table, fitted_table const& fitted,
               std::size_t index, bool coloured) {
    auto const& row = table.rows[index];
    table_line line{out, coloured};
    print_name(line, row, fitted.name_width);
    line.space(column_gap);
    line.put({row.calls, paint::plain}, fitted.calls_width, false);
    line.space(column_gap);
    if (!row.has_numbers()) {
        auto const used = fitted.name_width + fitted.calls_width + 2 * column_gap;
        auto const room = fitted.width - (std::min)(fitted.width, used);
        line.put(text::cut_end(row.message.text, room), row.message.with);
        return;
    }
    for (std::size_t i = 0; i < fitted.column_widths.size(); ++i) {
        auto const& column = table.columns[i];
        line.space(i == 0 ? 0 : column_gap);
        line.put(column.cells[index], fitted.column_widths[i], column.is_text);
    }
}

}  // namespace component_benchmark::detail
