// How time and memory of a profile grow with the number of components, whose own work takes no
// time: a run with a journal and a report, then one that is resumed from the whole journal.
#include "../support/pairs.hpp"
#include "support/fake_model.hpp"
#include "support/temporary_folder.hpp"
#include <component_benchmark/core/statistics.hpp>
#include <component_benchmark/pipeline/pipeline.hpp>
#include <component_benchmark/profile/latency.hpp>
#include <component_benchmark/profile/model_size.hpp>
#include <component_benchmark/resume.hpp>
#include <component_benchmark/sink/journal.hpp>
#include <component_benchmark/sink/json.hpp>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace cb = component_benchmark;

namespace {

constexpr std::array<std::size_t, 4> sizes{10, 100, 1'000, 10'000};
constexpr double most = 1.5;  // of one component's cost, at ten times as many

/// Adds a tree of so many components in which each has ten children, in pre-order.
void grow(fake::model& model, std::ptrdiff_t parent, std::size_t components) {
    constexpr std::size_t children = 10;
    auto const above = static_cast<std::ptrdiff_t>(
        model.add(parent, parent == cb::node::none ? "" : "m" + std::to_string(model.rows.size())));
    auto rest = components - 1;
    for (std::size_t left = children; left > 0 && rest > 0; --left) {
        auto const share = (rest + left - 1) / left;
        grow(model, above, share);
        rest -= share;
    }
}

void profile(fake::provider& provider, std::string const& journal, std::string const& report,
             cb::options wishes = {}) {
    cb::pipeline pipeline{
        cb::preprocessors{},
        cb::profilers{cb::model_size{},
                      cb::latency{.warmup = 1, .samples = 10, .clock = &fake::clock}},
        cb::sinks{cb::journal{journal}, cb::json{report}}, std::move(wishes)};
    if (!pipeline.run(provider).failures().empty())
        std::exit(1);
}

struct cost {
    double fresh_us = 0.0;    ///< of a component, in a run with a journal and a report
    double resumed_us = 0.0;  ///< of a component that is taken over
    double peak_kb = 0.0;     ///< of the whole process
};

[[nodiscard]] cost measure(std::size_t components) {
    cb::test::temporary_folder const folder;
    auto const journal = folder / "run.journal";
    auto const report = folder / "report.json";
    fake::provider provider;
    grow(provider.captured, cb::node::none, components);
    auto const repetitions = static_cast<int>(1'000 / components) + 3;
    auto const in_us = [&](auto work) {
        std::vector<double> times;
        for (int repetition = 0; repetition < repetitions; ++repetition)
            times.push_back(bench::nanoseconds(work, 1) / 1e3 / static_cast<double>(components));
        return cb::median(times);
    };
    cost found;
    found.fresh_us = in_us([&] { profile(provider, journal, report); });
    found.resumed_us =
        in_us([&] { profile(provider, journal, report, {.resume = cb::read_journal(journal)}); });
    ::rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    found.peak_kb = static_cast<double>(usage.ru_maxrss);
    return found;
}

/// In a process of its own, so that each has its own peak of memory.
[[nodiscard]] cost measure_alone(std::size_t components) {
    int ends[2];
    if (::pipe(ends) != 0)
        std::exit(1);
    auto const child = ::fork();
    if (child == 0) {
        auto const found = measure(components);
        ::_exit(::write(ends[1], &found, sizeof found) == sizeof found ? 0 : 1);
    }
    cost found;
    ::close(ends[1]);
    auto const is_whole = ::read(ends[0], &found, sizeof found) == sizeof found;
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (!is_whole || status != 0)
        std::exit(1);
    return found;
}

void report(char const* what, char const* unit, std::array<double, sizes.size()> const& of) {
    char measured[200];
    std::snprintf(measured, sizeof measured, "%.3g, %.3g, %.3g, %.3g %s", of[0], of[1], of[2],
                  of[3], unit);
    char goal[80];
    std::snprintf(goal, sizeof goal, "the last at most %.1f x the one before", most);
    bench::row(what, measured, goal, of[3] <= most * of[2]);
}

}  // namespace

int main() {
    std::array<cost, sizes.size()> found;
    for (std::size_t i = 0; i < sizes.size(); ++i)
        found[i] = measure_alone(sizes[i]);
    std::array<double, sizes.size()> fresh{};
    std::array<double, sizes.size()> resumed{};
    std::array<double, sizes.size()> memory{};
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        fresh[i] = found[i].fresh_us;
        resumed[i] = found[i].resumed_us;
        // what a component adds to the process of the next smaller model
        auto const less = i == 0 ? 0.0 : found[i - 1].peak_kb;
        auto const fewer = i == 0 ? 0 : sizes[i - 1];
        memory[i] = (found[i].peak_kb - less) / static_cast<double>(sizes[i] - fewer);
    }
    report("time of a component beside its own work, of 10, 100, 1,000, 10,000", "us", fresh);
    report("the same where all are resumed from a journal", "us", resumed);
    report("memory that a component adds, of 10, 100, 1,000, 10,000", "KB", memory);
}
