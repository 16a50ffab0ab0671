// profile: order statistics of samples
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

namespace component_benchmark {

/// a - b, or the nearest number that there is: a clock may show anything.
[[nodiscard]] constexpr std::int64_t saturating_difference(std::int64_t a,
                                                           std::int64_t b) noexcept {
    std::int64_t result = 0;
    if (!__builtin_sub_overflow(a, b, &result))
        return result;
    return a < b ? (std::numeric_limits<std::int64_t>::min)()
                 : (std::numeric_limits<std::int64_t>::max)();
}

/// The q-quantile (0 to 1) of samples in ascending order by linear interpolation between the two
/// nearest, as NumPy's default; 0 when there are none.
[[nodiscard]] inline double quantile_of_sorted(std::vector<double> const& sorted, double q) {
    if (sorted.empty())
        return 0.0;
    auto const position = std::clamp(q, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
    auto const below = static_cast<std::size_t>(std::floor(position));
    auto const above = (std::min)(below + 1, sorted.size() - 1);
    return std::lerp(sorted[below], sorted[above], position - std::floor(position));
}

/// The same of samples in any order.
[[nodiscard]] inline double quantile(std::vector<double> samples, double q) {
    std::sort(samples.begin(), samples.end());
    return quantile_of_sorted(samples, q);
}

[[nodiscard]] inline double median(std::vector<double> samples) {
    return quantile(std::move(samples), 0.5);
}

[[nodiscard]] inline double mean(std::vector<double> const& samples) {
    auto const sum = std::accumulate(samples.begin(), samples.end(), 0.0);
    return samples.empty() ? 0.0 : sum / static_cast<double>(samples.size());
}

/// The distance of the quartiles in percent of the median: how far repetitions lie apart.
[[nodiscard]] inline double spread_percent(std::vector<double> const& samples) {
    auto const middle = median(samples);
    return middle > 0.0 ? 100.0 * (quantile(samples, 0.75) - quantile(samples, 0.25)) / middle
                        : 0.0;
}

/// With fewer samples not even the smallest and the largest enclose the median with 95 %.
inline constexpr std::size_t fewest_for_interval = 6;

/// How many of n samples lie outside the interval of the median at each end: the most with which it
/// still has a confidence of 95 %. Nothing where n is too small.
///
/// Of n independent samples of any distribution, the number B below its median is binomial with
/// probability 1/2, so the k-th smallest and the k-th largest enclose the median with probability
/// 1 - 2 P(B < k). (H. A. David and H. N. Nagaraja, Order Statistics, 3rd edition, 2003, section
/// 7.1.) Beyond a thousand samples the normal distribution stands in for the binomial one.
[[nodiscard]] inline std::optional<std::size_t> outside_interval(std::size_t n) {
    constexpr double tail = 0.025;
    constexpr double normal_quantile = 1.959964;  // of 1 - tail
    if (n < fewest_for_interval)
        return std::nullopt;
    auto const samples = static_cast<double>(n);
    if (n > 1000)
        return static_cast<std::size_t>(0.5 * (samples - normal_quantile * std::sqrt(samples))) - 1;
    double probability = std::ldexp(1.0, -static_cast<int>(n));  // that B is k
    double below = probability;                                  // that it is at most k
    std::size_t k = 0;
    for (; below <= tail; below += probability) {
        ++k;
        probability *= (samples - static_cast<double>(k) + 1.0) / static_cast<double>(k);
    }
    return k - 1;  // P(B < k) is within the tail
}

struct interval {
    double low = 0.0;
    double high = 0.0;

    [[nodiscard]] bool overlaps(interval const& other) const noexcept {
        return low <= other.high && other.low <= high;
    }
};

/// Where the median of the distribution lies, with a confidence of 95 %. Nothing with fewer than
/// six samples.
[[nodiscard]] inline std::optional<interval> median_interval(std::vector<double> samples) {
    auto const outside = outside_interval(samples.size());
    if (!outside)
        return std::nullopt;
    auto const low = samples.begin() + static_cast<std::ptrdiff_t>(*outside);
    auto const high = samples.end() - 1 - static_cast<std::ptrdiff_t>(*outside);
    std::nth_element(samples.begin(), low, samples.end());
    std::nth_element(low + 1, high, samples.end());
    return interval{*low, *high};
}

/// Half the width of that interval in percent of the median of the samples. Nothing where there is
/// no interval, or the median is not positive.
[[nodiscard]] inline std::optional<double> median_error_percent(
    std::vector<double> const& samples) {
    auto const within = median_interval(samples);
    auto const middle = median(samples);
    if (!within || !(middle > 0.0))
        return std::nullopt;
    return 50.0 * (within->high - within->low) / middle;
}

/// By how many percent the median of the second half of the samples, as they came, differs from
/// that of the first. Nothing where that may be chance: the intervals of the two overlap, or a half
/// is too small to have one.
[[nodiscard]] inline std::optional<double> drift_percent(std::vector<double> const& samples) {
    auto const half = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
    std::vector<double> const first{samples.begin(), half};
    std::vector<double> const second{half, samples.end()};
    auto const before = median_interval(first);
    auto const after = median_interval(second);
    auto const from = median(first);
    if (!before || !after || before->overlaps(*after) || !(from > 0.0))
        return std::nullopt;
    return 100.0 * (median(second) - from) / from;
}

}  // namespace component_benchmark
