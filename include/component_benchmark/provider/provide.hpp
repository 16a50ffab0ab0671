// user's program -> PROVIDER -> capture: a model and a real batch
#pragma once

#include <component_benchmark/capture/stream_capture.hpp>
#include <component_benchmark/capture/walked_model.hpp>
#include <component_benchmark/core/error.hpp>
#include <component_benchmark/core/failure.hpp>
#include <component_benchmark/core/options.hpp>
#include <component_benchmark/core/step_ledger.hpp>

#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace component_benchmark {

namespace provider_detail {

/// No loss was given: outputs get gradients of ones.
struct no_loss {};

/// The module inside a holder, a shared pointer or a module itself.
template<class Model>
[[nodiscard]] auto& module_of(Model& model) {
    if constexpr (std::is_base_of_v<torch::nn::Module, Model>) {
        return model;
    } else {
        auto const is_empty = [&] {
            if constexpr (requires { model.is_empty(); })
                return model.is_empty();
            else
                return model == nullptr;
        };
        if (is_empty())
            throw error{"the model is empty: cb::provide got a null pointer or an empty holder"};
        return *model;
    }
}

template<class Model>
concept has_module = std::is_base_of_v<torch::nn::Module, std::remove_cvref_t<Model>> ||
    requires(Model& model) {
    requires std::is_base_of_v<torch::nn::Module, std::remove_cvref_t<decltype(*model)>>;
};

/// What the captured forward is given for an argument: a copy where that is possible, so that a
/// forward which edits its batch or assigns to it leaves the user's own as it is.
template<class Declared>
struct given {
    using value = hook::value_of<Declared>;
    static constexpr bool is_copy =
        hook::can_be_kept<Declared> &&
        (std::is_same_v<hook::kept<Declared>, value> || hook::is_generator<value>);
    using type = std::conditional_t<is_copy, value, std::remove_reference_t<Declared>&>;

    static type of(auto& argument) {
        if constexpr (hook::is_generator<value>)
            return hook::own_copy(argument);
        else
            return argument;
    }
};

/// The root is called by the provider; its own hook recognises that call as this one.
struct root_call {};

}  // namespace provider_detail

/// What a pipeline runs on: a model, the arguments of its forward, and, if given, the loss.
template<class Model, class Loss, class... Arguments>
class model_provider {
public:
    model_provider(Model& model, Loss how, std::tuple<Arguments...> arguments)
        : model_{model}, loss_{std::move(how)}, arguments_{std::move(arguments)} {}

    /// The same with the loss of the user's step: `loss(output)` returns a scalar tensor, and every
    /// component's backward gets the gradients that this loss really sends to its outputs.
    template<class NewLoss>
    [[nodiscard]] auto loss(NewLoss new_loss) && {
        model_provider<Model, NewLoss, Arguments...> made{model_, std::move(new_loss),
                                                          std::move(arguments_)};
        made.step_ = step_;
        return made;
    }

    /// The same with where the time of the program's own steps went: the report has the one in the
    /// middle.
    [[nodiscard]] auto step(step_ledger const& own) && {
        step_ = own.middle();
        return std::move(*this);
    }

    /// One forward (two when a call edits its arguments) with every submodule's calls recorded.
    /// With CB_COMPONENTS in the model's class, components come with the types that it names.
    [[nodiscard]] auto capture(options const& wishes) {
        capture::refuse_stream_capture();
        auto& module = provider_detail::module_of(model_);
        using module_class = std::remove_reference_t<decltype(module)>;
        auto const run = [&](capture::session& listener) { return step(module, listener); };
        using captured_type =
            std::conditional_t<hook::components_access::has<module_class>,
                               capture::walked_model<module_class>, capture::captured_model>;
        auto made = std::make_unique<captured_type>(module, batch(), wishes, run);
        made->tell_step(step_);
        return made;
    }

private:
    using copies = std::tuple<typename provider_detail::given<Arguments>::type...>;

    [[nodiscard]] copies own_copies() {
        try {
            return std::apply(
                [](auto&... values) {
                    return copies{provider_detail::given<Arguments>::of(values)...};
                },
                arguments_);
        } catch (...) {
            throw error{"an argument of cb::provide threw while it was copied: " +
                        current_failure()};
        }
    }

    [[nodiscard]] capture::batch_look batch() const {
        capture::batch_look found;
        std::size_t position = 0;
        auto const note = [&](std::string const& why) {
            found.unknown.push_back("argument " + std::to_string(position) +
                                    " of the forward: it " + why);
        };
        auto const look = [&]<class Declared>(auto const& argument) {
            ++position;
            constexpr auto obstacle = hook::obstacle_of<hook::value_of<Declared>>();
            if constexpr (obstacle) {
                note(hook::text_of(obstacle));
            } else {
                try {
                    auto kept = hook::keep<Declared>(argument);
                    hook::each_tensor(kept,
                                      [&](at::Tensor& tensor) { found.tensors.push_back(tensor); });
                } catch (...) {
                    note("threw while it was copied: " + current_failure());
                }
            }
        };
        std::apply(
            [&](auto const&... arguments) {
                (look.template operator()<Arguments>(arguments), ...);
            },
            arguments_);
        return found;
    }

    template<class Module>
    at::Tensor step(Module& module, capture::session& listener) {
        auto const forward = [](Module& self, auto&&... values) -> decltype(auto) {
            return self.forward(static_cast<decltype(values)&&>(values)...);
        };
        hook::callee const who{&module, &typeid(provider_detail::root_call)};
        auto const call = [&](auto&... values) -> decltype(auto) {
            return hook::record(listener, who, nullptr, module, forward,
                                hook::signature<std::remove_reference_t<decltype(values)>&...>{},
                                values...);
        };
        auto mine = own_copies();
        std::apply([](auto&... values) { (cut_off<Arguments>(values), ...); }, mine);
        auto run = [&]() -> decltype(auto) {
            hook::listening const now{listener};
            return std::apply(call, mine);
        };
        if constexpr (std::is_same_v<Loss, provider_detail::no_loss>) {
            static_cast<void>(run());
            return {};
        } else {
            auto&& output = run();
            return loss_of(output);
        }
    }

    template<class Output>
    at::Tensor loss_of(Output& output) {
        at::Tensor loss;
        try {
            loss = loss_(output);
        } catch (...) {
            throw error{"the loss failed: " + current_failure()};
        }
        if (!loss.defined())
            throw error{"the loss must be one number that requires a gradient; it is undefined"};
        return loss;
    }

    // The graph of a forward that edits its batch must not reach the user's own tensor.
    template<class Declared, class Value>
    static void cut_off([[maybe_unused]] Value& value) {
        if constexpr (provider_detail::given<Declared>::is_copy)
            hook::each_tensor(value, [](at::Tensor& tensor) {
                if (!tensor.requires_grad() && !tensor.is_inference())
                    tensor = tensor.detach();
            });
    }

    template<class, class, class...>
    friend class model_provider;

    Model& model_;
    Loss loss_;
    std::tuple<Arguments...> arguments_;
    step_times step_ = {};
};

/// A provider for `model` (a module, a holder made by TORCH_MODULE or a shared pointer) called with
/// `arguments`. Lvalues are referred to, so they must outlive the run.
template<class Model, class... Arguments>
[[nodiscard]] auto provide(Model& model, Arguments&&... arguments) {
    static_assert(provider_detail::has_module<Model>,
                  "component_benchmark: provide(model, arguments...) needs a torch::nn::Module, a "
                  "module holder or a shared_ptr to a module");
    return model_provider<Model, provider_detail::no_loss, Arguments...>{
        model, {}, std::tuple<Arguments...>{std::forward<Arguments>(arguments)...}};
}

}  // namespace component_benchmark
