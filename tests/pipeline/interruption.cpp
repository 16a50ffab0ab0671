#include "support/catch2.hpp"
#include "support/fake_model.hpp"
#include "support/signal_handler.hpp"
#include <component_benchmark/pipeline/pipeline.hpp>
#include <component_benchmark/profile/latency.hpp>
#include <component_benchmark/profile/model_size.hpp>
#include <component_benchmark/sink/json.hpp>
#include <component_benchmark/sink/table.hpp>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace cb = component_benchmark;
using Catch::Matchers::ContainsSubstring;
using cb::test::signal_handler;

namespace {

using list = std::vector<std::string>;

char const* const reason = "not measured: the run was interrupted";

list events;  // what happened, in order
int forwards_until_interrupt = 0;
bool second_one_acts_at_once = false;

void on_interrupt(int) {
    events.emplace_back("handler");
}

std::atomic<int> interrupts{0};
void on_other_thread(int) {
    ++interrupts;
}

void count_down() {
    if (--forwards_until_interrupt != 0)
        return;
    ::raise(SIGINT);
    second_one_acts_at_once = signal_handler::current(SIGINT) == SIG_DFL;
}

struct keeper {
    static constexpr char const* name = "keeper";
    cb::document* kept;
    bool const* put_back;
    void write(cb::document const& report) {
        *kept = report;
        events.emplace_back(*put_back ? "written, model put back" : "written");
    }
};

cb::latency fast() {
    return {.warmup = 2, .samples = 5, .clock = &fake::clock};
}

/// A root with children a, b (in a container) and c; `a` is called twice. SIGINT comes in the
/// forward of that number in `a`, whose first two are no samples.
fake::provider interrupted_in_a(int forward) {
    fake::provider provider;
    auto& model = provider.captured;
    model.add(cb::node::none, "", 1, 10'000'000);
    model.add(0, "a", 2, 3'000'000);
    auto const container = static_cast<std::ptrdiff_t>(model.add(0, "list", 0));
    model.add(container, "b", 1, 1'000'000);
    model.add(0, "c", 1, 1'000'000);
    model.components[1].groups[0].source.during_forward = &count_down;
    forwards_until_interrupt = forward;
    second_one_acts_at_once = false;
    events.clear();
    return provider;
}

struct outcome {
    cb::document document;
    list events;
};

outcome run(fake::provider& provider) {
    outcome found;
    bool put_back = false;
    provider.captured.was_put_back = &put_back;
    cb::pipeline pipeline{cb::preprocessors{}, cb::profilers{fast(), cb::model_size{}},
                          cb::sinks{keeper{&found.document, &put_back}}};
    static_cast<void>(pipeline.run(provider));
    found.events = events;
    return found;
}

cb::cell const& cell_of(cb::document const& report, char const* id, std::size_t row) {
    return report.find(id)->cells[row];
}

}  // namespace

TEST_CASE("Ctrl-C keeps what is measured and leaves the rest unmeasured", "[interruption]") {
    signal_handler const own{SIGINT, &on_interrupt};
    auto provider = interrupted_in_a(5);
    auto const found = run(provider);
    auto const& report = found.document;
    CHECK_FALSE(report.facts.complete);
    CHECK(found.events == list{"written, model put back", "handler"});
    CHECK(second_one_acts_at_once);
    CHECK(signal_handler::current(SIGINT) == &on_interrupt);
    CHECK_FALSE(cb::interrupted());

    CHECK(cell_of(report, "latency_ms", 0).number() == 10.0);
    CHECK(cell_of(report, "latency_ms", 1).number() == 3.0);
    CHECK(cell_of(report, "samples", 0).number() == 5.0);
    CHECK(cell_of(report, "samples", 1).number() == 3.0);
    CHECK(cell_of(report, "total_ms", 1).number() == 6.0);
    CHECK(report.nodes[1].state == cb::status::ok);
    CHECK(cell_of(report, "params", 1).why == reason);  // the profiler after it
    for (std::size_t const row : {3U, 4U}) {
        INFO(report.nodes[row].path);
        CHECK(report.nodes[row].state == cb::status::opaque);
        CHECK(report.nodes[row].reason == reason);
        for (auto const& column : report.columns)
            CHECK_FALSE(column.cells[row].has_value());
        CHECK(cell_of(report, "latency_ms", row).why == reason);
    }
    CHECK(report.nodes[2].state == cb::status::not_called);
    CHECK_FALSE(cell_of(report, "total_ms", 2).has_value());
    // Without its children's times, what the root takes itself is not known.
    CHECK_FALSE(cell_of(report, "self_ms", 0).has_value());
    CHECK(cell_of(report, "self_ms", 0).why == reason);
}

TEST_CASE("a component without a sample was not measured", "[interruption]") {
    signal_handler const own{SIGINT, &on_interrupt};
    for (int const warm_up : {1, 2}) {
        auto provider = interrupted_in_a(warm_up);
        auto const report = run(provider).document;
        CHECK(report.nodes[0].state == cb::status::ok);
        CHECK(report.nodes[1].state == cb::status::opaque);
        CHECK(report.nodes[1].reason == reason);
        CHECK(cell_of(report, "latency_ms", 1).why == reason);
    }
}

TEST_CASE("a call without a sample makes the total a lower bound", "[interruption]") {
    signal_handler const own{SIGINT, &on_interrupt};
    auto provider = interrupted_in_a(4);
    auto& groups = provider.captured.components[1].groups;
    groups[0].numbers = {1};
    groups.push_back(fake::group(8'000'000, 0, {2}));
    auto const report = run(provider).document;
    CHECK_FALSE(cell_of(report, "latency_ms", 1).has_value());
    CHECK(cell_of(report, "latency_ms", 1).why == reason);
    CHECK(report.find("latency_ms")->calls[1].number() == 3.0);
    CHECK_FALSE(report.find("latency_ms")->calls[2].has_value());
    CHECK(cell_of(report, "total_ms", 1).number() == 3.0);
    CHECK(cell_of(report, "total_ms", 1).why == "lower bound: not all of its calls have a value");
}

TEST_CASE("table, summary and JSON say that a run is partial", "[interruption]") {
    signal_handler const own{SIGINT, &on_interrupt};
    auto provider = interrupted_in_a(5);
    auto const report = run(provider).document;
    auto const table = cb::to_table(report);
    CHECK_THAT(table, ContainsSubstring("partial: the run was interrupted: 2 components not"));
    CHECK_THAT(table, ContainsSubstring("opaque: not measured: the run was interrupted"));
    CHECK_THAT(cb::to_summary(report), ContainsSubstring("(partial run)"));
    CHECK_THAT(cb::to_summary(report), !ContainsSubstring("opaque"));
    CHECK_THAT(cb::to_json(report), ContainsSubstring("\"partial\""));
}

TEST_CASE("a run that nobody interrupts is complete", "[interruption]") {
    signal_handler const own{SIGINT, &on_interrupt};
    auto provider = interrupted_in_a(0);
    auto const found = run(provider);
    CHECK(found.document.facts.complete);
    CHECK(found.events == list{"written, model put back"});
    CHECK(signal_handler::current(SIGINT) == &on_interrupt);
}

TEST_CASE("a second run is not interrupted by the first one's Ctrl-C", "[interruption]") {
    signal_handler const own{SIGINT, &on_interrupt};
    auto provider = interrupted_in_a(5);
    CHECK_FALSE(run(provider).document.facts.complete);
    CHECK(run(provider).document.facts.complete);
}

TEST_CASE("an ignored Ctrl-C stays ignored", "[interruption]") {
    signal_handler const own{SIGINT, SIG_IGN};
    auto provider = interrupted_in_a(5);
    auto const found = run(provider);
    CHECK(found.document.facts.complete);
    CHECK(signal_handler::current(SIGINT) == SIG_IGN);
}

TEST_CASE("Ctrl-C reaches a run that is not on the main thread", "[interruption]") {
    signal_handler const own{SIGINT, &on_other_thread};
    auto provider = interrupted_in_a(5);
    interrupts = 0;
    outcome found;
    // as a program does that hears signals on its main thread only
    std::thread runner{[&] {
        ::sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
        provider.captured.components[1].groups[0].source.during_forward = [] {
            if (--forwards_until_interrupt == 0)
                ::kill(::getpid(), SIGINT);
            while (forwards_until_interrupt == 0 && !cb::interrupted())
                std::this_thread::yield();
        };
        found = run(provider);
    }};
    runner.join();
    CHECK_FALSE(found.document.facts.complete);
    CHECK(events == list{"written, model put back"});
    CHECK(interrupts == 1);
}

TEST_CASE("Ctrl-C is handed on when the run fails, too", "[interruption]") {
    struct failing {
        bool is_interrupted;
        std::unique_ptr<fake::model> capture(cb::options const&) {
            if (is_interrupted)
                ::raise(SIGINT);
            throw std::runtime_error{"the forward failed"};
        }
    };
    signal_handler const own{SIGINT, &on_interrupt};
    cb::pipeline pipeline{cb::preprocessors{}, cb::profilers{fast()}, cb::sinks{}};
    events.clear();
    CHECK_THROWS_WITH(pipeline.run(failing{false}), "the forward failed");
    CHECK(events.empty());
    CHECK_THROWS_WITH(pipeline.run(failing{true}), "the forward failed");
    CHECK(events == list{"handler"});
    CHECK(signal_handler::current(SIGINT) == &on_interrupt);
}

TEST_CASE("the last of several guards hands Ctrl-C on", "[interruption]") {
    signal_handler const own{SIGINT, &on_interrupt};
    events.clear();
    {
        cb::interruption_guard const outer;
        {
            cb::interruption_guard const inner;
            ::raise(SIGINT);
        }
        CHECK(cb::interrupted());
        CHECK(events.empty());
    }
    CHECK_FALSE(cb::interrupted());
    CHECK(events == list{"handler"});
}

TEST_CASE("a program without a handler ends by the signal, its report written", "[interruption]") {
    auto provider = interrupted_in_a(5);
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    auto const child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        signal_handler const standard{SIGINT, SIG_DFL};
        cb::pipeline pipeline{cb::preprocessors{}, cb::profilers{fast()},
                              cb::sinks{cb::table{::fdopen(ends[1], "w"), 100}}};
        static_cast<void>(pipeline.run(provider));
        ::_exit(0);  // never: the signal comes before
    }
    ::close(ends[1]);
    std::string printed;
    char letter = 0;
    while (::read(ends[0], &letter, 1) == 1)
        printed += letter;
    ::close(ends[0]);
    CHECK_THAT(printed, ContainsSubstring("(partial run)"));
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == SIGINT);
}
