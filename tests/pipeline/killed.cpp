// Runs that are killed at random moments, as by kill -9, and go on from their journal.
#include "support/catch2.hpp"
#include "support/fake_model.hpp"
#include "support/golden.hpp"
#include "support/temporary_folder.hpp"
#include <component_benchmark/pipeline/pipeline.hpp>
#include <component_benchmark/profile/latency.hpp>
#include <component_benchmark/profile/model_size.hpp>
#include <component_benchmark/resume.hpp>
#include <component_benchmark/sink/journal.hpp>
#include <component_benchmark/sink/json.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <new>
#include <random>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace cb = component_benchmark;

namespace {

constexpr std::size_t rows = 120;

/// How often each component was run, by all processes together.
class run_counts {
public:
    run_counts() {
        void* const memory = ::mmap(nullptr, rows * sizeof(int), PROT_READ | PROT_WRITE,
                                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            throw std::bad_alloc{};
        counts_ = static_cast<int*>(memory);
    }
    run_counts(run_counts const&) = delete;
    run_counts& operator=(run_counts const&) = delete;
    ~run_counts() { ::munmap(counts_, rows * sizeof(int)); }

    [[nodiscard]] int* at(std::size_t row) const noexcept { return counts_ + row; }
    [[nodiscard]] std::vector<int> now() const { return {counts_, counts_ + rows}; }

private:
    int* counts_;
};

int progress_pipe = -1;

/// Slow, and heard of by the process that is going to kill this one.
void work() {
    for (int volatile step = 0; step < 50'000;)
        step = step + 1;
    char const letter = '.';
    static_cast<void>(::write(progress_pipe, &letter, 1));
}

/// Three levels of components, one of which failed and one of which is never called.
fake::provider slow_model(run_counts const& counts) {
    fake::provider provider;
    auto& model = provider.captured;
    model.add(cb::node::none, "", 1, 100'000'000);
    for (std::size_t row = 1; row < rows; ++row) {
        auto const parent =
            row % 10 == 1 ? 0 : static_cast<std::ptrdiff_t>((row - 1) / 10 * 10 + 1);
        model.add(parent, "m" + std::to_string(row), row == 31 ? 0 : 1 + static_cast<int>(row % 3),
                  100'000 * static_cast<std::int64_t>(row));
    }
    for (std::size_t row = 0; row < rows; ++row)
        for (auto& group : model.components[row].groups) {
            group.source.prepared = counts.at(row);
            group.source.during_forward = &work;
        }
    return provider;
}

void profile(fake::provider provider, std::string const& journal, std::string const& report) {
    cb::pipeline pipeline{cb::preprocessors{},
                          cb::profilers{cb::model_size{}, cb::latency{.warmup = 1,
                                                                      .samples = 3,
                                                                      .clock = &fake::clock,
                                                                      .processor = &fake::clock}},
                          cb::sinks{cb::journal{journal}, cb::json{report}},
                          cb::options{.resume = cb::read_journal(journal)}};
    static_cast<void>(pipeline.run(provider));
}

/// Runs in a process of its own, which is killed after so many forwards; false when it came to its
/// end before.
bool survives(fake::provider const& provider, std::string const& journal, std::string const& report,
              int forwards_until_kill) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    auto const child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        ::close(ends[0]);
        progress_pipe = ends[1];
        profile(provider, journal, report);
        ::_exit(0);
    }
    ::close(ends[1]);
    char letter = 0;
    for (int heard = 0; heard < forwards_until_kill && ::read(ends[0], &letter, 1) == 1;)
        ++heard;
    ::kill(child, SIGKILL);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    ::close(ends[0]);
    return !WIFSIGNALED(status);
}

/// What two reports of the same rows have in common, whoever measured them.
nlohmann::json comparable(std::string const& path) {
    auto report = nlohmann::json::parse(cb::test::read_file(path));
    for (auto const* key : {"created", "options", "warnings", "environment"})
        report["meta"].erase(key);
    report["nodes"].erase("resumed");
    for (auto* table : {&report["nodes"], &report["calls"]})
        for (auto entry = table->begin(); entry != table->end();)  // how busy the machine was
            entry = entry.key().ends_with(":why") ? table->erase(entry) : std::next(entry);
    for (auto const* table : {"nodes", "calls"})  // strings may be in another order
        for (auto const* key :
             {"name", "type", "status", "reason", "in_shapes", "out_shapes", "dtypes"})
            if (report[table].contains(key))
                for (auto& entry : report[table][key])
                    if (!entry.is_null())
                        entry = report["strings"].at(entry.get<std::size_t>());
    report.erase("strings");
    report.erase("samples");  // in another order
    return report;
}

/// Counts of a run that nobody disturbs, and its report.
std::vector<int> run_undisturbed(std::string const& folder, std::string const& report) {
    run_counts const counts;
    profile(slow_model(counts), folder + "/undisturbed.journal", report);
    return counts.now();
}

/// Kills a run up to `kills` times, lets it come to its end, and gives how often it was killed.
int kill_and_resume(int kills, std::mt19937& random) {
    cb::test::temporary_folder const folder;
    auto const journal = folder / "run.journal";
    auto const report = folder / "report.json";
    auto const least = run_undisturbed(folder.path(), folder / "undisturbed.json");
    run_counts const counts;
    auto const provider = slow_model(counts);
    std::vector<int> finished(rows);  // runs of a component when it had its line
    int killed = 0;
    for (bool ended = false; !ended;) {
        constexpr auto never = 1'000'000;
        auto const until =
            killed < kills ? std::uniform_int_distribution<>{0, 2 * static_cast<int>(rows)}(random)
                           : never;
        ended = survives(provider, journal, report, until);
        killed += ended ? 0 : 1;
        auto const now = counts.now();
        auto const found = cb::read_journal(journal);
        CHECK((found->remarks.empty() || found->finished.empty()));
        for (std::size_t row = 0; row < found->finished.size(); ++row) {
            if (!found->finished[row])
                continue;
            if (finished[row] == 0)
                finished[row] = now[row];
            INFO("component " << row << " after " << killed << " kills");
            CHECK(now[row] == finished[row]);  // with a line, it is not measured again
        }
    }
    CHECK(cb::read_journal(journal)->finished == std::vector<bool>(rows, true));
    CHECK(comparable(report) == comparable(folder / "undisturbed.json"));
    int lost = 0;
    for (std::size_t row = 0; row < rows; ++row)
        lost += *counts.at(row) > least[row] ? *counts.at(row) - least[row] : 0;
    CHECK(lost <= 4 * killed);  // of the component that was at work
    return killed;
}

/// In as many runs as that takes: one may come to its end before it is killed.
void kill_times(int kills) {
    std::mt19937 random{20240613};
    for (int rounds = 0; kills > 0; ++rounds) {
        REQUIRE(rounds < 100);
        kills -= kill_and_resume(kills, random);
    }
}

}  // namespace

TEST_CASE("a run killed again and again measures each component that has a line once", "[killed]") {
    kill_times(5);
}

TEST_CASE("a run killed twenty times does, too", "[.][killed]") {
    kill_times(20);
}
