// component -> PROFILE: floating-point operations, counted where they are dispatched
#pragma once

#include <component_benchmark/core/flop_convention.hpp>
#include <component_benchmark/core/run_notes.hpp>
#include <component_benchmark/profile/flop_counter.hpp>
#include <component_benchmark/profile/flop_formulas.hpp>
#include <component_benchmark/profile/flop_result.hpp>
#include <component_benchmark/profile/op_pass.hpp>

#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace component_benchmark {

/// Runs each distinct call of a component once and counts what its operators do, forward and
/// backward, on all threads: of operators within operators only the outermost that has a formula.
/// `Convention`: strict_pytorch, strict, elementwise, macs, or a type like these.
template<class Convention>
struct flops_with {
    static constexpr char const* name = "flops";

    bool backward = true;
    causal_attention causal = causal_attention::dense;
    std::vector<flop_formula> formulas = {};

    using convention = Convention;
    using result = flop_result;
    using reported = flop_metrics;

    /// Throws `error` where formulas contradict each other.
    void check() const { component_benchmark::formulas::check(formulas); }

    template<class Component>
    [[nodiscard]] result profile(Component& component) const {
        check_alive();
        auto const make_counter = [this] {
            return std::make_unique<flop_counter>(counting_rules::of<Convention>(causal), formulas);
        };
        return component_benchmark::formulas::flops_of_calls(
            observe_calls(component, make_counter, backward, false), Convention::per_multiply_add);
    }

    void tell(run_notes& notes) const {
        for (auto const& one : formulas)
            if (!ops::is_registered(one.op))
                notes.warnings.push_back("flops: the formula for '" + one.op +
                                         "' was not used: no operator has this name");
        notes.conventions.emplace_back("flops", std::string{Convention::name});
        notes.conventions.emplace_back("flops_per_multiply_add",
                                       std::to_string(Convention::per_multiply_add));
        notes.conventions.emplace_back("causal_attention", std::string{name_of(causal)});
    }

private:
    // An observer that sees nothing would count 0.
    static void check_alive() {
        static bool const alive = [] {
            flop_counter counter{{}, none()};
            op_watch const watch{counter};
            static_cast<void>(at::mm(at::zeros({2, 3}), at::zeros({3, 4})));
            return counter.take().forward.total() >= 48.0;  // others may work, too
        }();
        if (!alive)
            throw std::runtime_error{
                "operators cannot be observed in this build: a product of 48 FLOPs was not seen"};
    }
    static std::vector<flop_formula> const& none() {
        static std::vector<flop_formula> const empty;
        return empty;
    }
};

using flops = flops_with<strict>;

}  // namespace component_benchmark
