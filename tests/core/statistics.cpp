#include "support/catch2.hpp"
#include <component_benchmark/core/statistics.hpp>

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
