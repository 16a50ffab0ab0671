// everywhere: the version, written once; CMake reads it from here
#pragma once

#define COMPONENT_BENCHMARK_VERSION_MAJOR 0
#define COMPONENT_BENCHMARK_VERSION_MINOR 1
#define COMPONENT_BENCHMARK_VERSION_PATCH 0
#define COMPONENT_BENCHMARK_VERSION "0.1.0"
