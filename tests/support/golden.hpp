// tests: output compared with a file that was looked at by a person
#pragma once

#include "support/catch2.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace component_benchmark::test {

[[nodiscard]] inline std::string read_file(std::string const& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
}

/// `actual` is what tests/golden/`name` holds; with COMPONENT_BENCHMARK_APPROVE=1 it is put there.
inline void check_golden(std::string const& name, std::string const& actual) {
    auto const path = std::string{COMPONENT_BENCHMARK_TEST_DATA} + "/golden/" + name;
    char const* const approve = std::getenv("COMPONENT_BENCHMARK_APPROVE");
    if (approve != nullptr && std::string_view{approve} == "1")
        std::ofstream{path, std::ios::binary} << actual;
    INFO("if the change is wanted, run this test again with COMPONENT_BENCHMARK_APPROVE=1");
    CHECK(read_file(path) == actual);
}

}  // namespace component_benchmark::test
