// component -> PROFILE: how long a device is busy with a component, and how long it waits for work
#pragma once

#include <component_benchmark/core/by_call.hpp>
#include <component_benchmark/core/clock.hpp>
#include <component_benchmark/core/interruption.hpp>
#include <component_benchmark/core/metric.hpp>
#include <component_benchmark/core/node.hpp>
#include <component_benchmark/core/statistics.hpp>
#include <component_benchmark/profile/lap.hpp>

#include <boost/hana/define_struct.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace component_benchmark {

inline constexpr std::string_view works_on_the_cpu = "it works on the CPU";
inline constexpr std::string_view waits_for_its_device =
    "it waits for the device, or takes too long to launch, so its work cannot be queued";

/// For an accelerator: what its work takes when all of it is queued beforehand, so that the device
/// never waits for the program (`gpu_time_ms`), beside what a call takes until its work is done
/// (`wall_ms`), and the share of the latency in which the device waits for launches
/// (`launch_share_pct`). No trace is taken: the device is first given other work to do, and
/// meanwhile the call is made. A call that itself waits for the device cannot be measured so.
struct device_time {
    static constexpr char const* name = "device_time";

    int warmup = 2;
    int samples = 7;            ///< of each number; its median counts
    double most_hold_ms = 200;  ///< other work that the device is given at most
    clock_function clock = &steady_nanoseconds;

    // A template, so that a file which does not use it does not pay for its description.
    template<class>
    struct described {
        BOOST_HANA_DEFINE_STRUCT(
            described,
            (metric<milliseconds>, gpu_time_total_ms),        ///< forwards of all calls, queued
            (metric<percent>, launch_share_pct),              ///< of a forward's latency
            (metric<milliseconds, aggregate::sum>, wall_ms),  ///< forward, one call, waited for
            (metric<detailed<milliseconds>, aggregate::sum>, gpu_time_ms),      ///< forward
            (metric<detailed<milliseconds>, aggregate::sum>, gpu_time_bwd_ms),  ///< backward
            (metric<detailed<milliseconds>, aggregate::sum>, launch_ms)  ///< forward, to launch it
        );
        std::vector<component_benchmark::by_call> by_call;
    };
    using result = described<void>;

    template<class Component>
    [[nodiscard]] result profile(Component& component) const {
        auto&& groups = component.calls();
        if (groups.begin() == groups.end())
            throw std::runtime_error{component.why_no_calls()};
        sums all;
        result made;
        for (auto& group : groups) {
            auto replay = group.replay();
            auto const one = measured_on(replay);
            replay.release();
            all.add(one, static_cast<double>(group.count()));
            if (one.busy)
                made.by_call.push_back({"gpu_time_ms", group.members(), *one.busy, {}, {}});
            made.by_call.push_back({"wall_ms", group.members(), one.wall, {}, {}});
        }
        made.wall_ms = all.wall / all.calls;
        made.launch_ms = all.launch / all.calls;
        if (!all.why.empty())
            made.gpu_time_ms = metric<detailed<milliseconds>, aggregate::sum>::unavailable(all.why);
        else
            made.gpu_time_ms = all.busy / all.calls;
        if (!all.why_backward.empty())
            made.gpu_time_bwd_ms =
                metric<detailed<milliseconds>, aggregate::sum>::unavailable(all.why_backward);
        else
            made.gpu_time_bwd_ms = all.busy_backward / all.calls;
        if (!all.why.empty() || !(all.span > 0.0))
            made.launch_share_pct = metric<percent>::unavailable(all.why);
        else
            made.launch_share_pct = 100.0 * (std::max)(0.0, 1.0 - all.busy / all.span);
        return made;
    }

private:
    struct measured {
        double span = 0.0;  ///< between the marks on the stream, nothing queued
        double wall = 0.0;
        double launch = 0.0;
        std::optional<double> busy;
        std::optional<double> busy_backward;
        std::string why_no_backward;
    };
    struct sums {
        double calls = 0.0;
        double span = 0.0;
        double wall = 0.0;
        double launch = 0.0;
        double busy = 0.0;
        double busy_backward = 0.0;
        bool goes_back = false;
        std::string why;
        std::string why_backward;

        void add(measured const& one, double count) {
            calls += count;
            span += count * one.span;
            wall += count * one.wall;
            launch += count * one.launch;
            busy += count * one.busy.value_or(0.0);
            busy_backward += count * one.busy_backward.value_or(0.0);
            if (!one.busy)
                why = interrupted() ? run_was_interrupted : waits_for_its_device;
            goes_back = goes_back || one.busy_backward;
            if (!one.busy_backward && (why_backward.empty() || !costs_nothing(one.why_no_backward)))
                why_backward = one.why_no_backward;
            if (goes_back && costs_nothing(why_backward))
                why_backward.clear();
        }
    };

    template<class Replay>
    [[nodiscard]] measured measured_on(Replay& replay) const {
        replay.prepare();
        if constexpr (requires { replay.device(); })
            if (auto* const device = replay.device())
                return measure(replay, *device);
        throw std::runtime_error{std::string{works_on_the_cpu}};
    }

    template<class Replay, class Device>
    [[nodiscard]] measured measure(Replay& replay, Device& device) const {
        std::vector<double> spans;
        std::vector<double> walls;
        std::vector<double> launches;
        for (int run = 0; run < warmup + (std::max)(1, samples); ++run) {
            if (interrupted() && !spans.empty())
                break;
            replay.prepare();
            auto const one = time_work(clock, clock, &device, [&] { replay.forward(); });
            if (run < warmup)
                continue;
            spans.push_back(one.ms);
            walls.push_back(one.wall_ms);
            launches.push_back(one.launch_ms);
        }
        measured found{median(spans), median(walls), median(launches), {}, {}, {}};
        found.busy = queued(
            device, found.launch,
            [&] {
                replay.prepare();
                return true;
            },
            [&] { replay.forward(); });
        auto const ready = [&] {
            replay.prepare();
            replay.forward();
            return replay.prepare_backward();
        };
        if (!ready())
            found.why_no_backward = replay.why_no_backward();
        else if (found.busy_backward =
                     queued(device, found.launch, ready, [&] { replay.backward(); });
                 !found.busy_backward)
            found.why_no_backward = interrupted() ? run_was_interrupted : waits_for_its_device;
        return found;
    }

    /// The median time of `work` on the device when it was launched while the device had other
    /// things to do; nothing when it cannot be launched so.
    template<class Device, class Ready, class Work>
    [[nodiscard]] std::optional<double> queued(Device& device, double launch_ms, Ready ready,
                                               Work work) const {
        std::vector<double> found;
        auto hold_ms = 2.0 * launch_ms + 0.1;
        for (int left = (std::max)(1, samples); left > 0 && !interrupted();) {
            if (!ready())
                break;
            device.wait();
            device.hold((std::min)(hold_ms, most_hold_ms));
            device.start();
            work();
            device.stop();
            auto const was_queued = device.is_held();
            device.wait();
            if (was_queued) {
                found.push_back(device.elapsed_ms());
                --left;
            } else if (hold_ms >= most_hold_ms) {
                return std::nullopt;
            } else {
                hold_ms *= 2.0;
            }
        }
        return found.empty() ? std::nullopt : std::optional{median(found)};
    }
};

}  // namespace component_benchmark
