#include "support/catch2.hpp"
#include <component_benchmark/core/statistics.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace cb = component_benchmark;

TEST_CASE("quantiles interpolate between samples", "[statistics]") {
    CHECK(cb::quantile({4, 1, 3, 2}, 0.5) == 2.5);
    CHECK(cb::quantile({4, 1, 3, 2}, 0.0) == 1.0);
    CHECK(cb::quantile({4, 1, 3, 2}, 1.0) == 4.0);
    CHECK(cb::quantile({1, 2, 3, 4}, 0.25) == 1.75);  // NumPy's default gives the same
    CHECK(cb::median({7}) == 7.0);
    CHECK(cb::median({}) == 0.0);
}

TEST_CASE("the spread is the quartile distance relative to the median", "[statistics]") {
    CHECK(cb::spread_percent({1, 2, 3, 4, 5}) == Approx(100.0 * 2.0 / 3.0));
    CHECK(cb::spread_percent({2, 2, 2}) == 0.0);
    CHECK(cb::spread_percent({}) == 0.0);
}

TEST_CASE("a difference that is too large for 64 bits is the largest", "[statistics]") {
    constexpr auto least = (std::numeric_limits<std::int64_t>::min)();
    constexpr auto most = (std::numeric_limits<std::int64_t>::max)();
    STATIC_REQUIRE(cb::saturating_difference(5, 3) == 2);
    STATIC_REQUIRE(cb::saturating_difference(3, 5) == -2);
    STATIC_REQUIRE(cb::saturating_difference(most, -1) == most);
    STATIC_REQUIRE(cb::saturating_difference(least, 1) == least);
    STATIC_REQUIRE(cb::saturating_difference(-1, most) == least);
}

// The ranks that tables of the sign test give for 95 %, e.g. of 20 samples the 6th and the 15th.
TEST_CASE("the interval of the median has the ranks of the binomial distribution", "[statistics]") {
    CHECK_FALSE(cb::outside_interval(0).has_value());
    CHECK_FALSE(cb::outside_interval(5).has_value());
    CHECK(cb::outside_interval(6) == 0U);
    CHECK(cb::outside_interval(8) == 0U);
    CHECK(cb::outside_interval(9) == 1U);
    CHECK(cb::outside_interval(20) == 5U);
    CHECK(cb::outside_interval(50) == 17U);
    CHECK(cb::outside_interval(100) == 39U);
    for (std::size_t n = 6; n < 3000; ++n) {  // the two ways to find it meet
        auto const here = *cb::outside_interval(n);
        auto const next = *cb::outside_interval(n + 1);
        CHECK((next == here || next == here + 1));
    }
}

TEST_CASE("the interval is made of two of the samples", "[statistics]") {
    std::vector<double> samples;
    for (int i = 0; i < 20; ++i)
        samples.push_back((i * 7) % 20 + 1.0);  // 1 to 20, mixed
    auto const found = cb::median_interval(samples);
    REQUIRE(found.has_value());
    CHECK(found->low == 6.0);
    CHECK(found->high == 15.0);
    CHECK(cb::median_error_percent(samples).value() == Approx(100.0 * 4.5 / 10.5));
    CHECK_FALSE(cb::median_interval({1, 2, 3, 4, 5}).has_value());
    CHECK(cb::median_error_percent({2, 2, 2, 2, 2, 2}).value() == 0.0);
    CHECK_FALSE(cb::median_error_percent({0, 0, 0, 0, 0, 0}).has_value());
    CHECK_FALSE(cb::median_error_percent({-1, -1, -1, -1, -1, -1}).has_value());
}

TEST_CASE("the interval encloses the median of a skewed distribution as often as it says",
          "[statistics]") {
    std::mt19937_64 random{5};
    for (std::size_t const n : {7U, 24U, 1200U}) {
        constexpr int rounds = 1000;
        int enclosed = 0;
        for (int round = 0; round < rounds; ++round) {
            std::vector<double> samples(n);
            for (auto& sample : samples)  // exponential, so its median is ln 2
                sample = -std::log1p(-static_cast<double>(random() >> 11U) * 0x1p-53);
            auto const found = *cb::median_interval(samples);
            enclosed += found.low <= std::log(2.0) && std::log(2.0) <= found.high ? 1 : 0;
        }
        CHECK(enclosed > 0.935 * rounds);
    }
}

TEST_CASE("drift is what the second half takes more than the first", "[statistics]") {
    std::vector<double> samples;
    for (int i = 0; i < 40; ++i)
        samples.push_back((i < 20 ? 1.0 : 1.1) + 0.001 * (i % 5));
    CHECK(cb::drift_percent(samples).value() == Approx(10.0).margin(0.1));
    std::reverse(samples.begin(), samples.end());
    CHECK(cb::drift_percent(samples).value() == Approx(-9.1).margin(0.1));
    for (int i = 0; i < 40; ++i)
        samples[static_cast<std::size_t>(i)] = 1.0 + 0.001 * (i % 5);
    CHECK_FALSE(cb::drift_percent(samples).has_value());
    CHECK_FALSE(cb::drift_percent({1, 1, 1, 2, 2, 2}).has_value());  // too few
}
