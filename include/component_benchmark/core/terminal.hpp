// everywhere: what the place of printing is
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

namespace component_benchmark::detail {

/// The value of an environment variable, empty when it is not set.
[[nodiscard]] inline std::string_view environment_value(char const* name) {
    char const* const value = std::getenv(name);
    return value == nullptr ? std::string_view{} : std::string_view{value};
}

/// Whether `out` is a terminal that obeys control sequences.
[[nodiscard]] inline bool obeys_control_sequences(std::FILE* out) {
    return ::isatty(::fileno(out)) == 1 && environment_value("TERM") != "dumb";
}

/// Columns of the terminal behind `out`, 0 when there is none or it does not say.
[[nodiscard]] inline int terminal_width(std::FILE* out) {
    ::winsize size{};
    auto const known =
        ::isatty(::fileno(out)) == 1 && ::ioctl(::fileno(out), TIOCGWINSZ, &size) == 0;
    return known ? size.ws_col : 0;
}

}  // namespace component_benchmark::detail
