// HOOK -> capture: how an argument is kept and given back at a replay
#pragma once

#include <ATen/core/Dict.h>
#include <ATen/core/Generator.h>
#include <ATen/core/List.h>
#include <ATen/core/ivalue.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/OptionalArrayRef.h>
#include <c10/util/string_view.h>

#include <array>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace component_benchmark {

/// Pointer-like arguments reach objects of the user's program, and a replay would use those objects
/// again (a key-value cache would grow), so a call that has one is not replayed. Specialise this as
/// true for a pointer-like type whose replay is harmless:
/// `template<> inline constexpr bool component_benchmark::safe_to_replay<my_config const*> = true;`
template<class T>
inline constexpr bool safe_to_replay = false;

namespace hook {

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

template<class T>
inline constexpr bool is_generator =
    std::is_same_v<T, at::Generator> || std::is_same_v<T, std::optional<at::Generator>>;

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

/// A class of a library or of the user's that holds others, none of those named below.
template<class T>
concept unnamed_range = std::is_class_v<T> && !std::is_convertible_v<T const&, std::string_view> &&
                        requires(T const& value) {
    typename T::value_type;
    value.begin() != value.end();
};

template<class T>
constexpr char const* why_not_element();

template<class T>
constexpr char const* why_not_range() {
    if constexpr (unnamed_range<T>) {
        if constexpr (std::is_same_v<typename T::value_type, T>)
            return nullptr;  // a tree of itself, as of JSON
        else
            return why_not_element<typename T::value_type>();
    } else {
        return nullptr;
    }
}

/// Policy for a type: `type` owns what a replay needs, `why_not` says why there can be no replay.
template<class T>
struct kept_as {
    using type = T;
    static constexpr char const* why_not =
        std::is_pointer_v<T> || std::is_member_pointer_v<T> ? "a pointer"
        : std::is_array_v<T>                                ? "a C array"
        : !std::is_copy_constructible_v<T>                  ? "an object that cannot be copied"
        : std::is_polymorphic_v<T> && !std::is_final_v<T>
            ? "a reference to a polymorphic object, whose copy may be cut off"
            : why_not_range<T>();
};

template<class T>
struct not_kept {
    using type = std::nullptr_t;
};

/// Why a container of `T` cannot be given back: its elements say it, or they are views.
template<class T>
constexpr char const* why_not_element() {
    using element = std::remove_cv_t<T>;
    if constexpr (std::is_reference_v<T>)
        return "a container of references";
    else if constexpr (safe_to_replay<element>)
        return nullptr;
    else if constexpr (kept_as<element>::why_not != nullptr)
        return kept_as<element>::why_not;
    else
        return std::is_same_v<typename kept_as<element>::type, element>
                   ? nullptr
                   : "a container of views or generators";
}

template<class... T>
constexpr char const* first_why_not() {
    char const* first = nullptr;
    ((first = first != nullptr ? first : why_not_element<T>()), ...);
    return first;
}

/// A container that owns its elements is kept as it is.
template<class Container, class... Elements>
struct kept_container {
    using type = Container;
    static constexpr char const* why_not = first_why_not<Elements...>();
};

template<class T>
struct kept_as<c10::ArrayRef<T>> {
    using type = std::vector<T>;
    static constexpr char const* why_not = why_not_element<T>();
};
template<class T>
struct kept_as<std::span<T>> {
    using type = std::vector<std::remove_cv_t<T>>;
    static constexpr char const* why_not =
        std::is_const_v<T> ? why_not_element<T>() : "a span whose elements the call may write";
};
template<class Char>
struct kept_as<std::basic_string_view<Char>> {
    using type = std::basic_string<Char>;
    static constexpr char const* why_not = nullptr;
};
template<class T>
struct kept_as<std::optional<c10::ArrayRef<T>>> {
    using type = kept_optional_view<c10::ArrayRef<T>, std::vector<T>>;
    static constexpr char const* why_not = why_not_element<T>();
};
template<class T>
struct kept_as<c10::OptionalArrayRef<T>> : kept_as<std::optional<c10::ArrayRef<T>>> {};
template<class Char>
struct kept_as<std::optional<std::basic_string_view<Char>>> {
    using type = kept_optional_view<std::basic_string_view<Char>, std::basic_string<Char>>;
    static constexpr char const* why_not = nullptr;
};
template<class T>
struct kept_as<std::vector<T>> : kept_container<std::vector<T>, T> {};
template<class T>
struct kept_as<std::optional<T>> : kept_container<std::optional<T>, T> {};
template<class T, std::size_t Size>
struct kept_as<std::array<T, Size>> : kept_container<std::array<T, Size>, T> {};
template<class First, class Second>
struct kept_as<std::pair<First, Second>> : kept_container<std::pair<First, Second>, First, Second> {
};
template<class... T>
struct kept_as<std::tuple<T...>> : kept_container<std::tuple<T...>, T...> {};
template<class... T>
struct kept_as<std::variant<T...>> : kept_container<std::variant<T...>, T...> {};
template<class Key, class T, class... Rest>
struct kept_as<std::map<Key, T, Rest...>> : kept_container<std::map<Key, T, Rest...>, Key, T> {};
template<class Key, class T, class... Rest>
struct kept_as<std::unordered_map<Key, T, Rest...>>
    : kept_container<std::unordered_map<Key, T, Rest...>, Key, T> {};
template<class T>
struct kept_as<std::initializer_list<T>> : not_kept<T> {
    static constexpr char const* why_not =
        "a std::initializer_list, which cannot be built again (take at::ArrayRef)";
};
template<class T, class Deleter>
struct kept_as<std::unique_ptr<T, Deleter>> : not_kept<T> {
    static constexpr char const* why_not = "a std::unique_ptr, which cannot be copied";
};
template<class T>
struct kept_as<std::shared_ptr<T>> {
    using type = std::shared_ptr<T>;
    static constexpr char const* why_not = "a std::shared_ptr";
};
template<class T>
struct kept_as<std::weak_ptr<T>> {
    using type = std::weak_ptr<T>;
    static constexpr char const* why_not = "a std::weak_ptr";
};
template<class T>
struct kept_as<std::reference_wrapper<T>> {
    using type = std::reference_wrapper<T>;
    static constexpr char const* why_not = "a std::reference_wrapper";
};

/// Copies of it are the same object.
template<class Handle>
struct kept_handle {
    using type = Handle;
    static constexpr char const* why_not = "a handle to a shared object";
};
template<class T>
struct kept_as<c10::List<T>> : kept_handle<c10::List<T>> {};
template<class Key, class T>
struct kept_as<c10::Dict<Key, T>> : kept_handle<c10::Dict<Key, T>> {};
template<class Result, class... Argument>
struct kept_as<std::function<Result(Argument...)>> {
    using type = std::function<Result(Argument...)>;
    static constexpr char const* why_not = "a function, which may hold references";
};
template<>
struct kept_as<c10::IValue> : kept_handle<c10::IValue> {};
template<class T, class Null>
struct kept_as<c10::intrusive_ptr<T, Null>> : kept_handle<c10::intrusive_ptr<T, Null>> {};

template<class T>
struct kept_with_state {
    using type = kept_generator<T>;
    static constexpr char const* why_not = nullptr;
};
template<>
struct kept_as<at::Generator> : kept_with_state<at::Generator> {};
template<>
struct kept_as<std::optional<at::Generator>> : kept_with_state<std::optional<at::Generator>> {};

template<class Declared>
using value_of = std::remove_cvref_t<Declared>;

template<class Declared>
using kept = typename kept_as<value_of<Declared>>::type;

/// The call may change what the argument refers to, so every replay needs its own copy.
template<class Declared>
inline constexpr bool may_be_written = is_generator<value_of<Declared>> ||
                                       (std::is_lvalue_reference_v<Declared> &&
                                        !std::is_const_v<std::remove_reference_t<Declared>>);

/// Null when an argument that was declared as `Declared` can be given back at a replay.
template<class Declared>
constexpr char const* why_not_kept() {
    using value = value_of<Declared>;
    return safe_to_replay<value> ? nullptr : kept_as<value>::why_not;
}

/// Copies an argument into its owner.
template<class Declared, class Value>
[[nodiscard]] kept<Declared> keep(Value const& value) {
    using owner = kept<Declared>;
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

}  // namespace hook
}  // namespace component_benchmark
