// result -> text -> sink: reading names whose bytes nobody has checked
#pragma once

#include <cstddef>
#include <iterator>
#include <string_view>

namespace component_benchmark::text {

/// One code point at the front of a string, and how many bytes it takes there.
struct code_point {
    char32_t value = 0xFFFD;
    std::size_t length = 1;
    bool valid = false;
};

/// The first code point of a string that is not empty. What is not UTF-8 gives U+FFFD for each
/// longest wrong piece, as browsers do it.
[[nodiscard]] constexpr code_point first_code_point(std::string_view text) noexcept {
    auto const byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    unsigned const lead = byte(0);
    if (lead < 0x80)
        return {lead, 1, true};
    if (lead < 0xC2 || lead > 0xF4)
        return {};
    std::size_t const length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    unsigned lowest = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    unsigned highest = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    char32_t value = lead & (0xFFU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if (i == text.size() || byte(i) < lowest || byte(i) > highest)
            return {0xFFFD, i, false};
        value = (value << 6) | (byte(i) & 0x3FU);
        lowest = 0x80;
        highest = 0xBF;
    }
    return {value, length, true};
}

namespace detail {

struct code_range {
    char32_t first;
    char32_t last;
};

// East Asian wide and emoji; a terminal gives them two columns.
inline constexpr code_range wide_ranges[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},
    {0x23F0, 0x23F0},   {0x23F3, 0x23F3},   {0x25FD, 0x25FE},   {0x2614, 0x2615},
    {0x2648, 0x2653},   {0x26A1, 0x26A1},   {0x26AA, 0x26AB},   {0x26BD, 0x26BE},
    {0x26D4, 0x26D4},   {0x2705, 0x2705},   {0x270A, 0x270B},   {0x2728, 0x2728},
    {0x274C, 0x274C},   {0x274E, 0x274E},   {0x2753, 0x2755},   {0x2757, 0x2757},
    {0x2795, 0x2797},   {0x2B1B, 0x2B1C},   {0x2B50, 0x2B50},   {0x2B55, 0x2B55},
    {0x2E80, 0x303E},   {0x3041, 0x4DBF},   {0x4E00, 0xA4CF},   {0xA960, 0xA97C},
    {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE10, 0xFE19},   {0xFE30, 0xFE6F},
    {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x16FE0, 0x18D08}, {0x1B000, 0x1B2FB},
    {0x1F004, 0x1F004}, {0x1F0CF, 0x1F0CF}, {0x1F18E, 0x1F19A}, {0x1F1E6, 0x1F1FF},
    {0x1F200, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F7E0, 0x1F7F0}, {0x1F900, 0x1FAFF},
    {0x20000, 0x3FFFD}};

// Marks that are drawn over the letter before them.
inline constexpr code_range combining_ranges[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x064B, 0x065F}, {0x0E47, 0x0E4E},
    {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}};

// Control characters and what else moves the cursor, hides, or turns the writing direction.
inline constexpr code_range unprintable_ranges[] = {
    {0x0000, 0x001F}, {0x007F, 0x009F}, {0x00AD, 0x00AD}, {0x061C, 0x061C},
    {0x180E, 0x180E}, {0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x206F},
    {0xE000, 0xF8FF}, {0xFEFF, 0xFEFF}, {0xFFF0, 0xFFFB}, {0xE0000, 0x10FFFF}};

[[nodiscard]] constexpr bool within(code_range const* first, code_range const* last,
                                    char32_t value) noexcept {
    for (; first != last; ++first)
        if (value >= first->first && value <= first->last)
            return true;
    return false;
}

}  // namespace detail

/// May this code point be sent to a terminal?
[[nodiscard]] constexpr bool is_printable(char32_t value) noexcept {
    return !detail::within(std::begin(detail::unprintable_ranges),
                           std::end(detail::unprintable_ranges), value);
}

/// Columns of a terminal that a printable code point takes: 0, 1 or 2.
[[nodiscard]] constexpr std::size_t columns_of(char32_t value) noexcept {
    if (value < 0x0300)
        return 1;
    if (detail::within(std::begin(detail::combining_ranges), std::end(detail::combining_ranges),
                       value))
        return 0;
    return detail::within(std::begin(detail::wide_ranges), std::end(detail::wide_ranges), value)
               ? 2
               : 1;
}

}  // namespace component_benchmark::text
