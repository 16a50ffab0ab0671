// user's program, built with COMPONENT_BENCHMARK_ENABLED=0: the same names, and nothing behind them
// Built-in plugins keep their fields; a pipeline does nothing, and every metric of its report is
// unavailable. Names of core/ but options, filter and peak_overrides are the real ones, so a file
// that defines a plugin of its own compiles in both modes once it includes concepts.hpp and, for a
// sink, result/document.hpp.
#pragma once

#include <component_benchmark/core/error.hpp>
#include <component_benchmark/core/metric.hpp>
#include <component_benchmark/core/needs.hpp>
#include <component_benchmark/core/node.hpp>
#include <component_benchmark/mode_sentinel.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>

// Inlined at -O0 too, where nothing else is.
#define COMPONENT_BENCHMARK_DETAIL_GONE [[gnu::always_inline]] constexpr

namespace component_benchmark {

namespace off {

/// Takes anything and keeps nothing: for what holds strings, paths, files or functions.
struct anything {
    template<class... T>
    COMPONENT_BENCHMARK_DETAIL_GONE anything(T const&...) noexcept {}
};

/// An empty list, where a report has sentences or samples.
struct nothing {
    COMPONENT_BENCHMARK_DETAIL_GONE std::string const* begin() const noexcept { return nullptr; }
    COMPONENT_BENCHMARK_DETAIL_GONE std::string const* end() const noexcept { return nullptr; }
    COMPONENT_BENCHMARK_DETAIL_GONE bool empty() const noexcept { return true; }
    COMPONENT_BENCHMARK_DETAIL_GONE std::size_t size() const noexcept { return 0; }
};

[[nodiscard]] inline std::string why() {
    return "built with COMPONENT_BENCHMARK_ENABLED=0";
}

/// A metric that nobody measured; its value throws, as that of any unavailable metric does.
template<class Number>
struct metric {
    COMPONENT_BENCHMARK_DETAIL_GONE bool has_value() const noexcept { return false; }
    COMPONENT_BENCHMARK_DETAIL_GONE explicit operator bool() const noexcept { return false; }
    [[noreturn]] Number value() const { throw error{"this metric is unavailable: " + off::why()}; }
    COMPONENT_BENCHMARK_DETAIL_GONE Number value_or(Number fallback) const noexcept {
        return fallback;
    }
    COMPONENT_BENCHMARK_DETAIL_GONE origin from() const noexcept { return origin::unavailable; }
    [[nodiscard]] std::string why() const { return off::why(); }
};

/// A metric found by its id.
struct cell {
    std::string why = off::why();
    static constexpr origin from = origin::unavailable;
    COMPONENT_BENCHMARK_DETAIL_GONE bool has_value() const noexcept { return false; }
    COMPONENT_BENCHMARK_DETAIL_GONE double number() const noexcept { return 0.0; }
};

struct provider {
    template<class Loss>
    COMPONENT_BENCHMARK_DETAIL_GONE provider loss(Loss const&) const noexcept {
        return {};
    }
};

}  // namespace off

struct filter {
    static constexpr std::int64_t unlimited = (std::numeric_limits<std::int64_t>::max)();
    off::anything path{};
    off::anything type{};
    std::int64_t min_depth = 0;
    std::int64_t max_depth = unlimited;
    std::int64_t min_calls = 0;
    std::int64_t max_calls = unlimited;
    std::int64_t min_parameters = 0;
    std::int64_t max_parameters = unlimited;
};

namespace off {

/// Takes a list of filters, written out or made before, and keeps nothing.
struct filters {
    COMPONENT_BENCHMARK_DETAIL_GONE filters(std::initializer_list<filter>) noexcept {}
    template<class List>
    COMPONENT_BENCHMARK_DETAIL_GONE filters(List const&) noexcept {}
};

}  // namespace off

namespace off {

/// Takes a list of pairs, written out or made before, and keeps nothing.
struct pairs {
    COMPONENT_BENCHMARK_DETAIL_GONE pairs(std::initializer_list<anything>) noexcept {}
    template<class List>
    COMPONENT_BENCHMARK_DETAIL_GONE pairs(List const&) noexcept {}
};

}  // namespace off

struct peak_overrides {
    off::pairs tflops = {};
    off::anything bandwidth_gbps{};
};

enum class when_busy { wait, refuse };
enum class memory_mode { one_forward, level_by_level };

struct options {
    std::size_t depth = (std::numeric_limits<std::size_t>::max)();
    off::filters include = {};
    off::filters exclude = {};
    bool copy_arguments = false;
    memory_mode memory = memory_mode::one_forward;
    when_busy busy = when_busy::wait;
    peak_overrides peaks = {};
};

template<class... Plugin>
struct preprocessors {
    COMPONENT_BENCHMARK_DETAIL_GONE explicit preprocessors(Plugin const&...) noexcept {}
};

template<class... Plugin>
struct profilers {
    COMPONENT_BENCHMARK_DETAIL_GONE explicit profilers(Plugin const&...) noexcept {}
};

template<class... Plugin>
struct sinks {
    COMPONENT_BENCHMARK_DETAIL_GONE explicit sinks(Plugin const&...) noexcept {}
};

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
    int samples = 50;
    double budget_s = 1.0;
    bool backward = true;
    off::anything clock{};
    struct result {
        off::metric<double> latency_ms, latency_bwd_ms, latency_fwd_bwd_ms, total_ms, self_ms,
            latency_spread_pct;
        off::metric<std::int64_t> samples;
        off::nothing by_call;
    };
};

enum class colour { automatic, never, always };

struct table {
    off::anything out{};
    int width = 0;
    colour colours = colour::automatic;
    static constexpr char const* name = "table";
    COMPONENT_BENCHMARK_DETAIL_GONE void write(off::anything) const noexcept {}
};

struct json {
    off::anything path{};
    static constexpr char const* name = "json";
    COMPONENT_BENCHMARK_DETAIL_GONE void check() const noexcept {}
    COMPONENT_BENCHMARK_DETAIL_GONE void write(off::anything) const noexcept {}
};

/// Every component is there, and nothing is known of it.
template<class... Profiler>
class report {
public:
    struct row {
        template<class Wanted>
        COMPONENT_BENCHMARK_DETAIL_GONE typename Wanted::result get() const {
            return {};
        }
        template<class Id>
        [[nodiscard]] off::cell operator[](Id const&) const {
            return {};
        }
        [[nodiscard]] node facts() const { return {}; }
        COMPONENT_BENCHMARK_DETAIL_GONE std::int64_t calls() const noexcept { return 0; }
        COMPONENT_BENCHMARK_DETAIL_GONE status state() const noexcept { return status::not_called; }
        [[nodiscard]] std::string in_shapes() const { return {}; }
        [[nodiscard]] std::string out_shapes() const { return {}; }
        [[nodiscard]] std::string dtypes() const { return {}; }
        [[nodiscard]] std::string reason() const { return off::why(); }
    };

    template<class Path>
    COMPONENT_BENCHMARK_DETAIL_GONE row operator[](Path const&) const noexcept {
        return {};
    }
    COMPONENT_BENCHMARK_DETAIL_GONE off::anything document() const noexcept { return {}; }
    COMPONENT_BENCHMARK_DETAIL_GONE off::nothing failures() const noexcept { return {}; }
};

template<class Preprocessors, class Profilers, class Sinks>
struct pipeline;

template<class Preprocessors, class... Profiler, class Sinks>
struct pipeline<Preprocessors, profilers<Profiler...>, Sinks> {
    COMPONENT_BENCHMARK_DETAIL_GONE pipeline(Preprocessors, profilers<Profiler...>, Sinks,
                                             options = {}) noexcept {}
    COMPONENT_BENCHMARK_DETAIL_GONE void check() const noexcept {}
    template<class Provider>
    COMPONENT_BENCHMARK_DETAIL_GONE report<Profiler...> run(Provider const&) const noexcept {
        return {};
    }
};

template<class Preprocessors, class Profilers, class Sinks>
pipeline(Preprocessors, Profilers, Sinks, options = {})
    -> pipeline<Preprocessors, Profilers, Sinks>;

template<class... T>
COMPONENT_BENCHMARK_DETAIL_GONE off::provider provide(T const&...) noexcept {
    return {};
}

struct schedule {
    COMPONENT_BENCHMARK_DETAIL_GONE explicit schedule(off::anything) noexcept {}
    schedule(schedule const&) = delete;
    schedule& operator=(schedule const&) = delete;
    [[nodiscard]] COMPONENT_BENCHMARK_DETAIL_GONE static schedule from_environment(
        off::anything = {}) noexcept {
        return schedule{off::anything{}};
    }
    [[nodiscard]] COMPONENT_BENCHMARK_DETAIL_GONE bool operator()() noexcept { return false; }
};

[[nodiscard]] COMPONENT_BENCHMARK_DETAIL_GONE bool interrupted() noexcept {
    return false;
}

[[nodiscard]] inline std::string to_table(off::anything, int = 0, bool = false) {
    return {};
}
[[nodiscard]] inline std::string to_json(off::anything) {
    return {};
}

}  // namespace component_benchmark

#undef COMPONENT_BENCHMARK_DETAIL_GONE
