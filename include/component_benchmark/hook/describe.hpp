// HOOK -> capture: the values of arguments that are not tensors, as text, for telling calls apart
#pragma once

#include <component_benchmark/hook/tensors.hpp>

#include <c10/core/Scalar.h>

#include <charconv>
#include <concepts>
#include <iterator>
#include <string>
#include <tuple>
#include <type_traits>
#include <variant>

namespace component_benchmark::hook {

/// Marks a value that has no text: calls that differ only in it cannot be told apart.
inline constexpr char not_described = '?';

template<class Number>
void describe_number(std::string& text, Number number) {
    char digits[64];
    text.append(digits, std::to_chars(std::begin(digits), std::end(digits), number).ptr);
    text += ';';
}

/// Of types other than its own, as JSON has them.
template<class T>
concept has_elements = requires(T const& value) {
    value.begin() != value.end();
    requires !std::is_same_v<std::remove_cvref_t<decltype(*value.begin())>, T>;
};

template<class T>
void describe_value(std::string& text, T const& value) {
    if constexpr (std::is_same_v<T, bool>) {
        text += value ? "true;" : "false;";
    } else if constexpr (std::is_enum_v<T>) {
        hook::describe_number(text, static_cast<std::underlying_type_t<T>>(value));
    } else if constexpr (std::is_arithmetic_v<T>) {
        hook::describe_number(text, value);
    } else if constexpr (std::is_same_v<T, std::string>) {
        text += value;
        text += ';';
    } else if constexpr (requires { value.identity(); }) {
        text += value.identity();
        text += ';';
    } else if constexpr (std::is_same_v<T, at::Tensor>) {
        text += value.defined() ? 't' : '-';  // what it looks like is told elsewhere
    } else if constexpr (finds_tensors<T>) {
        // told apart by its tensors
    } else if constexpr (std::is_same_v<T, at::Scalar>) {
        if (value.isIntegral(true))
            hook::describe_number(text, value.toLong());
        else
            hook::describe_number(text, value.toDouble());
    } else if constexpr (boost::hana::Struct<T>::value) {
        boost::hana::for_each(boost::hana::accessors<T>(), [&](auto accessor) {
            hook::describe_value(text, boost::hana::second(accessor)(value));
        });
    } else if constexpr (requires { value.has_value(), *value; }) {
        text += value.has_value() ? '+' : '-';
        if (value.has_value())
            hook::describe_value(text, *value);
    } else if constexpr (requires { value.own; }) {
        // of a generator: what it draws costs the same
    } else if constexpr (requires { value.owner; }) {
        hook::describe_value(text, value.owner);
    } else if constexpr (detail::container_adaptor<T>) {
        hook::describe_value(text, value.*detail::opened<T>::container);
    } else if constexpr (requires { value.key(), value.value(); }) {
        hook::describe_value(text, value.key());
        hook::describe_value(text, value.value());
    } else if constexpr (has_elements<T>) {
        text += '[';
        for (auto const& element : value)
            hook::describe_value(text, element);
        text += ']';
    } else if constexpr (requires { value.index(), value.valueless_by_exception(); }) {
        hook::describe_number(text, value.index());
        if (!value.valueless_by_exception())
            std::visit([&](auto const& held) { hook::describe_value(text, held); }, value);
    } else if constexpr (requires { std::tuple_size<T>::value; }) {
        std::apply([&](auto const&... elements) { (hook::describe_value(text, elements), ...); },
                   value);
    } else {
        text += not_described;
    }
}

/// Numbers, strings and enumerators anywhere in `values`.
template<class... T>
[[nodiscard]] std::string describe_values(std::tuple<T...> const& values) {
    std::string text;
    hook::describe_value(text, values);
    return text;
}

}  // namespace component_benchmark::hook
