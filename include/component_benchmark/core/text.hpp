// result -> text -> sink: names and numbers as people read them, the same in every locale
#pragma once

#include <component_benchmark/core/utf8.hpp>

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace component_benchmark::text {

/// What stands where there is no number.
inline constexpr std::string_view no_value = "\u2013";
inline constexpr std::string_view ellipsis = "\u2026";

/// A text that may be sent to a terminal: line breaks become spaces, wrong UTF-8 and other control
/// characters U+FFFD.
[[nodiscard]] inline std::string printable(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        auto const next = first_code_point(text);
        if (next.value == '\n' || next.value == '\r' || next.value == '\t')
            result += ' ';
        else if (next.valid && is_printable(next.value))
            result += text.substr(0, next.length);
        else
            result += "\uFFFD";
        text.remove_prefix(next.length);
    }
    return result;
}

/// Columns of a terminal that a printable text takes.
[[nodiscard]] constexpr std::size_t display_width(std::string_view text) noexcept {
    std::size_t width = 0;
    while (!text.empty()) {
        auto const next = first_code_point(text);
        width += columns_of(next.value);
        text.remove_prefix(next.length);
    }
    return width;
}

namespace detail {

/// Bytes of the longest beginning that takes at most `width` columns.
[[nodiscard]] constexpr std::size_t head_bytes(std::string_view text, std::size_t width) noexcept {
    std::size_t bytes = 0;
    for (std::size_t used = 0; bytes < text.size();) {
        auto const next = first_code_point(text.substr(bytes));
        used += columns_of(next.value);
        if (used > width)
            break;
        bytes += next.length;
    }
    return bytes;
}

}  // namespace detail

/// At most `width` columns: what is longer ends in an ellipsis.
[[nodiscard]] inline std::string cut_end(std::string_view text, std::size_t width) {
    if (display_width(text) <= width)
        return std::string{text};
    if (width == 0)
        return {};
    return std::string{text.substr(0, detail::head_bytes(text, width - 1))}.append(ellipsis);
}

/// At most `width` columns: what is longer loses its middle, since paths differ at the end.
[[nodiscard]] inline std::string cut_middle(std::string_view text, std::size_t width) {
    auto const whole = display_width(text);
    if (whole <= width || width < 3)
        return cut_end(text, width);
    auto const tail_width = (width - 1) / 2;
    auto const head = text.substr(0, detail::head_bytes(text, width - 1 - tail_width));
    auto tail = text.substr(detail::head_bytes(text, whole - tail_width));
    while (!tail.empty() &&
           (columns_of(first_code_point(tail).value) == 0 || display_width(tail) > tail_width))
        tail.remove_prefix(first_code_point(tail).length);
    return std::string{head}.append(ellipsis).append(tail);
}

/// 1234567 as "1,234,567".
[[nodiscard]] inline std::string grouped(std::string digits) {
    auto const first = digits.find_first_of("0123456789");
    auto point = digits.find('.');
    for (point = point == std::string::npos ? digits.size() : point; point > first + 3;)
        digits.insert(point -= 3, 1, ',');
    return digits;
}

[[nodiscard]] inline std::string grouped(std::int64_t value) {
    return grouped(std::to_string(value));
}

/// The first line of a text, without the space around it: the rest of an exception is a stack.
[[nodiscard]] constexpr std::string_view first_line(std::string_view text) noexcept {
    constexpr std::string_view blank = " \t\r\n";
    auto const start = text.find_first_not_of(blank);
    if (start == std::string_view::npos)
        return {};
    text = text.substr(start, text.find_first_of("\r\n", start) - start);
    return text.substr(0, text.find_last_not_of(blank) + 1);
}

/// A number of things in words: "1 row", "2 rows".
[[nodiscard]] inline std::string plural(std::size_t number, std::string_view thing) {
    return grouped(static_cast<std::int64_t>(number)) + " " + std::string{thing} +
           (number == 1 ? "" : "s");
}

/// With that many significant digits: "1.234", "12.34", "12,346", "1.234e-07". No number: a dash.
[[nodiscard]] inline std::string number(double value, int digits = 4) {
    if (!std::isfinite(value))
        return std::string{no_value};
    if (value == 0.0)
        return "0";
    char buffer[64];
    auto const print = [&](std::chars_format format, int precision) {
        auto const end = std::to_chars(buffer, buffer + sizeof buffer, value, format, precision);
        return std::string{buffer, end.ptr};
    };
    // Rounding may carry into a new digit (9.9996), so the exponent is read from rounded text.
    auto scientific = print(std::chars_format::scientific, digits - 1);
    auto const mark = scientific.find('e');
    int exponent = 0;
    std::from_chars(scientific.data() + mark + (scientific[mark + 1] == '+' ? 2 : 1),
                    scientific.data() + scientific.size(), exponent);
    if (exponent < -4 || exponent > 14)
        return scientific;
    int const decimals = digits - 1 - exponent;
    return grouped(print(std::chars_format::fixed, decimals > 0 ? decimals : 0));
}

/// With the digits that it needs: "1", "0.5".
[[nodiscard]] inline std::string shortest(double value) {
    char buffer[64];
    return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

/// Every digit, or four and a letter where that is too long to read: "1,234,567", "12.35 G".
[[nodiscard]] inline std::string whole(std::int64_t value) {
    constexpr char const* suffixes[] = {" G", " T", " P", " E"};
    double scaled = static_cast<double>(value) / 1e9;
    if (std::abs(scaled) < 10.0)
        return grouped(value);
    char const* const* suffix = suffixes;
    for (; std::abs(scaled) >= 999.95; ++suffix)
        scaled /= 1e3;
    return number(scaled) + *suffix;
}

/// A share of a whole with one decimal, never rounded to zero: "34.5", "<0.1", "0".
[[nodiscard]] inline std::string percentage(double value) {
    if (value != 0.0 && std::abs(value) < 0.05)
        return value > 0.0 ? "<0.1" : ">-0.1";
    char buffer[64];
    if (!std::isfinite(value) || std::abs(value) >= 1e15)
        return number(value);
    auto const end =
        std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed, 1);
    return value == 0.0 ? "0" : std::string{buffer, end.ptr};
}

/// The lines of a text broken between words, each at most `width` columns.
[[nodiscard]] inline std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        auto const space = text.find(' ');
        auto const word = cut_middle(text.substr(0, space), width);
        text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
        if (word.empty())
            continue;
        if (lines.empty() || display_width(lines.back()) + 1 + display_width(word) > width)
            lines.push_back(word);
        else
            lines.back().append(" ").append(word);
    }
    return lines;
}

}  // namespace component_benchmark::text
