// component -> PROFILE: what it takes in the model's own step, beside what it takes alone
#pragma once

#include <component_benchmark/core/by_call.hpp>
#include <component_benchmark/core/clock.hpp>
#include <component_benchmark/core/context_time.hpp>
#include <component_benchmark/core/metric.hpp>
#include <component_benchmark/core/needs.hpp>
#include <component_benchmark/profile/latency.hpp>

#include <boost/hana/define_struct.hpp>

#include <stdexcept>
#include <string>
#include <vector>

namespace component_benchmark {

/// Runs a few steps of the whole model with nothing but the time of each call noted: what a
/// component takes where it really runs, with the caches, the memory and the threads that the rest
/// of the step leaves it. A call's time is the median of its steps, without the time of the notes
/// themselves (some 0.1 us for each call within it remain). Its backward is the time of the
/// autograd nodes that it made, which needs the loss; adding up gradients is not a part of any
/// node. On a device times would be those of launches, so there are none.
struct in_context {
    static constexpr char const* name = "in_context";
    using needs = component_benchmark::needs<latency>;

    static constexpr bool in_place = true;

    int steps = 3;  ///< at least one
    clock_function clock = &steady_nanoseconds;

    // A template, so that a file which does not use it does not pay for its description.
    template<class>
    struct described {
        BOOST_HANA_DEFINE_STRUCT(
            described, (metric<milliseconds, aggregate::sum>, in_context_ms),  ///< forward, a call
            (metric<milliseconds, aggregate::sum>, in_context_bwd_ms),         ///< backward, a call
            /// How much longer a forward takes in the step than alone; below zero where it is
            /// faster there.
            (metric<percent>, context_gap_pct));
        std::vector<component_benchmark::by_call> by_call;
    };
    using result = described<void>;

    /// Before the first component is measured.
    template<class Captured>
    void look_at(Captured& model) const {
        if constexpr (requires { model.time_in_context(steps, clock); })
            model.time_in_context(steps > 1 ? steps : 1, clock);
    }

    template<class Component>
    [[nodiscard]] result profile(Component& component, latency::result const& alone) const {
        if constexpr (requires { component.in_context(); })
            return summary(component.in_context(), component.why_no_context(), alone);
        else
            throw std::runtime_error{"this provider cannot time components in their step"};
    }

private:
    using milliseconds_metric = metric<milliseconds, aggregate::sum>;

    [[nodiscard]] static result summary(std::vector<context_time> const& calls,
                                        no_context_reasons const& why,
                                        latency::result const& alone) {
        if (calls.empty())
            throw std::runtime_error{why.forward.empty() ? "not called" : why.forward};
        result made;
        double forward = 0.0;
        double backward = 0.0;
        for (auto const& one : calls) {
            forward += one.forward_ms;
            backward += one.backward_ms;
            made.by_call.push_back({"in_context_ms", {one.call}, one.forward_ms, {}});
            if (why.backward.empty())
                made.by_call.push_back({"in_context_bwd_ms", {one.call}, one.backward_ms, {}});
        }
        auto const count = static_cast<double>(calls.size());
        made.in_context_ms = forward / count;
        if (why.backward.empty())
            made.in_context_bwd_ms = backward / count;
        else
            made.in_context_bwd_ms = milliseconds_metric::unavailable(why.backward);
        if (!alone.latency_ms.has_value())
            made.context_gap_pct = metric<percent>::unavailable(alone.latency_ms.why());
        else if (!(alone.latency_ms.value() > 0.0))
            made.context_gap_pct = metric<percent>::unavailable("it takes no time alone");
        else
            made.context_gap_pct = 100.0 * (forward / count / alone.latency_ms.value() - 1.0);
        return made;
    }
};

}  // namespace component_benchmark
