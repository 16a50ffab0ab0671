// terminal -> table: what the place of printing can show
#pragma once

#include <component_benchmark/core/terminal.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>

namespace component_benchmark {

/// When to print in colour; automatic: on a terminal, unless NO_COLOR is set or TERM is "dumb".
enum class colour { automatic, never, always };

namespace detail {

enum class paint { plain, dim, bold, warm, hot };

[[nodiscard]] inline std::string painted(std::string_view text, paint with) {
    constexpr char const* codes[] = {"", "\x1b[2m", "\x1b[1m", "\x1b[33m", "\x1b[31m"};
    if (with == paint::plain || text.empty())
        return std::string{text};
    return std::string{codes[static_cast<int>(with)]}.append(text).append("\x1b[0m");
}

[[nodiscard]] inline bool shows_colour(std::FILE* out, colour wish) {
    if (wish != colour::automatic)
        return wish == colour::always;
    return obeys_control_sequences(out) && environment_value("NO_COLOR").empty();
}

/// Columns of the terminal behind `out`, else those $COLUMNS names, else 100.
[[nodiscard]] inline int columns_of_terminal(std::FILE* out) {
    constexpr int least = 40;
    if (auto const width = terminal_width(out); width != 0)
        return (std::max)(width, least);
    auto const wish = environment_value("COLUMNS");
    int columns = 0;
    auto const read = std::from_chars(wish.data(), wish.data() + wish.size(), columns);
    if (read.ptr != wish.data() + wish.size() || columns <= 0 || columns > 10'000)
        return 100;
    return (std::max)(columns, least);
}

}  // namespace detail
}  // namespace component_benchmark
