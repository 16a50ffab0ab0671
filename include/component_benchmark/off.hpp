// user's program, built with COMPONENT_BENCHMARK_ENABLED=0: the same names, and nothing behind them
// Built-in plugins keep their fields; a pipeline does nothing, and every metric of its report is
// unavailable. Names of core/ but options, filter and peak_overrides are the real ones, so a file
// that defines a plugin of its own compiles in both modes once it includes concepts.hpp and, for a
// sink, result/document.hpp.
#pragma once

#include <component_benchmark/core/clock.hpp>
#include <component_benchmark/core/needs.hpp>
#include <component_benchmark/core/node.hpp>
#include <component_benchmark/core/reported.hpp>
#include <component_benchmark/core/step_times.hpp>
#include <component_benchmark/mode_sentinel.hpp>
#include <component_benchmark/off/profilers.hpp>
#include <component_benchmark/off/values.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>

namespace component_benchmark {

namespace off {

struct provider {
    template<class Loss>
    COMPONENT_BENCHMARK_DETAIL_GONE provider loss(Loss const&) const noexcept {
        return {};
    }
    template<class Ledger>
    COMPONENT_BENCHMARK_DETAIL_GONE provider step(Ledger const&) const noexcept {
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

struct peak_overrides {
    off::list_of<off::anything> tflops = {};
    off::anything bandwidth_gbps{};
};

/// What `read_journal` gives where the library is on.
struct recorded_run;

enum class when_busy { wait, refuse };
enum class memory_mode { one_forward, level_by_level };

struct options {
    std::size_t depth = (std::numeric_limits<std::size_t>::max)();
    off::list_of<filter> include = {};
    off::list_of<filter> exclude = {};
    bool copy_arguments = false;
    memory_mode memory = memory_mode::one_forward;
    when_busy busy = when_busy::wait;
    peak_overrides peaks = {};
    double time_budget_s = 0.0;
    off::anything clock{};
    bool reuse_identical = false;
    off::anything resume{};
};

[[nodiscard]] COMPONENT_BENCHMARK_DETAIL_GONE off::anything read_journal(off::anything) noexcept {
    return {};
}

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

struct journal {
    off::anything path{};
    bool sync = false;
    static constexpr char const* name = "journal";
    COMPONENT_BENCHMARK_DETAIL_GONE void check() const noexcept {}
    COMPONENT_BENCHMARK_DETAIL_GONE void begin(off::anything) const noexcept {}
    COMPONENT_BENCHMARK_DETAIL_GONE void component_done(off::anything, std::size_t) const noexcept {
    }
    COMPONENT_BENCHMARK_DETAIL_GONE void write(off::anything) const noexcept {}
};

/// Every component is there, and nothing is known of it.
template<class... Profiler>
class report {
public:
    struct row {
        template<class Wanted>
        COMPONENT_BENCHMARK_DETAIL_GONE reported_result<Wanted> get() const {
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

/// Waits for nothing.
COMPONENT_BENCHMARK_DETAIL_GONE inline void wait_for_accelerator() noexcept {}

/// Runs the work and times nothing.
class step_ledger {
    template<class Work>
    using result_of = decltype(std::declval<Work>()());

public:
    COMPONENT_BENCHMARK_DETAIL_GONE explicit step_ledger(off::anything = {},
                                                         off::anything = {}) noexcept {}
    step_ledger(step_ledger const&) = delete;
    step_ledger& operator=(step_ledger const&) = delete;
    template<class Work>
    COMPONENT_BENCHMARK_DETAIL_GONE result_of<Work> step(std::int64_t, Work&& work) const {
        return static_cast<Work&&>(work)();
    }
    template<class Work>
    COMPONENT_BENCHMARK_DETAIL_GONE result_of<Work> data(Work&& work) const {
        return static_cast<Work&&>(work)();
    }
    template<class Work>
    COMPONENT_BENCHMARK_DETAIL_GONE result_of<Work> to_device(Work&& work) const {
        return static_cast<Work&&>(work)();
    }
    template<class Work>
    COMPONENT_BENCHMARK_DETAIL_GONE result_of<Work> forward(Work&& work) const {
        return static_cast<Work&&>(work)();
    }
    template<class Work>
    COMPONENT_BENCHMARK_DETAIL_GONE result_of<Work> loss(Work&& work) const {
        return static_cast<Work&&>(work)();
    }
    template<class Work>
    COMPONENT_BENCHMARK_DETAIL_GONE result_of<Work> backward(Work&& work) const {
        return static_cast<Work&&>(work)();
    }
    template<class Work>
    COMPONENT_BENCHMARK_DETAIL_GONE result_of<Work> optimizer(Work&& work) const {
        return static_cast<Work&&>(work)();
    }
    template<class Work>
    COMPONENT_BENCHMARK_DETAIL_GONE result_of<Work> zero_grad(Work&& work) const {
        return static_cast<Work&&>(work)();
    }
    template<class Work>
    COMPONENT_BENCHMARK_DETAIL_GONE result_of<Work> apart(Work&& work) const {
        return static_cast<Work&&>(work)();
    }
    [[nodiscard]] COMPONENT_BENCHMARK_DETAIL_GONE step_times middle() const noexcept { return {}; }
};

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
