// A wrong profiler is refused with a sentence.
// WITHOUT_NAME
//     a profiler needs a name: write `static constexpr char const* name = "my_profiler";`
// WITHOUT_RESULT
//     a profiler needs a result: write `struct result { BOOST_HANA_DEFINE_STRUCT(result,
// RESULT_IS_UNDESCRIBED
//     a profiler's result must name its fields: write `BOOST_HANA_DEFINE_STRUCT(result,
// FIELD_IS_NO_METRIC
//     every described field of a profiler's result must be a cb::metric<Unit>
// NEED_IS_MISSING
//     a profiler needs another one that does not stand before it: add what its `needs` names
// NEED_STANDS_AFTER
//     a profiler needs another one that does not stand before it: add what its `needs` names
// WITHOUT_PROFILE
//     a profiler needs a function that gives its result: write `template<class Component> result
// PROFILE_GIVES_ANOTHER_TYPE
//     a profiler needs a function that gives its result: write `template<class Component> result
// PROFILE_TAKES_NO_NEED
//     a profiler needs a function that gives its result: write `template<class Component> result
// STANDS_TWICE
//     a profiler stands twice in cb::profilers{...}
#include "support/fake_model.hpp"
#include <component_benchmark/pipeline/pipeline.hpp>
#include <component_benchmark/profile/latency.hpp>

#include <boost/hana/define_struct.hpp>

namespace cb = component_benchmark;

struct measured {
#if defined(RESULT_IS_UNDESCRIBED)
    cb::metric<cb::count> calls_per_ms;
#elif defined(FIELD_IS_NO_METRIC)
    BOOST_HANA_DEFINE_STRUCT(measured, (double, calls_per_ms));
#else
    BOOST_HANA_DEFINE_STRUCT(measured, (cb::metric<cb::count>, calls_per_ms));
#endif
};

struct rate {
#ifndef WITHOUT_NAME
    static constexpr char const* name = "rate";
#endif
#ifndef WITHOUT_RESULT
    using result = measured;
#endif
    using needs = cb::needs<cb::latency>;
#if defined(PROFILE_GIVES_ANOTHER_TYPE)
    template<class Component>
    double profile(Component&, cb::latency::result const&) const {
        return 0.0;
    }
#elif defined(PROFILE_TAKES_NO_NEED)
    template<class Component>
    measured profile(Component&) const {
        return {};
    }
#elif !defined(WITHOUT_PROFILE)
    template<class Component>
    measured profile(Component&, cb::latency::result const&) const {
        return {};
    }
#endif
};

auto profilers() {
#if defined(NEED_IS_MISSING)
    return cb::profilers{rate{}};
#elif defined(NEED_STANDS_AFTER)
    return cb::profilers{rate{}, cb::latency{}};
#elif defined(STANDS_TWICE)
    return cb::profilers{cb::latency{}, rate{}, rate{}};
#else
    return cb::profilers{cb::latency{}, rate{}};
#endif
}

void profile(fake::provider& model) {
    auto pipeline = cb::pipeline{cb::preprocessors{}, profilers(), cb::sinks{}};
    static_cast<void>(pipeline.run(model));
}
