// HOOK -> capture: the values of arguments that are not tensors, as text, for telling calls apart
#pragma once

#include <component_benchmark/hook/ownership.hpp>

#include <c10/core/Scalar.h>

#include <charconv>
#include <concepts>
#include <cstdint>
#include <iterator>
#include <optional>
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

template<class T>
struct kept_generator;
template<class View, class Owner>
struct kept_optional_view;

template<class T>
inline constexpr bool is_kept_generator = false;
template<class T>
inline constexpr bool is_kept_generator<kept_generator<T>> = true;
template<class T>
inline constexpr bool is_kept_optional_view = false;
template<class View, class Owner>
inline constexpr bool is_kept_optional_view<kept_optional_view<View, Owner>> = true;

inline void describe_text(std::string& text, std::string const& value) {
    hook::describe_number(text, value.size());  // or "a;", "b" were "a", ";b"
    for (auto const one : value)
        if (one == not_described)
            text += "\\q";
        else if (one == '\\')
            text += "\\\\";
        else
            text += one;
}

template<class T>
void describe_value(std::string& text, T const& value);

/// What a torch::nn::AnyValue holds, where that is a tensor, a number or a string.
template<class Any>
[[nodiscard]] std::optional<std::string> describe_any(Any const& value) {
    auto copy = value;
    std::optional<std::string> text;
    auto const look = [&]<class Held>(char kind, Held const* held) {
        if (held == nullptr)
            return;
        text.emplace(1, kind);
        hook::describe_value(*text, *held);
    };
    look('t', copy.template try_get<at::Tensor>());
    look('b', copy.template try_get<bool>());
    look('i', copy.template try_get<int>());
    look('l', copy.template try_get<std::int64_t>());
    look('f', copy.template try_get<float>());
    look('d', copy.template try_get<double>());
    look('s', copy.template try_get<std::string>());
    return text;
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
        hook::describe_value(text, static_cast<std::underlying_type_t<T>>(value));
    } else if constexpr (std::is_arithmetic_v<T>) {
        hook::describe_number(text, value);
    } else if constexpr (std::is_same_v<T, std::string>) {
        hook::describe_text(text, value);
    } else if constexpr (std::is_same_v<T, at::Tensor>) {
        text += value.defined() ? 't' : '-';  // what it looks like is told elsewhere
    } else if constexpr (detail::any_value<T>) {
        text += hook::describe_any(value).value_or(std::string(1, not_described));
    } else if constexpr (detail::packed_sequence<T>) {
        // told apart by its tensors
    } else if constexpr (finds_tensors<T>) {
        text += not_described;  // of what else is in it nothing is known
    } else if constexpr (std::is_same_v<T, at::Scalar>) {
        if (value.isIntegral(true))
            hook::describe_number(text, value.toLong());
        else
            hook::describe_number(text, value.toDouble());
    } else if constexpr (boost::hana::Struct<T>::value) {
        boost::hana::for_each(boost::hana::accessors<T>(), [&](auto accessor) {
            hook::describe_value(text, boost::hana::second(accessor)(value));
        });
    } else if constexpr (std::is_class_v<T> && !is_known_owner<T> && !is_kept_generator<T> &&
                         !is_kept_optional_view<T>) {
        text += not_described;  // whatever its members are called
    } else if constexpr (requires { value.identity_of_module(); }) {
        hook::describe_text(text, value.identity_of_module());
    } else if constexpr (requires { value.has_value(), *value; }) {
        text += value.has_value() ? '+' : '-';
        if (value.has_value())
            hook::describe_value(text, *value);
    } else if constexpr (is_kept_generator<T>) {
        // what it draws costs the same
    } else if constexpr (is_kept_optional_view<T>) {
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
