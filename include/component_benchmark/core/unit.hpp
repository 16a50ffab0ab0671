// profile -> metric -> result: what a number counts, and which direction is good
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace component_benchmark {

/// How a viewer formats a number.
enum class unit_kind { time, count, bytes, rate, percent, text };

/// Which direction is an improvement.
enum class better { lower, higher, none };

/// How the value of a parent that was not measured follows from its children's values.
/// The weights of a mean are the total times of the children, forward, or forward and backward.
enum class aggregate { none, sum, maximum, latency_weighted_mean, fwd_bwd_latency_weighted_mean };

/// A unit is a tag: its symbol, its kind, which direction is better, and how values are stored.
/// Write another struct of this shape for a unit that is missing here.
struct milliseconds {
    using value_type = double;
    static constexpr std::string_view symbol = "ms";
    static constexpr auto kind = unit_kind::time;
    static constexpr auto direction = better::lower;
};

struct count {
    using value_type = std::int64_t;
    static constexpr std::string_view symbol{};
    static constexpr auto kind = unit_kind::count;
    static constexpr auto direction = better::none;
};

/// 1 MB = 1,000,000 bytes.
struct megabytes {
    using value_type = double;
    static constexpr std::string_view symbol = "MB";
    static constexpr auto kind = unit_kind::bytes;
    static constexpr auto direction = better::lower;
};

/// 1 GB = 1,000,000,000 bytes.
struct gigabytes_per_second {
    using value_type = double;
    static constexpr std::string_view symbol = "GB/s";
    static constexpr auto kind = unit_kind::rate;
    static constexpr auto direction = better::higher;
};

struct teraflops_per_second {
    using value_type = double;
    static constexpr std::string_view symbol = "TFLOP/s";
    static constexpr auto kind = unit_kind::rate;
    static constexpr auto direction = better::higher;
};

struct flops_per_byte {
    using value_type = double;
    static constexpr std::string_view symbol = "FLOP/B";
    static constexpr auto kind = unit_kind::rate;
    static constexpr auto direction = better::none;
};

/// A share of what is possible, so that more is better.
struct utilization_percent {
    using value_type = double;
    static constexpr std::string_view symbol = "%";
    static constexpr auto kind = unit_kind::percent;
    static constexpr auto direction = better::higher;
};

/// A unit whose metrics are details: in the JSON, but in no table.
template<class Unit>
struct detailed : Unit {
    static constexpr bool is_detail = true;
};

/// A metric in words.
struct words {
    using value_type = std::string;
    static constexpr std::string_view symbol{};
    static constexpr auto kind = unit_kind::text;
    static constexpr auto direction = better::none;
};

struct percent {
    using value_type = double;
    static constexpr std::string_view symbol = "%";
    static constexpr auto kind = unit_kind::percent;
    static constexpr auto direction = better::none;
};

[[nodiscard]] constexpr std::string_view name_of(unit_kind kind) noexcept {
    constexpr std::string_view names[] = {"time", "count", "bytes", "rate", "percent", "text"};
    return names[static_cast<int>(kind)];
}

[[nodiscard]] constexpr std::string_view name_of(better direction) noexcept {
    constexpr std::string_view names[] = {"lower", "higher", "none"};
    return names[static_cast<int>(direction)];
}

[[nodiscard]] constexpr std::string_view name_of(aggregate rule) noexcept {
    constexpr std::string_view names[] = {"none", "sum", "max", "latency_weighted_mean",
                                          "latency_weighted_mean"};
    return names[static_cast<int>(rule)];
}

}  // namespace component_benchmark
