// operating system -> device, pipeline: the small files in which it says what it is (Linux)
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace component_benchmark::machine {

/// The text of a small file, empty when it cannot be read.
[[nodiscard]] inline std::string text_of(std::string const& path) {
    std::string text;
    if (auto* const file = std::fopen(path.c_str(), "r")) {
        char buffer[4096];
        for (std::size_t read = 0; (read = std::fread(buffer, 1, sizeof buffer, file)) != 0;)
            text.append(buffer, read);
        std::fclose(file);
    }
    return text;
}

/// What stands behind `key` in its line, without the space between; nothing when no line has it.
[[nodiscard]] inline std::optional<std::string> value_in(std::string_view text,
                                                         std::string_view key) {
    while (!text.empty()) {
        auto const end = text.find('\n');
        auto line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (line.substr(0, key.size()) != key)
            continue;
        line.remove_prefix(key.size());
        line.remove_prefix((std::min)(line.find_first_not_of(" \t:"), line.size()));
        return std::string{line};
    }
    return std::nullopt;
}

/// "480", "480K" or "480 kB" in units of one: a number of bytes where the text is one.
[[nodiscard]] inline std::optional<std::int64_t> bytes_in(std::string_view text) {
    std::int64_t number = 0;
    auto const* const end = text.data() + text.size();
    auto const found = std::from_chars(text.data(), end, number);
    if (found.ec != std::errc{})
        return std::nullopt;
    auto const rest = text.substr(static_cast<std::size_t>(found.ptr - text.data()));
    auto const letter = rest.find_first_not_of(" \n");
    if (letter == std::string_view::npos)
        return number;
    return rest[letter] == 'K' || rest[letter] == 'k' ? number * 1024
           : rest[letter] == 'M'                      ? number * 1024 * 1024
                                                      : number;
}

/// The number with which a text begins.
[[nodiscard]] inline std::optional<double> decimal_in(std::string_view text) {
    double number = 0.0;
    auto const found = std::from_chars(text.data(), text.data() + text.size(), number);
    return found.ec == std::errc{} ? std::optional{number} : std::nullopt;
}

/// What a core's clock runs at now, or 0 where the system does not say.
[[nodiscard]] inline double clock_mhz(int cpu, std::string const& root = {}) {
    auto const khz = bytes_in(text_of(root + "/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                                      "/cpufreq/scaling_cur_freq"));
    return static_cast<double>(khz.value_or(0)) / 1e3;
}

}  // namespace component_benchmark::machine
