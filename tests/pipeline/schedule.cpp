#include "support/catch2.hpp"
#include "support/environment_variable.hpp"
#include "support/signal_handler.hpp"
#include <component_benchmark/pipeline/schedule.hpp>

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace cb = component_benchmark;
using Catch::Matchers::ContainsSubstring;
using cb::test::environment_variable;
using cb::test::signal_handler;

static_assert(!std::is_copy_constructible_v<cb::schedule>);
static_assert(!std::is_convertible_v<std::string_view, cb::schedule>);

namespace {

using steps = std::vector<int>;

/// The steps of a training of `all` steps at which a profile is due.
steps due_steps(cb::schedule& due, int all) {
    steps found;
    for (int step = 0; step < all; ++step)
        if (due())
            found.push_back(step);
    return found;
}

steps due_steps(char const* text, int all = 12) {
    cb::schedule due{text};
    return due_steps(due, all);
}

int heard = 0;
void hear(int) {
    ++heard;
}

}  // namespace

TEST_CASE("a schedule names single steps and periods", "[schedule]") {
    CHECK(due_steps("step=3") == steps{3});
    CHECK(due_steps("step=0") == steps{0});
    CHECK(due_steps("step=12") == steps{});
    CHECK(due_steps("every=5") == steps{5, 10});
    CHECK(due_steps("every=1", 4) == steps{1, 2, 3});
    CHECK(due_steps("step=2,step=7,every=5") == steps{2, 5, 7, 10});
    CHECK(due_steps(" step=2 , every=5 ") == steps{2, 5, 10});
    CHECK(due_steps("step=5,every=5") == steps{5, 10});
}

TEST_CASE("an empty schedule and off are never due", "[schedule]") {
    CHECK(due_steps("") == steps{});
    CHECK(due_steps("  ") == steps{});
    CHECK(due_steps("off") == steps{});
}

TEST_CASE("a schedule that makes no sense is refused with what was expected", "[schedule]") {
    CHECK_THROWS_WITH(cb::schedule{"step=3,evry=5"},
                      "component_benchmark: the schedule is 'step=3,evry=5', and 'evry=5' is none "
                      "of off, step=N, every=N (from 1 on) and signal");
    for (char const* const text :
         {"step", "step=", "step=-1", "step=+1", "step=1.5", "step=1e3",
          "step=99999999999999999999", "every=0", "every=x", "EVERY=1", "signal=1", ",", "step=1,",
          ",step=1", "step=1,,step=2", "step=1 step=2", "on", "offf"}) {
        INFO(text);
        CHECK_THROWS_AS(cb::schedule{text}, cb::error);
    }
    CHECK_THROWS_WITH(cb::schedule{"off,step=3"},
                      "component_benchmark: the schedule is 'off,step=3', but 'off' stands alone");
}

TEST_CASE("the environment variable stands above the program's default", "[schedule]") {
    auto const found = [](char const* value, std::string_view otherwise) {
        environment_variable const variable{"COMPONENT_BENCHMARK", value};
        auto due = cb::schedule::from_environment(otherwise);
        return due_steps(due, 12);
    };
    CHECK(found(nullptr, "") == steps{});
    CHECK(found("", "") == steps{});
    CHECK(found(nullptr, "step=4") == steps{4});
    CHECK(found("", "step=4") == steps{4});
    CHECK(found("step=2", "step=4") == steps{2});
    CHECK(found("off", "step=4") == steps{});
    CHECK_THROWS_WITH(found("100", ""),
                      ContainsSubstring("the environment variable COMPONENT_BENCHMARK is '100'"));
    CHECK_THROWS_WITH(found("", "100"), ContainsSubstring("the schedule is '100'"));
}

TEST_CASE("a signal makes the next question due, once", "[schedule]") {
    signal_handler const own{SIGUSR1, &hear};
    heard = 0;
    {
        cb::schedule due{"step=1,signal"};
        CHECK_FALSE(due());
        ::raise(SIGUSR1);
        ::raise(SIGUSR1);
        CHECK(due());
        CHECK_FALSE(due());
        ::raise(SIGUSR1);
        CHECK(due());
    }
    CHECK(heard == 0);
    ::raise(SIGUSR1);
    CHECK(heard == 1);
}

TEST_CASE("the signal's handling is the program's before and after, and without 'signal'",
          "[schedule]") {
    signal_handler const own{SIGUSR1, &hear};
    cb::schedule const plain{"step=1"};
    CHECK(signal_handler::current(SIGUSR1) == &hear);
    CHECK_THROWS_AS(cb::schedule{"signal,nonsense"}, cb::error);
    CHECK(signal_handler::current(SIGUSR1) == &hear);
    {
        cb::schedule const due{"signal,signal"};
        CHECK(signal_handler::current(SIGUSR1) != &hear);
    }
    CHECK(signal_handler::current(SIGUSR1) == &hear);
}

TEST_CASE("several schedules hear of one signal, in whatever order they end", "[schedule]") {
    signal_handler const own{SIGUSR1, SIG_IGN};
    std::optional<cb::schedule> first{std::in_place, "signal"};
    ::raise(SIGUSR1);
    std::optional<cb::schedule> second{std::in_place, "signal"};
    CHECK((*first)());
    CHECK_FALSE((*second)());  // what came before it was made is none of its business
    first.reset();
    ::raise(SIGUSR1);
    CHECK((*second)());
    second.reset();
    CHECK(signal_handler::current(SIGUSR1) == SIG_IGN);
}

TEST_CASE("a handler that the program sets meanwhile stays", "[schedule]") {
    signal_handler const before{SIGUSR1, SIG_IGN};
    std::optional<cb::schedule> due{std::in_place, "signal"};
    signal_handler const own{SIGUSR1, &hear};
    due.reset();
    CHECK(signal_handler::current(SIGUSR1) == &hear);
}
