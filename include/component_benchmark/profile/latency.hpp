// component -> PROFILE: wall time of a component alone, forward and backward
#pragma once

#include <component_benchmark/core/by_call.hpp>
#include <component_benchmark/core/clock.hpp>
#include <component_benchmark/core/interruption.hpp>
#include <component_benchmark/core/metric.hpp>
#include <component_benchmark/core/node.hpp>
#include <component_benchmark/core/statistics.hpp>

#include <boost/hana/define_struct.hpp>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace component_benchmark {

/// Runs each of a component's calls alone on its captured inputs, `warmup` times unmeasured and up
/// to `samples` times measured, and takes the median. Calls with the same signature are measured
/// once; a row's latency is the mean of its calls' medians, weighted by how often they occur.
struct latency {
    static constexpr char const* name = "latency";

    int warmup = 2;    ///< repetitions before the first sample; the clock is not read
    int samples = 50;  ///< at most, for each distinct call
    /// After this long no further sample of a call is begun, once there are five; seconds.
    double budget_s = 1.0;
    bool backward = true;
    clock_function clock = &steady_nanoseconds;

    // A template, so that a file which does not use it does not pay for its description.
    template<class>
    struct described {
        BOOST_HANA_DEFINE_STRUCT(
            described, (metric<milliseconds, aggregate::sum>, latency_ms),  ///< forward, one call
            (metric<milliseconds, aggregate::sum>, latency_bwd_ms),         ///< backward, one call
            (metric<milliseconds, aggregate::sum>, latency_fwd_bwd_ms),     ///< both, one call
            (metric<milliseconds>, total_ms),       ///< of all calls; the report adds it up
            (metric<milliseconds>, self_ms),        ///< total_ms less the calls it made
            (metric<percent>, latency_spread_pct),  ///< quartile distance of latency_ms to it
            (metric<count>, samples)                ///< of latency_ms
        );
        std::vector<component_benchmark::by_call> by_call;
    };
    using result = described<void>;

    template<class Component>
    [[nodiscard]] result profile(Component& component) const {
        std::vector<measured> all;
        for (auto& group : component.calls())
            all.push_back(measure(group));
        if (all.empty())
            throw std::runtime_error{
                component.why_no_calls()};  // the reason why the row has no numbers
        if (std::none_of(all.begin(), all.end(),
                         [](measured const& one) { return one.has_samples(); }))
            throw std::runtime_error{std::string{run_was_interrupted}};
        return summary(all);
    }

private:
    struct measured {
        std::int64_t count = 0;
        std::vector<std::size_t> members;
        std::vector<double> forward;
        std::vector<double> backward;
        std::vector<double> both;
        std::string why_none;  ///< no backward, or nothing at all

        [[nodiscard]] bool has_samples() const noexcept { return !forward.empty(); }
    };

    template<class Group>
    [[nodiscard]] measured measure(Group& group) const {
        measured found;
        found.count = group.count();
        found.members = group.members();
        auto replay = group.replay();
        for (int repetition = 0; repetition < warmup && !interrupted(); ++repetition)
            sample(replay, nullptr);
        auto const begin = clock();
        for (int repetition = 0; repetition < (std::max)(1, samples); ++repetition) {
            if (interrupted())
                break;
            if (repetition >= 5 && static_cast<double>(clock() - begin) > budget_s * 1e9)
                break;
            sample(replay, &found);
        }
        replay.release();
        if (!found.has_samples())
            found.why_none = run_was_interrupted;
        return found;
    }

    // Nothing but the component's own work happens between two readings of the clock.
    template<class Replay>
    void sample(Replay& replay, measured* found) const {
        replay.prepare();
        auto const start = clock();
        replay.forward();
        auto const forward_end = clock();
        auto const goes_back = backward && replay.prepare_backward();
        std::int64_t backward_start = 0;
        std::int64_t backward_end = 0;
        if (goes_back) {
            backward_start = clock();
            replay.backward();
            backward_end = clock();
        }
        if (found == nullptr)
            return;
        auto const forward_ms = static_cast<double>(forward_end - start) / 1e6;
        found->forward.push_back(forward_ms);
        if (goes_back) {
            auto const backward_ms = static_cast<double>(backward_end - backward_start) / 1e6;
            found->backward.push_back(backward_ms);
            found->both.push_back(forward_ms + backward_ms);
        } else {
            found->why_none = backward ? replay.why_no_backward() : "backward was not asked for";
        }
    }

    [[nodiscard]] static result summary(auto const& all) {
        result made;
        made.latency_ms = row_value(all, &measured::forward);
        made.latency_bwd_ms = row_value(all, &measured::backward);
        made.latency_fwd_bwd_ms = row_value(all, &measured::both, &measured::forward);
        std::int64_t readings = 0;
        double spread = 0.0;
        for (auto const& one : all) {
            readings += static_cast<std::int64_t>(one.forward.size());
            spread = (std::max)(spread, spread_percent(one.forward));
        }
        made.latency_spread_pct = spread;
        made.samples = readings;
        for (auto const& one : all) {
            if (!one.has_samples())
                continue;  // interrupted before its first
            made.by_call.push_back({"latency_ms", one.members, median(one.forward), one.forward});
            if (!one.backward.empty()) {
                made.by_call.push_back(
                    {"latency_bwd_ms", one.members, median(one.backward), one.backward});
                made.by_call.push_back(
                    {"latency_fwd_bwd_ms", one.members, median(one.both), one.both});
            } else if (made.latency_fwd_bwd_ms.has_value()) {  // its forward is all there is
                made.by_call.push_back(
                    {"latency_fwd_bwd_ms", one.members, median(one.forward), one.forward});
            }
        }
        return made;
    }

    // The mean of the calls' medians, weighted by count. A call that needs no backward costs none,
    // or what it has of `instead`; unavailable when no call has a number, or one lacks it for
    // another reason.
    [[nodiscard]] static metric<milliseconds, aggregate::sum> row_value(
        auto const& all, std::vector<double> measured::*samples,
        std::vector<double> measured::*instead = nullptr) {
        double sum = 0.0;
        std::int64_t calls = 0;
        bool any = false;
        for (auto const& one : all) {
            auto const& own = one.*samples;
            if (own.empty() && !costs_nothing(one.why_none))
                return metric<milliseconds, aggregate::sum>::unavailable(one.why_none);
            any = any || !own.empty();
            auto const& counted = own.empty() && instead != nullptr ? one.*instead : own;
            sum += static_cast<double>(one.count) * median(counted);
            calls += one.count;
        }
        if (!any)
            return metric<milliseconds, aggregate::sum>::unavailable(all.front().why_none);
        return sum / static_cast<double>(calls);
    }
};

}  // namespace component_benchmark
