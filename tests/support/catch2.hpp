// tests: Catch2, 2.13 (one header) or 3 (many)
#pragma once

#include <string>

#if __has_include(<catch2/catch_all.hpp>)
#    include <catch2/catch_all.hpp>

using Catch::Approx;  // as Catch2 2 names it
#else
#    include <catch2/catch.hpp>

namespace Catch::Matchers {

/// As Catch2 3 names it.
inline auto ContainsSubstring(std::string const& text) {
    return Contains(text);
}

}  // namespace Catch::Matchers
#endif
