// PROFILE: the profilers that need others, with what they usually need
#pragma once

#include <component_benchmark/device/run_device.hpp>
#include <component_benchmark/profile/bandwidth.hpp>
#include <component_benchmark/profile/flops.hpp>
#include <component_benchmark/profile/mfu.hpp>
#include <component_benchmark/profile/roofline.hpp>
#include <component_benchmark/profile/throughput.hpp>

namespace component_benchmark {

using bandwidth = basic_bandwidth<run_device>;

/// The same with the FLOPs of another convention: a pipeline with `flops_with<elementwise>` takes
/// `mfu_with<elementwise>`.
template<class Convention>
using throughput_with = basic_throughput<flops_with<Convention>>;
template<class Convention, mfu_of Alias = mfu_of::forward>
using mfu_with = basic_mfu<flops_with<Convention>, run_device, Alias>;
template<class Convention>
using roofline_with = basic_roofline<flops_with<Convention>, bandwidth, run_device>;

using throughput = throughput_with<strict>;
using mfu = mfu_with<strict>;
using roofline = roofline_with<strict>;

}  // namespace component_benchmark
