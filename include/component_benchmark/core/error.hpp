// everywhere: the one exception of the library
#pragma once

#include <stdexcept>
#include <string>

namespace component_benchmark {

/// What the library throws: one sentence that names the thing and what was expected.
class error : public std::runtime_error {
public:
    explicit error(std::string const& sentence)
        : std::runtime_error{"component_benchmark: " + sentence} {}
};

}  // namespace component_benchmark
