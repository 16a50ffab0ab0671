// provider -> CAPTURE -> pipeline: the calls of one forward, handed out component by component
#pragma once

#include <component_benchmark/capture/component.hpp>
#include <component_benchmark/capture/model_state.hpp>
#include <component_benchmark/capture/sequential.hpp>
#include <component_benchmark/capture/session.hpp>
#include <component_benchmark/capture/shapes.hpp>
#include <component_benchmark/core/environment.hpp>
#include <component_benchmark/core/error.hpp>
#include <component_benchmark/core/failure.hpp>
#include <component_benchmark/core/options.hpp>

#include <ATen/Parallel.h>
#include <ATen/ThreadLocalState.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/version.h>

#include <algorithm>
#include <malloc.h>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace component_benchmark::capture {

/// The captured calls of a model. The model's state is put back by `put_back`, at the latest when
/// this object dies.
class captured_model {
public:
    /// Runs the model's forward under `listener` and gives the loss, undefined when there is none.
    using step = c10::function_ref<at::Tensor(session& listener)>;

    captured_model(torch::nn::Module& root, options const& wishes, step run)
        : tree_{root}, state_{root}, depth_{wishes.depth}, wanted_(wanted_rows()) {
        std::unordered_set<std::size_t> to_copy;
        capture(run, to_copy);
        to_copy = calls_to_copy(wishes.copy_arguments);
        if (!to_copy.empty()) {
            state_.rewind();
            capture(run, to_copy);
        }
        finish_capture();
        for (auto& facts : tree_.nodes())
            if (facts.depth > depth_)
                facts.state = status::filtered;
        state_.rewind();
    }

    [[nodiscard]] std::vector<node> const& nodes() const noexcept { return tree_.nodes(); }

    [[nodiscard]] component_benchmark::environment environment() const {
        return {TORCH_VERSION, "cpu", at::get_num_threads(), has_gradients_ ? "captured" : "ones",
                warnings_};
    }

    /// All recorded calls as rows of the report.
    [[nodiscard]] std::vector<call> calls() const {
        std::vector<call> rows;
        for (auto const& recorded : session_->calls())
            rows.push_back({recorded.row, recorded.index, recorded.parent, recorded.in_shapes,
                            recorded.out_shapes, recorded.dtypes, recorded.recomputed});
        return rows;
    }

    /// Gives each component that is wanted to `visit(row, component)`, breadth-first, and forgets
    /// its arguments afterwards.
    template<class Visit>
    void for_each(Visit&& visit) {
        for (auto const row : breadth_first()) {
            auto one = make_component(row);
            rehearse(row, one);
            if (!one.calls().empty())
                tree_.nodes()[row].state = status::ok;
            visit(row, one);
            release(row);
        }
        malloc_trim(0);
    }

    verification put_back() { return state_.put_back(); }

private:
    std::vector<bool> wanted_rows() const {
        auto const& nodes = tree_.nodes();
        std::vector<bool> wanted(nodes.size());
        for (std::size_t row = 0; row < nodes.size(); ++row) {
            auto const parent =
                static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, nodes[row].parent));
            // the calls of a Sequential are inferred from those of its children
            wanted[row] = nodes[row].depth <= depth_ ||
                          (wanted[parent] && is_sequential(tree_.module(parent)));
        }
        return wanted;
    }

    void capture(step run, std::unordered_set<std::size_t> const& to_copy) {
        session_ = std::make_unique<session>(tree_, wanted_, to_copy);
        at::Tensor loss;
        try {
            at::ThreadLocalStateGuard const grad_mode_and_autocast{at::ThreadLocalState{}};
            loss = run(*session_);
        } catch (...) {
            throw error{capture_failure(current_failure())};
        }
        find_gradients(loss);
    }

    [[nodiscard]] std::string capture_failure(std::string const& what) const {
        auto const* deepest = session_->deepest_failure();
        if (deepest == nullptr)
            return "the forward to be captured failed: " + what;
        auto const& facts = tree_.nodes()[deepest->row];
        auto const where = facts.path.empty() ? "the root" : "'" + facts.path + "'";
        return "the forward to be captured failed in " + where + " (" + facts.type +
               ") on inputs " + shapes_text(deepest->inputs) + ": " + what;
    }

    // The gradients of all outputs in one backward that leaves every `.grad` alone.
    void find_gradients(at::Tensor const& loss) {
        has_gradients_ = loss.defined();
        if (!has_gradients_)
            return;
        if (!loss.requires_grad() || loss.numel() != 1)
            throw error{"the loss must be one number that requires a gradient; it has shape " +
                        shape_text(loss) +
                        (loss.requires_grad() ? "" : " and requires no gradient")};
        torch::autograd::edge_list edges;
        for (auto const& call : session_->calls())
            for (auto const& edge : call.output_edges)
                if (edge.is_valid())
                    edges.push_back(edge);
        auto const gradients = torch::autograd::Engine::get_default_engine().execute(
            {torch::autograd::impl::gradient_edge(loss)}, {at::ones_like(loss)},
            /*keep_graph=*/false, /*create_graph=*/false, /*accumulate_grad=*/false, edges);
        std::size_t next = 0;
        for (auto& call : session_->calls()) {
            call.has_gradients = true;
            for (auto const& edge : call.output_edges)
                call.gradients.push_back(edge.is_valid() ? gradients[next++] : at::Tensor{});
        }
    }

    // Calls whose arguments changed after they were captured: by themselves or by what came later.
    [[nodiscard]] std::unordered_set<std::size_t> calls_to_copy(bool all) const {
        std::unordered_set<std::size_t> found;
        auto const& calls = session_->calls();
        for (std::size_t number = 0; number < calls.size(); ++number)
            if (calls[number].stored != nullptr && (all || calls[number].arguments_moved()))
                found.insert(number);
        return found;
    }

    void finish_capture() {
        auto& nodes = tree_.nodes();
        auto& calls = session_->calls();
        for (auto row = nodes.size(); row-- > 0;)
            if (nodes[row].alias_of == node::none && wanted_[row] && session_->counts()[row] == 0 &&
                is_sequential(tree_.module(row)))
                infer_sequential(tree_, calls, row);
        sort_calls();
        if (nodes.size() > 1 && calls.size() <= 1)
            throw error{
                "no call of a submodule of " + nodes[0].type +
                " was captured: link component_benchmark::torch, and write "
                "CB_FORWARD(arguments...); as the first line of the forward of your modules"};
        for (auto& call : calls)
            settle(call);
        for (auto const& [type, times] : session_->unregistered())
            warnings_.push_back(type + " was called " + std::to_string(times) +
                                " times and is not a registered submodule; it has no row");
    }

    // Inferred calls were added behind the others; a parent stands before its children.
    void sort_calls() {
        auto& calls = session_->calls();
        std::vector<std::size_t> first(calls.size());  // begin of the call, in recorded order
        std::vector<std::size_t> order(calls.size());
        for (std::size_t number = 0; number < calls.size(); ++number)
            first[number] = order[number] = number;
        for (std::size_t number = 0; number < calls.size(); ++number)
            if (auto const parent = calls[number].parent;
                parent >= static_cast<std::ptrdiff_t>(number)) {
                auto& begin = first[static_cast<std::size_t>(parent)];
                begin = (std::min)(begin, first[number]);
            }
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return std::pair{first[a], tree_.nodes()[calls[a].row].depth} <
                   std::pair{first[b], tree_.nodes()[calls[b].row].depth};
        });
        std::vector<std::ptrdiff_t> place(calls.size());
        for (std::size_t position = 0; position < order.size(); ++position)
            place[order[position]] = static_cast<std::ptrdiff_t>(position);
        std::deque<captured_call> sorted;
        for (auto const number : order) {
            auto& call = sorted.emplace_back(std::move(calls[number]));
            if (call.parent != captured_call::none)
                call.parent = place[static_cast<std::size_t>(call.parent)];
        }
        calls = std::move(sorted);
    }

    // From here on the graph of the captured forward is not needed.
    void settle(captured_call& call) {
        describe(call);
        auto& facts = tree_.nodes()[call.row];
        if (facts.calls++ == 0) {
            facts.in_shapes = call.in_shapes;
            facts.out_shapes = call.out_shapes;
            facts.dtypes = call.dtypes;
        }
        if (call.stored != nullptr && !call.has_own_arguments)
            call.stored->each_argument([](at::Tensor& argument) {
                if (argument.is_inference())
                    return;
                auto const requires_grad = argument.requires_grad();
                argument = argument.detach();
                if (requires_grad)
                    argument.requires_grad_(true);
            });
        call.inputs.clear();
        call.outputs.clear();
        call.output_edges.clear();
    }

    [[nodiscard]] std::vector<std::size_t> breadth_first() const {
        auto const& nodes = tree_.nodes();
        std::vector<std::size_t> order;
        for (std::size_t row = 0; row < nodes.size(); ++row)
            if (nodes[row].alias_of == node::none && nodes[row].depth <= depth_)
                order.push_back(row);
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return nodes[a].depth < nodes[b].depth;
        });
        return order;
    }

    [[nodiscard]] component make_component(std::size_t row) {
        component made{tree_.nodes()[row], tree_.module(row)};
        std::unordered_map<std::string, std::size_t> groups;
        std::string why;
        auto& calls = session_->calls();
        for (std::size_t number = 0; number < calls.size(); ++number) {
            auto& call = calls[number];
            if (call.row != row)
                continue;
            if (!call.replayable()) {
                why = call.opaque.empty() ? "it threw while it was captured" : call.opaque;
                continue;
            }
            auto const [known, is_new] = groups.emplace(call.signature, made.calls().size());
            if (is_new)
                made.calls().emplace_back(call, tree_.module(row));
            made.calls()[known->second].add(number);
        }
        if (made.calls().empty() && !why.empty()) {
            made.give_up(why);
            set_state(row, status::opaque, why);
        }
        return made;
    }

    // One run before anything is measured: shows whether the component runs alone, and, by value,
    // whether it writes parameters, even where no version counter moves.
    void rehearse(std::size_t row, component& one) {
        try {
            auto const check = !proven_clean(row);
            for (auto& group : one.calls()) {
                {
                    auto replay = group.replay();
                    replay.prepare();
                    replay.forward();
                    if (replay.prepare_backward())
                        replay.backward();
                }
                if (check && state_.differs(one.module())) {
                    group.rewind_with(state_);
                    state_.rewind();
                    writes_.insert(row);
                }
            }
            if (!one.calls().empty() && !writes_.contains(row))
                clean_.insert(row);
        } catch (...) {
            auto const why = current_failure();
            one.give_up(why);
            set_state(row, status::failed, why);
            state_.rewind();
        }
    }

    // The replay of an ancestor ran this module too, and wrote nothing.
    [[nodiscard]] bool proven_clean(std::size_t row) const {
        for (auto above = static_cast<std::ptrdiff_t>(row); above != node::none;
             above = tree_.nodes()[static_cast<std::size_t>(above)].parent)
            if (clean_.contains(static_cast<std::size_t>(above)))
                return true;
        return false;
    }

    void set_state(std::size_t row, status state, std::string const& why) {
        tree_.nodes()[row].state = state;
        tree_.nodes()[row].reason = why;
    }

    void release(std::size_t row) {
        for (auto& call : session_->calls())
            if (call.row == row) {
                call.stored.reset();
                call.context.reset();
                call.gradients.clear();
            }
    }

    module_tree tree_;
    model_state state_;
    std::size_t depth_;
    std::vector<bool> wanted_;
    std::unique_ptr<session> session_;
    bool has_gradients_ = false;
    std::vector<std::string> warnings_;
    std::unordered_set<std::size_t> clean_;
    std::unordered_set<std::size_t> writes_;
};

}  // namespace component_benchmark::capture
