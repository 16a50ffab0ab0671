// A profiler: what the first run of a component costs, before anything is warm.
#pragma once

#include <component_benchmark/concepts.hpp>
#include <component_benchmark/core/clock.hpp>
#include <component_benchmark/result/columns.hpp>

#include <boost/hana/define_struct.hpp>

namespace plugins {

namespace cb = component_benchmark;

struct cold_start {
    static constexpr char const* name = "cold_start";
    cb::clock_function clock = &cb::steady_nanoseconds;

    struct result {
        BOOST_HANA_DEFINE_STRUCT(result,
                                 (cb::metric<cb::milliseconds, cb::aggregate::sum>, cold_ms));
    };

    template<class Component>
    result profile(Component& component) const {
        if (component.calls().empty())
            return cb::unavailable_result<cold_start>(component.why_no_calls());
        auto replay = component.calls().front().replay();
        replay.prepare();
        auto const begin = clock();
        replay.forward();
        return {static_cast<double>(clock() - begin) / 1e6};
    }
};

}  // namespace plugins
