#include "support/catch2.hpp"
#include <component_benchmark/core/sample_groups.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace cb = component_benchmark;

namespace {

/// Numbers that are the same with every compiler, other than those of <random>'s distributions.
class numbers {
public:
    explicit numbers(std::uint64_t seed) : random_{seed} {}

    double uniform() { return static_cast<double>(random_() >> 11U) * 0x1p-53; }
    double exponential() { return -std::log1p(-uniform()); }
    double normal() {  // Box and Muller
        return std::sqrt(2.0 * exponential()) * std::cos(6.283185307179586 * uniform());
    }

private:
    std::mt19937_64 random_;
};

/// What a small kernel takes whose threads wait for a tick of 8 ms now and then.
std::vector<double> ticking(numbers& draw, std::size_t size, double often = 0.3) {
    std::vector<double> samples;
    for (std::size_t i = 0; i < size; ++i) {
        auto const which = draw.uniform();
        auto const ticks = which < often ? (which < 0.4 * often ? 16.0 : 8.0) : 0.0;
        samples.push_back(ticks + 0.03 * std::exp(0.2 * draw.normal()) + 0.02 * draw.exponential());
    }
    return samples;
}

/// Shapes that latencies of an undisturbed machine have: a floor, and a longer or shorter tail.
double skewed(int shape, numbers& draw) {
    switch (shape) {
        case 0:
            return std::exp(0.05 * draw.normal());
        case 1:
            return std::exp(draw.normal());
        case 2:
            return 1.0 + 0.1 * draw.exponential();
        case 3:
            return draw.exponential();
        case 4:
            return 1.0 + draw.uniform();
        case 5:
            return 1.0 + 0.05 * std::exp(draw.normal());
        default:
            return 1.0 + 0.05 * (std::pow(1.0 - draw.uniform(), -0.5) - 1.0);
    }
}

}  // namespace

TEST_CASE("samples that jump by ticks of the scheduler lie in groups", "[groups]") {
    // the pattern of two OpenMP threads on two busy cores, a kernel of 0.03 ms
    auto const busy = cb::groups_of<double>(
        {0.031, 0.029, 8.021, 0.030, 0.034, 16.012, 8.034, 0.029, 0.033, 8.017, 0.041,  0.030,
         8.026, 0.029, 16.03, 0.031, 0.030, 8.019,  0.036, 0.030, 8.02,  0.032, 16.018, 0.029});
    REQUIRE(busy.size() == 3);
    CHECK(busy[0] == Approx(0.03).epsilon(0.1));
    CHECK(busy[1] == Approx(8.02).epsilon(0.01));
    CHECK(busy[2] == Approx(16.02).epsilon(0.01));

    numbers draw{3};
    for (std::size_t const size : {std::size_t{50}, std::size_t{200}, std::size_t{500}})
        for (int round = 0; round < 50; ++round)
            CHECK(cb::groups_of(ticking(draw, size)).size() >= 2);
    for (int round = 0; round < 50; ++round)
        CHECK(cb::groups_of(ticking(draw, 500)).size() == 3);
}

TEST_CASE("two groups that are as large as each other are found at half their distance",
          "[groups]") {
    numbers draw{4};
    std::vector<double> samples;
    for (int i = 0; i < 200; ++i)
        samples.push_back((i % 2 == 0 ? 1.0 : 1.3) * std::exp(0.03 * draw.normal()));
    auto const found = cb::groups_of(samples);
    REQUIRE(found.size() == 2);
    CHECK(found[1] / found[0] == Approx(1.3).epsilon(0.02));
}

TEST_CASE("a skewed distribution is one group, however long its tail", "[groups]") {
    numbers draw{1};
    for (int shape = 0; shape < 7; ++shape)
        for (std::size_t const size : {6U, 8U, 12U, 20U, 50U, 200U, 500U}) {
            constexpr int rounds = 200;
            int split = 0;
            for (int round = 0; round < rounds; ++round) {
                std::vector<double> samples(size);
                for (auto& sample : samples)
                    sample = skewed(shape, draw);
                split += cb::groups_of(samples).size() > 1 ? 1 : 0;
            }
            INFO("shape " << shape << ", " << size << " samples");
            CHECK(split <= rounds / 50);
        }
}

TEST_CASE("the steps of a clock are no groups", "[groups]") {
    std::vector<double> samples;
    for (int i = 0; i < 100; ++i)
        samples.push_back(i % 3 == 0 ? 0.0001 : 0.0002);  // a clock of 100 ns
    CHECK(cb::groups_of(samples).size() == 1);
}

TEST_CASE("a few outliers are no group, nor is what is not a time", "[groups]") {
    std::vector<double> samples(50, 1.0);
    samples[3] = 90.0;
    samples[30] = 91.0;
    CHECK(cb::groups_of(samples).size() == 1);
    constexpr auto infinite = std::numeric_limits<double>::infinity();
    constexpr auto nan = std::numeric_limits<double>::quiet_NaN();
    CHECK(cb::groups_of<double>({1, 1, 1, 1, infinite, nan, 0.0, -3.0}) == std::vector<double>{1});
    CHECK(cb::groups_of<double>({}).empty());
    CHECK(cb::groups_of<double>({0.0, -1.0}).empty());
}
