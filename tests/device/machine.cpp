// What the operating system says, from files that a test writes.
#include "support/catch2.hpp"
#include "support/fake_system.hpp"
#include <component_benchmark/core/memory_to_spare.hpp>
#include <component_benchmark/device/machine.hpp>

#include <cstdint>

namespace machine = component_benchmark::machine;
using component_benchmark::test::fake_system;

namespace {

constexpr std::int64_t kibibyte = 1024;
constexpr std::int64_t mebibyte = 1024 * kibibyte;

}  // namespace

TEST_CASE("the processor's name is read, or it is the cpu", "[machine]") {
    fake_system const system;
    CHECK(machine::cpu_name(system.folder.path()) == "cpu");
    system.file("proc/cpuinfo",
                "processor\t: 0\nmodel\t\t: 1\nmodel name\t: A Processor @ 2 GHz\n");
    CHECK(machine::cpu_name(system.folder.path()) == "A Processor @ 2 GHz");
    CHECK_FALSE(machine::cpu_name().empty());
}

TEST_CASE("last-level caches are counted once each, all of them", "[machine]") {
    fake_system const system;
    for (int cpu = 0; cpu < 4; ++cpu) {
        system.cache(cpu, 2, "1024K", std::to_string(cpu));
        system.cache(cpu, 3, "32M", cpu < 2 ? "0-1" : "2-3");
    }
    CHECK(machine::last_level_cache(system.folder.path()) == 64 * mebibyte);
}

TEST_CASE("without a third level the second is the last", "[machine]") {
    fake_system const system;
    system.cache(0, 2, "512K", "0");
    system.cache(1, 2, "512K", "1");
    CHECK(machine::last_level_cache(system.folder.path()) == mebibyte);
}

TEST_CASE("memory to spare is what the system has and the control group allows", "[machine]") {
    fake_system const system;
    auto const spare = [&] { return machine::memory_to_spare(system.folder.path()); };
    CHECK(spare() == 0);
    system.file("proc/meminfo", "MemTotal:  9000 kB\nMemAvailable:    8000 kB\n");
    CHECK(spare() == 8000 * kibibyte);

    SECTION("second version, its top as a container sees it") {
        system.file("sys/fs/cgroup/memory.max", "6144000\n");
        system.file("sys/fs/cgroup/memory.current", "4096000\n");
        CHECK(spare() == 2048000);
        system.file("sys/fs/cgroup/memory.stat", "anon 5\ninactive_file 1024000\n");
        CHECK(spare() == 3072000);
    }
    SECTION("second version, by the group's path; without a limit") {
        system.file("proc/self/cgroup", "0::/service/mine\n");
        system.file("sys/fs/cgroup/service/mine/memory.max", "max\n");
        system.file("sys/fs/cgroup/service/mine/memory.current", "4096000\n");
        CHECK(spare() == 8000 * kibibyte);
        system.file("sys/fs/cgroup/service/mine/memory.max", "4097000\n");
        CHECK(spare() == 1000);
    }
    SECTION("first version") {
        system.file("proc/self/cgroup", "5:devices:/x\n4:memory:/job\n3:cpuset:/\n");
        system.file("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "3000\n");
        system.file("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "5000\n");
        CHECK(spare() == 0);
        system.file("sys/fs/cgroup/memory/job/memory.stat", "cache 1\ntotal_inactive_file 2500\n");
        CHECK(spare() == 500);
    }
}

TEST_CASE("a core's clock is read, or not known", "[machine]") {
    fake_system const system;
    CHECK(machine::clock_mhz(3, system.folder.path()) == 0.0);
    system.file("sys/devices/system/cpu/cpu3/cpufreq/scaling_cur_freq", "3400000\n");
    CHECK(machine::clock_mhz(3, system.folder.path()) == 3400.0);
}
