// replay -> PROFILE -> latency: repetitions of one call, until its median is known well enough
#pragma once

#include <component_benchmark/core/clock.hpp>
#include <component_benchmark/core/interruption.hpp>
#include <component_benchmark/core/statistics.hpp>
#include <component_benchmark/device/noise.hpp>
#include <component_benchmark/device/nvml.hpp>
#include <component_benchmark/profile/lap.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace component_benchmark {

/// How the repetitions of one call are made.
struct sampling_plan {
    int warmup = 2;         ///< repetitions before the first sample, at least; 0: none at all
    int most_warmup = 30;   ///< at most, if they do not become stable before
    int samples = 500;      ///< at most, and at least one; with fewer than 6, `warmup` is exact
    double target_pct = 1;  ///< how well the median is to be known; 0: always all `samples`
    double budget_s =
        1.0;  ///< no further one after this long, warm-up included, once there are five
    bool backward = true;
    clock_function clock = &steady_nanoseconds;
    noise_function noise = &noise_now;
    clock_function processor = &processor_nanoseconds;
    device_noise_function device_noise = &device_noise_now;
    bool measures_casts = false;    ///< what autocast's casts of weights are of a forward
    bool counts_rehearsal = false;  ///< as a part of the warm-up, where a component had one
    int rehearsals = 0;             ///< repetitions that were made before, and count

    /// So few samples that nothing is to be known of their median.
    [[nodiscard]] bool is_a_quick_look() const noexcept {
        return samples < static_cast<int>(fewest_for_interval);
    }
};

enum class sampling_end { converged, most_samples, out_of_time, interrupted };

/// What the repetitions of one call gave; times in milliseconds.
struct sampled_call {
    std::int64_t warmup_runs = 0;
    double warmup_ms = 0.0;     ///< all of it
    double first_run_ms = 0.0;  ///< the very first forward
    std::vector<double> forward;
    std::vector<double> backward;
    std::vector<double> both;
    std::vector<double> cpu;  ///< processor time of the forwards, all threads
    std::string why_no_backward;
    double casts_ms = 0.0;      ///< of `forward`, to cast weights for autocast
    double elsewhere_ms = 0.0;  ///< on other streams of the device than its own, at most
    sampling_end ended = sampling_end::most_samples;
    noise_reading before;
    noise_reading after;
    device_reading device_before;  ///< zeros on a CPU
    device_reading device_after;
};

/// Whether the median of samples lies within `target` percent of the one that more would give. True
/// of no samples: what is not measured keeps nobody waiting.
[[nodiscard]] inline bool is_known_within(double target, std::vector<double> const& samples) {
    if (samples.empty())
        return true;
    auto const off = median_error_percent(samples);
    return off && *off <= target;
}

/// Nothing is done ahead of a forward or a backward.
struct nothing_before {
    void starts(auto&) const noexcept {}
    void operator()() const noexcept {}
};

/// Makes the repetitions. `before_work()` is called ahead of each forward and each backward,
/// outside of what is timed, and `before_work.starts(replay)` once; nothing but the component's own
/// work is between two readings of the clock.
template<class Replay, class BeforeWork>
class sampling {
public:
    sampling(Replay& replay, sampling_plan const& plan, BeforeWork& before_work)
        : replay_{replay}, plan_{plan}, before_work_{before_work} {}

    [[nodiscard]] sampled_call run() {
        begin_ = plan_.clock();
        before_work_.starts(replay_);
        warm_up();
        sampled_call discarded = std::move(found_);
        found_ = {};
        found_.warmup_runs = static_cast<std::int64_t>(discarded.forward.size()) + plan_.rehearsals;
        found_.warmup_ms = discarded.warmup_ms;
        found_.before = plan_.noise();
        found_.device_before = device_noise();
        found_.ended = sample();
        found_.device_after = device_noise();
        found_.after = plan_.noise();
        auto const& first = discarded.forward.empty() ? found_.forward : discarded.forward;
        found_.first_run_ms = first.empty() ? 0.0 : first.front();
        if (found_.ended != sampling_end::interrupted && is_known())
            found_.ended = sampling_end::converged;
        if constexpr (requires { replay_.keep_casts(replay_.is_under_autocast()); })
            if (plan_.measures_casts && replay_.is_under_autocast())
                measure_casts();
        return std::move(found_);
    }

private:
    static constexpr std::size_t fewest = 5;
    static constexpr double share_of_warmup = 0.1;  ///< of the budget

    [[nodiscard]] device_reading device_noise() {
        if constexpr (requires { replay_.device()->index(); })
            if (auto* const device = replay_.device())
                return plan_.device_noise(device->index());
        return {};
    }

    void warm_up() {
        auto const to_come = [&](int runs) {
            return static_cast<std::size_t>((std::max)(0, runs - plan_.rehearsals));
        };
        auto const least = to_come(plan_.warmup);
        auto const most = plan_.is_a_quick_look() ? least : to_come(plan_.most_warmup);
        for (std::size_t runs = 0; !interrupted(); ++runs) {
            auto const enough = plan_.warmup <= 0 || runs >= most || is_stable(found_.both) ||
                                seconds_passed() > share_of_warmup * plan_.budget_s;
            if (runs >= least && enough)
                break;
            repeat();
        }
        found_.warmup_ms = 1e3 * seconds_passed();
    }

    /// The last three repetitions took as long as the three before.
    [[nodiscard]] static bool is_stable(std::vector<double> const& times) {
        constexpr std::ptrdiff_t window = 3;
        constexpr double alike = 0.05;
        if (times.size() < 2 * window)
            return false;
        auto const now = median({times.end() - window, times.end()});
        auto const before = median({times.end() - 2 * window, times.end() - window});
        return std::abs(now - before) <= alike * before;
    }

    [[nodiscard]] sampling_end sample() {
        auto const most = static_cast<std::size_t>((std::max)(1, plan_.samples));
        auto next_look = fewest_for_interval;
        for (std::size_t count = 0; count < most; ++count) {
            if (interrupted())
                return sampling_end::interrupted;
            if (count >= next_look) {
                if (is_known())
                    return sampling_end::converged;
                next_look = count + (std::max)(std::size_t{1}, count / 10);
            }
            if (count >= fewest && seconds_passed() > plan_.budget_s)
                return sampling_end::out_of_time;
            repeat();
        }
        return sampling_end::most_samples;
    }

    [[nodiscard]] bool is_known() const {
        return is_known_within(plan_.target_pct, found_.forward) &&
               is_known_within(plan_.target_pct, found_.backward) &&
               is_known_within(plan_.target_pct, found_.both) && plan_.target_pct > 0.0;
    }

    void repeat() {
        replay_.prepare();
        before_work_();
        auto const forward = timed([&] { replay_.forward(); });
        found_.forward.push_back(forward.ms);
        found_.cpu.push_back(forward.cpu_ms);
        if (!plan_.backward || !replay_.prepare_backward()) {
            found_.why_no_backward =
                plan_.backward ? replay_.why_no_backward() : "backward was not asked for";
            found_.both.push_back(forward.ms);
            return;
        }
        before_work_();
        found_.backward.push_back(timed([&] { replay_.backward(); }).ms);
        found_.both.push_back(forward.ms + found_.backward.back());
    }

    template<class Work>
    [[nodiscard]] lap timed(Work&& work) {
        auto const made = time_work(plan_.clock, plan_.processor, device_of(replay_), work);
        found_.elsewhere_ms = (std::max)(found_.elsewhere_ms, made.elsewhere_ms);
        return made;
    }

    /// A few forwards more that find the weights cast already; what they save.
    void measure_casts() {
        constexpr std::size_t enough = 15;
        std::vector<double> kept;
        replay_.keep_casts(true);
        for (std::size_t run = 0; run <= (std::min)(enough, found_.forward.size()); ++run) {
            if (interrupted())
                break;
            replay_.prepare();
            before_work_();
            auto const forward = timed([&] { replay_.forward(); });
            if (run > 0)  // the first one casts
                kept.push_back(forward.ms);
        }
        replay_.keep_casts(false);
        if (!kept.empty())
            found_.casts_ms = (std::max)(0.0, median(found_.forward) - median(kept));
    }

    [[nodiscard]] double seconds_passed() const {
        return static_cast<double>(saturating_difference(plan_.clock(), begin_)) / 1e9;
    }

    Replay& replay_;
    sampling_plan const& plan_;
    BeforeWork& before_work_;
    std::int64_t begin_ = 0;
    sampled_call found_;
};

}  // namespace component_benchmark
