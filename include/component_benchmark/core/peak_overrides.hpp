// user's program -> device: peaks that the user knows better
// Their twin for programs that are built off is in off.hpp.
#pragma once

#include <component_benchmark/core/error.hpp>
#include <component_benchmark/core/number_format.hpp>
#include <component_benchmark/core/terminal.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace component_benchmark {

/// Peaks by the user, before everything else that is known of a device:
///
///     cb::options{.peaks = {.tflops = {{"bf16", 989.4}, {"fp32", 67}}, .bandwidth_gbps = 3350}}
///
/// The environment variables COMPONENT_BENCHMARK_PEAK_TFLOPS="bf16=989.4,fp32=67" and
/// COMPONENT_BENCHMARK_PEAK_GBPS=3350 say the same; an option wins over them.
struct peak_overrides {
    std::vector<std::pair<std::string, double>> tflops = {};  ///< by name of a number_format
    std::optional<double> bandwidth_gbps = {};
};

namespace peaks {

inline constexpr char const* tflops_variable = "COMPONENT_BENCHMARK_PEAK_TFLOPS";
inline constexpr char const* gbps_variable = "COMPONENT_BENCHMARK_PEAK_GBPS";

/// Which number_format has that name; `number_formats` if none has.
[[nodiscard]] constexpr std::size_t format_named(std::string_view name) noexcept {
    std::size_t i = 0;
    while (i < number_formats && name_of(static_cast<number_format>(i)) != name)
        ++i;
    return i;
}

/// "fp64, fp32, ...": what a peak can be given for.
[[nodiscard]] inline std::string known_formats() {
    std::string list;
    for (std::size_t i = 0; i < number_formats; ++i)
        list.append(i == 0 ? "" : ", ").append(name_of(static_cast<number_format>(i)));
    return list;
}

}  // namespace peaks

namespace detail {

/// The shortest digits that mean this number, in every locale.
[[nodiscard]] inline std::string digits_of(double value) {
    char buffer[32];
    return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

inline void check_peak(std::string const& what, double value, char const* unit,
                       std::string_view where) {
    if (!std::isfinite(value) || value <= 0.0)
        throw error{"the peak of " + what + " must be a positive number of " + unit + "; it is " +
                    digits_of(value) + std::string{where}};
}

[[nodiscard]] inline std::string_view without_spaces(std::string_view text) noexcept {
    auto const first = text.find_first_not_of(' ');
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

/// A decimal number with a point, whatever the locale says.
[[nodiscard]] inline std::optional<double> decimal(std::string_view text) noexcept {
    double value = 0.0;
    auto const* const end = text.data() + text.size();
    auto const found = std::from_chars(text.data(), end, value);
    if (found.ec != std::errc{} || found.ptr != end)
        return std::nullopt;
    return value;
}

/// Where a wrong value stands, as the end of a sentence.
[[nodiscard]] inline std::string in_variable(char const* name, std::string_view text) {
    return ", in the environment variable " + std::string{name} + ", which is '" +
           std::string{text} + "'";
}

[[nodiscard]] inline std::pair<std::string, double> peak_in(std::string_view piece,
                                                            std::string_view text) {
    auto const equals = piece.find('=');
    auto const value = equals == std::string_view::npos
                           ? std::nullopt
                           : decimal(without_spaces(piece.substr(equals + 1)));
    if (!value)
        throw error{"'" + std::string{piece} +
                    "' is not FORMAT=NUMBER, as in bf16=989.4,fp32=67 with decimal points" +
                    in_variable(peaks::tflops_variable, text)};
    return {std::string{without_spaces(piece.substr(0, equals))}, *value};
}

}  // namespace detail

namespace peaks {

/// Throws `error` naming a peak that is not a positive number, that is for a format nobody knows,
/// or that is given twice. `where` ends the sentence.
template<class Overrides = peak_overrides>
void check(Overrides const& overrides, std::string_view where = {}) {
    std::array<bool, number_formats> seen{};
    for (auto const& [name, value] : overrides.tflops) {
        auto const format = format_named(name);
        if (format == number_formats)
            throw error{"a peak is given for '" + name + "', which is none of " + known_formats() +
                        std::string{where}};
        detail::check_peak(name, value, "TFLOP/s", where);
        if (std::exchange(seen[format], true))
            throw error{"the peak of " + name + " is given twice; give it once" +
                        std::string{where}};
    }
    if (overrides.bandwidth_gbps)
        detail::check_peak("the bandwidth", *overrides.bandwidth_gbps, "GB/s", where);
}

/// What the two variables say, checked; throws `error` naming the variable and the piece.
template<class Overrides = peak_overrides>
[[nodiscard]] Overrides from_environment() {
    Overrides result;
    auto const compute = detail::environment_value(tflops_variable);
    if (compute.find_first_not_of(' ') != std::string_view::npos) {
        for (auto rest = compute; rest.data() != nullptr;) {
            auto const comma = rest.find(',');
            result.tflops.push_back(
                detail::peak_in(detail::without_spaces(rest.substr(0, comma)), compute));
            rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
        }
        check(result, detail::in_variable(tflops_variable, compute));
    }
    auto const bandwidth = detail::environment_value(gbps_variable);
    if (bandwidth.find_first_not_of(' ') != std::string_view::npos) {
        result.bandwidth_gbps = detail::decimal(detail::without_spaces(bandwidth));
        if (!result.bandwidth_gbps)
            throw error{"the environment variable " + std::string{gbps_variable} + " is '" +
                        std::string{bandwidth} +
                        "', which is not a number of GB/s with a decimal point, as in 3350"};
        check({.tflops = {}, .bandwidth_gbps = result.bandwidth_gbps},
              detail::in_variable(gbps_variable, bandwidth));
    }
    return result;
}

}  // namespace peaks

}  // namespace component_benchmark
