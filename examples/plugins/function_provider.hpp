// A provider: what a pipeline runs on. This one makes a plain function the only row of a report.
#pragma once

#include "plugins/one_call.hpp"
#include <component_benchmark/concepts.hpp>

#include <memory>

namespace plugins {

namespace cb = component_benchmark;

/// What a provider's `capture` gives: the rows, their calls, and each row's component in turn.
struct captured_function {
    one_call component;

    std::vector<cb::node> nodes() const {
        cb::node row;
        row.type = component.type();
        row.end = 1;
        row.calls = 1;
        row.state = cb::status::ok;
        return {row};
    }
    std::vector<cb::call> calls() const { return {cb::call{}}; }
    cb::environment environment() const { return {"none", "cpu", 1, "none", {}}; }
    cb::verification put_back() const { return {}; }
    void for_each(auto&& visit) { visit(std::size_t{0}, component); }
};

struct function_provider {
    one_call component;

    auto capture(cb::options const&) const {
        return std::make_unique<captured_function>(captured_function{component});
    }
};

}  // namespace plugins
