// sampling -> PROFILE -> latency: the samples of all calls of a component, as numbers of its row
#pragma once

#include <component_benchmark/core/by_call.hpp>
#include <component_benchmark/core/error.hpp>
#include <component_benchmark/core/metric.hpp>
#include <component_benchmark/core/node.hpp>
#include <component_benchmark/core/statistics.hpp>
#include <component_benchmark/core/time_budget.hpp>
#include <component_benchmark/profile/sampling.hpp>
#include <component_benchmark/profile/sampling_notes.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace component_benchmark {

/// Throws `error` when `percent` is no target; `name` is what the user wrote it to.
inline void check_target(double percent, char const* name) {
    if (!(percent >= 0.0))  // nor NaN
        throw error{std::string{name} + " is " + std::to_string(percent) +
                    ": give percent of the median, or 0 for all samples"};
}

/// The distinct calls of one component, sampled. (A template, so that a file which does not measure
/// does not pay for it.)
template<class Call>
class sampled_component {
public:
    using samples_of = std::vector<double> Call::*;
    using row_metric = metric<milliseconds, aggregate::sum>;

    explicit sampled_component(double target) : target_{target} {}

    void add(Call call, std::int64_t count, std::vector<std::size_t> members, bool time_is_shared) {
        calls_.push_back({std::move(call), count, std::move(members), time_is_shared});
    }

    /// Some call has a sample.
    [[nodiscard]] bool any() const { return count() > 0; }

    /// How many samples there are.
    [[nodiscard]] std::int64_t count() const {
        return static_cast<std::int64_t>(
            sum([](auto const& one) { return static_cast<double>(one.sampled.forward.size()); }));
    }

    /// The mean of the calls' medians, weighted by how often they occur. A call that needs no
    /// backward costs none. Unavailable when no call has a number, or one lacks it for another
    /// reason.
    [[nodiscard]] row_metric row_value(samples_of samples) const {
        double total = 0.0;
        std::int64_t calls = 0;
        bool any = false;
        std::string remark;
        std::size_t more = 0;
        for (auto const& one : calls_) {
            auto const& own = one.sampled.*samples;
            if (auto const why = why_none(one, samples); !why.empty() && !costs_nothing(why))
                return row_metric::unavailable(why);
            any = any || counts(one, samples);
            total += static_cast<double>(one.count) * median(own);
            calls += one.count;
            auto const note = note_of(one, samples);
            more += !note.empty() && !remark.empty() ? 1U : 0U;
            remark = remark.empty() ? note : remark;
        }
        if (!any)
            return row_metric::unavailable(calls_.front().sampled.why_no_backward);
        if (more > 0)
            remark += " (and " + std::to_string(more) + " more of its calls)";
        return row_metric{total / static_cast<double>(calls)}.because(remark);
    }

    /// The mean over calls of what `read` makes of samples, those of a forward unless said.
    template<class Read>
    [[nodiscard]] double mean_of(Read read, samples_of samples = &Call::forward) const {
        auto const calls = sum([](auto const& one) {
            return one.sampled.forward.empty() ? 0.0 : static_cast<double>(one.count);
        });
        auto const total = sum([&](auto const& one) {
            return one.sampled.forward.empty()
                       ? 0.0
                       : static_cast<double>(one.count) * read(one.sampled.*samples);
        });
        return total / calls;
    }

    /// The largest over calls.
    template<class Read>
    [[nodiscard]] double worst(Read read) const {
        double found = 0.0;
        for (auto const& one : calls_)
            found = (std::max)(found, read(one.sampled.forward));
        return found;
    }

    /// Half the interval of the median in percent of it, forward, of the call that is worst.
    [[nodiscard]] metric<detailed<percent>> confidence() const {
        double found = 0.0;
        for (auto const& one : calls_) {
            auto const off = median_error_percent(one.sampled.forward);
            if (!off)
                return metric<detailed<percent>>::unavailable(one.sampled.forward.size() <
                                                                      fewest_for_interval
                                                                  ? "fewer than 6 samples"
                                                                  : std::string{clock_stood_still});
            found = (std::max)(found, *off);
        }
        return found;
    }

    [[nodiscard]] std::int64_t warmup_runs() const {
        return static_cast<std::int64_t>(
            sum([](auto const& one) { return static_cast<double>(one.sampled.warmup_runs); }));
    }
    [[nodiscard]] double warmup_ms() const {
        return sum([](auto const& one) { return one.sampled.warmup_ms; });
    }
    [[nodiscard]] double first_run_ms() const { return calls_.front().sampled.first_run_ms; }

    /// Medians and samples of single calls, for the metrics of these names: forward, backward,
    /// both.
    void add_calls(std::vector<by_call>& found, std::array<char const*, 3> const& names) const {
        constexpr std::array<samples_of, 3> sets{&Call::forward, &Call::backward, &Call::both};
        auto const both = row_value(sets[2]).has_value();
        for (auto const& one : calls_)
            for (std::size_t index = 0; index < names.size(); ++index) {
                auto const& own = one.sampled.*sets[index];
                if (names[index] != nullptr && why_none(one, sets[index]).empty() &&
                    (index != 2 || both))
                    found.push_back(
                        {names[index], one.members, median(own), own, note_of(one, sets[index])});
            }
    }

    /// The median of samples that have no use one by one.
    void add_medians(std::vector<by_call>& found, char const* name, samples_of samples) const {
        for (auto const& one : calls_)
            if (!(one.sampled.*samples).empty())
                found.push_back({name, one.members, median(one.sampled.*samples), {}, {}});
    }

private:
    struct measured {
        Call sampled;
        std::int64_t count = 0;
        std::vector<std::size_t> members;
        bool time_is_shared = false;
    };

    template<class Read>
    [[nodiscard]] double sum(Read read) const {
        double total = 0.0;
        for (auto const& one : calls_)
            total += read(one);
        return total;
    }

    // A forward is all that both are where there is no backward to wait for; it makes no number.
    [[nodiscard]] bool counts(measured const& one, samples_of samples) const {
        auto const& own = samples == &Call::both ? one.sampled.backward : one.sampled.*samples;
        return !own.empty();
    }

    [[nodiscard]] std::string why_none(measured const& one, samples_of samples) const {
        auto const& of = one.sampled;
        if (of.forward.empty())
            return std::string{run_was_interrupted};
        if (samples != &Call::forward && of.backward.empty() &&
            (samples == &Call::backward || !costs_nothing(of.why_no_backward)))
            return of.why_no_backward;
        return median(of.*samples) > 0.0 ? std::string{} : std::string{clock_stood_still};
    }

    [[nodiscard]] std::string note_of(measured const& one, samples_of samples) const {
        return detail::note_on(one.sampled.*samples, one.sampled, target_, one.time_is_shared);
    }

    std::vector<measured> calls_;
    double target_ = 0.0;
};

/// Samples each distinct call of a component as the plan and the run's budget allow. Throws when it
/// has no call that can be made, or the run was interrupted before the first sample.
template<class Component, class BeforeWork>
[[nodiscard]] sampled_component<sampled_call> sample_component(Component& component,
                                                               sampling_plan plan,
                                                               time_budget* budget,
                                                               BeforeWork before_work) {
    auto const own_budget = plan.budget_s;
    auto const share = budget != nullptr ? budget->turn() : time_budget::unlimited;
    auto const begin = plan.clock();
    auto&& groups = component.calls();
    auto to_come = std::distance(groups.begin(), groups.end());
    if (to_come == 0)
        throw std::runtime_error{component.why_no_calls()};  // why the row has no numbers
    if constexpr (requires { component.rehearsed(); })
        if (plan.counts_rehearsal && component.rehearsed() && !plan.is_a_quick_look() &&
            plan.warmup > 0)
            plan.rehearsals = 1;
    sampled_component<sampled_call> all{plan.target_pct};
    for (auto& group : groups) {
        auto const passed = static_cast<double>(saturating_difference(plan.clock(), begin)) / 1e9;
        auto const mine = (std::max)(0.0, share - passed) / static_cast<double>(to_come--);
        plan.budget_s = (std::min)(own_budget, mine);
        auto replay = group.replay();
        auto sampled = sampling{replay, plan, before_work}.run();
        replay.release();
        all.add(std::move(sampled), group.count(), group.members(), mine < own_budget);
    }
    if (!all.any())
        throw std::runtime_error{std::string{run_was_interrupted}};
    return all;
}

}  // namespace component_benchmark
