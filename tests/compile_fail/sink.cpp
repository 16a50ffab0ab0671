// A wrong sink is refused with a sentence.
// WITHOUT_NAME
//     a sink needs a name: write `static constexpr char const* name = "my_sink";`
// WITHOUT_WRITE
//     a sink needs a function that takes the report: write `void write(cb::document const& report)`
// WRITES_SOMETHING_ELSE
//     a sink needs a function that takes the report: write `void write(cb::document const& report)`
// BEGINS_WITH_SOMETHING_ELSE
//     a sink's begin takes the report: write `void begin(cb::document const& report)`
// IS_DONE_WITHOUT_ROW
//     a sink is told of a finished component by the report and a row: write `void component_done(
// IS_DONE_WITH_SOMETHING_ELSE
//     a sink is told of a finished component by the report and a row: write `void component_done(
// NEED_IS_MISSING
//     a sink shows a metric that nobody measures: add the profiler that its `needs` names to
#include "support/fake_model.hpp"
#include <component_benchmark/pipeline/pipeline.hpp>
#include <component_benchmark/profile/latency.hpp>

#include <cstddef>
#include <string>

namespace cb = component_benchmark;

struct slowest {
#ifndef WITHOUT_NAME
    static constexpr char const* name = "slowest";
#endif
    using needs = cb::needs<cb::latency>;
#if defined(WRITES_SOMETHING_ELSE)
    void write(std::string const&) const {}
#elif !defined(WITHOUT_WRITE)
    void write(cb::document const&) const {}
#endif
#ifdef BEGINS_WITH_SOMETHING_ELSE
    void begin(std::string const&) {}
#else
    void begin(cb::document const&) {}
#endif
#if defined(IS_DONE_WITHOUT_ROW)
    void component_done(cb::document const&) {}
#elif defined(IS_DONE_WITH_SOMETHING_ELSE)
    void component_done(cb::document const&, std::string const&) {}
#else
    void component_done(cb::document const&, std::size_t) {}
#endif
};

auto profilers() {
#ifdef NEED_IS_MISSING
    return cb::profilers{};
#else
    return cb::profilers{cb::latency{}};
#endif
}

void profile(fake::provider& model) {
    auto pipeline = cb::pipeline{cb::preprocessors{}, profilers(), cb::sinks{slowest{}}};
    static_cast<void>(pipeline.run(model));
}
