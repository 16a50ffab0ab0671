// PROFILE: what the counting of memory traffic gives for a component
#pragma once

#include <component_benchmark/core/by_call.hpp>
#include <component_benchmark/core/metric.hpp>

#include <boost/hana/define_struct.hpp>

#include <string>
#include <vector>

namespace component_benchmark {

/// Traffic of one call. Where calls differ, a row has their mean.
template<class>
struct described_bandwidth {
    BOOST_HANA_DEFINE_STRUCT(
        described_bandwidth,
        (metric<megabytes, aggregate::sum>, traffic_mb),  ///< forward, 1,000,000 bytes
        (metric<megabytes, aggregate::sum>, traffic_bwd_mb),
        (metric<gigabytes_per_second, aggregate::latency_weighted_mean>, avg_bw_gbps),  ///< forward
        (metric<utilization_percent, aggregate::latency_weighted_mean>, bw_util_pct)    ///< forward
    );
    std::vector<component_benchmark::by_call> by_call;
};
using bandwidth_result = described_bandwidth<void>;

}  // namespace component_benchmark
