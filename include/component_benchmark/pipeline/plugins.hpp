// plugins -> PIPELINE: all of one kind, one after the other
#pragma once

#include <tuple>

namespace component_benchmark::detail {

template<class Tuple, class Visit>
void for_each_in(Tuple& plugins, Visit visit) {
    std::apply([&](auto&... plugin) { (visit(plugin), ...); }, plugins);
}

/// Whether a profiler may run a component backwards: any may but one that has a member `backward`
/// and has it false.
template<class Profiler>
[[nodiscard]] constexpr bool goes_back(Profiler const& one) {
    if constexpr (requires { static_cast<bool>(one.backward); })
        return one.backward;
    else
        return true;
}

template<class Profilers>
[[nodiscard]] bool any_goes_back(Profilers const& all) {
    return std::apply([](auto const&... one) { return (goes_back(one) || ...); }, all);
}

}  // namespace component_benchmark::detail
