// user's program: everything, with one include
// Off (COMPONENT_BENCHMARK_ENABLED=0) the same names leave nothing in the object code.
#pragma once

#include <component_benchmark/config.hpp>
#include <component_benchmark/version.hpp>

#if COMPONENT_BENCHMARK_ENABLED
#    include <component_benchmark/concepts.hpp>
#    include <component_benchmark/core/step_ledger.hpp>
#    include <component_benchmark/device/peaks_of.hpp>
#    include <component_benchmark/hook/forward.hpp>
#    include <component_benchmark/pipeline/pipeline.hpp>
#    include <component_benchmark/pipeline/schedule.hpp>
#    include <component_benchmark/profile/cold_latency.hpp>
#    include <component_benchmark/profile/device_time.hpp>
#    include <component_benchmark/profile/in_context.hpp>
#    include <component_benchmark/profile/latency.hpp>
#    include <component_benchmark/profile/model_size.hpp>
#    include <component_benchmark/profile/profilers.hpp>
#    include <component_benchmark/provider/provide.hpp>
#    include <component_benchmark/result/report.hpp>
#    include <component_benchmark/sink/journal.hpp>
#    include <component_benchmark/sink/json.hpp>
#    include <component_benchmark/sink/table.hpp>
#else
#    include <component_benchmark/hook/forward.hpp>
#    include <component_benchmark/off.hpp>
#endif
