// capture -> profile: what a call took in the step that it is a part of
#pragma once

#include <cstddef>
#include <string>

namespace component_benchmark {

/// One call in one of the model's own steps: not alone, and with the rest of the step around it.
struct context_time {
    std::size_t call = 0;  ///< its position among the calls of the report
    double forward_ms = 0.0;
    double backward_ms = 0.0;  ///< of the autograd nodes that it made
};

/// Why there are none, each empty where there are.
struct no_context_reasons {
    std::string forward;
    std::string backward;
};

}  // namespace component_benchmark
