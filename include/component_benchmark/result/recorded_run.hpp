// journal -> RESULT -> pipeline: a run that did not come to its end, and what it has measured
#pragma once

#include <component_benchmark/result/document.hpp>

#include <string>
#include <vector>

namespace component_benchmark {

/// What a journal says. Where its run ended before it was written, there are neither nodes nor
/// columns, and nothing is finished.
struct recorded_run {
    std::string path;      ///< of the journal
    document report = {};  ///< what the run was to be; rows that are not finished have no cells
    std::vector<bool> finished = {};        ///< one a node
    std::vector<std::string> remarks = {};  ///< what could not be read
};

}  // namespace component_benchmark
