// profile: samples that lie in several groups, as on a machine that takes the core away
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace component_benchmark {

namespace detail {

/// The variance of `count` numbers, from their sum and that of their squares, but at least that of
/// a spread of 1 %.
template<class Number>
[[nodiscard]] Number variance(Number sum, Number squares, Number count) {
    constexpr Number least = 1e-4;
    auto const mean = sum / count;
    return (std::max)(squares / count - mean * mean, least);
}

/// Where to cut samples in ascending order so that they fall into two groups: before this one. 0
/// where they do not.
///
/// Two groups are those whose means, of the logarithms, lie five times as far apart as the samples
/// in them spread (Ashman's D, 1994; more where samples are few), and between which hardly any
/// sample lies. For one skewed group D is 2 to 4, and something lies everywhere. In logarithms, so
/// that a long tail weighs little. What is closer than 5 % or half a microsecond may be the clock.
template<class Number>
[[nodiscard]] std::size_t cut_between(std::vector<Number> const& sorted, std::size_t fewest) {
    constexpr Number least_ms = 0.0005;
    auto const n = sorted.size();
    if (n < 2 * fewest)
        return 0;
    std::vector<Number> logs;
    Number sum_all = 0.0;
    Number squares_all = 0.0;
    for (auto const sample : sorted) {
        logs.push_back(std::log(sample / sorted.front()));
        sum_all += logs.back();
        squares_all += logs.back() * logs.back();
    }
    auto const all = static_cast<Number>(n);
    auto best = Number{5.0} + Number{60.0} / all;
    std::size_t cut = 0;
    Number sum = 0.0;
    Number squares = 0.0;
    for (std::size_t below = 1; below + fewest <= n; ++below) {
        sum += logs[below - 1];
        squares += logs[below - 1] * logs[below - 1];
        if (below < fewest || sorted[below] - sorted[below - 1] <= Number{0.0})
            continue;
        auto const left = static_cast<Number>(below);
        auto const left_mean = sum / left;
        auto const distance = (sum_all - sum) / (all - left) - left_mean;
        auto const inside = std::sqrt((variance(sum, squares, left) +
                                       variance(sum_all - sum, squares_all - squares, all - left)) /
                                      2);
        if (distance <= best * inside)
            continue;
        auto const at = [&](Number share) {
            return std::lower_bound(logs.begin(), logs.end(), left_mean + share * distance);
        };
        auto const between = static_cast<std::size_t>(at(Number{0.7}) - at(Number{0.3}));
        auto const smaller = (std::min)(below, n - below);
        auto const apart = sorted[0] * (std::exp(left_mean + distance) - std::exp(left_mean));
        if (between > smaller / 20 || apart < least_ms)
            continue;
        best = distance / inside;
        cut = below;
    }
    return cut;
}

template<class Number>
void add_groups(std::vector<Number> const& sorted, std::size_t fewest,
                std::vector<Number>& centres) {
    auto const cut = cut_between(sorted, fewest);
    if (cut == 0) {
        centres.push_back(sorted[sorted.size() / 2]);
        return;
    }
    auto const at = sorted.begin() + static_cast<std::ptrdiff_t>(cut);
    add_groups(std::vector<Number>{sorted.begin(), at}, fewest, centres);
    add_groups(std::vector<Number>{at, sorted.end()}, fewest, centres);
}

}  // namespace detail

/// The middles, ascending, of the groups in which samples (milliseconds) lie: one where they are
/// spread around one value, however skewed. A group is three samples and 5 % of them at least;
/// samples that are not positive are in none. (A template, so that a file which does not measure
/// does not pay for it.)
template<class Number>
[[nodiscard]] std::vector<Number> groups_of(std::vector<Number> samples) {
    samples.erase(
        std::remove_if(samples.begin(), samples.end(),
                       [](Number sample) { return !(sample > 0.0) || !std::isfinite(sample); }),
        samples.end());
    std::sort(samples.begin(), samples.end());
    std::vector<Number> centres;
    if (!samples.empty())
        detail::add_groups(samples, (std::max)(std::size_t{3}, samples.size() / 20), centres);
    return centres;
}

}  // namespace component_benchmark
