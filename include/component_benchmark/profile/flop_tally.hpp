// flop counter -> FLOP TALLY -> flops: FLOPs of one run, and which operators they come from
#pragma once

#include <component_benchmark/profile/flop_convention.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace component_benchmark {

/// What the counting of FLOPs knows of an operator. `unknown` is never taken for a zero.
enum class op_class { counted, zero_by_design, elementwise, unknown };

/// Calls of operators and the time that they took, in the counting run.
struct op_calls {
    std::int64_t calls = 0;
    std::int64_t ns = 0;

    void add(op_calls const& more, std::int64_t times = 1) {
        calls += times * more.calls;
        ns += times * more.ns;
    }
};

/// How much of a run is known.
struct op_coverage {
    op_calls all;
    op_calls unknown_ones;
    std::map<std::string, op_calls> unknown;      ///< by name
    std::map<std::string, std::string> failures;  ///< of formulas, by operator

    void note(std::string const& name, op_class kind, std::int64_t ns) {
        all.add({1, ns});
        if (kind != op_class::unknown)
            return;
        unknown_ones.add({1, ns});
        unknown[name].add({1, ns});
    }

    void add(op_coverage const& more, std::int64_t times) {
        all.add(more.all, times);
        unknown_ones.add(more.unknown_ones, times);
        for (auto const& [name, calls] : more.unknown)
            unknown[name].add(calls, times);
        failures.insert(more.failures.begin(), more.failures.end());
    }
};

struct flop_tally {
    flop_amounts forward;
    flop_amounts backward;
    flop_amounts recomputed;  ///< of a forward that the backward ran again
    op_coverage coverage;
};

}  // namespace component_benchmark
