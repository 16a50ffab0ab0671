// The machine that a run is made on, from files that a test writes.
#include "support/catch2.hpp"
#include "support/fake_model.hpp"
#include "support/fake_system.hpp"
#include <component_benchmark/pipeline/pipeline.hpp>
#include <component_benchmark/pipeline/surroundings.hpp>
#include <component_benchmark/profile/latency.hpp>
#include <component_benchmark/sink/json.hpp>
#include <component_benchmark/sink/table.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <sched.h>
#include <string>
#include <variant>

namespace cb = component_benchmark;
using Catch::Matchers::ContainsSubstring;
using cb::test::fake_system;

namespace {

template<class Value>
Value value_of(cb::run_facts const& facts, std::string const& name) {
    for (auto const& [key, value] : facts.environment)
        if (key == name)
            return std::get<Value>(value);
    throw std::runtime_error{"no " + name};
}

bool has(cb::run_facts const& facts, std::string const& name) {
    for (auto const& [key, value] : facts.environment)
        if (key == name)
            return true;
    return false;
}

/// A machine with four cores, two of them ours.
void describe(fake_system const& system) {
    system.file("proc/cpuinfo", "processor\t: 0\nmodel name\t: A Processor\n");
    system.file("sys/devices/system/cpu/online", "0-3\n");
    system.file("sys/devices/system/node/online", "0,2-3\n");
    system.file("proc/self/status", "Name:\tx\nCpus_allowed_list:\t1-2\n");
    system.file("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
}

void clock_of_every_core(fake_system const& system, std::string const& khz) {
    for (int core = 0; core < 1024; ++core)
        if (core == ::sched_getcpu() || core < 2)
            system.file(
                "sys/devices/system/cpu/cpu" + std::to_string(core) + "/cpufreq/scaling_cur_freq",
                khz);
}

/// Ticks since the start: of all cores together, and of this process.
void ticks(fake_system const& system, int busy, int idle, int own) {
    auto const rest = " 0 0 " + std::to_string(idle) + " 0 0 0 0 0 0\n";
    system.file("proc/stat", "cpu  " + std::to_string(busy) + rest +
                                 "cpu0 1 0 0 1\ncpu1 1 0 0 1\ncpu2 1 0 0 1\ncpu3 1 0 0 1\n");
    system.file("proc/self/stat",
                "7 (a name) with) R 1 7 7 0 -1 0 0 0 0 0 " + std::to_string(own) + " 0 0 0 20 0\n");
}

}  // namespace

TEST_CASE("the machine is in the report's environment, begin and end", "[surroundings]") {
    fake_system const system;
    describe(system);
    system.file("proc/loadavg", "0.25 0.5 0.5 1/100 7\n");
    cb::detail::surroundings<> const outside{system.folder.path()};
    system.file("proc/loadavg", "1.02 0.5 0.5 1/100 7\n");
    cb::run_facts facts;
    facts.threads = 1;
    outside.tell(facts);
    CHECK(value_of<std::string>(facts, "cpu") == "A Processor");
    CHECK(value_of<std::int64_t>(facts, "cores") == 4);
    CHECK(value_of<std::int64_t>(facts, "numa_nodes") == 3);
    CHECK(value_of<std::string>(facts, "affinity") == "1-2");
    CHECK(value_of<std::string>(facts, "governor") == "powersave");
    CHECK(value_of<double>(facts, "load_begin") == 0.25);
    CHECK(value_of<double>(facts, "load_end") == 1.02);
    CHECK_FALSE(has(facts, "cpu_quota_cores"));
    CHECK_FALSE(has(facts, "clock_mhz_begin"));
    CHECK_FALSE(has(facts, "others_busy_cores"));
    CHECK(facts.disturbances.empty());
    CHECK_FALSE(facts.busy_machine);
}

TEST_CASE("a system that says nothing leaves nothing", "[surroundings]") {
    fake_system const system;
    cb::run_facts facts;
    facts.threads = 64;
    cb::detail::surroundings<>{system.folder.path()}.tell(facts);
    CHECK(facts.environment.empty());
    CHECK(facts.disturbances.empty());
}

TEST_CASE("clocks are read where the system says them", "[surroundings]") {
    fake_system const system;
    cpu_set_t before{};
    REQUIRE(::sched_getaffinity(0, sizeof before, &before) == 0);
    cpu_set_t one{};
    CPU_SET(::sched_getcpu(), &one);
    REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);  // both readings ask this core
    clock_of_every_core(system, "3400000\n");
    cb::detail::surroundings<> const outside{system.folder.path()};
    clock_of_every_core(system, "1200000\n");
    cb::run_facts facts;
    outside.tell(facts);
    REQUIRE(::sched_setaffinity(0, sizeof before, &before) == 0);
    CHECK(value_of<double>(facts, "clock_mhz_begin") == 3400.0);
    CHECK(value_of<double>(facts, "clock_mhz_end") == 1200.0);
}

TEST_CASE("cores that other programs used are said", "[surroundings]") {
    fake_system const system;
    ticks(system, 1000, 9000, 100);
    cb::detail::surroundings<> const outside{system.folder.path()};
    cb::run_facts facts;
    facts.threads = 1;
    SECTION("others were busy") {  // 1,000 ticks a core, 1,000 of them ours, 1,300 of others
        ticks(system, 3300, 10'700, 1100);
        outside.tell(facts);
        CHECK(value_of<double>(facts, "others_busy_cores") == Approx(1.3));
        REQUIRE(facts.disturbances.size() == 1);
        CHECK_THAT(facts.disturbances[0],
                   ContainsSubstring("other programs used 1.3 of this machine's cores"));
        CHECK(facts.busy_machine);
    }
    SECTION("only this process was busy, whatever the load says") {
        system.file("proc/loadavg", "3.00 0.5 0.5 1/100 7\n");
        ticks(system, 2010, 11'990, 1100);
        outside.tell(facts);
        CHECK(value_of<double>(facts, "others_busy_cores") == Approx(0.01));
        CHECK(facts.disturbances.empty());
    }
    SECTION("too short a run to tell") {
        ticks(system, 1020, 9020, 100);
        outside.tell(facts);
        CHECK_FALSE(has(facts, "others_busy_cores"));
    }
}

TEST_CASE("where ticks are not told, a load above the own one is said", "[surroundings]") {
    fake_system const system;
    system.file("proc/loadavg", "2.20 1.21 1.35 5/109 21408\n");
    cb::detail::surroundings<> const outside{system.folder.path()};
    cb::run_facts facts;
    facts.threads = 2;
    outside.tell(facts);
    CHECK(facts.disturbances.empty());
    facts.threads = 1;
    outside.tell(facts);
    REQUIRE(facts.disturbances.size() == 1);
    CHECK_THAT(facts.disturbances[0], ContainsSubstring("the load of this machine was 2.20"));
    CHECK(facts.busy_machine);
}

TEST_CASE("a CPU quota is read, and said when it stopped the process", "[surroundings]") {
    fake_system const system;
    std::string folder;
    SECTION("second version, by the group's path") {
        system.file("proc/self/cgroup", "0::/service/mine\n");
        folder = "sys/fs/cgroup/service/mine/";
        system.file("sys/fs/cgroup/cpu.max", "max 100000\n");
        system.file(folder + "cpu.max", "150000 100000\n");
    }
    SECTION("second version, its top as a container sees it") {
        folder = "sys/fs/cgroup/";
        system.file(folder + "cpu.max", "150000 100000\n");
    }
    SECTION("first version") {
        system.file("proc/self/cgroup", "5:devices:/x\n4:cpu,cpuacct:/job\n");
        folder = "sys/fs/cgroup/cpu,cpuacct/job/";
        system.file(folder + "cpu.cfs_quota_us", "150000\n");
        system.file(folder + "cpu.cfs_period_us", "100000\n");
        system.file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
        system.file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    }
    describe(system);
    system.file(folder + "cpu.stat", "nr_periods 9\nnr_throttled 3\nthrottled_time 8\n");
    cb::detail::surroundings<> const outside{system.folder.path()};
    system.file(folder + "cpu.stat", "nr_periods 99\nnr_throttled 15\nthrottled_time 8\n");
    cb::run_facts facts;
    facts.threads = 1;
    outside.tell(facts);
    CHECK(value_of<double>(facts, "cpu_quota_cores") == 1.5);
    CHECK(value_of<std::int64_t>(facts, "throttled_periods") == 12);
    REQUIRE(facts.disturbances.size() == 1);
    CHECK_THAT(facts.disturbances[0], ContainsSubstring("stopped this process in 12 periods"));
}

TEST_CASE("more threads than cores are said", "[surroundings]") {
    fake_system const system;
    describe(system);
    cb::run_facts facts;
    facts.threads = 4;
    cb::detail::surroundings<>{system.folder.path()}.tell(facts);
    REQUIRE(facts.disturbances.size() == 1);
    CHECK_THAT(facts.disturbances[0], ContainsSubstring("4 threads share 2 cores"));
}

TEST_CASE("a real run has its machine in the JSON, and says in the table what was uncertain",
          "[surroundings]") {
    fake::provider provider;
    provider.captured.add(cb::node::none, "", 1, 10'000'000);
    provider.captured.add(0, "a", 1, 3'000'000);
    cb::pipeline pipeline{cb::preprocessors{},
                          cb::profilers{cb::latency{.samples = 3, .clock = &fake::clock}},
                          cb::sinks{}};
    auto document = pipeline.run(provider).document();
    auto const environment = nlohmann::json::parse(cb::to_json(document))["meta"]["environment"];
    CHECK(environment["threads"] == 1);
    CHECK(environment["affinity"].is_string());
    CHECK(environment["load_begin"].is_number());
    CHECK(environment["load_end"].is_number());
    CHECK(environment["cores"] > 0);

    document.facts.busy_machine = true;
    document.facts.disturbances = {"others were here"};
    auto const table = cb::to_table(document, 400);
    CHECK_THAT(table, ContainsSubstring("medians less certain than asked for in 2 rows, first "
                                        "Fake, latency_ms not within 1 % after 3 samples: 6 are"));
    CHECK_THAT(table, ContainsSubstring("warning: others were here"));
    CHECK_THAT(table, ContainsSubstring("2 components on a busy machine, "));
    for (auto const* detail : {"latency_ci_pct", "Warmup", "latency_p95_ms"})
        CHECK(table.find(detail) == std::string::npos);
    auto const json = nlohmann::json::parse(cb::to_json(document));
    CHECK(json["meta"]["warnings"] == nlohmann::json{"others were here"});
    CHECK(json["nodes"]["warmup_runs"][0] == 2);
    for (auto const& column : json["columns"])
        CHECK(column["detail"] ==
              (column["id"] == "cpu_time_ms" || column["id"] == "latency_ci_pct" ||
               column["id"] == "latency_mean_ms" || column["id"] == "latency_min_ms" ||
               column["id"] == "latency_p5_ms" || column["id"] == "latency_p95_ms" ||
               column["id"] == "warmup_runs" || column["id"] == "warmup_ms" ||
               column["id"] == "first_run_ms"));
}
