// profile -> result: a metric of single calls, beside the one of the row
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace component_benchmark {

/// A profiler's result may have a member `std::vector<by_call> by_call` besides its metrics: what
/// one of them (`metric` is its name) is for calls that are alike, with the raw samples.
struct by_call {
    std::string metric;
    std::vector<std::size_t> calls;  ///< positions among the calls of the report
    double value = 0.0;
    std::vector<double> samples;
};

}  // namespace component_benchmark
