// A provider: another one, whose model is made ready for the profile and put back after it.
#pragma once

#include <component_benchmark/concepts.hpp>

namespace plugins {

namespace cb = component_benchmark;

/// What `capture` gives points to a captured model. This one is kept together with what the
/// preparation gave, which outlives it.
template<class Guard, class Model>
struct prepared_model {
    Guard guard;
    Model model;
    auto& operator*() const { return *model; }
    auto* operator->() const { return &*model; }
};

/// Such as: plugins::prepared{cb::provide(model, batch), [&] { return shrunk_tables{model}; }}
template<class Provider, class Prepare>
struct prepared {
    Provider provider;
    Prepare prepare;  ///< gives a guard, whose destructor undoes what was done

    auto capture(cb::options const& wishes) {
        using made = prepared_model<decltype(prepare()), decltype(provider.capture(wishes))>;
        return made{prepare(), provider.capture(wishes)};
    }
};
template<class Provider, class Prepare>
prepared(Provider, Prepare) -> prepared<Provider, Prepare>;

}  // namespace plugins
