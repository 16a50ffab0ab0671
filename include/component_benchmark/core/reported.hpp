// PROFILE -> result, off: what a report has of a profiler's result
#pragma once

namespace component_benchmark {

namespace detail {

template<class Profiler>
struct reported_of {
    using type = typename Profiler::result;
};
template<class Profiler>
requires requires {
    typename Profiler::reported;
}
struct reported_of<Profiler> {
    using type = typename Profiler::reported;
};

}  // namespace detail

/// A result with members that are no metrics is not put together again from the report: its
/// profiler names a type without them, `using reported = my_metrics;`.
template<class Profiler>
using reported_result = typename detail::reported_of<Profiler>::type;

}  // namespace component_benchmark
