// operating system -> DEVICE: the processor's name and its caches (Linux)
#pragma once

#include <component_benchmark/core/system_text.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <unistd.h>

namespace component_benchmark::machine {

/// "Intel(R) Xeon(R) Processor"; "cpu" where the system does not say.
[[nodiscard]] inline std::string cpu_name(std::string const& root = {}) {
    return value_in(text_of(root + "/proc/cpuinfo"), "model name").value_or("cpu");
}

/// Bytes of all last-level caches together, or 0 where the system does not say: a processor may
/// have one for a few cores each, and arrays that threads share out are spread over all of them.
[[nodiscard]] inline std::int64_t last_level_cache(std::string const& root = {}) {
    for (char const* level : {"3", "2"}) {
        std::int64_t total = 0;
        for (int cpu = 0;; ++cpu) {
            auto const folder = root + "/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                                "/cache/index" + level + "/";
            auto const size = bytes_in(text_of(folder + "size"));
            if (!size)
                break;
            // counted at the first of the cores that share it
            if (bytes_in(text_of(folder + "shared_cpu_list")).value_or(cpu) == cpu)
                total += *size;
        }
        if (total > 0)
            return total;
    }
    auto const third = ::sysconf(_SC_LEVEL3_CACHE_SIZE);
    return third > 0 ? third : 0;
}

}  // namespace component_benchmark::machine
