// provider -> CAPTURE -> pipeline: the calls of one forward, handed out component by component
#pragma once

#include <component_benchmark/capture/component.hpp>
#include <component_benchmark/capture/model_state.hpp>
#include <component_benchmark/capture/output_gradients.hpp>
#include <component_benchmark/capture/rehearsal.hpp>
#include <component_benchmark/capture/sequential.hpp>
#include <component_benchmark/capture/session.hpp>
#include <component_benchmark/capture/shapes.hpp>
#include <component_benchmark/core/environment.hpp>
#include <component_benchmark/core/error.hpp>
#include <component_benchmark/core/failure.hpp>
#include <component_benchmark/core/options.hpp>

#include <ATen/Parallel.h>
#include <ATen/ThreadLocalState.h>
#include <ATen/autocast_mode.h>
#include <torch/version.h>

#include <algorithm>
#include <malloc.h>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace component_benchmark::capture {

/// One at a time in a process: two would take each other's changes for the model's state. Another
/// thread waits; the thread that has one already, from inside a forward, is refused.
class only_run {
public:
    only_run() {
        if (mine())
            throw error{"a pipeline is running on this thread already; run one at a time"};
        mutex().lock();
        mine() = true;
    }
    only_run(only_run const&) = delete;
    only_run& operator=(only_run const&) = delete;
    ~only_run() {
        mine() = false;
        mutex().unlock();
    }

private:
    [[gnu::visibility("default")]] static std::mutex& mutex() {
        static std::mutex one;
        return one;
    }
    [[gnu::visibility("default")]] static bool& mine() {
        static thread_local bool flag = false;
        return flag;
    }
};

/// The captured calls of a model. The model's state is put back by `put_back`, at the latest when
/// this object dies. A `Step` runs the model's forward under a session and gives the loss,
/// undefined when there is none. (A template as `basic_session` is.)
template<class Step>
class basic_captured_model {
public:
    basic_captured_model(torch::nn::Module& root, std::vector<at::Tensor> const& batch,
                         options const& wishes, Step run)
        : tree_{root}, state_{root, batch}, depth_{wishes.depth}, wanted_(wanted_rows()) {
        capture(run, {});
        auto const to_copy = calls_to_copy(wishes.copy_arguments);
        if (std::find(to_copy.begin(), to_copy.end(), true) != to_copy.end()) {
            state_.rewind();
            capture(run, to_copy);
            auto const edited = calls_to_copy(false);
            for (std::size_t number = 0; number < edited.size(); ++number)
                if (auto& call = session_->calls()[number];
                    edited[number] && !call.has_own_arguments)
                    call.opaque = "its arguments are edited, but not in every forward";
        }
        infer_calls();
        for (std::size_t number = 0; number < session_->calls().size(); ++number)
            settle(number);
        for (auto& facts : tree_.nodes())
            if (facts.depth > depth_)
                facts.state = status::filtered;
        state_.rewind();
    }

    [[nodiscard]] std::vector<node> const& nodes() const noexcept { return tree_.nodes(); }

    [[nodiscard]] component_benchmark::environment environment() const {
        auto const parameters = tree_.module(0).parameters();
        std::vector<std::string> warnings;
        for (auto const& [type, times] : session_->unregistered())
            warnings.push_back(type + ", called " + std::to_string(times) +
                               (times == 1 ? " time" : " times") +
                               ", is no registered submodule and has no row");
        return {TORCH_VERSION, parameters.empty() ? "cpu" : parameters.front().device().str(),
                at::get_num_threads(), has_gradients_ ? "captured" : "ones", std::move(warnings)};
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
        rehearsal rehearse{tree_, state_};
        for (auto const row : breadth_first()) {
            auto one = make_component(row);
            bool writes = false;
            if (auto why = rehearse.run(row, one, writes); !why.empty())
                give_up(row, one, status::failed, std::move(why));
            else if (!one.calls().empty())
                tree_.nodes()[row].state = status::ok;
            visit(row, one);
            if (writes)
                state_.rewind();  // or its leftovers are taken for its children's work
            for (auto const number : calls_of_[row])
                session_->calls()[number].release();
        }
        malloc_trim(0);
    }

    verification put_back() { return state_.put_back(); }

private:
    [[nodiscard]] std::vector<bool> wanted_rows() const {
        auto const& nodes = tree_.nodes();
        std::vector<bool> wanted(nodes.size());
        for (std::size_t row = 0; row < nodes.size(); ++row) {
            auto const parent =
                static_cast<std::size_t>((std::max)(std::ptrdiff_t{0}, nodes[row].parent));
            // the calls of a Sequential are inferred from those of its children
            wanted[row] = nodes[row].depth <= depth_ ||
                          (wanted[parent] && is_sequential(tree_.module(parent)));
        }
        return wanted;
    }

    void capture(Step run, std::vector<bool> const& to_copy) {
        session_ = std::make_unique<session>(tree_, wanted_, to_copy);
        at::Tensor loss;
        try {
            at::ThreadLocalStateGuard const grad_mode_and_autocast{at::ThreadLocalState{}};
            loss = run(*session_);
        } catch (error const&) {
            throw;
        } catch (...) {
            throw error{capture_failure(current_failure())};
        }
        at::autocast::clear_cache();
        has_gradients_ = loss.defined();
        if (has_gradients_)
            find_output_gradients(loss, session_->calls());
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

    // Calls whose arguments changed after they were captured: by themselves or by what came later.
    [[nodiscard]] std::vector<bool> calls_to_copy(bool all) const {
        auto const& calls = session_->calls();
        std::vector<bool> found(calls.size());
        for (std::size_t number = 0; number < calls.size(); ++number)
            found[number] =
                calls[number].stored != nullptr && (all || calls[number].arguments_moved());
        return found;
    }

    void infer_calls() {
        auto const& nodes = tree_.nodes();
        auto& calls = session_->calls();
        infer_sequentials(tree_, calls, wanted_);
        sort_calls(tree_, calls);
        if (nodes.size() > 1 && calls.size() <= 1)
            throw error{
                "no call of a submodule of " + nodes[0].type +
                " was captured: link component_benchmark::torch, and write "
                "CB_FORWARD(arguments...); as the first line of the forward of your modules"};
        calls_of_.resize(nodes.size());
    }

    // From here on the graph of the captured forward is not needed.
    void settle(std::size_t number) {
        auto& call = session_->calls()[number];
        describe(call, number);
        call.detach();
        calls_of_[call.row].push_back(number);
        auto& facts = tree_.nodes()[call.row];
        if (facts.calls++ == 0) {
            facts.in_shapes = call.in_shapes;
            facts.out_shapes = call.out_shapes;
            facts.dtypes = call.dtypes;
        }
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
        for (auto const number : calls_of_[row]) {
            auto& call = session_->calls()[number];
            if (!call.replayable()) {
                why = call.opaque.empty() ? "it threw while it was captured" : call.opaque;
                continue;
            }
            auto const [known, is_new] = groups.emplace(call.signature, made.calls().size());
            if (is_new)
                made.calls().emplace_back(call, tree_.module(row));
            made.calls()[known->second].add(number);
        }
        if (made.calls().empty() && !why.empty())
            give_up(row, made, status::opaque, std::move(why));
        else if (!why.empty())
            tree_.nodes()[row].reason = "not all of its calls can be made again: " + why;
        return made;
    }

    void give_up(std::size_t row, component& one, status state, std::string why) {
        tree_.nodes()[row].state = state;
        tree_.nodes()[row].reason = why;
        one.give_up(std::move(why));
    }

    only_run only_;
    module_tree tree_;
    model_state state_;
    std::size_t depth_;
    std::vector<bool> wanted_;
    std::unique_ptr<session> session_;
    std::vector<std::vector<std::size_t>> calls_of_;  ///< numbers of the calls of each row
    bool has_gradients_ = false;
};

using captured_model = basic_captured_model<c10::function_ref<at::Tensor(session& listener)>>;

}  // namespace component_benchmark::capture
