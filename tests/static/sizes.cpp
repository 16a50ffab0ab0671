// What costs nothing is nothing: plugins without members, and their lists.
#include <component_benchmark/core/lists.hpp>
#include <component_benchmark/core/needs.hpp>
#include <component_benchmark/core/options.hpp>
#include <component_benchmark/pipeline/pipeline.hpp>

#include <type_traits>

namespace cb = component_benchmark;

struct shows_nothing {
    static constexpr char const* name = "shows_nothing";
    void write(cb::document const&) {}
};

static_assert(std::is_empty_v<cb::needs<shows_nothing>>);
static_assert(std::is_empty_v<cb::milliseconds>);
static_assert(std::is_empty_v<decltype(cb::sinks{shows_nothing{}}.plugins)>);
static_assert(std::is_empty_v<cb::preprocessors<>> && std::is_empty_v<cb::profilers<>>);

using empty_pipeline = cb::pipeline<cb::preprocessors<>, cb::profilers<>, cb::sinks<>>;
using quiet_pipeline = cb::pipeline<cb::preprocessors<>, cb::profilers<>, cb::sinks<shows_nothing>>;
static_assert(sizeof(empty_pipeline) == sizeof(quiet_pipeline));
