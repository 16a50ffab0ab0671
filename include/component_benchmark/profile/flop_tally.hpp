// flop counter -> FLOP TALLY -> flops: FLOPs of one run, and which operators they come from
#pragma once

#include <component_benchmark/profile/flop_amounts.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

/// An operator without a formula, or whose formula failed.
struct unknown_op {
    std::string name;
    op_calls calls;   ///< for which nothing is known; 0 where what it calls was counted
    std::string why;  ///< what its formula said; empty where it has none
};

/// How much of a run is known.
struct op_coverage {
    op_calls all;
    op_calls unknown_ones;
    std::vector<unknown_op> unknown;

    void note(std::string_view name, op_class kind, std::int64_t ns) {
        all.add({1, ns});
        if (kind != op_class::unknown)
            return;
        unknown_ones.add({1, ns});
        entry(name).calls.add({1, ns});
    }

    void note_failure(std::string_view name, std::string why) { entry(name).why = std::move(why); }

    void add(op_coverage const& more, std::int64_t times) {
        all.add(more.all, times);
        unknown_ones.add(more.unknown_ones, times);
        for (auto const& one : more.unknown) {
            auto& mine = entry(one.name);
            mine.calls.add(one.calls, times);
            mine.why = one.why;
        }
    }

    /// The entry of that operator, or null.
    [[nodiscard]] unknown_op const* find(std::string_view name) const noexcept {
        for (auto const& one : unknown)
            if (one.name == name)
                return &one;
        return nullptr;
    }

private:
    [[nodiscard]] unknown_op& entry(std::string_view name) {
        for (auto& one : unknown)
            if (one.name == name)
                return one;
        unknown.push_back({std::string{name}, {}, {}});
        return unknown.back();
    }
};

struct flop_tally {
    flop_amounts forward;
    flop_amounts backward;
    flop_amounts recomputed;   ///< of a forward that the backward ran again
    double guessed_own = 0;    ///< part of `backward` that may have been done again
    double guessed_again = 0;  ///< part of `recomputed` that may be the backward's own
    double elsewhere = 0;      ///< part of `forward` on threads that may not be the component's
    double elsewhere_bwd = 0;  ///< likewise of `backward` and `recomputed`
    op_coverage coverage;      ///< of the forward
    op_coverage coverage_bwd;
};

}  // namespace component_benchmark
