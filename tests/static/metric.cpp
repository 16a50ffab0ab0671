// Units do not mix, names are those of the report schema.
#include <component_benchmark/core/metric.hpp>
#include <component_benchmark/core/node.hpp>

#include <type_traits>

namespace cb = component_benchmark;

using time = cb::metric<cb::milliseconds>;
using size = cb::metric<cb::megabytes>;

static_assert(!std::is_convertible_v<time, size>);
static_assert(!std::is_assignable_v<time&, size>);
static_assert(!std::is_constructible_v<size, time>);
static_assert(!std::is_convertible_v<time, double>,
              "a number that may be missing has to be asked for");
static_assert(!std::is_convertible_v<time, bool>);
static_assert(std::is_same_v<decltype(time{1.0}.value()), double>);
static_assert(std::is_same_v<decltype(cb::metric<cb::count>{1}.value()), std::int64_t>);
static_assert(std::is_nothrow_move_constructible_v<time>);

static_assert(time::rule == cb::aggregate::none);
static_assert(cb::metric<cb::megabytes, cb::aggregate::maximum>::rule == cb::aggregate::maximum);

static_assert(cb::name_of(cb::origin::measured) == "measured");
static_assert(cb::name_of(cb::origin::unavailable) == "unavailable");
static_assert(cb::name_of(cb::aggregate::maximum) == "max");
static_assert(cb::name_of(cb::status::not_called) == "not_called");
static_assert(cb::name_of(cb::status::opaque) == "opaque");
