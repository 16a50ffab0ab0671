// user's program -> HOOK -> capture: what a forward changes in members that are not registered
#pragma once

#include <component_benchmark/config.hpp>

#if COMPONENT_BENCHMARK_ENABLED

#    include <component_benchmark/hook/tensors.hpp>

#    include <ATen/core/Generator.h>
#    include <torch/nn/module.h>

#    include <concepts>
#    include <memory>
#    include <tuple>
#    include <type_traits>

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

/// A copy of the declared members of one module.
class stored_state {
public:
    virtual ~stored_state() = default;

    /// The module's members become the copies: tensors are the same tensors again.
    virtual void assign() const = 0;

    /// The members hold the same tensors as the copies, and what else can be compared is equal.
    /// What is in the tensors and generators is not looked at.
    [[nodiscard]] virtual bool is_same() const = 0;

    virtual void each_tensor(tensor_visitor visit) = 0;
    virtual void each_generator(c10::function_ref<void(at::Generator&)> visit) = 0;
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
[[nodiscard]] bool same_member(T const& left, T const& right) {
    if constexpr (std::is_same_v<T, at::Tensor>)
        return left.is_same(right);
    else if constexpr (std::is_same_v<T, at::Generator>)
        return left == right;
    else if constexpr (requires { left.begin(), left.end(), left.size(); }) {
        if (left.size() != right.size())
            return false;
        for (auto a = left.begin(), b = right.begin(); a != left.end(); ++a, ++b)
            if (!same_member(*a, *b))
                return false;
        return true;
    } else if constexpr (requires { *left, left.has_value(); })
        return left.has_value() == right.has_value() && (!left || same_member(*left, *right));
    else if constexpr (requires { left.first, left.second; })
        return same_member(left.first, right.first) && same_member(left.second, right.second);
    else if constexpr (std::equality_comparable<T>)
        return left == right;
    else
        return false;  // assigned again, to be sure
}

template<class Self>
class typed_state final : public stored_state {
public:
    explicit typed_state(Self& self) : self_{&self}, copies_{state_access::members(self)} {}

    void assign() const override { state_access::members(*self_) = copies_; }

    [[nodiscard]] bool is_same() const override {
        auto const now = state_access::members(*self_);
        return [&]<std::size_t... Position>(std::index_sequence<Position...>) {
            return (same_member(std::get<Position>(now), std::get<Position>(copies_)) && ...);
        }
        (std::make_index_sequence<std::tuple_size_v<copies>>{});
    }

    void each_tensor(tensor_visitor visit) override { hook::each_tensor(copies_, visit); }

    void each_generator(c10::function_ref<void(at::Generator&)> visit) override {
        std::apply([&](auto&... member) { (visit_generator(member, visit), ...); }, copies_);
    }

private:
    template<class... Member>
    static std::tuple<std::remove_cvref_t<Member>...> values_of(std::tuple<Member...> const&);
    using copies = decltype(values_of(state_access::members(std::declval<Self&>())));

    template<class Member>
    static void visit_generator([[maybe_unused]] Member& member,
                                [[maybe_unused]] c10::function_ref<void(at::Generator&)> visit) {
        if constexpr (std::is_same_v<Member, at::Generator>)
            if (member.defined())
                visit(member);
    }

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
