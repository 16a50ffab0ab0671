// PIPELINE: every list is checked here, at the door, with sentences
#pragma once

#include <component_benchmark/concepts.hpp>

#include <boost/hana/all_of.hpp>
#include <boost/hana/second.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace component_benchmark::detail {

template<class... T>
struct type_list {};

template<class Wanted, class... T>
inline constexpr bool is_among = (std::is_same_v<Wanted, T> || ...);

template<class Wanted, class... T>
constexpr bool contains(type_list<T...>) {
    return is_among<Wanted, T...>;
}

template<class Plugin>
struct needs_of {
    using type = component_benchmark::needs<>;
};
template<class Plugin>
requires requires {
    typename Plugin::needs;
}
struct needs_of<Plugin> {
    using type = typename Plugin::needs;
};

template<class Result>
constexpr bool all_metrics() {
    constexpr auto is_metric_field = [](auto pair) {
        using field = decltype(boost::hana::second(pair)(std::declval<Result&>()));
        return boost::hana::bool_c<requirement::is_metric<std::remove_cvref_t<field>>>;
    };
    return decltype(boost::hana::all_of(boost::hana::accessors<Result>(), is_metric_field))::value;
}

template<class Profiler, class... Needed>
constexpr bool profiles(component_benchmark::needs<Needed...>) {
    return requires(Profiler & profiler, component_archetype & one,
                    typename Needed::result const&... needed) {
        { profiler.profile(one, needed...) } -> std::same_as<typename Profiler::result>;
    };
}

template<class... Needed, class Before>
constexpr bool all_before(component_benchmark::needs<Needed...>, [[maybe_unused]] Before before) {
    return (contains<Needed>(before) && ...);
}

template<class Plugin, std::size_t Position>
struct check_preprocessor {
    static_assert(requirement::named<Plugin>,
                  "component_benchmark: a preprocessor needs a name: write `static constexpr char "
                  "const* name = \"my_preprocessor\";`");
    static constexpr bool applies = requires(Plugin & plugin, component_archetype& one) {
        requires !std::is_void_v<decltype(plugin.apply(one))>;
    };
    static_assert(
        applies,
        "component_benchmark: a preprocessor needs a function that gives a guard, an object "
        "whose destructor undoes what was done: write `template<class Component> my_guard "
        "apply(Component& component)`");
    static constexpr bool value = true;
};

template<class Plugin, std::size_t Position, class Before>
struct check_profiler {
    static_assert(
        requirement::named<Plugin>,
        "component_benchmark: a profiler needs a name: write `static constexpr char const* "
        "name = \"my_profiler\";`");
    static_assert(requirement::has_result<Plugin>,
                  "component_benchmark: a profiler needs a result: write `struct result { "
                  "BOOST_HANA_DEFINE_STRUCT(result, (cb::metric<cb::milliseconds>, my_ms)); };`");
    static constexpr bool described = [] {
        if constexpr (requirement::has_result<Plugin>)
            return requirement::described_result<Plugin>;
        else
            return true;
    }();
    static_assert(
        described,
        "component_benchmark: a profiler's result must name its fields: write "
        "`BOOST_HANA_DEFINE_STRUCT(result, (cb::metric<cb::milliseconds>, my_ms));` in it");
    static constexpr bool of_metrics = [] {
        if constexpr (requirement::has_result<Plugin>)
            if constexpr (requirement::described_result<Plugin>)
                return all_metrics<typename Plugin::result>();
        return true;
    }();
    static_assert(of_metrics,
                  "component_benchmark: every described field of a profiler's result must be a "
                  "cb::metric<Unit>");
    using needed = typename needs_of<Plugin>::type;
    static_assert(
        all_before(needed{}, Before{}),
        "component_benchmark: a profiler needs another one that does not stand before it: "
        "add what its `needs` names to cb::profilers{...}, before it");
    static constexpr bool callable = [] {
        if constexpr (requirement::has_result<Plugin>)
            return profiles<Plugin>(needed{});
        else
            return true;
    }();
    static_assert(callable,
                  "component_benchmark: a profiler needs a function that gives its result: write "
                  "`template<class Component> result profile(Component& component)`, and take "
                  "`typename Needed::result const&` for each profiler in its `needs`");
    static constexpr bool value = true;
};

template<class Plugin, std::size_t Position, class Profilers>
struct check_sink {
    static_assert(
        requirement::named<Plugin>,
        "component_benchmark: a sink needs a name: write `static constexpr char const* name "
        "= \"my_sink\";`");
    static_assert(requirement::writes<Plugin>,
                  "component_benchmark: a sink needs a function that takes the report: write `void "
                  "write(cb::document const& report)`");
    static_assert(
        requirement::opens<Plugin> || !requires { &Plugin::begin; },
        "component_benchmark: a sink's begin takes the report: write `void "
        "begin(cb::document const& report)`");
    static_assert(
        requirement::follows<Plugin> || !requires { &Plugin::component_done; },
        "component_benchmark: a sink is told of a finished component by the report and a "
        "row: write `void component_done(cb::document const& report, std::size_t row)`");
    static_assert(
        all_before(typename needs_of<Plugin>::type{}, Profilers{}),
        "component_benchmark: a sink shows a metric that nobody measures: add the profiler "
        "that its `needs` names to cb::profilers{...}");
    static constexpr bool value = true;
};

/// Checks each profiler against those that stand before it.
template<std::size_t Position, class... Before>
constexpr bool check_profilers(type_list<Before...>, type_list<>) {
    return true;
}
template<std::size_t Position, class... Before, class First, class... Rest>
constexpr bool check_profilers(type_list<Before...>, type_list<First, Rest...>) {
    static_assert(!contains<First>(type_list<Before...>{}),
                  "component_benchmark: a profiler stands twice in cb::profilers{...}");
    return check_profiler<First, Position, type_list<Before...>>::value &&
           check_profilers<Position + 1>(type_list<Before..., First>{}, type_list<Rest...>{});
}

template<class... Preprocessor, std::size_t... Position>
constexpr bool check_preprocessors(type_list<Preprocessor...>, std::index_sequence<Position...>) {
    return (check_preprocessor<Preprocessor, Position>::value && ...);
}

template<class Profilers, class... Sink, std::size_t... Position>
constexpr bool check_sinks(Profilers, type_list<Sink...>, std::index_sequence<Position...>) {
    return (check_sink<Sink, Position, Profilers>::value && ...);
}

}  // namespace component_benchmark::detail
