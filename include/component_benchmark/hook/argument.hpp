// HOOK -> capture: how an argument is kept and given back at a replay
#pragma once

#include <component_benchmark/hook/describe.hpp>
#include <component_benchmark/hook/ownership.hpp>

#include <ATen/core/Generator.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/OptionalArrayRef.h>
#include <c10/util/SmallVector.h>
#include <c10/util/Type.h>

#include <cstddef>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace component_benchmark::hook {

[[nodiscard]] inline at::Generator own_copy(at::Generator const& generator) {
    return generator.defined() ? generator.clone() : generator;
}
[[nodiscard]] inline std::optional<at::Generator> own_copy(
    std::optional<at::Generator> const& generator) {
    return generator ? std::optional{hook::own_copy(*generator)} : std::nullopt;
}

/// A generator, or an optional one, whose copies have states of their own: a replay leaves the
/// user's alone.
template<class T>
struct kept_generator {
    T own;
    kept_generator(T const& generator) : own{hook::own_copy(generator)} {}
    kept_generator(kept_generator const& other) : own{hook::own_copy(other.own)} {}
    kept_generator& operator=(kept_generator const&) = delete;
};

/// An optional view, kept as an optional owner.
template<class View, class Owner>
struct kept_optional_view {
    std::optional<Owner> owner;
    kept_optional_view(std::optional<View> const& view) {
        if (view)
            owner.emplace(view->begin(), view->end());
    }
    operator std::optional<View>() const {
        return owner ? std::optional<View>{*owner} : std::nullopt;
    }
};

/// What owns a `T` between its call and a replay.
template<class T>
struct kept_as {
    using type = T;
};
template<class T>
struct kept_as<c10::ArrayRef<T>> {
    // a std::vector<bool> holds no bools
    using type =
        std::conditional_t<std::is_same_v<T, bool>, c10::SmallVector<T, 8>, std::vector<T>>;
};
template<class T>
struct kept_as<std::span<T>> : kept_as<c10::ArrayRef<std::remove_cv_t<T>>> {};
template<class Char>
struct kept_as<std::basic_string_view<Char>> {
    using type = std::basic_string<Char>;
};
template<class View>
requires(is_view<View>) struct kept_as<std::optional<View>> {
    using type = kept_optional_view<View, typename kept_as<View>::type>;
};
template<class T>
struct kept_as<c10::OptionalArrayRef<T>> : kept_as<std::optional<c10::ArrayRef<T>>> {};
template<class T>
requires(is_generator<T>) struct kept_as<T> {
    using type = kept_generator<T>;
};

template<class Declared>
using value_of = std::remove_cvref_t<Declared>;

template<class Declared>
using kept = typename kept_as<value_of<Declared>>::type;

/// The call may change what the argument refers to, so every replay needs its own copy.
template<class Declared>
inline constexpr bool may_be_written = is_generator<value_of<Declared>> ||
                                       (std::is_lvalue_reference_v<Declared> &&
                                        !std::is_const_v<std::remove_reference_t<Declared>>);

/// An argument that was declared as `Declared` can be given back at a replay.
template<class Declared>
inline constexpr bool can_be_kept = !hook::obstacle_of<value_of<Declared>>();

/// A member of CB_STATE can be copied and put back; generators in it are found and kept by state.
template<class Member>
inline constexpr bool can_be_state = !hook::obstacle_of<Member, finds_generators>();

/// An argument whose value, not its type, says that it cannot be given back.
class cannot_be_kept : public std::runtime_error {
    using runtime_error::runtime_error;
};

/// Copies an argument into its owner. Throws `cannot_be_kept`.
template<class Declared, class Value>
[[nodiscard]] kept<Declared> keep(Value const& value) {
    using owner = kept<Declared>;
    if constexpr (detail::any_value<Value>)
        if (!hook::describe_any(value))
            throw cannot_be_kept{"an argument is a torch::nn::AnyValue that holds a " +
                                 c10::demangle(value.type_info().name()) +
                                 ", which is not looked into"};
    if constexpr (std::is_same_v<owner, Value> || std::is_constructible_v<owner, Value const&>)
        return owner(value);
    else
        return owner(value.begin(), value.end());
}

/// Gives a kept argument back in the category it was declared in: the kept object itself for an
/// lvalue reference, a fresh copy for a value or an rvalue.
template<class Declared, class Kept>
[[nodiscard]] decltype(auto) give(Kept& kept) {
    using value = value_of<Declared>;
    if constexpr (is_generator<value>) {
        if constexpr (std::is_lvalue_reference_v<Declared>)
            return (kept.own);
        else
            return value(kept.own);
    } else if constexpr (!std::is_same_v<Kept, value>)
        return value(kept);  // a view over the owner
    else if constexpr (std::is_lvalue_reference_v<Declared>)
        return (kept);
    else
        return value(std::as_const(kept));  // torch::nn::AnyValue(AnyValue&) calls itself for ever
}

}  // namespace component_benchmark::hook
