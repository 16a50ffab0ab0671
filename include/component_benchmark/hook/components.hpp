// user's program -> HOOK -> provider: the members of a class that are components, with their types
#pragma once

#include <component_benchmark/config.hpp>

#if COMPONENT_BENCHMARK_ENABLED

#    include <torch/nn/module.h>

#    include <string>
#    include <string_view>
#    include <tuple>
#    include <type_traits>
#    include <unordered_set>

/// In the class of a module: its members that are modules, or holders, pointers, optionals and
/// containers of such. Plugins then get them with their own types, and those that are not
/// registered get rows. Private members work; null ones are passed over.
#    define COMPONENT_BENCHMARK_COMPONENTS(...)                       \
        friend struct ::component_benchmark::hook::components_access; \
        auto component_benchmark_components() {                       \
            return ::std::tie(__VA_ARGS__);                           \
        }                                                             \
        static constexpr char const* component_benchmark_names() {    \
            return #__VA_ARGS__;                                      \
        }                                                             \
        static_assert(true, "a semicolon follows")

namespace component_benchmark::hook {

struct components_access {
    template<class Self>
    static constexpr bool has = requires(Self& self) {
        self.component_benchmark_components();
    };
    template<class Self>
    static auto members(Self& self) {
        return self.component_benchmark_components();
    }
    template<class Self>
    static std::string_view names() {
        return Self::component_benchmark_names();
    }
};

namespace detail {

template<class T>
inline constexpr bool always_false = false;

/// The first name of a list, which loses it.
[[nodiscard]] inline std::string next_name(std::string_view& names) {
    auto const comma = names.find(',');
    std::string name{names.substr(0, comma)};
    names.remove_prefix(comma == std::string_view::npos ? names.size() : comma + 1);
    while (!names.empty() && names.front() == ' ')
        names.remove_prefix(1);
    return name;
}

template<class Key>
[[nodiscard]] std::string key_text([[maybe_unused]] Key const& key,
                                   [[maybe_unused]] std::size_t position) {
    if constexpr (std::is_convertible_v<Key const&, std::string_view>)
        return std::string{std::string_view{key}};
    else if constexpr (std::is_enum_v<Key>)
        return std::to_string(static_cast<std::underlying_type_t<Key>>(key));
    else if constexpr (std::is_arithmetic_v<Key>)
        return std::to_string(key);
    else
        return "at " + std::to_string(position);
}

/// Calls `visit(name, module)` with the modules that a member holds.
template<class Member, class Visit>
void each_module_in(Member& member, std::string const& name, Visit& visit) {
    if constexpr (std::is_base_of_v<torch::nn::Module, Member>) {
        visit(name, member);
    } else if constexpr (requires { member.is_empty(), *member; }) {  // a module holder
        if (!member.is_empty())
            each_module_in(*member, name, visit);
    } else if constexpr (requires { member.is_empty(), *member.ptr(); }) {  // torch::nn::AnyModule
        if (!member.is_empty())
            visit(name, *member.ptr());
    } else if constexpr (requires { static_cast<bool>(member), *member; }) {
        if (member)
            each_module_in(*member, name, visit);
    } else if constexpr (requires { member.begin()->first, member.begin()->second; }) {
        std::size_t position = 0;
        for (auto& [key, value] : member)
            each_module_in(value, name + "[" + key_text(key, position++) + "]", visit);
    } else if constexpr (requires { member.begin(), member.end(); }) {
        std::size_t index = 0;
        for (auto& element : member)
            each_module_in(element, name + "[" + std::to_string(index++) + "]", visit);
    } else {
        static_assert(always_false<Member>,
                      "component_benchmark: CB_COMPONENTS takes members that are modules, or "
                      "holders, pointers, optionals and containers of modules");
    }
}

}  // namespace detail

namespace detail {

using known_modules = std::unordered_set<void const*>;  // by address

template<class Module, class Visit>
void walk_into(Module& module, Visit& visit, known_modules& entered) {
    if constexpr (components_access::has<Module>) {
        if (!entered.insert(&module).second)
            return;
        auto names = components_access::names<Module>();
        auto down = [&](std::string const& name, auto& child) {
            visit(static_cast<torch::nn::Module&>(module), name, child);
            detail::walk_into(child, visit, entered);
        };
        std::apply(
            [&](auto&... members) {
                (detail::each_module_in(members, detail::next_name(names), down), ...);
            },
            components_access::members(module));
    }
}

}  // namespace detail

/// Calls `visit(parent, name, module)` for each module that `module` declares, with its own type,
/// and for those that these declare. Each is entered once, also where children point to parents.
template<class Module, class Visit>
void walk_components(Module& module, Visit&& visit) {
    detail::known_modules entered;
    detail::walk_into(module, visit, entered);
}

}  // namespace component_benchmark::hook

#else

#    define COMPONENT_BENCHMARK_COMPONENTS(...) static_assert(true, "a semicolon follows")

#endif

#if COMPONENT_BENCHMARK_SHORT_MACROS
#    define CB_COMPONENTS(...) COMPONENT_BENCHMARK_COMPONENTS(__VA_ARGS__)
#endif
