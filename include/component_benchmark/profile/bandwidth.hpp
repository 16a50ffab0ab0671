// component -> PROFILE: bytes that operators must move, and how near that is to the memory's peak
#pragma once

#include <component_benchmark/core/environment.hpp>
#include <component_benchmark/core/needs.hpp>
#include <component_benchmark/core/options.hpp>
#include <component_benchmark/core/run_notes.hpp>
#include <component_benchmark/core/text.hpp>
#include <component_benchmark/profile/bandwidth_result.hpp>
#include <component_benchmark/profile/latency.hpp>
#include <component_benchmark/profile/mfu.hpp>
#include <component_benchmark/profile/op_pass.hpp>
#include <component_benchmark/profile/peak_share.hpp>
#include <component_benchmark/profile/traffic_counter.hpp>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace component_benchmark {

/// What each operator must move: every argument read once, results written, of a table only the
/// rows that are looked up, each once. What one operator leaves in the cache for the next is
/// counted as moved, so on a working set that fits into a cache the bandwidth is that of the cache
/// and may be over the memory's peak: then the row says so.
template<class Device>
class basic_bandwidth {
public:
    static constexpr char const* name = "bandwidth";
    using needs = component_benchmark::needs<latency>;
    using result = bandwidth_result;

    void begin(options const& wishes, environment const& around) { peaks_.begin(wishes, around); }

    template<class Component>
    [[nodiscard]] result profile(Component& component, latency::result const& times) {
        std::vector<counted> calls;
        for (auto& group : component.calls()) {
            traffic_counter counter;
            counted one;
            one.count = group.count();
            one.members = group.members();
            one.why_no_backward = observe_once(group, counter, true, true);
            one.tally = counter.take();
            calls.push_back(std::move(one));
        }
        if (calls.empty())
            throw std::runtime_error{component.why_no_calls()};
        return put_together(calls, times);
    }

    void tell(run_notes& notes) const { peaks_.tell(notes); }

private:
    struct counted {
        std::int64_t count = 0;
        std::vector<std::size_t> members;
        traffic_tally tally;
        std::string why_no_backward;
    };

    [[nodiscard]] result put_together(std::vector<counted> const& calls,
                                      latency::result const& times) {
        result made;
        double all = 0.0;
        double forward = 0.0;
        double backward = 0.0;
        std::string why_none;
        std::string unknown;
        bool any_backward = false;
        for (auto const& one : calls) {
            auto const count = static_cast<double>(one.count);
            all += count;
            forward += count * static_cast<double>(one.tally.forward);
            backward += count * static_cast<double>(one.tally.backward);
            any_backward = any_backward || one.why_no_backward.empty();
            if (!one.why_no_backward.empty() &&
                (why_none.empty() || !costs_nothing(one.why_no_backward)))
                why_none = one.why_no_backward;
            if (unknown.find(one.tally.failures) == std::string::npos)
                unknown += (unknown.empty() ? "" : ", ") + one.tally.failures;
            auto const part = [&](char const* id, std::int64_t bytes) {
                auto const found = moved(static_cast<double>(bytes), one.tally.failures);
                if (found.has_value())
                    made.by_call.push_back({id, one.members, found.value(), {}, found.why()});
            };
            part("traffic_mb", one.tally.forward);
            if (one.why_no_backward.empty())
                part("traffic_bwd_mb", one.tally.backward);
        }
        if (any_backward && costs_nothing(why_none))
            why_none.clear();
        made.traffic_mb = moved(forward / all, unknown);
        made.traffic_bwd_mb = why_none.empty() ? moved(backward / all, unknown)
                                               : megabytes_moved::unavailable(why_none);
        rate(made, times.latency_ms, made.traffic_mb.why());
        return made;
    }

    using megabytes_moved = metric<megabytes, aggregate::sum>;

    /// `unknown`: operators for which it is not known.
    [[nodiscard]] static megabytes_moved moved(double bytes, std::string const& unknown) {
        if (unknown.empty())
            return bytes / 1e6;
        if (bytes == 0.0)
            return megabytes_moved::unavailable("not known for " + unknown);
        return megabytes_moved{bytes / 1e6}.because("lower bound: not known for " + unknown);
    }

    template<class Time>
    void rate(result& made, Time const& time, std::string const& remark) {
        auto& rate = made.avg_bw_gbps;
        auto& share = made.bw_util_pct;
        using rate_metric = std::remove_reference_t<decltype(rate)>;
        using share_metric = std::remove_reference_t<decltype(share)>;
        if (!made.traffic_mb.has_value() || !time.has_value() || time.value() <= 0.0) {
            auto const why = !made.traffic_mb.has_value() ? made.traffic_mb.why()
                             : time.has_value()           ? "the measured time is 0"
                                                          : time.why();
            rate = rate_metric::unavailable(why);
            share = share_metric::unavailable(why);
            return;
        }
        // MB in a ms are GB in a s
        rate = rate_metric{made.traffic_mb.value() / time.value(), origin::derived}.because(remark);
        auto const& peaks = peaks_.with_bandwidth();
        if (!peaks.bandwidth) {
            share = share_metric::unavailable("no memory bandwidth is known for '" +
                                              (peaks.name.empty() ? peaks.kind : peaks.name) +
                                              "': give it by options::peaks");
            return;
        }
        auto const cache = Device::cache_bytes(peaks);
        auto const bytes = made.traffic_mb.value() * 1e6;
        auto const fits = cache > 0 && bytes <= static_cast<double>(cache);
        share = utilization::as_bound(
            utilization::flagged<share_metric>(
                100.0 * rate.value() / peaks.bandwidth->gbps,
                fits ? "its working set of " + text::number(bytes / 1e6) +
                           " MB at most fits into the cache of " +
                           text::number(static_cast<double>(cache) / 1e6) + " MB"
                     : "operators find in the cache what others left there, or the peak is too "
                       "low"),
            remark);
    }

    peaks_in_use<Device> peaks_;
};

}  // namespace component_benchmark
