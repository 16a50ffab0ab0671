// tests: a user's program that does not see torch: it writes a report
#include <component_benchmark/config.hpp>
#include <component_benchmark/result/document.hpp>
#include <component_benchmark/sink/json.hpp>
#include <component_benchmark/version.hpp>

#include <cstdio>

#if !COMPONENT_BENCHMARK_ENABLED
#    error "the target says whether the library is on"
#endif

namespace cb = component_benchmark;

int main() {
    cb::document report;
    report.nodes.resize(1);
    report.nodes[0].type = "Model";
    auto const text = cb::to_json(report);
    std::printf("%s: %zu bytes\n", COMPONENT_BENCHMARK_VERSION, text.size());
    return text.find("\"Model\"") != std::string::npos ? 0 : 1;
}
