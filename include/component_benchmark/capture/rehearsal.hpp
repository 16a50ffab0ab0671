// CAPTURE: one run of a component before anything is measured
#pragma once

#include <component_benchmark/capture/argument_watch.hpp>
#include <component_benchmark/capture/component.hpp>
#include <component_benchmark/capture/model_state.hpp>
#include <component_benchmark/capture/module_tree.hpp>
#include <component_benchmark/capture/op_sequence.hpp>
#include <component_benchmark/capture/returned.hpp>
#include <component_benchmark/capture/tensor_bytes.hpp>
#include <component_benchmark/core/by_call.hpp>
#include <component_benchmark/core/failure.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace component_benchmark::capture {

/// What a component was found to do when it ran alone for the first time.
struct rehearsed {
    std::string failure = {};              ///< why it cannot run alone, or empty
    std::string remark = {};               ///< what is missing in its numbers, or empty
    std::vector<at::Tensor> written = {};  ///< parameters and buffers that it leaves changed
};

/// Shows whether a component runs alone, and, by value, whether it writes parameters, even where
/// no version counter moves. A component that does is put back before every repetition; one that
/// writes to its arguments so gets fresh ones. If it leaves other values when it runs again, as an
/// optimizer inside backward whose momentum nobody knows of, there is state that cannot be put
/// back: its backward is not repeated any more.
///
/// Every component is looked at, also where one around it has run and written nothing: that one may
/// have cut it off the graph, or sent it a gradient of zeros.
template<class Tree, class State, class Component>
class rehearsal {
public:
    /// `watches`: the operators of each component are told. `goes_back`: somebody will run
    /// backwards.
    rehearsal(Tree const& tree, State& state, bool watches, bool goes_back)
        : tree_{tree}, state_{state}, watches_{watches}, goes_back_{goes_back} {}

    /// Of the component that was run last.
    [[nodiscard]] op_sequence<> const& operators() const noexcept { return operators_; }

    [[nodiscard]] rehearsed run(std::size_t row, Component& one) {
        rehearsed found;
        bool is_suspect = false;
        operators_.clear();
        if (one.calls().empty())
            return found;
        try {
            if (state_.tensors().differs(one.reachable()))
                find_writer_before(row);
            for (auto& group : one.calls()) {
                auto const first = run_once(group, one);
                if (first.misses_leaves)
                    found.remark = backward_is_partial;
                else if (found.remark.empty())
                    found.remark = first.difference;
                is_suspect = first.writes;
                if (is_suspect)
                    look_again(row, group, one, found);
                is_suspect = false;
            }
        } catch (...) {
            found.failure = current_failure();
            if (is_suspect || state_.tensors().differs_unexplained(one.reachable()))
                note_hidden(row);
            state_.rewind();
            if (found.failure.empty())
                found.failure = "it threw";
        }
        return found;
    }

    /// To be called when a component that wrote nothing was measured: says whether it did so in
    /// the end, as an optimizer that steps every other time. What it wrote is put back.
    /// `is_seen_below`: the components below it will come to the same parameters, and what they
    /// find in them was written by it.
    [[nodiscard]] bool wrote_later(std::size_t row, Component& one, bool is_seen_below) {
        if (one.calls().empty())
            return false;
        if (is_seen_below) {
            unseen_.push_back(row);
            return false;
        }
        if (!state_.tensors().differs(one.reachable()))
            return false;
        note_hidden(row);
        state_.rewind();
        return true;
    }

    /// In the end: says which rows have state that is not known entirely, and which of these
    /// tensors, which the captured backward wrote, no component was found to write.
    void doubt_what(std::vector<at::Tensor> const& written_backward) const {
        for (auto const row : hidden_)
            state_.doubt(name_in_text(tree_.nodes()[row]) +
                         " has state that is neither registered nor declared");
        for (auto const& tensor : written_backward)
            if (!accounted_.contains(tensor.unsafeGetTensorImpl()))
                state_.doubt(state_.tensors().title_of(tensor) +
                             " is written by a backward of a component that was not measured");
    }

    /// Rows that were found to write now and then only when one below them was run.
    [[nodiscard]] std::vector<std::size_t> take_late_writers() noexcept {
        return std::exchange(late_writers_, {});
    }

private:
    struct run_facts {
        bool misses_leaves = false;
        bool writes = false;     ///< parameters, or buffers in its backward
        std::string difference;  ///< from what it gave in the model
    };
    using values = std::array<std::size_t, 3>;  // hashes

    [[nodiscard]] run_facts run_once(auto& group, Component const& one) {
        run_facts found;
        auto state = one.buffers();
        state.insert(state.end(), one.reachable().begin(), one.reachable().end());
        argument_watch arguments{group.captured(), state};
        auto again = group.replay();
        again.prepare();
        {
            [[maybe_unused]] auto const watch = operators_.watch(watches_);
            again.forward();
        }
        if (auto& inside = group.captured().returned; !inside.empty()) {
            found.difference = difference_of(inside, again.outputs());
            inside.clear();  // it is asked once, and may be large
        }
        auto const buffers = hash_of_bytes(one.buffers());
        if (again.prepare_backward()) {
            found.misses_leaves = again.misses_leaves();
            [[maybe_unused]] auto const watch = operators_.watch(watches_);
            if (goes_back_)
                again.backward();
        } else {
            found.misses_leaves = again.why_no_backward() == nothing_to_reach;
        }
        arguments.look();
        found.writes =
            state_.tensors().differs(one.reachable()) || hash_of_bytes(one.buffers()) != buffers;
        return found;
    }

    [[nodiscard]] static values values_of(Component const& one,
                                          std::vector<at::Tensor> const& others) {
        return {hash_of_bytes(one.reachable()), hash_of_bytes(one.buffers()),
                hash_of_bytes(others)};
    }

    // The same call from the same state: it leaves the same values if that is all the state it has.
    void look_again(std::size_t row, auto& group, Component const& one, rehearsed& found) {
        auto const written = state_.tensors().differing();
        auto const first = values_of(one, written);
        if (state_.tensors().differs(one.reachable())) {
            group.put_back_before_each(written);
            found.written.insert(found.written.end(), written.begin(), written.end());
            for (auto const& tensor : written)
                accounted_.insert(tensor.unsafeGetTensorImpl());
        }
        state_.rewind(written);
        static_cast<void>(run_once(group, one));
        if (values_of(one, written) != first) {
            group.refuse_backward(hidden_state);
            note_hidden(row);
        }
        state_.rewind(written);
    }

    // Parameters of the row are not what they were: the nearest component around it that was not
    // looked at since has written them, or else another one.
    void find_writer_before(std::size_t row) {
        auto const above = std::find_if(unseen_.rbegin(), unseen_.rend(),
                                        [&](auto other) { return tree_.is_below(row, other); });
        if (above != unseen_.rend()) {
            late_writers_.push_back(*above);
            note_hidden(*above);
        } else {
            state_.doubt("parameters of " + name_in_text(tree_.nodes()[row]) +
                         " were written by a component that was not seen to do so");
        }
        state_.rewind();
    }

    // Its ancestors were found to have it, too: this says it more exactly.
    void note_hidden(std::size_t row) {
        std::erase_if(hidden_, [&](std::size_t above) { return tree_.is_below(row, above); });
        hidden_.push_back(row);
    }

    Tree const& tree_;
    State& state_;
    bool watches_;
    bool goes_back_;
    op_sequence<> operators_;
    std::vector<std::size_t> unseen_;  // not compared since they were measured
    std::vector<std::size_t> late_writers_;
    std::vector<std::size_t> hidden_;
    std::unordered_set<void const*> accounted_;  // by address of the tensor
};

}  // namespace component_benchmark::capture
