// HOOK -> capture: a call that can be made again
#pragma once

#include <component_benchmark/hook/argument.hpp>
#include <component_benchmark/hook/describe.hpp>
#include <component_benchmark/hook/tensors.hpp>

#include <c10/util/Type.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace component_benchmark::hook {

/// A module, one of its functions, and its own copy of the arguments.
class stored_call {
public:
    virtual ~stored_call() = default;

    /// The same call with arguments of its own; tensors still share their memory.
    [[nodiscard]] virtual std::unique_ptr<stored_call> copy() const = 0;

    /// Calls the module; the result is kept until `forget_result`.
    virtual void run() = 0;

    virtual void each_argument(tensor_visitor visit) = 0;
    virtual void each_result(tensor_visitor visit) = 0;
    virtual void forget_result() = 0;

    /// False when tensors in the result may not be seen: of a class whose members are not known, or
    /// written to an argument of a function that returns nothing.
    [[nodiscard]] virtual bool knows_result() const noexcept = 0;

    /// Values of the arguments that are not tensors, for telling calls apart.
    [[nodiscard]] virtual std::string values() const = 0;

    /// An argument may be changed through a reference, so every run needs a copy of the call.
    [[nodiscard]] virtual bool writes_arguments() const noexcept = 0;

    /// The first argument is a tensor.
    [[nodiscard]] virtual bool begins_with_tensor() const noexcept = 0;
};

template<class... Declared>
struct signature {};

/// `Run` is called with the module and the arguments in their declared categories.
template<class Self, class Run, class Result, class... Declared>
class typed_call final : public stored_call {
public:
    template<class... Values>
    typed_call(Self& self, Run run, Values const&... values)
        : self_{&self}, run_{run}, arguments_{keep<Declared>(values)...} {}

    // The result of a run is not part of the call.
    typed_call(typed_call const& other)
        : stored_call{other}, self_{other.self_}, run_{other.run_}, arguments_{other.arguments_} {}
    typed_call& operator=(typed_call const&) = delete;

    [[nodiscard]] std::unique_ptr<stored_call> copy() const override {
        return std::make_unique<typed_call>(*this);
    }

    void run() override {
        std::apply(
            [this](auto&... kept) {
                if constexpr (std::is_void_v<Result>)
                    run_(*self_, give<Declared>(kept)...);
                else if constexpr (keeps_result)
                    result_.emplace(run_(*self_, give<Declared>(kept)...));
                else
                    static_cast<void>(run_(*self_, give<Declared>(kept)...));
            },
            arguments_);
    }

    void each_argument(tensor_visitor visit) override { hook::each_tensor(arguments_, visit); }

    void each_result([[maybe_unused]] tensor_visitor visit) override {
        if constexpr (keeps_result)
            hook::each_tensor(result_, visit);
    }

    void forget_result() override {
        if constexpr (keeps_result)
            result_.reset();
    }

    [[nodiscard]] bool knows_result() const noexcept override {
        if constexpr (std::is_void_v<Result>)
            return !(may_be_written<Declared> || ...);
        else
            return !hook::obstacle_of<result_value>();
    }

    [[nodiscard]] std::string values() const override {
        std::string text;
        if constexpr (requires { run_.identity(); })
            hook::describe_text(text, run_.identity());
        return text + describe_values(arguments_);
    }

    [[nodiscard]] bool writes_arguments() const noexcept override {
        return (may_be_written<Declared> || ...);
    }

    [[nodiscard]] bool begins_with_tensor() const noexcept override {
        if constexpr (sizeof...(Declared) == 0)
            return false;
        else
            return std::is_same_v<std::tuple_element_t<0, std::tuple<value_of<Declared>...>>,
                                  at::Tensor>;
    }

private:
    struct nothing {};
    using result_value = std::remove_cvref_t<Result>;
    static constexpr bool keeps_result =
        !std::is_void_v<Result> && std::is_constructible_v<result_value, Result>;

    Self* self_;
    Run run_;
    std::tuple<kept<Declared>...> arguments_;
    [[no_unique_address]] std::conditional_t<keeps_result, std::optional<result_value>, nothing>
        result_{};
};

/// E.g. "is a pointer" or "holds a Batch, whose members are not known: ...".
[[nodiscard]] inline std::string text_of(obstacle const& found) {
    std::string const verb = found.is_inside ? "holds " : "is ";
    if (found.unknown == nullptr)
        return verb + found.text;
    auto const name = c10::demangle(found.unknown->name());
    return verb + "a " + name +
           ", whose members are not known: name them with BOOST_HANA_ADAPT_STRUCT, or specialise "
           "cb::safe_to_replay";
}

/// Why a call with this signature cannot be made again, or empty.
template<class... Declared>
[[nodiscard]] std::string why_not_stored() {
    std::string why;
    int position = 0;
    [[maybe_unused]] auto const look = [&](obstacle const& found) {
        ++position;
        if (found && why.empty())
            why = "argument " + std::to_string(position) + " " + hook::text_of(found);
    };
    (look(hook::obstacle_of<value_of<Declared>>()), ...);
    return why;
}

/// Stores the call, or returns null when its signature does not allow it.
template<class Result, class... Declared, class Self, class Run, class... Values>
[[nodiscard]] std::unique_ptr<stored_call> store(Self& self, Run run, Values const&... values) {
    if constexpr ((can_be_kept<Declared> && ...))
        return std::make_unique<typed_call<Self, Run, Result, Declared...>>(self, run, values...);
    else
        return nullptr;
}

}  // namespace component_benchmark::hook
