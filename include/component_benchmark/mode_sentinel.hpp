// everywhere: makes the linker refuse a program that is built half on and half off
// On, whatever records a hook includes this; off, the umbrella does. Not covered: a file that is
// off and includes only hook/forward.hpp, for hooks leave nothing there at all; and parts that meet
// in the dynamic linker only.
#pragma once

#include <component_benchmark/config.hpp>

#if COMPONENT_BENCHMARK_ENABLED
#    define COMPONENT_BENCHMARK_DETAIL_MODE component_benchmark_mode_on
#    define COMPONENT_BENCHMARK_DETAIL_MODE_NAME "component_benchmark_mode_on"
#else
#    define COMPONENT_BENCHMARK_DETAIL_MODE component_benchmark_mode_off
#    define COMPONENT_BENCHMARK_DETAIL_MODE_NAME "component_benchmark_mode_off"
#endif

#if defined(__ELF__)
// The linker keeps one of equal inline variables, and its alias with it. Different modes have
// different variables with an alias of one name, and that is "multiple definition".
extern "C" {
[[gnu::used, gnu::visibility("hidden")]] inline constexpr char COMPONENT_BENCHMARK_DETAIL_MODE = 0;
[[gnu::alias(COMPONENT_BENCHMARK_DETAIL_MODE_NAME), gnu::visibility("hidden")]] extern char const
    component_benchmark_translation_units_built_with_different_COMPONENT_BENCHMARK_ENABLED;
}
#endif

#undef COMPONENT_BENCHMARK_DETAIL_MODE
#undef COMPONENT_BENCHMARK_DETAIL_MODE_NAME
