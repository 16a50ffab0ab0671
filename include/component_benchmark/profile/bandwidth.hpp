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

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
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
        auto const make_counter = [] { return std::make_unique<traffic_counter>(); };
        auto const calls = observe_calls(component, make_counter, true, true);
        return put_together(calls, times);
    }

    void tell(run_notes& notes) const { peaks_.tell(notes); }

private:
    using counted = observed_call<traffic_tally>;

    [[nodiscard]] result put_together(std::vector<counted> const& calls,
                                      latency::result const& times) {
        result made;
        double all = 0.0;
        double forward = 0.0;
        double backward = 0.0;
        std::string unknown;
        for (auto const& one : calls) {
            auto const count = static_cast<double>(one.count);
            all += count;
            forward += count * static_cast<double>(one.tally.forward);
            backward += count * static_cast<double>(one.tally.backward);
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
        auto const why_none = why_no_backward_of(calls);
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
            return megabytes_moved::unavailable(std::string{not_known_for} + unknown);
        return megabytes_moved{bytes / 1e6}.because("lower bound: " + std::string{not_known_for} +
                                                    unknown);
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
        auto const& peaks = peaks_.for_work({}, true);
        if (!peaks.bandwidth) {
            share = share_metric::unavailable(not_known("memory bandwidth", peaks));
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
