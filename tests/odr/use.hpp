// What both translation units do: everything that does not see torch, instantiated with one type.
#pragma once

#include "support/fake_model.hpp"
#include <component_benchmark/pipeline/pipeline.hpp>
#include <component_benchmark/profile/latency.hpp>
#include <component_benchmark/profile/model_size.hpp>
#include <component_benchmark/sink/json.hpp>
#include <component_benchmark/sink/table.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace odr {

struct sizes {
    std::size_t table = 0;
    std::size_t json = 0;
    void const* clock = nullptr;
    bool operator==(sizes const&) const = default;
};

[[nodiscard]] inline sizes measure() {
    namespace cb = component_benchmark;
    fake::provider provider;
    auto const root = provider.captured.add(cb::node::none, "");
    provider.captured.add(static_cast<std::ptrdiff_t>(root), "layer", 2);
    fake::now = 0;
    auto pipeline =
        cb::pipeline{cb::preprocessors{},
                     cb::profilers{cb::model_size{},
                                   cb::latency{.clock = &fake::clock, .processor = &fake::clock}},
                     cb::sinks{cb::json{""}}};
    auto report = pipeline.run(provider);
    auto document = report.document();
    document.facts.created = "";
    return {cb::to_table(document, 80).size(), cb::to_json(document).size(),
            reinterpret_cast<void const*>(&cb::steady_nanoseconds)};
}

}  // namespace odr

odr::sizes first_unit();
odr::sizes second_unit();
