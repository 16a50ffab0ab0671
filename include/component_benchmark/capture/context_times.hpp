// CAPTURE -> profile: times of all calls in the model's own steps
#pragma once

#include <component_benchmark/capture/node_watch.hpp>
#include <component_benchmark/capture/sequential.hpp>
#include <component_benchmark/core/clock.hpp>
#include <component_benchmark/core/context_time.hpp>
#include <component_benchmark/core/error.hpp>
#include <component_benchmark/core/failure.hpp>
#include <component_benchmark/core/interruption.hpp>
#include <component_benchmark/core/statistics.hpp>

#include <torch/csrc/autograd/autograd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace component_benchmark::capture {

/// Collects them over several steps: a call's time is the median of its times. (A template as
/// `basic_session` is.)
template<class CallTable>
class basic_context_times {
public:
    /// So many steps, timed by `now`; the times are then those of the calls of `table`.
    template<class Forwards, class Tree>
    void run(int steps, clock_function now, Forwards& forwards, CallTable const& table,
             Tree const& tree, std::vector<call_detail> const& details) {
        why_ = {};
        auto const parameters = tree.parameters(0);
        try {
            if (!parameters.empty() && !parameters.front().device().is_cpu())
                throw error{"on a device the times would be those of launches"};
            for (int step = 0; step < steps && !interrupted(); ++step) {
                auto [seen, loss] = forwards.time(details, now);
                node_watch<> watch{now};
                run_backward(loss, parameters, watch);
                add(table, tree, *seen, details, watch);
            }
        } catch (...) {
            samples_.clear();
            why_ = {current_failure(), current_failure()};
        }
        forwards.rewind();
    }

    [[nodiscard]] std::vector<context_time> of(std::vector<std::size_t> const& calls) const {
        std::vector<context_time> found;
        for (auto const number : calls)
            if (number < samples_.size() && !samples_[number].forward.empty())
                found.push_back(
                    {number, median(samples_[number].forward), median(samples_[number].backward)});
        return found;
    }

    [[nodiscard]] no_context_reasons const& why() const noexcept { return why_; }

private:
    struct samples {
        std::vector<double> forward;
        std::vector<double> backward;
    };
    static double ms(std::int64_t ns) { return static_cast<double>(ns) / 1e6; }

    // Backward from `loss` to the `parameters`, with the nodes timed; nothing is accumulated.
    void run_backward(at::Tensor const& loss, std::vector<at::Tensor> const& parameters,
                      node_watch<>& watch) {
        if (!loss.defined()) {
            why_.backward = "no loss was given, so the step has no backward";
            return;
        }
        try {
            std::vector<at::Tensor> targets;
            for (auto const& parameter : parameters)
                if (parameter.requires_grad())
                    targets.push_back(parameter);
            if (targets.empty())
                why_.backward = "no parameter requires a gradient";
            else
                static_cast<void>(torch::autograd::grad({loss}, targets, {},
                                                        /*retain_graph=*/false,
                                                        /*create_graph=*/false,
                                                        /*allow_unused=*/true));
        } catch (...) {
            why_.backward = "the backward from the loss failed: " + current_failure();
        }
        watch.stop();
    }

    // Adds the calls that `seen` timed, and the nodes of their backward, to those of `table`.
    template<class Tree, class Session>
    void add(CallTable const& table, Tree const& tree, Session& seen,
             std::vector<call_detail> const& details, node_watch<>& watch) {
        infer_sequentials(tree, seen.calls(), details);
        samples_.resize(table.all().size());
        for (auto const& call : seen.calls()) {
            auto const& known = table.of(call.row);
            auto const index = static_cast<std::size_t>(call.index);
            if (index >= known.size() || !call.finished)
                continue;  // the forward went another way
            auto& mine = samples_[known[index]];
            mine.forward.push_back(ms(call.span.end_ns - call.span.begin_ns));
            mine.backward.push_back(
                ms(watch.nanoseconds(call.span.first_node, call.span.end_node)));
        }
    }

    std::vector<samples> samples_;  // of each call
    no_context_reasons why_{"no step was timed", "no step was timed"};
};

}  // namespace component_benchmark::capture
