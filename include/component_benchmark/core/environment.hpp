// provider -> result: what the numbers were measured on
#pragma once

#include <component_benchmark/core/step_times.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace component_benchmark {

class time_budget;

struct environment {
    std::string libtorch;
    std::string device;
    std::int64_t threads = 0;
    std::string gradients;  ///< of the outputs in a backward: "captured" from a loss, or "ones"
    std::vector<std::string> warnings;
    std::string device_kind = "cpu";  ///< "cuda" of a device "cuda:0"
    step_times step = {};             ///< one of the program's own, if it gave any
    /// Of the run, given by the pipeline; a profiler that repeats its work joins it in `begin` and
    /// asks it for a turn in each component. Null: take as long as you need.
    time_budget* budget = nullptr;
};

}  // namespace component_benchmark
