// tests: what the operating system says, from files that a test writes
#pragma once

#include "support/temporary_folder.hpp"

#include <filesystem>
#include <fstream>
#include <string>

namespace component_benchmark::test {

/// A system with the files that a test gives it.
struct fake_system {
    temporary_folder folder;

    void file(std::string const& path, std::string const& text) const {
        auto const whole = folder / path;
        std::filesystem::create_directories(std::filesystem::path{whole}.parent_path());
        std::ofstream{whole} << text;
    }
    void cache(int cpu, int level, std::string const& size, std::string const& shared) const {
        auto const where = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache/index" +
                           std::to_string(level) + "/";
        file(where + "size", size + "\n");
        file(where + "shared_cpu_list", shared + "\n");
    }
};

}  // namespace component_benchmark::test
