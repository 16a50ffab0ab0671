// A sink: a line for each component, its path and its time, for a spreadsheet.
#pragma once

#include <component_benchmark/core/error.hpp>
#include <component_benchmark/profile/latency.hpp>
#include <component_benchmark/result/document.hpp>

#include <fstream>
#include <string>

namespace plugins {

namespace cb = component_benchmark;

struct times_file {
    static constexpr char const* name = "times_file";
    using needs = cb::needs<cb::latency>;  // a pipeline without it does not compile
    std::string path;

    void write(cb::document const& report) const {
        std::ofstream file{path};
        auto const& times = *report.find("latency_ms");
        for (std::size_t row = 0; row < report.nodes.size(); ++row)
            if (times.cells[row].has_value())
                file << report.nodes[row].path << '\t' << times.cells[row].number() << '\n';
        if (!file.flush())
            throw cb::error{"cannot write the times to '" + path + "'"};
    }
};

}  // namespace plugins
