// tests: a user's program that does not see torch
#include <component_benchmark/config.hpp>
#include <component_benchmark/version.hpp>

#include <boost/hana/tuple.hpp>
#include <fmt/format.h>

#include <cstdio>

#if !COMPONENT_BENCHMARK_ENABLED
#    error "the target says whether the library is on"
#endif

int main() {
    std::puts(fmt::format("{}", COMPONENT_BENCHMARK_VERSION).c_str());
}
