// user's program: read_journal, for options::resume; apart from the umbrella because it reads JSON
// Needs nlohmann_json; link component_benchmark::resume. Off, nothing is read.
#pragma once

#include <component_benchmark/config.hpp>

#if COMPONENT_BENCHMARK_ENABLED
#    include <component_benchmark/sink/read_journal.hpp>
#else
#    include <component_benchmark/off.hpp>
#endif
