// profile -> pipeline -> result: what a profiler has to say of the run as a whole
#pragma once

#include <component_benchmark/core/peaks.hpp>

#include <string>
#include <utility>
#include <vector>

namespace component_benchmark {

/// A profiler may have a member `void tell(run_notes&)`, asked when the last component is finished.
struct run_notes {
    /// How a number is to be read, e.g. {"flops", "strict"}. They stand in the head of every
    /// output.
    std::vector<std::pair<std::string, std::string>> conventions = {};
    device_peaks peaks = {};
    std::vector<std::string> warnings;
};

}  // namespace component_benchmark
