// flop counter -> FLOP AMOUNTS -> mfu, roofline: FLOPs by the format that they are done in
#pragma once

#include <component_benchmark/core/number_format.hpp>

#include <array>
#include <cstddef>

namespace component_benchmark {

/// Floating-point operations, two for a multiply-add, by the number format that they are done in.
/// The last place is for formats that no device has a peak for.
struct flop_amounts {
    static constexpr std::size_t other = number_formats;
    std::array<double, number_formats + 1> by_format{};

    [[nodiscard]] double total() const noexcept {
        double sum = 0.0;
        for (auto const amount : by_format)
            sum += amount;
        return sum;
    }

    void add(flop_amounts const& more, double times) noexcept {
        for (std::size_t index = 0; index < by_format.size(); ++index)
            by_format[index] += times * more.by_format[index];
    }
};

}  // namespace component_benchmark
