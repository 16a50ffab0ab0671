// tests of the examples: what the Python originals say of each module, and how to compare with it
#pragma once

#include "examples/oracle_file.hpp"
#include "support/catch2.hpp"
#include <component_benchmark/component_benchmark.hpp>

#include <nlohmann/json.hpp>

#include <torch/torch.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace test_support {

inline void add_shape(std::string& text, std::vector<std::int64_t> const& sizes) {
    text += text.empty() ? "[" : ", [";
    for (std::size_t index = 0; index < sizes.size(); ++index)
        text += (index == 0 ? "" : ", ") + std::to_string(sizes[index]);
    text += "]";
}

/// Adds the tensors of an oracle's input or output, in order; a number has the shape [].
inline void add_shapes(std::string& text, nlohmann::json const& value, bool inside = false) {
    if (value.is_object() && value.contains("KJT")) {  // keys, batch, ids
        auto const sizes = value.at("KJT").get<std::vector<std::int64_t>>();
        add_shape(text, {sizes[2]});
        add_shape(text, {sizes[0] * sizes[1] + 1});
    } else if (value.is_object()) {
        add_shapes(text, value.at("KeyedTensor"));
    } else if (value.is_array() && (value.empty() ? inside : value[0].is_number())) {
        add_shape(text, value.get<std::vector<std::int64_t>>());
    } else if (value.is_array()) {
        for (auto const& element : value)
            add_shapes(text, element, true);
    }
}

/// An oracle's input or output as the library writes it.
[[nodiscard]] inline std::string shapes_of(nlohmann::json const& value) {
    std::string text;
    add_shapes(text, value);
    return text;
}

[[nodiscard]] inline std::int64_t distinct_elements(torch::nn::Module const& module,
                                                    bool recurse = true) {
    std::vector<torch::Tensor> seen;
    std::int64_t count = 0;
    for (auto const& parameter : module.parameters(recurse)) {
        bool is_new = true;
        for (auto const& earlier : seen)
            is_new = is_new && !earlier.is_same(parameter);
        count += is_new ? parameter.numel() : 0;
        seen.push_back(parameter);
    }
    return count;
}

[[nodiscard]] inline double relative_difference(torch::Tensor const& given,
                                                torch::Tensor const& expected) {
    if (given.sizes() != expected.sizes())
        return 1e9;
    auto const scale = expected.abs().max().item<double>();
    return (given - expected).abs().max().item<double>() / (scale > 0 ? scale : 1.0);
}

/// Every row of a report against an oracle's: type, calls, parameters and shapes.
template<class Report, class TypeName>
void check_rows(Report const& report, nlohmann::json const& rows, TypeName type_name) {
    namespace cb = component_benchmark;
    CHECK(report.document().nodes.size() == rows.size());
    for (auto const& expected : rows) {
        auto const path = expected.at("path").template get<std::string>();
        INFO("'" << path << "'");
        auto const row = report[path];
        CHECK(row.facts().type == type_name(expected.at("type").template get<std::string>()));
        CHECK(row.calls() == expected.at("calls").template get<std::int64_t>());
        CHECK(row.template get<cb::model_size>().params.value() ==
              expected.at("total").template get<std::int64_t>());
        if (row.calls() == 0)
            continue;
        CHECK(row.state() == cb::status::ok);
        CHECK(row.in_shapes() == shapes_of(expected.at("inp")));
        CHECK(row.out_shapes() == shapes_of(expected.at("out")));
    }
}

/// The first elements of a module's first output, alone on what it was called with, against an
/// oracle's; gives the number of modules that were compared.
template<class Captured>
[[nodiscard]] std::size_t check_first_values(Captured& captured, nlohmann::json const& rows) {
    std::size_t compared = 0;
    captured.for_each([&](std::size_t, auto& one) {
        for (auto const& row : rows) {
            if (row.at("path") != one.path() || !row.contains("out8"))
                continue;
            INFO("'" << one.path() << "'");
            auto replay = one.calls().front().replay();
            replay.prepare();
            replay.forward();
            auto const values = row.at("out8").template get<std::vector<float>>();
            auto const first = replay.outputs().at(0).detach().flatten().slice(
                0, 0, static_cast<std::int64_t>(values.size()));
            CHECK(relative_difference(first, torch::tensor(values)) < 1e-5);
            ++compared;
        }
    });
    return compared;
}

}  // namespace test_support
