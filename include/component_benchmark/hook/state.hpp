// user's program -> HOOK -> capture: what a forward changes in members that are not registered
#pragma once

#include <component_benchmark/config.hpp>

#if COMPONENT_BENCHMARK_ENABLED

#    include <component_benchmark/hook/argument.hpp>
#    include <component_benchmark/hook/tensors.hpp>

#    include <ATen/core/Generator.h>
#    include <torch/nn/module.h>

#    include <cstddef>
#    include <memory>
#    include <tuple>
#    include <type_traits>
#    include <utility>

/// In the class of a module, beside its `CB_FORWARD`: the members that its forward changes and that
/// are not registered: caches, counters, generators of its own. A profile puts them back, and every
/// replay finds them as its call did. Members must be copyable. A derived class names those of its
/// bases too.
#    define COMPONENT_BENCHMARK_STATE(...)                       \
        friend struct ::component_benchmark::hook::state_access; \
        auto component_benchmark_state() {                       \
            return ::std::tie(__VA_ARGS__);                      \
        }                                                        \
        static_assert(true, "a semicolon follows")

namespace component_benchmark::hook {

using generator_visitor = c10::function_ref<void(at::Generator&)>;

/// A copy of the declared members of one module.
class stored_state {
public:
    virtual ~stored_state() = default;

    /// The module's members become the copies: tensors are the same tensors again.
    virtual void assign() const = 0;

    /// The members hold the same tensors as the copies, and what else can be compared is equal;
    /// what is in the tensors and generators is not looked at. `unknown`: what to think of members
    /// of types that cannot be compared.
    [[nodiscard]] virtual bool is_same(bool unknown) const = 0;

    /// Every member is of a type that can be compared.
    [[nodiscard]] virtual bool is_comparable() const noexcept = 0;

    virtual void each_tensor(tensor_visitor visit) = 0;
    virtual void each_generator(generator_visitor visit) = 0;
};

/// Copies the declared members of a module of the class that the hook knows.
using state_maker = std::unique_ptr<stored_state> (*)(torch::nn::Module&);

struct state_access {
    template<class Self>
    static auto members(Self& self) {
        return self.component_benchmark_state();
    }
    template<class Self>
    static constexpr bool has = requires(Self& self) {
        self.component_benchmark_state();
    };

    /// Null when the class declares nothing.
    template<class Self>
    [[nodiscard]] static constexpr state_maker maker() noexcept;
};

namespace detail {

template<class T>
concept range_of_members = requires(T const& value) {
    value.begin(), value.end(), value.size();
};
template<class T>
concept optional_member = requires(T const& value) {
    *value, value.has_value();
};
template<class T>
concept tuple_of_members = requires {
    std::tuple_size<T>::value;
};

/// Whether two members are the same tensors and equal otherwise; `unknown` where that cannot be
/// told.
template<class T>
[[nodiscard]] bool same_member(T const& left, T const& right, bool unknown) {
    if constexpr (std::is_same_v<T, at::Tensor>) {
        return left.is_same(right);
    } else if constexpr (std::is_floating_point_v<T>) {
        return left == right || (left != left && right != right);
    } else if constexpr (std::is_scalar_v<T> || std::is_same_v<T, at::Generator>) {
        return left == right;
    } else if constexpr (range_of_members<T>) {
        if (left.size() != right.size())
            return false;
        for (auto a = left.begin(), b = right.begin(); a != left.end(); ++a, ++b) {
            using element = std::remove_cvref_t<decltype(*a)>;
            if (!same_member<element>(*a, *b, unknown))
                return false;
        }
        return true;
    } else if constexpr (optional_member<T>) {
        return left.has_value() == right.has_value() &&
               (!left.has_value() || same_member(*left, *right, unknown));
    } else if constexpr (tuple_of_members<T>) {
        return [&]<std::size_t... Position>(std::index_sequence<Position...>) {
            return (same_member(std::get<Position>(left), std::get<Position>(right), unknown) &&
                    ...);
        }
        (std::make_index_sequence<std::tuple_size_v<T>>{});
    } else {
        return unknown;
    }
}

template<class T>
constexpr bool is_comparable() {
    if constexpr (std::is_scalar_v<T> || std::is_same_v<T, at::Tensor> ||
                  std::is_same_v<T, at::Generator>)
        return true;
    else if constexpr (range_of_members<T>)
        return is_comparable<std::remove_cvref_t<decltype(*std::declval<T const&>().begin())>>();
    else if constexpr (optional_member<T>)
        return is_comparable<std::remove_cvref_t<decltype(*std::declval<T const&>())>>();
    else if constexpr (tuple_of_members<T>)
        return []<std::size_t... Position>(std::index_sequence<Position...>) {
            return (is_comparable<std::remove_cv_t<std::tuple_element_t<Position, T>>>() && ...);
        }
    (std::make_index_sequence<std::tuple_size_v<T>>{});
    else return false;
}

template<class T>
void each_generator([[maybe_unused]] T& value, [[maybe_unused]] generator_visitor visit) {
    if constexpr (std::is_same_v<T, at::Generator>) {
        if (value.defined())
            visit(value);
    } else if constexpr (range_of_members<T>) {
        if constexpr (!std::is_scalar_v<std::remove_cvref_t<decltype(*value.begin())>>)
            for (auto&& element : value)
                detail::each_generator(element, visit);
    } else if constexpr (optional_member<T>) {
        if (value.has_value())
            detail::each_generator(*value, visit);
    } else if constexpr (tuple_of_members<T>) {
        std::apply([&](auto&... elements) { (detail::each_generator(elements, visit), ...); },
                   value);
    }
}

template<class Tuple>
struct members_of;
template<class... Member>
struct members_of<std::tuple<Member&...>> {
    static_assert((can_be_state<Member> && ...),
                  "component_benchmark: CB_STATE names a member that is pointer-like, cannot be "
                  "copied, or is of a class whose members are not known (name them with "
                  "BOOST_HANA_ADAPT_STRUCT): a copy of it could share what it points to");
    using type = std::tuple<std::remove_cv_t<Member>...>;
};

template<class Self>
class typed_state final : public stored_state {
    using copies =
        typename members_of<decltype(state_access::members(std::declval<Self&>()))>::type;

public:
    explicit typed_state(Self& self) : self_{&self}, copies_{state_access::members(self)} {}

    void assign() const override { state_access::members(*self_) = copies_; }

    [[nodiscard]] bool is_same(bool unknown) const override {
        auto const now = state_access::members(*self_);  // references
        return [&]<std::size_t... Position>(std::index_sequence<Position...>) {
            return (same_member<std::tuple_element_t<Position, copies>>(
                        std::get<Position>(now), std::get<Position>(copies_), unknown) &&
                    ...);
        }
        (std::make_index_sequence<std::tuple_size_v<copies>>{});
    }

    [[nodiscard]] bool is_comparable() const noexcept override {
        return detail::is_comparable<copies>();
    }

    void each_tensor(tensor_visitor visit) override { hook::each_tensor(copies_, visit); }

    void each_generator(generator_visitor visit) override {
        detail::each_generator(copies_, visit);
    }

private:
    Self* self_;
    copies copies_;
};

}  // namespace detail

template<class Self>
constexpr state_maker state_access::maker() noexcept {
    using module_class = std::remove_cv_t<Self>;
    if constexpr (has<module_class>)
        return [](torch::nn::Module& module) -> std::unique_ptr<stored_state> {
            return std::make_unique<detail::typed_state<module_class>>(
                dynamic_cast<module_class&>(module));
        };
    else
        return nullptr;
}

}  // namespace component_benchmark::hook

#else

#    define COMPONENT_BENCHMARK_STATE(...) static_assert(true, "a semicolon follows")

#endif

#if COMPONENT_BENCHMARK_SHORT_MACROS
#    define CB_STATE(...) COMPONENT_BENCHMARK_STATE(__VA_ARGS__)
#endif
