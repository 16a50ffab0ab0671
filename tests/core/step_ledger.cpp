#include "support/catch2.hpp"
#include "support/fake_model.hpp"
#include <component_benchmark/core/step_ledger.hpp>
#include <component_benchmark/sink/json.hpp>
#include <component_benchmark/sink/summary.hpp>

#include <stdexcept>
#include <string>

namespace cb = component_benchmark;
using Catch::Contains;

namespace {

/// Work that takes so many milliseconds of the fake clock.
auto takes(std::int64_t ms) {
    return [ms] { fake::now += ms * 1'000'000; };
}

std::int64_t ms_of(cb::step_times const& step, cb::step_part part) {
    return step.part_ns[static_cast<std::size_t>(part)] / 1'000'000;
}

}  // namespace

TEST_CASE("the parts of a step and the rest add up to the step", "[ledger]") {
    cb::step_ledger ledger{&fake::clock};
    fake::now = 5;
    auto const loss = ledger.step(64, [&] {
        auto const batch = ledger.data([&] {
            takes(3)();
            return std::string{"batch"};
        });
        CHECK(batch == "batch");
        takes(2)();
        ledger.to_device(takes(1));
        ledger.zero_grad(takes(1));
        ledger.forward([&] {
            takes(10)();
            ledger.loss(takes(2));  // taken out of the part around it
            takes(4)();
        });
        ledger.backward(takes(30));
        ledger.apart(takes(1000));  // not the step's
        ledger.optimizer(takes(5));
        ledger.optimizer(takes(1));
        return 0.5;
    });
    takes(100)();  // between steps
    CHECK(loss == 0.5);
    auto const step = ledger.middle();
    CHECK(step.steps == 1);
    CHECK(ms_of(step, cb::step_part::data) == 3);
    CHECK(ms_of(step, cb::step_part::to_device) == 1);
    CHECK(ms_of(step, cb::step_part::forward) == 14);
    CHECK(ms_of(step, cb::step_part::loss) == 2);
    CHECK(ms_of(step, cb::step_part::backward) == 30);
    CHECK(ms_of(step, cb::step_part::optimizer) == 6);
    CHECK(ms_of(step, cb::step_part::zero_grad) == 1);
    CHECK(step.unattributed_ns == 2'000'000);
    CHECK(step.total_ns() == 59'000'000);
    CHECK(step.examples_per_second() == Approx(64 / 0.059));
}

TEST_CASE("of several steps the one in the middle is told; one that throws is forgotten",
          "[ledger]") {
    cb::step_ledger ledger{&fake::clock};
    CHECK(ledger.middle().steps == 0);
    for (auto const ms : {900, 4, 6, 5, 7})
        ledger.step(ms, [&] { ledger.forward(takes(ms)); });
    CHECK_THROWS_AS(ledger.step(1,
                                [&] {
                                    ledger.forward([] {
                                        takes(6)();
                                        throw std::runtime_error{"no"};
                                    });
                                }),
                    std::runtime_error);
    auto const step = ledger.middle();
    CHECK(step.steps == 5);
    CHECK(step.examples == 6);
    CHECK(step.total_ns() == 6'000'000);
    for (int more = 0; more < 2000; ++more)
        ledger.step(0, [&] { ledger.forward(takes(1)); });
    CHECK(ledger.middle().steps == 1000);  // the last ones
    CHECK(ledger.middle().total_ns() == 1'000'000);
    CHECK(ledger.middle().examples_per_second() == 0.0);
}

TEST_CASE("a ledger that is used wrongly says so", "[ledger]") {
    cb::step_ledger ledger{&fake::clock};
    CHECK_THROWS_WITH(ledger.forward(takes(1)),
                      Contains("'forward' was timed outside of a step; call it within "
                               "ledger.step(examples, work)"));
    CHECK_THROWS_WITH(ledger.step(-1, takes(1)), Contains("a step on -1 examples"));
    CHECK_THROWS_WITH(ledger.step(1, [&] { ledger.step(1, takes(1)); }),
                      Contains("a step was begun within a step"));
    CHECK(ledger.middle().steps == 0);
    ledger.step(1, takes(1));  // and is none the worse
    CHECK(ledger.middle().steps == 1);
}

TEST_CASE("a device is waited for at both ends of each part", "[ledger]") {
    static int waits = 0;
    waits = 0;
    cb::step_ledger ledger{&fake::clock, []() noexcept {
                               ++waits;
                               fake::now += 2'000'000;
                           }};
    ledger.step(1, [&] { ledger.forward(takes(1)); });
    CHECK(waits == 4);
    CHECK(ms_of(ledger.middle(), cb::step_part::forward) == 3);
}

TEST_CASE("the report has the ledger of the step", "[ledger]") {
    cb::document report;
    report.facts.model = "Model";
    CHECK(cb::to_json(report).find("\"root\"") == std::string::npos);
    CHECK(cb::to_summary(report).find("step ") == std::string::npos);
    report.facts.step.part_ns = {1'000'000, 0, 2'000'000, 0, 6'500'000, 0, 0};
    report.facts.step.unattributed_ns = 500'000;
    report.facts.step.examples = 32;
    report.facts.step.steps = 9;
    auto const json = cb::to_json(report);
    CHECK_THAT(json, Contains(R"("iteration_ms": 10)") && Contains(R"("qps": 3200)") &&
                         Contains(R"("steps": 9)") && Contains(R"("backward": 6.5)") &&
                         Contains(R"("unattributed": 0.5)"));
    CHECK_THAT(
        cb::to_summary(report),
        Contains("step 10.00 ms, 3,200 examples/s: backward 65.0 %, forward 20.0 %, data 10.0 "
                 "%, unattributed 5.0 %\n"));
    CHECK_THAT(cb::to_summary(report, 70),
               Contains("step 10.00 ms, 3,200 examples/s: backward 65.0 %, other 35.0 %\n"));
}
