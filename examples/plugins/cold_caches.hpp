// A preprocessor: each component finds the processor's caches full of something else.
#pragma once

#include <component_benchmark/concepts.hpp>

#include <cstddef>
#include <vector>

namespace plugins {

struct cold_caches {
    static constexpr char const* name = "cold_caches";
    std::size_t bytes = std::size_t{64} << 20;  ///< more than the last level holds

    /// Lives until the component is measured; its destructor undoes what was done.
    struct guard {
        std::vector<char> filling;
    };

    template<class Component>
    [[nodiscard]] guard apply(Component&) const {
        return {std::vector<char>(bytes, 'x')};
    }
};

}  // namespace plugins
