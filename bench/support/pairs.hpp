// Measures two things in turns, so that what the machine does meanwhile hits both alike.
#pragma once

#include <component_benchmark/core/clock.hpp>
#include <component_benchmark/core/statistics.hpp>

#include <cstdio>
#include <vector>

namespace bench {

struct pair_of_times {
    double base_ns = 0.0;        ///< median of one repetition of the first
    double other_ns = 0.0;       ///< median of one repetition of the second
    double difference_ns = 0.0;  ///< median of the differences within a round
    double ratio = 0.0;          ///< median of the ratios within a round
};

template<class Run>
[[nodiscard]] double nanoseconds(Run& run, int repetitions) {
    auto const start = component_benchmark::steady_nanoseconds();
    for (int repetition = 0; repetition < repetitions; ++repetition)
        run();
    return static_cast<double>(component_benchmark::steady_nanoseconds() - start) / repetitions;
}

/// `rounds` rounds of `repetitions` of each, after one round that does not count.
template<class Base, class Other>
[[nodiscard]] pair_of_times in_turns(Base base, Other other, int rounds, int repetitions) {
    std::vector<double> bases;
    std::vector<double> others;
    std::vector<double> differences;
    std::vector<double> ratios;
    for (int round = -1; round < rounds; ++round) {
        // the order changes, so that neither profits from going second
        auto const early = round % 2 == 0 ? nanoseconds(other, repetitions) : 0.0;
        auto const first = nanoseconds(base, repetitions);
        auto const second = round % 2 == 0 ? early : nanoseconds(other, repetitions);
        if (round < 0)
            continue;
        bases.push_back(first);
        others.push_back(second);
        differences.push_back(second - first);
        ratios.push_back(second / first);
    }
    using component_benchmark::median;
    return {median(bases), median(others), median(differences), median(ratios)};
}

/// One row of the table that bench/run.sh puts together.
inline void row(char const* what, char const* value, char const* goal, bool reached) {
    std::printf("| %s | %s | %s | %s |\n", what, value, goal, reached ? "yes" : "no");
    std::fflush(stdout);
}

/// Keeps the compiler from dropping what nobody reads.
template<class T>
void keep(T const& value) {
    asm volatile("" : : "r"(&value) : "memory");
}

}  // namespace bench
