// A component with one call, for providers whose components are plain functions.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace plugins {

/// The component, its only group of calls, and the replay of that call.
struct one_call {
    std::string name;
    std::function<void()> function;

    std::string path() const { return {}; }
    std::string type() const { return name; }
    std::vector<one_call> calls() const { return {*this}; }
    std::string why_no_calls() const { return {}; }
    std::vector<int> parameters() const { return {}; }
    std::vector<int> buffers() const { return {}; }
    int preserve_arguments() const { return 0; }

    std::int64_t count() const { return 1; }
    std::vector<std::size_t> members() const { return {0}; }
    one_call replay() const { return *this; }

    void prepare() const {}
    void forward() const { function(); }
    bool prepare_backward() const { return false; }
    std::string why_no_backward() const { return "no output requires a gradient"; }
    void backward() const {}
    void release() const {}
};

}  // namespace plugins
