// operating system -> PIPELINE -> result: the machine that a run is made on, and who else uses it
#pragma once

#include <component_benchmark/core/system_text.hpp>
#include <component_benchmark/core/text.hpp>
#include <component_benchmark/result/document.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <sched.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace component_benchmark::detail {

/// "0-3,8" are five.
[[nodiscard]] inline std::int64_t count_of_list(std::string_view list) {
    std::int64_t count = 0;
    while (!list.empty()) {
        auto const piece = list.substr(0, list.find(','));
        list.remove_prefix((std::min)(list.size(), piece.size() + 1));
        auto const first = machine::bytes_in(piece);
        auto const dash = piece.find('-');
        auto const last =
            dash == std::string_view::npos ? first : machine::bytes_in(piece.substr(dash + 1));
        count += first && last && *last >= *first ? *last - *first + 1 : 0;
    }
    return count;
}

/// The whole numbers of a line, in order.
[[nodiscard]] inline std::vector<std::int64_t> numbers_in(std::string_view line) {
    std::vector<std::int64_t> found;
    while (!line.empty()) {
        line.remove_prefix((std::min)(line.find_first_not_of(' '), line.size()));
        auto const word = line.substr(0, line.find(' '));
        line.remove_prefix(word.size());
        if (!word.empty())
            found.push_back(machine::bytes_in(word).value_or(0));
    }
    return found;
}

/// Reads the system when it is made, and once more when it tells. What the system does not say is
/// left out. (A template, so that a file which runs nothing does not pay for it.)
template<class Text = std::string>
class surroundings {
public:
    /// `root`: where the system's files are found, for tests.
    explicit surroundings(Text root = {}) : root_{std::move(root)}, before_{read()} {}

    /// Adds the environment, and what of it makes times longer than they need be.
    void tell(run_facts& facts) const {
        auto const after = read();
        auto& found = facts.environment;
        auto const processor = machine::text_of(root_ + "/proc/cpuinfo");
        add(found, "cpu", machine::value_in(processor, "model name"));
        auto const cores = count_of_list(line_of("/sys/devices/system/cpu/online"));
        auto const allowed =
            machine::value_in(machine::text_of(root_ + "/proc/self/status"), "Cpus_allowed_list");
        auto const quota = quota_in_cores();
        add(found, "cores", cores > 0 ? std::optional{cores} : std::nullopt);
        add(found, "affinity", allowed);
        add(found, "cpu_quota_cores", quota);
        auto const nodes = count_of_list(line_of("/sys/devices/system/node/online"));
        add(found, "numa_nodes", nodes > 0 ? std::optional{nodes} : std::nullopt);
        auto const governor = line_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
        add(found, "governor", governor.empty() ? std::nullopt : std::optional{governor});
        add(found, "clock_mhz_begin", before_.clock_mhz);
        add(found, "clock_mhz_end", after.clock_mhz);
        add(found, "load_begin", before_.load);
        add(found, "load_end", after.load);
        auto const others = others_in_cores(after);
        add(found, "others_busy_cores", others);
        auto const throttled = after.throttled - before_.throttled;
        if (quota)
            add(found, "throttled_periods", std::optional{throttled});

        warn_of_others(facts, others, after);
        if (throttled > 0)
            facts.disturbances.push_back(
                "the CPU quota of the control group stopped this process in " +
                text::plural(static_cast<std::size_t>(throttled), "period") +
                ": times may be too long");
        auto const usable = allowed ? count_of_list(*allowed) : cores;
        auto const room = static_cast<double>(usable);
        auto const least = (std::min)(quota.value_or(room), room);
        if (usable > 0 && static_cast<double>(facts.threads) > least)
            facts.disturbances.push_back(
                text::plural(static_cast<std::size_t>(facts.threads), "thread") + " share " +
                text::shortest(least) + " cores: latencies may jump, so use fewer");
    }

private:
    struct reading {
        std::optional<double> load;
        std::optional<double> clock_mhz;
        std::int64_t busy_ticks = 0;  ///< of all cores
        std::int64_t all_ticks = 0;   ///< of one core
        std::int64_t own_ticks = 0;
        std::int64_t throttled = 0;
    };

    template<class Value>
    static void add(std::vector<std::pair<std::string, machine_fact>>& to, char const* name,
                    std::optional<Value> const& value) {
        if (value)
            to.emplace_back(name, *value);
    }

    [[nodiscard]] Text line_of(char const* path) const {
        return Text{text::first_line(machine::text_of(root_ + path))};
    }

    [[nodiscard]] reading read() const {
        reading now;
        auto const load = line_of("/proc/loadavg");
        if (!load.empty())
            now.load = machine::decimal_in(load);
        if (auto const mhz = machine::clock_mhz(::sched_getcpu(), root_); mhz > 0.0)
            now.clock_mhz = mhz;
        read_ticks(now);
        for (auto const& folder : groups())
            now.throttled = (std::max)(
                now.throttled,
                machine::bytes_in(
                    machine::value_in(machine::text_of(folder + "cpu.stat"), "nr_throttled ")
                        .value_or(""))
                    .value_or(0));
        return now;
    }

    void read_ticks(reading& now) const {
        auto const all = machine::text_of(root_ + "/proc/stat");
        auto const ticks = numbers_in(machine::value_in(all, "cpu ").value_or(""));
        constexpr std::size_t idle = 3;
        constexpr std::size_t waits = 4;
        constexpr std::size_t guest = 8;  // and what follows is in user and nice, too
        std::int64_t total = 0;
        for (std::size_t index = 0; index < (std::min)(ticks.size(), guest); ++index) {
            total += ticks[index];
            now.busy_ticks += index == idle || index == waits ? 0 : ticks[index];
        }
        std::int64_t cores = 0;
        while (machine::value_in(all, "cpu" + std::to_string(cores) + " "))
            ++cores;
        now.all_ticks = cores > 0 ? total / cores : 0;
        auto const own = machine::text_of(root_ + "/proc/self/stat");
        auto const name_end = own.rfind(") ");  // the name of the program may hold anything
        auto const fields = name_end == Text::npos
                                ? std::vector<std::int64_t>{}
                                : numbers_in(std::string_view{own}.substr(name_end + 2));
        constexpr std::size_t user = 11;
        constexpr std::size_t system = 12;
        if (fields.size() > system)
            now.own_ticks = fields[user] + fields[system];
    }

    /// Where the control group of this process, and the one at the top that a container sees, may
    /// have their files: of the second version, then of the first.
    [[nodiscard]] std::vector<Text> groups() const {
        auto const mine = machine::text_of(root_ + "/proc/self/cgroup");
        auto const top = root_ + "/sys/fs/cgroup";
        std::vector<Text> folders{top + machine::value_in(mine, "0::").value_or("") + "/",
                                  top + "/"};
        for (char const* name : {"cpu", "cpu,cpuacct", "cpuacct,cpu"}) {
            auto const key = ":" + std::string{name} + ":";
            auto const at = mine.find(key);
            auto const path = at == Text::npos ? Text{}
                                               : mine.substr(at + key.size(),
                                                             mine.find('\n', at) - at - key.size());
            folders.push_back(top + "/" + name + path + "/");
            folders.push_back(top + "/" + name + "/");
        }
        return folders;
    }

    /// The smallest that a control group sets; nothing where none does.
    [[nodiscard]] std::optional<double> quota_in_cores() const {
        std::optional<double> least;
        auto const consider = [&](std::optional<std::int64_t> quota,
                                  std::optional<std::int64_t> period) {
            if (!quota || !period || *quota <= 0 || *period <= 0)
                return;
            auto const cores = static_cast<double>(*quota) / static_cast<double>(*period);
            least = least ? (std::min)(*least, cores) : cores;
        };
        for (auto const& folder : groups()) {
            auto const both = machine::text_of(folder + "cpu.max");  // "max 100000" is none
            auto const space = both.find(' ');
            if (space != Text::npos && both[0] != 'm')
                consider(machine::bytes_in(both.substr(0, space)),
                         machine::bytes_in(both.substr(space + 1)));
            consider(machine::bytes_in(machine::text_of(folder + "cpu.cfs_quota_us")),
                     machine::bytes_in(machine::text_of(folder + "cpu.cfs_period_us")));
        }
        return least;
    }

    /// How many cores all other programs used on average. Nothing for a run that was too short.
    [[nodiscard]] std::optional<double> others_in_cores(reading const& after) const {
        constexpr std::int64_t fewest = 20;
        auto const passed = after.all_ticks - before_.all_ticks;
        if (passed < fewest)
            return std::nullopt;
        auto const busy = after.busy_ticks - before_.busy_ticks;
        auto const own = after.own_ticks - before_.own_ticks;
        return static_cast<double>((std::max)(std::int64_t{0}, busy - own)) /
               static_cast<double>(passed);
    }

    void warn_of_others(run_facts& facts, std::optional<double> others,
                        reading const& after) const {
        constexpr double slight = 0.3;
        constexpr double slight_load = 0.5;
        auto const load = (std::max)(before_.load.value_or(0.0), after.load.value_or(0.0));
        auto const own = static_cast<double>((std::max)(std::int64_t{1}, facts.threads));
        if (others ? *others > slight : load > own + slight_load) {
            facts.busy_machine = true;
            facts.disturbances.push_back(
                (others ? "other programs used " + text::number(*others, 2) +
                              " of this machine's cores during the run"
                        : "the load of this machine was " + text::number(load, 3) +
                              ", more than this process makes") +
                ": times may be too long, and vary");
        }
    }

    Text root_;
    reading before_;
};

}  // namespace component_benchmark::detail
