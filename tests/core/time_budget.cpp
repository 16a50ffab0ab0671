#include "support/catch2.hpp"
#include "support/fake_model.hpp"
#include <component_benchmark/core/time_budget.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

namespace cb = component_benchmark;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr std::int64_t second = 1'000'000'000;

}  // namespace

TEST_CASE("without a budget every turn is as long as it likes", "[budget]") {
    for (auto const seconds : {0.0, cb::time_budget::unlimited}) {
        cb::time_budget budget{seconds, &fake::clock};
        budget.expect(3);
        budget.next_component();
        CHECK(std::isinf(budget.turn()));
    }
    cb::time_budget none;
    none.next_component();
    CHECK(std::isinf(none.turn()));
}

TEST_CASE("components share what is left, so what one does not need the others get", "[budget]") {
    cb::time_budget budget{12.0, &fake::clock};
    budget.join();
    fake::now += 2 * second;  // the capture
    budget.expect(5);
    budget.next_component();
    CHECK(budget.turn() == 2.0);
    fake::now += second;  // half of its turn
    budget.next_component();
    CHECK(budget.turn() == 2.25);
    fake::now += 6 * second;  // far more than its turn
    budget.next_component();
    CHECK(budget.turn() == 1.0);
    budget.next_component();
    CHECK(budget.turn() == 1.5);
    budget.next_component();
    CHECK(budget.turn() == 3.0);
    CHECK(budget.left() == 3.0);
}

TEST_CASE("profilers share the turn of a component", "[budget]") {
    cb::time_budget budget{10.0, &fake::clock};
    budget.join();
    budget.join();
    budget.expect(1);
    budget.next_component();
    CHECK(budget.turn() == 5.0);
    fake::now += second;
    CHECK(budget.turn() == 9.0);  // nobody comes after
}

TEST_CASE("a spent budget gives no time, and a component that nobody expected does not hurt",
          "[budget]") {
    cb::time_budget budget{1.0, &fake::clock};
    budget.join();
    budget.expect(1);
    fake::now += 5 * second;
    for (int i = 0; i < 3; ++i) {
        budget.next_component();
        CHECK(budget.turn() == 0.0);
    }
    CHECK(budget.left() == 0.0);
}

TEST_CASE("a clock that goes back or overflows spends nothing or all", "[budget]") {
    cb::time_budget budget{4.0, &fake::clock};
    auto const before = fake::now;
    budget.expect(2);
    fake::now = before - 10 * second;
    budget.next_component();
    CHECK(budget.turn() == 2.0);
    fake::now = (std::numeric_limits<std::int64_t>::min)() + 1;
    CHECK(budget.left() == 4.0);
    fake::now = (std::numeric_limits<std::int64_t>::max)();
    CHECK(budget.left() == 0.0);
    fake::now = before;
}

TEST_CASE("what is no time is refused by name", "[budget]") {
    CHECK_NOTHROW(cb::check_seconds(0.0, "options.time_budget_s"));
    CHECK_NOTHROW(cb::check_seconds(cb::time_budget::unlimited, "options.time_budget_s"));
    CHECK_THROWS_WITH(cb::check_seconds(-1.0, "options.time_budget_s"),
                      ContainsSubstring("options.time_budget_s is -1") &&
                          ContainsSubstring("give seconds, 0 or more"));
    CHECK_THROWS_WITH(
        cb::check_seconds(std::numeric_limits<double>::quiet_NaN(), "options.time_budget_s"),
        ContainsSubstring("options.time_budget_s is nan"));
}
