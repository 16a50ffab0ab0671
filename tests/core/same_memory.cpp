// Comparison of memory by several threads.
#include "support/catch2.hpp"
#include <component_benchmark/core/same_memory.hpp>

#include <cstddef>
#include <vector>

namespace cb = component_benchmark;

TEST_CASE("one byte that differs is found wherever it is", "[memory]") {
    for (std::size_t const size : {0U, 1U, 63U, 64U, 65U, 1000U, 1024U}) {
        std::vector<std::byte> const left(size, std::byte{7});
        auto right = left;
        CHECK(cb::same_contents(left.data(), right.data(), size, 64));
        CHECK(cb::same_contents(left.data(), left.data(), size, 64));
        for (std::size_t at = 0; at < size; ++at) {
            right[at] = std::byte{8};
            CHECK_FALSE(cb::same_contents(left.data(), right.data(), size, 64));
            right[at] = std::byte{7};
        }
    }
}

TEST_CASE("as many pieces as wanted, by as many threads as there may be", "[memory]") {
    std::vector<std::byte> const left(100'000, std::byte{1});
    auto right = left;
    for (std::size_t const most : {0U, 1U, 2U, 64U}) {
        right.back() = std::byte{1};
        CHECK(cb::same_contents(left.data(), right.data(), left.size(), 100, most));
        right.back() = std::byte{2};
        CHECK_FALSE(cb::same_contents(left.data(), right.data(), left.size(), 100, most));
    }
    CHECK_FALSE(cb::same_contents(left.data(), right.data(), left.size(), 0));
}
