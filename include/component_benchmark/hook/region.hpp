// user's program -> HOOK -> capture: a stretch of functional code as a component of its own
#pragma once

#include <component_benchmark/config.hpp>

#if COMPONENT_BENCHMARK_ENABLED
#    include <component_benchmark/hook/record.hpp>

#    include <cstdint>
#    include <string>
#endif

namespace component_benchmark {
namespace hook {

/// Calls a function, or a member function of the first value, which may be a pointer.
template<class Function, class... Values>
decltype(auto) call(Function& function, Values&&... values) {
    return function(static_cast<Values&&>(values)...);
}
template<class Result, class Class, class Object, class... Values>
decltype(auto) call(Result Class::*function, Object&& object, Values&&... values) {
    if constexpr (requires { ((*object).*function)(static_cast<Values&&>(values)...); })
        return ((*object).*function)(static_cast<Values&&>(values)...);
    else
        return (object.*function)(static_cast<Values&&>(values)...);
}

#if COMPONENT_BENCHMARK_ENABLED

/// A module among the arguments of a region is used again by a replay, not copied.
template<class Module, bool ByPointer>
struct module_argument {
    Module* module;

    /// Two calls with the same module are alike.
    [[nodiscard]] std::string identity_of_module() const {
        return std::to_string(reinterpret_cast<std::uintptr_t>(module));
    }
};

template<class Module, bool ByPointer>
struct parts_of<module_argument<Module, ByPointer>> : owns<> {};

template<class Argument>
using region_argument = std::conditional_t<
    std::is_base_of_v<torch::nn::Module, std::remove_reference_t<Argument>>,
    module_argument<std::remove_reference_t<Argument>, false>,
    std::conditional_t<
        std::is_pointer_v<std::remove_reference_t<Argument>> &&
            std::is_base_of_v<torch::nn::Module,
                              std::remove_pointer_t<std::remove_reference_t<Argument>>>,
        module_argument<std::remove_pointer_t<std::remove_reference_t<Argument>>, true>,
        Argument&&>>;

template<class Argument>
[[nodiscard]] region_argument<Argument> wrapped(std::remove_reference_t<Argument>& argument) {
    if constexpr (std::is_reference_v<region_argument<Argument>>)
        return static_cast<Argument&&>(argument);
    else if constexpr (std::is_pointer_v<std::remove_reference_t<Argument>>)
        return {argument};
    else
        return {&argument};
}

template<class Value>
[[nodiscard]] Value&& unwrapped(Value&& value) noexcept {
    return static_cast<Value&&>(value);
}
template<class Module>
[[nodiscard]] Module& unwrapped(module_argument<Module, false> argument) noexcept {
    return *argument.module;
}
template<class Module>
[[nodiscard]] Module* unwrapped(module_argument<Module, true> argument) noexcept {
    return argument.module;
}

/// A replay may call this function: it holds nothing of the forward that is over by then.
template<class Function>
inline constexpr bool holds_nothing =
    std::is_empty_v<Function> || std::is_function_v<Function> || std::is_pointer_v<Function> ||
    std::is_member_pointer_v<Function>;

/// What a replay of a region runs.
template<class Function>
struct region_run {
    Function function;

    template<class... Values>
    decltype(auto) operator()(torch::nn::Module&, Values&&... values) {
        return hook::call(function, unwrapped(static_cast<Values&&>(values))...);
    }

    /// Tells functions of one type apart: nothing for a lambda, its address for a pointer.
    [[nodiscard]] std::string identity() const {
        if constexpr (std::is_empty_v<Function>)
            return {};
        else
            return {reinterpret_cast<char const*>(&function), sizeof function};
    }
};

[[nodiscard]] inline std::string why_no_region() {
    return "the region's function holds variables of the forward; give them to cb::region as "
           "arguments";
}

template<class... Declared, class Function, class... Values>
[[gnu::noinline, gnu::cold]] decltype(auto) record_region(recorder& listener, char const* name,
                                                          Function& function, Values&&... values) {
    auto const open = listener.innermost();
    auto& module = *open.module;
    callee const who{&module, open.declared_in, name};
    if constexpr (holds_nothing<Function>) {
        region_run<std::decay_t<Function>> run{function};
        using result_type = decltype(run(module, static_cast<Declared&&>(values)...));
        listener.begin(
            who, [&] { return hook::store<result_type, Declared...>(module, run, values...); },
            &hook::why_not_stored<Declared...>, nullptr);
        return hook::run_begun<Declared...>(listener, module, run, values...);
    } else {
        auto run = [&function](torch::nn::Module&, auto&&... given) -> decltype(auto) {
            return hook::call(function, unwrapped(static_cast<decltype(given)&&>(given))...);
        };
        listener.begin(
            who, [] { return std::unique_ptr<stored_call>{}; }, &why_no_region, nullptr);
        return hook::run_begun<Declared...>(listener, module, run, values...);
    }
}

#endif

}  // namespace hook

/// Calls `function(arguments...)` and makes the call a component of its own, named `name`, below
/// the module whose forward is running: functional code gets a row. To be run alone later, the
/// function must hold nothing: a lambda without captures, a function, or a member function with its
/// object (`cb::region("interaction", &DeepFM::interact, this, x)`); modules among the arguments
/// are used, everything else is kept. Off, and while nobody captures, it is the plain call.
template<class Function, class... Arguments>
decltype(auto) region([[maybe_unused]] char const* name, Function&& function,
                      Arguments&&... arguments) {
#if COMPONENT_BENCHMARK_ENABLED
    if (auto* const listener = hook::current) [[unlikely]]
        if (listener->innermost().module != nullptr)
            return hook::record_region<hook::region_argument<Arguments>...>(
                *listener, name, function, hook::wrapped<Arguments>(arguments)...);
#endif
    return hook::call(function, static_cast<Arguments&&>(arguments)...);
}

}  // namespace component_benchmark
