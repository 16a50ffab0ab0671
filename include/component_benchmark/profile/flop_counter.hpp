// replay -> FLOP COUNTER -> flops: adds up what the operators of one run do
#pragma once

#include <component_benchmark/core/clock.hpp>
#include <component_benchmark/core/failure.hpp>
#include <component_benchmark/core/flop_convention.hpp>
#include <component_benchmark/device/tf32.hpp>
#include <component_benchmark/profile/backward_work.hpp>
#include <component_benchmark/profile/flop_amounts.hpp>
#include <component_benchmark/profile/flop_formulas.hpp>
#include <component_benchmark/profile/flop_tally.hpp>
#include <component_benchmark/profile/forward_trace.hpp>
#include <component_benchmark/profile/op_observer.hpp>

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace component_benchmark {

/// What is counted, as values.
struct counting_rules {
    bool all_matrix_work = true;
    bool elements = false;
    causal_attention causal = causal_attention::dense;

    template<class Convention>
    [[nodiscard]] static counting_rules of(causal_attention causal) {
        return {Convention::all_matrix_work, Convention::elements, causal};
    }
};

/// Counts while a watch is set on it.
template<class Tally = flop_tally>
class basic_flop_counter {
public:
    /// `own`: formulas of the user, which must outlive it.
    basic_flop_counter(counting_rules rules, std::vector<flop_formula> const& own)
        : rules_{rules}, own_{&own} {}

    void in_backward(bool is) noexcept { in_backward_ = is; }

    [[nodiscard]] Tally take() {
        tally_.backward.add(std::exchange(work_.own, {}), 1.0);
        tally_.recomputed.add(std::exchange(work_.again, {}), 1.0);
        tally_.guessed_own += std::exchange(work_.guessed_own, 0.0);
        tally_.guessed_again += std::exchange(work_.guessed_again, 0.0);
        return std::exchange(tally_, {});
    }

    void begin_node() noexcept {
        std::lock_guard const lock{mutex_};
        work_.begin_node();
    }
    void end_node() noexcept {
        std::lock_guard const lock{mutex_};
        work_.end_node();
    }

    void begin(op_frame& frame, op_call const& call) noexcept {
        if (frame.rewritten)
            return;
        if (!in_backward_)
            saw_forward_ = true;
        try {
            count(frame, call);
        } catch (...) {
            fail(frame, current_failure());
        }
    }

    void end(op_frame const& frame, op_frame* around, std::vector<c10::IValue> const&) noexcept {
        auto const counted = frame.accounts && frame.amount != no_amount;
        if (counted && !frame.failed)
            add(frame);
        auto const kind = kind_of(frame, counted);
        // what an operator of a library's own does beside what it calls is not seen
        auto const opaque = frame.op->composite && !frame.rewritten && !counted &&
                            !frame.inside.unknown && kind == op_class::unknown;
        if (around != nullptr) {
            around->inside.add(frame.inside);
            if (counted || opaque || !(frame.op->composite || frame.rewritten))
                around->inside.add(
                    {counted, kind != op_class::zero_by_design, kind == op_class::unknown});
        }
        if (frame.event || (opaque && !frame.within))
            settle(frame, kind, steady_nanoseconds());
    }

private:
    static constexpr std::int64_t no_amount = -1;
    static constexpr std::int64_t no_formula = -2;  ///< that could be used: it failed
    static constexpr std::int64_t most_flops = 1'000'000'000'000'000'000;

    void count(op_frame& frame, op_call const& call) {
        auto const found = formula_value(frame, call);
        if (found) {
            frame.accounts = true;
            frame.amount = *found;
            frame.place = format_of(call, units_of(*frame.op));
            frame.event = !frame.within;
            if (*found > 0)
                frame.likeness = static_cast<int>(compare(call));
        } else if (frame.event && !rules_.all_matrix_work) {
            frame.accounts = true;  // the counter of PyTorch does not see what an operator calls
            frame.amount = no_amount;
        }
    }

    /// Nothing where the operator has no formula, or its formula none for these arguments.
    [[nodiscard]] std::optional<std::int64_t> formula_value(op_frame& frame, op_call const& call) {
        auto const& op = *frame.op;
        for (auto const& one : *own_)
            if (one.op == op.name)
                return checked(frame, one.count(call));
        if (op.formula != nullptr && (rules_.all_matrix_work || op.formula->in_pytorch))
            return call.has_nested() ? std::nullopt : op.formula->count(call, rules_.causal);
        if (rules_.elements && frame.event)
            return element_work(call);
        return {};
    }

    [[nodiscard]] std::optional<std::int64_t> checked(op_frame& frame,
                                                      std::optional<std::int64_t> given) {
        if (!given || (*given >= 0 && *given <= most_flops))
            return given;
        fail(frame, "its formula gave " + std::to_string(*given) + " FLOPs; " +
                        (*given < 0 ? "0 or more" : "at most 10^18") + " were expected");
        return {};
    }

    /// 1 for each element that an addition, subtraction, multiplication or division of tensors
    /// makes; a sum adds each element that goes in but one for each that comes out.
    [[nodiscard]] static std::optional<std::int64_t> element_work(op_call const& call) {
        auto const op = call.name();
        if (auto const* const tensor = calculating_tensor(call);
            tensor == nullptr || !calculates(*tensor))
            return {};  // positions and masks
        for (std::string_view binary : {"aten::add", "aten::sub", "aten::mul", "aten::div"})
            if (op.substr(0, binary.size()) == binary &&
                (op.size() == binary.size() || op.substr(binary.size()) == "_"))
                return elements_of_broadcast(call);
        if (op == "aten::rsub")
            return elements_of_broadcast(call);
        if (op == "aten::sum" || op == "aten::mean")
            return additions_of_sum(call) + (op == "aten::mean" ? elements_of_sum(call) : 0);
        return {};
    }

    [[nodiscard]] static std::int64_t elements_of_broadcast(op_call const& call) {
        if (!call.has_tensor(0) || !call.has_tensor(1))
            return call.tensor(0).numel();
        return formulas::product(formulas::broadcast(call.shape(0).vec(), call.shape(1)));
    }

    /// Elements that a sum over some dimensions, or all, leaves.
    [[nodiscard]] static std::int64_t elements_of_sum(op_call const& call) {
        if (call.size() < 2 || !call[1].isIntList() || call[1].toIntVector().empty() ||
            call.shape(0).empty())
            return 1;
        auto left = call.tensor(0).numel();
        for (auto const dimension : call[1].toIntVector())
            left /= (std::max<std::int64_t>)(1, call.size_of(0, dimension));
        return left;
    }

    [[nodiscard]] static std::int64_t additions_of_sum(op_call const& call) {
        return (std::max<std::int64_t>)(0, call.tensor(0).numel() - elements_of_sum(call));
    }

    [[nodiscard]] static unit_use units_of(op_info const& op) {
        return op.formula != nullptr ? op.formula->units : unit_use::matmul;
    }

    void add(op_frame const& frame) noexcept {
        std::lock_guard const lock{mutex_};
        auto const flops = static_cast<double>(frame.amount);
        if (std::this_thread::get_id() != maker_ && !at::in_parallel_region() && !work_.in_node())
            (in_backward_ ? tally_.elsewhere_bwd : tally_.elsewhere) += flops;
        if (in_backward_)
            work_.add(flops, frame.place, static_cast<likeness>(frame.likeness));
        else
            tally_.forward.by_format[frame.place] += flops;
    }

    /// With the forward, if that was watched; else all is similar.
    [[nodiscard]] likeness compare(op_call const& call) noexcept {
        try {
            std::lock_guard const lock{mutex_};
            if (in_backward_)
                return saw_forward_ ? forward_.of(call) : likeness::similar;
            forward_.add(call);
        } catch (...) {  // no memory
        }
        return likeness::similar;
    }

    [[nodiscard]] static bool calculates(at::Tensor const& tensor) {
        return tensor.is_floating_point() || tensor.is_complex();
    }

    /// The first tensor of real or complex numbers, else the first of all, or null.
    [[nodiscard]] static at::Tensor const* calculating_tensor(op_call const& call) {
        for (std::size_t position = 0; position < call.size(); ++position)
            if (call.has_tensor(position) && calculates(call.tensor(position)))
                return &call.tensor(position);
        return call.first_tensor();
    }

    [[nodiscard]] static std::size_t format_of(op_call const& call, unit_use units) {
        auto const* const first = calculating_tensor(call);
        if (first == nullptr)
            return flop_amounts::other;
        auto const format = dispatched_format(first->scalar_type(), first->device().type(), units);
        return format ? static_cast<std::size_t>(*format) : flop_amounts::other;
    }

    [[nodiscard]] op_class kind_of(op_frame const& frame, bool counted) const noexcept {
        if (counted)
            return op_class::counted;
        if (frame.amount == no_formula)
            return op_class::unknown;
        if (frame.op->formula != nullptr && !frame.op->formula->in_pytorch &&
            !rules_.all_matrix_work)
            return op_class::zero_by_design;  // of the convention, where PyTorch has no formula
        auto const is_pytorchs = frame.op->name.starts_with("aten::");
        if (frame.op->composite && is_pytorchs)
            return op_class::counted;  // where what it calls is
        if (frame.inside.counted && (is_pytorchs || frame.op->kind != op_class::unknown))
            return frame.inside.unknown ? op_class::unknown : op_class::counted;
        return frame.op->kind;  // the rest of its work may be more than what it called
    }

    void settle(op_frame const& frame, op_class kind, std::int64_t now) noexcept {
        try {
            std::lock_guard const lock{mutex_};
            coverage().note(frame.op->name, kind, frame.began_ns == 0 ? 0 : now - frame.began_ns);
        } catch (...) {  // no memory for a name
        }
    }

    void fail(op_frame& frame, std::string why) noexcept {
        frame.amount = no_formula;
        try {
            std::lock_guard const lock{mutex_};
            coverage().note_failure(frame.op->name, std::move(why));
        } catch (...) {
        }
    }

    [[nodiscard]] op_coverage& coverage() noexcept {
        return in_backward_ ? tally_.coverage_bwd : tally_.coverage;
    }

    counting_rules rules_;
    std::vector<flop_formula> const* own_;
    std::thread::id maker_ = std::this_thread::get_id();
    bool in_backward_ = false;
    std::atomic<bool> saw_forward_{false};
    std::mutex mutex_;
    Tally tally_;
    forward_trace<> forward_;
    backward_work<> work_;
};

using flop_counter = basic_flop_counter<>;

}  // namespace component_benchmark
