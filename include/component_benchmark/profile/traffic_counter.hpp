// replay -> TRAFFIC COUNTER -> bandwidth: adds up what the operators of one run move
#pragma once

#include <component_benchmark/core/failure.hpp>
#include <component_benchmark/profile/op_observer.hpp>
#include <component_benchmark/profile/op_traffic.hpp>

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace component_benchmark {

/// Bytes that one run moves, and the operators for which that is not known.
struct traffic_tally {
    std::int64_t forward = 0;
    std::int64_t backward = 0;
    std::map<std::string, std::string> failures;  ///< why, by operator
};

/// Counts while a watch that wants results is set on it.
class traffic_counter final : public op_observer {
public:
    void in_backward(bool is) noexcept { in_backward_ = is; }

    [[nodiscard]] traffic_tally take() { return std::exchange(tally_, {}); }

    void begin(op_frame& frame, op_call const& call) noexcept override {
        if (!frame.event)
            return;
        frame.accounts = true;  // temporaries of an operator are its own affair
        try {
            if (ops::moves_nothing(*frame.op))
                return;
            frame.amount = ops::op_traffic::of_arguments(*frame.op, call).bytes;
            frame.wants_results = true;
        } catch (...) {
            fail(*frame.op);
        }
    }

    void end(op_frame const& frame, op_frame*,
             std::vector<c10::IValue> const& results) noexcept override {
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
            tally_.failures[op.name] = current_failure();
        } catch (...) {  // no memory for the sentence
        }
    }

    bool in_backward_ = false;
    std::mutex mutex_;
    traffic_tally tally_;
};

}  // namespace component_benchmark
