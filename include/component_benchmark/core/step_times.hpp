// user's program -> provider -> result: where the time of one training step went
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace component_benchmark {

/// What a training step is made of.
enum class step_part { data, to_device, forward, loss, backward, optimizer, zero_grad };

inline constexpr std::array<std::string_view, 7> step_part_names = {
    "data", "to_device", "forward", "loss", "backward", "optimizer", "zero_grad"};

/// One step: nanoseconds, whole, so that parts and rest add up to the step exactly.
struct step_times {
    std::array<std::int64_t, step_part_names.size()> part_ns = {};
    std::int64_t unattributed_ns = 0;  ///< between the parts
    std::int64_t examples = 0;         ///< that the step trains on; 0: not told
    std::int64_t steps = 0;            ///< that were timed; this is the one in the middle

    [[nodiscard]] constexpr std::int64_t total_ns() const noexcept {
        auto sum = unattributed_ns;
        for (auto const part : part_ns)
            sum += part;
        return sum;
    }

    /// Examples a second; 0 when their number was not told.
    [[nodiscard]] constexpr double examples_per_second() const noexcept {
        auto const total = total_ns();
        return total > 0 ? static_cast<double>(examples) * 1e9 / static_cast<double>(total) : 0.0;
    }
};

}  // namespace component_benchmark
