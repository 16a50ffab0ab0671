// operating system -> capture, device: memory that the process may still take (Linux)
#pragma once

#include <component_benchmark/core/system_text.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

namespace component_benchmark::machine {

namespace detail {

/// What the limit of one control group leaves; page cache that can be dropped counts as free.
[[nodiscard]] inline std::optional<std::int64_t> left_in_group(std::string const& folder,
                                                               char const* limit_file,
                                                               char const* usage_file,
                                                               char const* cache_key) {
    auto const limit = bytes_in(text_of(folder + limit_file));  // "max" is no number
    auto const usage = bytes_in(text_of(folder + usage_file));
    if (!limit || !usage)
        return std::nullopt;
    auto const cache = value_in(text_of(folder + "memory.stat"), cache_key).value_or("0");
    return (std::max<std::int64_t>)(0, *limit - *usage + bytes_in(cache).value_or(0));
}

}  // namespace detail

/// Bytes that this process could take without hurting anybody: what the system says is available,
/// and what the limits of its control group leave (a process beyond them is killed).
[[nodiscard]] inline std::int64_t memory_to_spare(std::string const& root = {}) {
    auto const available = value_in(text_of(root + "/proc/meminfo"), "MemAvailable");
    auto spare = bytes_in(available.value_or("")).value_or(0);
    auto const groups = text_of(root + "/proc/self/cgroup");
    auto const limit_to = [&](std::optional<std::int64_t> left) {
        spare = left ? (std::min)(spare, *left) : spare;
    };
    // Of the group by its path and, as a container sees itself, at the top.
    auto const second = root + "/sys/fs/cgroup";
    for (auto const& path : {value_in(groups, "0::").value_or(""), std::string{}})
        limit_to(detail::left_in_group(second + path + "/", "memory.max", "memory.current",
                                       "inactive_file"));
    std::string first_path;
    if (auto const at = groups.find(":memory:"); at != std::string::npos)
        first_path = groups.substr(at + 8, groups.find('\n', at) - at - 8);
    for (auto const& path : {first_path, std::string{}})
        limit_to(detail::left_in_group(root + "/sys/fs/cgroup/memory" + path + "/",
                                       "memory.limit_in_bytes", "memory.usage_in_bytes",
                                       "total_inactive_file"));
    return spare;
}

}  // namespace component_benchmark::machine
