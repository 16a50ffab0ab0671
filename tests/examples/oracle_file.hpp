// tests of the examples: the file in which the Python originals' numbers stand
#pragma once

#include <nlohmann/json.hpp>

#include <fstream>
#include <string>

namespace test_support {

inline std::string const oracle_folder = std::string{COMPONENT_BENCHMARK_TEST_DATA} + "/oracle/";

/// The modules of a model in oracle.json, in order.
[[nodiscard]] inline nlohmann::json oracle_rows(std::string const& model) {
    std::ifstream file{oracle_folder + "oracle.json"};
    return nlohmann::json::parse(file).at("models").at(model).at("modules");
}

}  // namespace test_support
