// everywhere: the switches of the build, in one place
// The CMake target sets COMPONENT_BENCHMARK_ENABLED; never #define it in a source file.
#pragma once

/// 1: hooks record and pipelines measure. 0: hooks and pipelines leave nothing in the object code.
#ifndef COMPONENT_BENCHMARK_ENABLED
#    define COMPONENT_BENCHMARK_ENABLED 1
#endif

/// 1: the short names CB_FORWARD, CB_CALL are defined beside the long ones. 0: they are not.
#ifndef COMPONENT_BENCHMARK_SHORT_MACROS
#    define COMPONENT_BENCHMARK_SHORT_MACROS 1
#endif
