// A wrong preprocessor is refused with a sentence.
// WITHOUT_NAME
//     a preprocessor needs a name: write `static constexpr char const* name = "my_preprocessor";`
// WITHOUT_APPLY
//     a preprocessor needs a function that gives a guard, an object whose destructor undoes what
// APPLY_GIVES_NOTHING
//     a preprocessor needs a function that gives a guard, an object whose destructor undoes what
#include "support/fake_model.hpp"
#include <component_benchmark/pipeline/pipeline.hpp>

namespace cb = component_benchmark;

struct half_the_batch {
#ifndef WITHOUT_NAME
    static constexpr char const* name = "half_the_batch";
#endif
#if defined(APPLY_GIVES_NOTHING)
    template<class Component>
    void apply(Component&) const {}
#elif !defined(WITHOUT_APPLY)
    template<class Component>
    int apply(Component& component) const {
        return component.preserve_arguments();
    }
#endif
};

void profile(fake::provider& model) {
    auto pipeline = cb::pipeline{cb::preprocessors{half_the_batch{}}, cb::profilers{}, cb::sinks{}};
    static_cast<void>(pipeline.run(model));
}
