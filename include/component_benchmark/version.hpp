// everywhere: the version, written once; CMake and the Conan recipe read it from here
#pragma once

#define COMPONENT_BENCHMARK_VERSION_MAJOR 0
#define COMPONENT_BENCHMARK_VERSION_MINOR 1
#define COMPONENT_BENCHMARK_VERSION_PATCH 0

#define COMPONENT_BENCHMARK_DETAIL_QUOTED(text) #text
#define COMPONENT_BENCHMARK_DETAIL_VERSION(major, minor, patch) \
    COMPONENT_BENCHMARK_DETAIL_QUOTED(major.minor.patch)

/// As text: "major.minor.patch".
#define COMPONENT_BENCHMARK_VERSION                                       \
    COMPONENT_BENCHMARK_DETAIL_VERSION(COMPONENT_BENCHMARK_VERSION_MAJOR, \
                                       COMPONENT_BENCHMARK_VERSION_MINOR, \
                                       COMPONENT_BENCHMARK_VERSION_PATCH)
