// replay -> TRAFFIC COUNTER -> bandwidth: adds up what the operators of one run move
#pragma once

#include <component_benchmark/core/error.hpp>
#include <component_benchmark/core/failure.hpp>
#include <component_benchmark/profile/op_observer.hpp>
#include <component_benchmark/profile/op_traffic.hpp>

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace component_benchmark {

/// Bytes that one run moves, and the operators for which that is not known.
struct traffic_tally {
    std::int64_t forward = 0;
    std::int64_t backward = 0;
    std::string failures;  ///< "aten::op (why)" for each, once
};

/// Counts while a watch that wants results is set on it.
template<class Tally = traffic_tally>
class basic_traffic_counter {
public:
    void in_backward(bool is) noexcept { in_backward_ = is; }

    [[nodiscard]] Tally take() { return std::exchange(tally_, {}); }

    void begin(op_frame& frame, op_call const& call) noexcept {
        if (!frame.event)
            return;
        frame.accounts = true;  // temporaries of an operator are its own affair
        try {
            if (ops::moves_nothing(*frame.op))
                return;
            // one of a library's own may look up a few rows of a large table
            if (!frame.op->name.starts_with("aten::") &&
                ops::gather_of(frame.op->name) == nullptr && frame.op->kind == op_class::unknown)
                throw error{"it may touch only a part of its arguments"};
            frame.amount = ops::op_traffic::of_arguments(*frame.op, call).bytes;
            frame.wants_results = true;
        } catch (...) {
            fail(*frame.op);
        }
    }

    void end(op_frame const& frame, op_frame*, std::vector<c10::IValue> const& results) noexcept {
        if (!frame.event || frame.failed)
            return;
        try {
            ops::op_traffic written;
            if (frame.wants_results)
                written.add_results(*frame.op, results);
            std::lock_guard const lock{mutex_};
            (in_backward_ ? tally_.backward : tally_.forward) += frame.amount + written.bytes;
        } catch (...) {
            fail(*frame.op);
        }
    }

private:
    void fail(op_info const& op) noexcept {
        try {
            std::lock_guard const lock{mutex_};
            auto const sentence = op.name + " (" + current_failure() + ")";
            if (tally_.failures.find(sentence) == std::string::npos)
                tally_.failures += (tally_.failures.empty() ? "" : ", ") + sentence;
        } catch (...) {  // no memory for the sentence
        }
    }

    bool in_backward_ = false;
    std::mutex mutex_;
    Tally tally_;
};

using traffic_counter = basic_traffic_counter<>;

}  // namespace component_benchmark
