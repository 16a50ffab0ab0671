// user's program -> HOOK -> capture: the macros that make a user's own module visible
// Off, they check their arguments and leave nothing in the object code.
#pragma once

#include <component_benchmark/config.hpp>
#include <component_benchmark/hook/components.hpp>
#include <component_benchmark/hook/region.hpp>
#include <component_benchmark/hook/state.hpp>

#if COMPONENT_BENCHMARK_ENABLED

#    include <component_benchmark/hook/for_each.hpp>
#    include <component_benchmark/hook/record.hpp>

/// First statement of a member function `method` of a module, with the names of all its parameters:
/// while a profile captures, the call is recorded; at any other time it costs one branch.
/// The function needs a written return type. What stands before the macro would run twice while a
/// profile captures, so let nothing stand before it.
#    define COMPONENT_BENCHMARK_CALL(method, ...)                                                  \
        if (auto* const cb_recorder = ::component_benchmark::hook::listener(*this)) [[unlikely]] { \
            using cb_self [[maybe_unused]] = ::std::remove_reference_t<decltype(*this)>;           \
            using cb_class [[maybe_unused]] = ::std::remove_cv_t<cb_self>;                         \
            auto const cb_again = [](cb_self& cb_object, auto&&... cb_values) -> decltype(auto) {  \
                return cb_object.cb_class::method(                                                 \
                    static_cast<decltype(cb_values)&&>(cb_values)...);                             \
            };                                                                                     \
            if (::component_benchmark::hook::is_new_call(*cb_recorder, *this, cb_again))           \
                return ::component_benchmark::hook::record(                                        \
                    *cb_recorder, *this, cb_again,                                                 \
                    ::component_benchmark::hook::signature<COMPONENT_BENCHMARK_DECLTYPES(          \
                        __VA_ARGS__)> {} __VA_OPT__(, ) __VA_ARGS__);                              \
        }                                                                                          \
        static_assert(true, "a semicolon follows")

#else

namespace component_benchmark {

// What a program specialises or takes when arguments are of types that are not known; nobody asks.
template<class Argument>
inline constexpr bool safe_to_replay = false;
template<class Argument>
struct tensor_access {};
struct tensor_visitor {
    template<class Tensor>
    constexpr void operator()(Tensor&) const noexcept {}
};

}  // namespace component_benchmark

namespace component_benchmark::hook {

// C-variadic and not a template: with a template g++ -O0 swaps operands in the surrounding code.
char discard(...) noexcept;

}  // namespace component_benchmark::hook

#    define COMPONENT_BENCHMARK_CALL(method, ...) \
        static_cast<void>(sizeof(::component_benchmark::hook::discard(__VA_ARGS__)))

#endif

/// `COMPONENT_BENCHMARK_CALL` for a method that is called `forward`, as nearly all are.
#define COMPONENT_BENCHMARK_FORWARD(...) \
    COMPONENT_BENCHMARK_CALL(forward __VA_OPT__(, ) __VA_ARGS__)

#if COMPONENT_BENCHMARK_SHORT_MACROS
#    define CB_FORWARD(...) COMPONENT_BENCHMARK_FORWARD(__VA_ARGS__)
#    define CB_CALL(...) COMPONENT_BENCHMARK_CALL(__VA_ARGS__)
#endif
