// off -> PROFILERS: the built-in ones with their fields, and nothing behind them
#pragma once

#include <component_benchmark/core/flop_convention.hpp>
#include <component_benchmark/off/values.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace at {
class Tensor;
}  // namespace at
namespace c10 {
struct IValue;
}  // namespace c10

namespace component_benchmark {

struct model_size {
    static constexpr char const* name = "model_size";
    struct result {
        off::metric<std::int64_t> params, buffers;
        off::metric<double> model_size_mb;
    };
};

struct latency {
    static constexpr char const* name = "latency";
    int warmup = 2;
    int most_warmup = 30;
    int samples = 500;
    double target_pct = 1;
    double budget_s = 1.0;
    bool backward = true;
    off::anything clock{};
    off::anything noise{};
    off::anything processor{};
    off::anything device_noise{};
    struct result {
        off::metric<double> latency_ms, latency_bwd_ms, latency_fwd_bwd_ms, total_ms, self_ms,
            cpu_time_total_ms, latency_spread_pct;
        off::metric<std::int64_t> samples;
        off::metric<double> cpu_time_ms, latency_ci_pct, latency_mean_ms, latency_min_ms,
            latency_p5_ms, latency_p95_ms;
        off::metric<std::int64_t> warmup_runs;
        off::metric<double> warmup_ms, first_run_ms;
        off::nothing by_call;
    };
};

struct cold_latency {
    static constexpr char const* name = "cold_latency";
    int warmup = 1;
    int samples = 50;
    double target_pct = 1;
    double budget_s = 2.0;
    bool backward = true;
    std::int64_t cache_bytes = 0;
    std::int64_t most_bytes = std::int64_t{256} << 20;
    off::anything clock{};
    off::anything noise{};
    bool is_cpu = true;
    struct result {
        off::metric<double> latency_cold_ms, latency_cold_bwd_ms, latency_cold_ci_pct;
        off::metric<std::int64_t> samples_cold;
        off::nothing by_call;
    };
};

struct device_time {
    static constexpr char const* name = "device_time";
    int warmup = 2;
    int samples = 7;
    double most_hold_ms = 200;
    off::anything clock{};
    struct result {
        off::metric<double> gpu_time_total_ms, launch_share_pct, wall_ms, gpu_time_ms,
            gpu_time_bwd_ms, launch_ms;
        off::nothing by_call;
    };
};

struct in_context {
    static constexpr char const* name = "in_context";
    int steps = 3;
    off::anything clock{};
    struct result {
        off::metric<double> in_context_ms, in_context_bwd_ms, context_gap_pct;
        off::nothing by_call;
    };
};

namespace off {

struct sizes {
    COMPONENT_BENCHMARK_DETAIL_GONE std::int64_t const* begin() const noexcept { return nullptr; }
    COMPONENT_BENCHMARK_DETAIL_GONE std::int64_t const* end() const noexcept { return nullptr; }
    COMPONENT_BENCHMARK_DETAIL_GONE std::size_t size() const noexcept { return 0; }
    COMPONENT_BENCHMARK_DETAIL_GONE std::int64_t operator[](std::size_t) const noexcept {
        return 0;
    }
};

struct flop_amounts {
    COMPONENT_BENCHMARK_DETAIL_GONE double total() const noexcept { return 0.0; }
};

struct op_calls {
    std::int64_t calls = 0;
    std::int64_t ns = 0;
};

struct op_coverage {
    op_calls all, unknown_ones;
    nothing unknown;
};

}  // namespace off

/// None is ever made: formulas are compiled and never called.
struct op_call {
    [[nodiscard]] std::string_view name() const noexcept;
    [[nodiscard]] std::size_t size() const noexcept;
    [[nodiscard]] c10::IValue const& operator[](std::size_t position) const;
    [[nodiscard]] bool has_tensor(std::size_t position) const;
    [[nodiscard]] bool has_nested() const;
    [[nodiscard]] at::Tensor const* first_tensor() const;
    [[nodiscard]] at::Tensor const& tensor(std::size_t position) const;
    [[nodiscard]] off::sizes shape(std::size_t position) const;
    [[nodiscard]] std::int64_t size_of(std::size_t position, std::int64_t dimension) const;
    [[nodiscard]] bool flag(std::size_t position) const;
};

struct flop_formula {
    off::anything op{};
    off::anything count{};
    bool replaces_built_in = false;
};

template<class Convention>
struct flops_with {
    static constexpr char const* name = "flops";
    bool backward = true;
    causal_attention causal = causal_attention::dense;
    off::list_of<flop_formula> formulas = {};
    struct result {
        off::metric<std::int64_t> flops_fwd, flops_bwd, flops_fwd_bwd;
        off::metric<double> covered_calls_pct, covered_time_pct;
        off::nothing by_call;
        off::flop_amounts forward, backward, both, recomputed;
        off::op_coverage coverage, coverage_bwd;
    };
    struct reported {
        off::metric<std::int64_t> flops_fwd, flops_bwd, flops_fwd_bwd;
        off::metric<double> covered_calls_pct, covered_time_pct;
    };
};

template<class Convention>
struct throughput_with {
    static constexpr char const* name = "throughput";
    struct result {
        off::metric<double> tflops_per_s, tflops_per_s_fwd_bwd;
    };
};

template<class Convention, mfu_of Alias = mfu_of::forward>
struct mfu_with {
    static constexpr char const* name = "mfu";
    struct result {
        off::metric<double> mfu_fwd_pct, mfu_fwd_bwd_pct, mfu_pct, hfu_pct;
    };
};

struct bandwidth {
    static constexpr char const* name = "bandwidth";
    struct result {
        off::metric<double> traffic_mb, traffic_bwd_mb, avg_bw_gbps, bw_util_pct;
        off::nothing by_call;
    };
};

template<class Convention>
struct roofline_with {
    static constexpr char const* name = "roofline";
    struct result {
        off::metric<double> intensity;
        off::metric<std::string> bound;
        off::metric<double> compute_roof_ms, memory_roof_ms, roofline_util_pct, opportunity_ms;
        off::nothing by_call;
    };
};

using flops = flops_with<strict>;
using throughput = throughput_with<strict>;
using mfu = mfu_with<strict>;
using roofline = roofline_with<strict>;

}  // namespace component_benchmark
