// HOOK -> capture: which types are known to own what a replay needs
#pragma once

#include <component_benchmark/hook/tensors.hpp>

#include <boost/hana/accessors.hpp>
#include <boost/hana/second.hpp>
#include <boost/hana/unpack.hpp>

#include <ATen/core/Dict.h>
#include <ATen/core/Generator.h>
#include <ATen/core/List.h>
#include <ATen/core/ivalue.h>
#include <c10/core/Device.h>
#include <c10/core/Scalar.h>
#include <c10/core/TensorOptions.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/OptionalArrayRef.h>
#include <c10/util/SmallVector.h>

#include <array>
#include <chrono>
#include <complex>
#include <deque>
#include <functional>
#include <initializer_list>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <span>
#include <stack>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

namespace component_benchmark {

/// A call is replayed when each argument is known to own what it holds: a replay must reach neither
/// objects of the user's program (a key-value cache would grow) nor ones that are gone.
/// Specialise this for a type of yours that is not known and whose replay is harmless:
/// `template<> inline constexpr bool component_benchmark::safe_to_replay<my_config const*> = true;`
template<class T>
inline constexpr bool safe_to_replay = false;

namespace hook {

/// Why an object cannot be given back at a replay.
struct obstacle {
    char const* text = nullptr;  ///< null: it can
    /// The class whose members are not known; null where it is another reason.
    std::type_info const* unknown = nullptr;
    bool is_inside = false;  ///< not the object itself: something that it holds

    [[nodiscard]] constexpr explicit operator bool() const noexcept { return text != nullptr; }
};

template<class... T>
struct types {};

/// Owns objects of these types and nothing else; `void` when that is not known of `T`.
template<class T>
struct parts_of {
    using type = void;
};
template<class... T>
struct owns {
    using type = types<T...>;
};

template<class Char, class Traits, class Allocator>
struct parts_of<std::basic_string<Char, Traits, Allocator>> : owns<> {};
template<class T>
struct parts_of<std::complex<T>> : owns<> {};
template<class T, class Period>
struct parts_of<std::chrono::duration<T, Period>> : owns<> {};
template<class First, class Second>
struct parts_of<std::pair<First, Second>> : owns<First, Second> {};
template<class... T>
struct parts_of<std::tuple<T...>> : owns<T...> {};
template<class... T>
struct parts_of<std::variant<T...>> : owns<T...> {};
template<class T>
struct parts_of<std::optional<T>> : owns<T> {};
template<class T, std::size_t Size>
struct parts_of<std::array<T, Size>> : owns<T> {};
template<class T, class Allocator>
struct parts_of<std::vector<T, Allocator>> : owns<T> {};
template<class T, unsigned Size>
struct parts_of<c10::SmallVector<T, Size>> : owns<T> {};
template<class T, class Allocator>
struct parts_of<std::deque<T, Allocator>> : owns<T> {};
template<class T, class Allocator>
struct parts_of<std::list<T, Allocator>> : owns<T> {};
template<class T, class Less, class Allocator>
struct parts_of<std::set<T, Less, Allocator>> : owns<T, Less> {};
template<class T, class Less, class Allocator>
struct parts_of<std::multiset<T, Less, Allocator>> : owns<T, Less> {};
template<class Key, class T, class Less, class Allocator>
struct parts_of<std::map<Key, T, Less, Allocator>> : owns<Key, T, Less> {};
template<class Key, class T, class Less, class Allocator>
struct parts_of<std::multimap<Key, T, Less, Allocator>> : owns<Key, T, Less> {};
template<class T, class Hash, class Equal, class Allocator>
struct parts_of<std::unordered_set<T, Hash, Equal, Allocator>> : owns<T, Hash, Equal> {};
template<class T, class Hash, class Equal, class Allocator>
struct parts_of<std::unordered_multiset<T, Hash, Equal, Allocator>> : owns<T, Hash, Equal> {};
template<class Key, class T, class Hash, class Equal, class Allocator>
struct parts_of<std::unordered_map<Key, T, Hash, Equal, Allocator>> : owns<Key, T, Hash, Equal> {};
template<class Key, class T, class Hash, class Equal, class Allocator>
struct parts_of<std::unordered_multimap<Key, T, Hash, Equal, Allocator>>
    : owns<Key, T, Hash, Equal> {};
template<class T, class Container>
struct parts_of<std::queue<T, Container>> : owns<Container> {};
template<class T, class Container>
struct parts_of<std::stack<T, Container>> : owns<Container> {};
template<class T, class Container, class Less>
struct parts_of<std::priority_queue<T, Container, Less>> : owns<Container, Less> {};
template<class Key, class T>
struct parts_of<torch::OrderedDict<Key, T>> : owns<Key, T> {};

template<class T>
inline constexpr bool is_known_owner = !std::is_void_v<typename parts_of<T>::type>;

/// Values of LibTorch that own what they hold.
template<class T, class... Values>
inline constexpr bool is_one_of = (std::is_same_v<T, Values> || ...);
template<class T>
inline constexpr bool is_value =
    is_one_of<T, at::Tensor, at::Scalar, at::Half, at::BFloat16, at::Device, at::TensorOptions>;

/// Types that are never given back, with the reason.
template<class T>
inline constexpr char const* never_kept = nullptr;
template<class T>
inline constexpr char const* never_kept<std::initializer_list<T>> =
    "a std::initializer_list, which cannot be built again (take at::ArrayRef)";
template<class T, class Deleter>
inline constexpr char const* never_kept<std::unique_ptr<T, Deleter>> =
    "a std::unique_ptr, which cannot be copied";
template<class T>
inline constexpr char const* never_kept<std::shared_ptr<T>> = "a std::shared_ptr";
template<class T>
inline constexpr char const* never_kept<std::weak_ptr<T>> = "a std::weak_ptr";
template<class T>
inline constexpr char const* never_kept<std::reference_wrapper<T>> = "a std::reference_wrapper";
template<class Signature>
inline constexpr char const* never_kept<std::function<Signature>> =
    "a std::function, which may hold references";

template<class T>
requires(!std::is_const_v<T>) inline constexpr char const* never_kept<std::span<T>> =
    "a span whose elements the call may write";
template<class T>
requires(!std::is_const_v<T>) inline constexpr char const* never_kept<std::optional<std::span<T>>> =
    never_kept<std::span<T>>;

inline constexpr char const* is_handle = "a handle to a shared object";
template<class T>
inline constexpr char const* never_kept<c10::List<T>> = is_handle;
template<class Key, class T>
inline constexpr char const* never_kept<c10::Dict<Key, T>> = is_handle;
template<>
inline constexpr char const* never_kept<c10::IValue> = is_handle;
template<class T, class Null>
inline constexpr char const* never_kept<c10::intrusive_ptr<T, Null>> = is_handle;

/// Of the holders that TORCH_MODULE makes, torch::nn::Sequential and torch::nn::AnyModule.
template<class T>
concept module_handle = requires(T const& value) {
    value.is_empty();
    value.ptr();
};

template<class T>
inline constexpr bool is_generator =
    std::is_same_v<T, at::Generator> || std::is_same_v<T, std::optional<at::Generator>>;

/// An engine of <random>.
template<class T>
concept random_engine = requires(T& value) {
    value.seed();
    value.discard(1ULL);
    value();
};

/// Views, which are kept as owners: of `element`s; void for other types.
template<class T>
struct viewed {
    using element = void;
};
template<class T>
struct viewed<c10::ArrayRef<T>> {
    using element = T;
};
template<class T>
struct viewed<std::span<T>> {
    using element = T;
};
template<class Char>
struct viewed<std::basic_string_view<Char>> {
    using element = Char;
};
template<class T>
struct viewed<c10::OptionalArrayRef<T>> : viewed<c10::ArrayRef<T>> {};
template<class T>
struct viewed<std::optional<c10::ArrayRef<T>>> : viewed<c10::ArrayRef<T>> {};
template<class T>
struct viewed<std::optional<std::span<T>>> : viewed<std::span<T>> {};
template<class Char>
struct viewed<std::optional<std::basic_string_view<Char>>> : viewed<std::basic_string_view<Char>> {
};

template<class T>
inline constexpr bool is_view = !std::is_void_v<typename viewed<T>::element>;

template<class T, class... Around>
constexpr obstacle obstacle_inside();

template<class... Around, class... T>
constexpr obstacle first_obstacle(types<T...>) {
    obstacle first;
    ((first = first ? first : obstacle_inside<T, Around...>()), ...);
    return first;
}

template<class Struct, class... Around>
constexpr obstacle obstacle_in_struct() {
    return boost::hana::unpack(boost::hana::accessors<Struct>(), [](auto... accessor) {
        return hook::first_obstacle<Around...>(
            types<std::remove_reference_t<decltype(boost::hana::second(accessor)(
                std::declval<Struct&>()))>...>{});
    });
}

/// Where generators are found inside of others, too; stands among `Around`.
struct finds_generators;

/// Why a `T` cannot be given back, as far as its type says. `Around`: the types it is inside of, so
/// that a tree of itself ends.
template<class T, class... Around>
constexpr obstacle obstacle_of() {
    if constexpr (safe_to_replay<T> || is_one_of<T, Around...>)
        return {};
    else if constexpr (std::is_reference_v<T>)
        return {"a reference"};
    else if constexpr (std::is_pointer_v<T> && !std::is_function_v<std::remove_pointer_t<T>>)
        return {"a pointer"};
    else if constexpr (std::is_array_v<T>)
        return {"a C array"};
    else if constexpr (never_kept<T> != nullptr)
        return {never_kept<T>};
    else if constexpr (!std::is_copy_constructible_v<T>)
        return {"an object that cannot be copied"};
    else if constexpr (std::is_scalar_v<T> || is_value<T> || is_generator<T> || random_engine<T>)
        return {};
    else if constexpr (is_view<T>)
        return hook::obstacle_inside<std::remove_cv_t<typename viewed<T>::element>, T, Around...>();
    else if constexpr (is_known_owner<T>)
        return hook::first_obstacle<T, Around...>(typename parts_of<T>::type{});
    else if constexpr (finds_tensors<T> || detail::adaptive_softmax_output<T>)
        return {};
    else if constexpr (std::is_polymorphic_v<T> && !std::is_final_v<T>)
        return {"a reference to a polymorphic object, whose copy may be cut off"};
    else if constexpr (boost::hana::Struct<T>::value)
        return hook::obstacle_in_struct<T, T, Around...>();
    else if constexpr (module_handle<T>)
        return {is_handle};
    else if constexpr (std::is_empty_v<T>)
        return {};
    else
        return {"of a class whose members are not known", &typeid(T)};
}

template<class T, class... Around>
constexpr obstacle obstacle_inside() {
    using held = std::remove_cv_t<T>;
    if constexpr (is_view<held> && !safe_to_replay<held>)
        return {"a view", nullptr, true};
    else if constexpr (is_generator<held> && !is_one_of<finds_generators, Around...>)
        return {"a generator", nullptr, true};
    else if constexpr (detail::any_value<held>)
        return {"a torch::nn::AnyValue", nullptr, true};
    else {
        auto found = hook::obstacle_of<held, Around...>();
        found.is_inside = true;
        return found;
    }
}

}  // namespace hook
}  // namespace component_benchmark
