// HOOK -> capture: the values of arguments that are not tensors, as text, for telling calls apart
#pragma once

#include <concepts>
#include <string>
#include <tuple>
#include <type_traits>

namespace component_benchmark::hook {

template<class T>
void describe_value(std::string& text, T const& value) {
    if constexpr (std::is_enum_v<T>) {
        hook::describe_value(text, static_cast<std::underlying_type_t<T>>(value));
    } else if constexpr (std::is_arithmetic_v<T>) {
        text += std::to_string(value);
        text += ';';
    } else if constexpr (std::convertible_to<T const&, std::string>) {
        text += std::string{value};
        text += ';';
    } else if constexpr (requires { value.has_value(), *value; }) {
        text += value.has_value() ? '+' : '-';
        if (value.has_value())
            hook::describe_value(text, *value);
    } else if constexpr (requires { value.owner; }) {
        hook::describe_value(text, value.owner);
    } else if constexpr (requires { value.begin() != value.end(), *value.begin(); }) {
        text += '[';
        for (auto const& element : value)
            hook::describe_value(text, element);
        text += ']';
    } else if constexpr (requires { std::tuple_size<T>::value; }) {
        std::apply([&](auto const&... elements) { (hook::describe_value(text, elements), ...); },
                   value);
    }
}

/// Numbers, strings and enumerators anywhere in `values`; other types add nothing.
template<class... T>
[[nodiscard]] std::string describe_values(std::tuple<T...> const& values) {
    std::string text;
    hook::describe_value(text, values);
    return text;
}

}  // namespace component_benchmark::hook
