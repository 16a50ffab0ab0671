// One component of a captured model, by path
#pragma once

#include "support/catch2.hpp"

#include <cstddef>
#include <string>

/// Gives the component at `path` to `use`, while the captured model hands out all of them in turn.
template<class Captured, class Use>
void visit(Captured& captured, std::string const& path, Use use) {
    bool found = false;
    captured.for_each([&](std::size_t, auto& one) {
        if (one.path() == path) {
            found = true;
            use(one);
        }
    });
    CHECK(found);
}
