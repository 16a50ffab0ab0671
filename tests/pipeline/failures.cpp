// Failures of every kind, at every stage and depth of random trees: the run goes on, and adds up.
#include "support/catch2.hpp"
#include "support/fake_model.hpp"
#include <component_benchmark/pipeline/pipeline.hpp>
#include <component_benchmark/profile/latency.hpp>
#include <component_benchmark/profile/model_size.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace cb = component_benchmark;

namespace {

enum class stage { none, capture, preprocess, forward, profiler };

struct planned {
    stage where = stage::none;
    std::int64_t own_ns = 0;
    bool called = true;
};

void (*const throws[])() = {
    [] { throw std::runtime_error{"broken"}; },
    [] { throw std::bad_alloc{}; },
    [] { throw 42; },
    [] { throw std::string{"text"}; },
    [] { throw std::runtime_error{""}; },
};

struct refusing {
    static constexpr char const* name = "refusing";
    std::set<std::string> const* paths;
    template<class Component>
    int apply(Component& one) {
        if (paths->contains(one.path()))
            throw std::runtime_error{"refused"};
        return 0;
    }
};

struct size_or_throw : cb::model_size {
    static constexpr char const* name = "size_or_throw";
    std::set<std::string> const* paths = nullptr;
    template<class Component>
    [[nodiscard]] result profile(Component& one) const {
        if (paths->contains(one.path()))
            throw 7;
        return cb::model_size::profile(one);
    }
};

/// A tree with its failures, and what must come of it.
struct random_tree {
    explicit random_tree(unsigned seed) : random{seed} {
        auto const rows = static_cast<std::size_t>(at_most(30) + 1);
        for (std::size_t row = 0; row < rows; ++row) {
            planned one;
            one.own_ns = (at_most(9) + 1) * 1'000'000;
            one.where = at_most(2) == 0 ? static_cast<stage>(at_most(4)) : stage::none;
            one.called = row == 0 || at_most(9) > 0;
            if (!one.called)
                one.where = stage::none;
            plans.push_back(one);
        }
        grow(cb::node::none);
    }

    [[nodiscard]] std::int64_t at_most(int most) {
        return std::uniform_int_distribution<int>{0, most}(random);
    }

    // Depth first, so that rows are in pre-order; a row takes its own time and that of its parts.
    std::int64_t grow(std::ptrdiff_t parent) {
        auto const number = next++;
        auto const plan = plans[number];
        auto const row = provider.captured.add(
            parent, parent == cb::node::none ? std::string{} : "m" + std::to_string(number),
            plan.called ? 1 : 0, 1, 0);
        auto total = plan.called ? plan.own_ns : 0;
        while (next < plans.size() && (parent == cb::node::none || at_most(2) > 0))
            total += grow(static_cast<std::ptrdiff_t>(row));
        auto& one = provider.captured.components[row];
        if (!one.groups.empty())
            one.groups.front().source.forward_ns = total;
        auto const& path = provider.captured.rows[row].path;
        if (plan.where == stage::capture)
            provider.captured.fail(row, "out of memory");
        else if (plan.where == stage::preprocess)
            refused.insert(path);
        else if (plan.where == stage::forward)
            one.groups.front().source.during_forward = throws[at_most(4)];
        else if (plan.where == stage::profiler)
            without_size.insert(path);
        stages.push_back({row, plan.where});
        return total;
    }

    std::mt19937 random;
    std::vector<planned> plans;
    std::size_t next = 0;
    fake::provider provider;
    std::set<std::string> refused;
    std::set<std::string> without_size;
    std::vector<std::pair<std::size_t, stage>> stages;
};

}  // namespace

TEST_CASE("whatever fails, every healthy component has its row and the times add up",
          "[failures]") {
    std::size_t failures = 0;
    for (unsigned seed = 1; seed <= 200; ++seed) {
        INFO("seed " << seed);
        random_tree tree{seed};
        cb::pipeline pipeline{
            cb::preprocessors{refusing{&tree.refused}},
            cb::profilers{cb::latency{.warmup = 0, .samples = 1, .clock = &fake::clock},
                          size_or_throw{{}, &tree.without_size}},
            cb::sinks{}};
        auto const report = pipeline.run(tree.provider);
        auto const& document = report.document();
        auto const& total = document.find("total_ms")->cells;
        auto const& self = document.find("self_ms")->cells;
        for (auto const& [row, where] : tree.stages) {
            auto const& facts = document.nodes[row];
            INFO("row " << facts.path);
            auto const& latency = document.find("latency_ms")->cells[row];
            auto const& size = document.find("params")->cells[row];
            auto const measured = latency.has_value() && latency.from == cb::origin::measured;
            CHECK(measured ==
                  (facts.calls > 0 && (where == stage::none || where == stage::profiler)));
            CHECK((size.from == cb::origin::measured) ==
                  (where == stage::none || where == stage::forward || where == stage::capture));
            if (where != stage::none) {
                ++failures;
                CHECK_FALSE(facts.reason.empty());
            }
            CHECK((facts.state == cb::status::failed) ==
                  (where == stage::capture || where == stage::preprocess));
            // estimated by its parts, each of which has a value or is said to be missing
            if (!measured && latency.has_value()) {
                double parts = 0.0;
                bool missing = false;
                for (auto next = row + 1; next < facts.end; next = document.nodes[next].end) {
                    std::int64_t calls = 0;
                    for (auto below = next; below < document.nodes[next].end; ++below)
                        calls += document.nodes[below].calls;
                    if (calls == 0)
                        continue;  // costs nothing
                    missing = missing || !total[next].has_value() ||
                              total[next].why == "lower bound: a part has no value";
                    parts += total[next].has_value() ? total[next].number() : 0.0;
                }
                CHECK(total[row].number() == Approx(parts));
                CHECK((latency.why == "lower bound: a part has no value") == missing);
            }
        }
        if (!total[0].has_value())
            continue;
        double sum = 0.0;
        for (auto const& one : self)
            sum += one.has_value() ? one.number() : 0.0;
        CHECK(sum == Approx(total[0].number()));
    }
    CHECK(failures > 500);
}
