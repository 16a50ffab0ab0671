// capture: whether two pieces of memory hold the same
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <system_error>
#include <thread>
#include <vector>

namespace component_benchmark {

/// Large pieces are compared by several threads, since one alone does not use all of the memory's
/// bandwidth; they end before it returns. (A template so that a file which does not use it does not
/// pay for it.)
template<class Byte = std::byte>
[[nodiscard]] bool same_contents(void const* left, void const* right, std::size_t bytes,
                                 std::size_t piece = std::size_t{8} << 20, std::size_t most = 8) {
    auto const* const a = static_cast<Byte const*>(left);
    auto const* const b = static_cast<Byte const*>(right);
    auto const pieces = piece == 0 ? std::size_t{1} : (bytes + piece - 1) / piece;
    std::atomic<std::size_t> next{0};
    std::atomic<bool> same{true};
    auto const compare = [&] {
        for (auto number = next++; number < pieces && same; number = next++) {
            auto const begin = number * piece;
            if (std::memcmp(a + begin, b + begin, (std::min)(piece, bytes - begin)) != 0)
                same = false;
        }
    };
    if (pieces < 2)
        return bytes == 0 || std::memcmp(a, b, bytes) == 0;
    auto const threads =
        (std::min)({pieces, most, std::size_t{std::thread::hardware_concurrency()}});
    std::vector<std::thread> others;
    try {
        others.reserve(threads);
        while (others.size() + 1 < threads)
            others.emplace_back(compare);
    } catch (std::system_error const&) {  // as many as there may be
    }
    compare();
    for (auto& one : others)
        one.join();
    return same;
}

}  // namespace component_benchmark
