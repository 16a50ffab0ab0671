// CAPTURE: the calls of a model by row, those that no hook sees included
#pragma once

#include <component_benchmark/capture/captured_call.hpp>
#include <component_benchmark/capture/module_tree.hpp>
#include <component_benchmark/capture/sequential.hpp>
#include <component_benchmark/capture/session.hpp>
#include <component_benchmark/capture/shapes.hpp>
#include <component_benchmark/core/node.hpp>

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace component_benchmark::capture {

/// What one forward recorded. Later ones may add to it what its calls need to be made again. (A
/// template as `basic_session` is.)
template<class Session>
class basic_call_table {
public:
    /// Takes over what `seen` recorded with `details`, and gives the rows of `tree` its facts. The
    /// graph of that forward is not needed from here on.
    void fill(module_tree& tree, std::unique_ptr<Session> seen,
              std::vector<call_detail> const& details) {
        seen_ = std::move(seen);
        infer_sequentials(tree, all(), details);
        sort_calls(tree, all());
        of_row_.assign(tree.nodes().size(), {});
        for (std::size_t number = 0; number < all().size(); ++number) {
            auto& call = all()[number];
            describe(call, number);
            call.detach();
            of_row_[call.row].push_back(number);
            auto& facts = tree.nodes()[call.row];
            if (facts.calls++ == 0) {
                facts.in_shapes = call.in_shapes;
                facts.out_shapes = call.out_shapes;
                facts.dtypes = call.dtypes;
            }
        }
    }

    /// Takes from another forward what the calls of `rows` need.
    void add(module_tree const& tree, Session& seen, std::vector<std::size_t> const& rows,
             std::vector<call_detail> const& details) {
        infer_sequentials(tree, seen.calls(), details);
        std::vector<bool> is_wanted(of_row_.size());
        for (auto const row : rows)
            is_wanted[row] = true;
        for (auto& call : seen.calls())
            if (is_wanted[call.row])
                add(call);
        for (auto const row : rows)
            for (auto const number : of_row_[row])
                if (auto& call = all()[number];
                    call.stored == nullptr && call.finished && call.opaque.empty())
                    call.opaque = "the forward went another way when it ran once more";
    }

    [[nodiscard]] std::deque<captured_call>& all() noexcept { return seen_->calls(); }
    [[nodiscard]] std::deque<captured_call> const& all() const noexcept { return seen_->calls(); }

    /// Numbers of the calls of a row.
    [[nodiscard]] std::vector<std::size_t> const& of(std::size_t row) const { return of_row_[row]; }

    /// What only replays of a row's calls need is given back.
    void release(std::size_t row) {
        for (auto const number : of_row_[row])
            all()[number].release();
    }

    /// What else that forward told.
    [[nodiscard]] Session const& forward() const noexcept { return *seen_; }

private:
    void add(captured_call& again) {
        auto const& known = of_row_[again.row];
        auto const index = static_cast<std::size_t>(again.index);
        if (index >= known.size())
            return;
        auto& call = all()[known[index]];
        describe(again, known[index]);
        again.detach();
        if (again.in_shapes != call.in_shapes || again.out_shapes != call.out_shapes)
            return;
        again.parent = call.parent;
        call = std::move(again);
    }

    std::unique_ptr<Session> seen_;
    std::vector<std::vector<std::size_t>> of_row_;
};

using call_table = basic_call_table<session>;

}  // namespace component_benchmark::capture
