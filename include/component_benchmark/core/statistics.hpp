// profile: order statistics of samples
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace component_benchmark {

/// The q-quantile (0 to 1) by linear interpolation between the two nearest samples, as NumPy's
/// default; 0 when there are none.
[[nodiscard]] inline double quantile(std::vector<double> samples, double q) {
    if (samples.empty())
        return 0.0;
    std::sort(samples.begin(), samples.end());
    auto const position = std::clamp(q, 0.0, 1.0) * static_cast<double>(samples.size() - 1);
    auto const below = static_cast<std::size_t>(std::floor(position));
    auto const above = (std::min)(below + 1, samples.size() - 1);
    return std::lerp(samples[below], samples[above], position - std::floor(position));
}

[[nodiscard]] inline double median(std::vector<double> samples) {
    return quantile(std::move(samples), 0.5);
}

/// The distance of the quartiles in percent of the median: how far repetitions lie apart.
[[nodiscard]] inline double spread_percent(std::vector<double> const& samples) {
    auto const middle = median(samples);
    return middle > 0.0 ? 100.0 * (quantile(samples, 0.75) - quantile(samples, 0.25)) / middle
                        : 0.0;
}

}  // namespace component_benchmark
