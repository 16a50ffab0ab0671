// provider -> CAPTURE -> pipeline: the calls of one forward, handed out component by component
#pragma once

#include <component_benchmark/capture/component.hpp>
#include <component_benchmark/capture/model_state.hpp>
#include <component_benchmark/capture/only_run.hpp>
#include <component_benchmark/capture/output_gradients.hpp>
#include <component_benchmark/capture/rehearsal.hpp>
#include <component_benchmark/capture/self_test.hpp>
#include <component_benchmark/capture/sequential.hpp>
#include <component_benchmark/capture/session.hpp>
#include <component_benchmark/capture/shapes.hpp>
#include <component_benchmark/capture/wanted.hpp>
#include <component_benchmark/core/environment.hpp>
#include <component_benchmark/core/error.hpp>
#include <component_benchmark/core/failure.hpp>
#include <component_benchmark/core/interruption.hpp>
#include <component_benchmark/core/options.hpp>

#include <ATen/Parallel.h>
#include <ATen/ThreadLocalState.h>
#include <ATen/autocast_mode.h>
#include <torch/version.h>

#include <algorithm>
#include <malloc.h>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace component_benchmark::capture {

/// The captured calls of a model. The model's state is put back by `put_back`, at the latest when
/// this object dies. A `Step` runs the model's forward under a session and gives the loss,
/// undefined when there is none. (A template as `basic_session` is.)
template<class Step>
class basic_captured_model {
public:
    basic_captured_model(torch::nn::Module& root, std::vector<at::Tensor> const& batch,
                         options const& wishes, Step run,
                         std::vector<declared_module> declared = {})
        : only_{wishes.busy},
          declared_{std::move(declared)},
          tree_{root, {}, declared_},
          state_{root, batch, tree_.unregistered()},
          wishes_{wishes},
          sees_libtorch_{interposition_is_live()} {
        for (auto const& one : declared_)
            if (one.state != nullptr)
                state_.declared().add(*one.module, one.state);
        state_.rewind();
        wanted_.emplace(tree_, wishes_);
        capture(run, {});
        // What a forward shows for the first time is there from the start in the next one.
        for (int pass = 0; pass < most_passes && finds_more(root); ++pass) {
            state_.rewind();
            capture(run, {});
        }
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
        leave_out();
        state_.rewind();
    }

    [[nodiscard]] std::vector<node> const& nodes() const noexcept { return tree_.nodes(); }

    [[nodiscard]] component_benchmark::environment environment() const {
        auto const parameters = tree_.parameters(0);
        auto warnings = wanted_->warnings();
        if (!sees_libtorch_)
            warnings.emplace_back(
                "the modules of LibTorch are not seen in this build: link "
                "component_benchmark::torch and a shared LibTorch");
        if (!session_->found_regions().empty())
            warnings.emplace_back("regions more than " + std::to_string(most_passes) +
                                  " levels deep have no row");
        for (auto const& failure : state_.declared().failures())
            warnings.push_back(failure);
        for (std::size_t row = 0; row < tree_.nodes().size(); ++row)
            if (auto const missed = session_->missed_calls()[row]; missed > 0)
                warnings.push_back("'" + tree_.nodes()[row].path + "' was " +
                                   called_elsewhere(missed));
        for (auto const& [type, times] : session_->unregistered())
            warnings.push_back(type + ", called " + std::to_string(times) +
                               (times == 1 ? " time" : " times") +
                               ", has no row: register it, or declare it in CB_COMPONENTS of each "
                               "class from the root down to it");
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
            if (interrupted())
                break;
            auto one = make_component(row);
            auto found = rehearse.run(row, one);
            if (!found.failure.empty())
                give_up(row, one, status::failed, std::move(found.failure));
            else if (!one.calls().empty())
                tree_.nodes()[row].state = status::ok;
            if (auto& reason = tree_.nodes()[row].reason; reason.empty())
                reason = std::move(found.remark);
            visit(row, one);
            if (found.writes)
                state_.rewind();  // or its leftovers are taken for its children's work
            for (auto const number : calls_of_[row])
                session_->calls()[number].release();
        }
        for (auto const row : rehearse.hidden())
            state_.doubt(name_in_text(tree_.nodes()[row]) +
                         " has state that is neither registered nor declared");
        malloc_trim(0);
    }

    verification put_back() { return state_.put_back(); }

private:
    static constexpr int most_passes = 8;  // regions within regions take one each

    /// The last forward had regions without a row, or modules whose state was not known before.
    [[nodiscard]] bool finds_more(torch::nn::Module& root) {
        auto const& found = session_->found_regions();
        if (found.empty())
            return session_->found_state();
        regions_.insert(regions_.end(), found.begin(), found.end());
        tree_ = module_tree{root, regions_, declared_};
        wanted_.emplace(tree_, wishes_);
        return true;
    }

    void capture(Step run, std::vector<bool> const& to_copy) {
        session_ =
            std::make_unique<session>(tree_, wanted_->recorded(), to_copy, &state_.declared());
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
        return "the forward to be captured failed in " + name_in_text(facts) + " (" + facts.type +
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
        infer_sequentials(tree_, calls, wanted_->recorded());
        sort_calls(tree_, calls);
        auto const& missed = session_->missed_calls();
        if (nodes.size() > 1 && calls.size() <= 1 &&
            std::count(missed.begin(), missed.end(), 0) ==
                static_cast<std::ptrdiff_t>(missed.size()))
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

    void leave_out() {
        wanted_->decide();
        for (std::size_t row = 0; row < tree_.nodes().size(); ++row)
            if (!wanted_->measured(row)) {
                tree_.nodes()[row].state = status::filtered;
                for (auto const number : calls_of_[row])
                    session_->calls()[number].release();
            }
    }

    [[nodiscard]] std::vector<std::size_t> breadth_first() const {
        auto const& nodes = tree_.nodes();
        std::vector<std::size_t> order;
        for (std::size_t row = 0; row < nodes.size(); ++row)
            if (nodes[row].alias_of == node::none && wanted_->measured(row))
                order.push_back(row);
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return nodes[a].depth < nodes[b].depth;
        });
        return order;
    }

    [[nodiscard]] component make_component(std::size_t row) {
        component made{tree_.nodes()[row], tree_.module(row), tree_.parameters(row),
                       tree_.buffers(row), tree_.is_region(row)};
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
                made.add(call);
            made.calls()[known->second].add(number);
        }
        if (auto const missed = session_->missed_calls()[row]; missed > 0)
            why = called_elsewhere(missed);
        if (made.calls().empty() && !why.empty())
            give_up(row, made, status::opaque, std::move(why));
        else if (!why.empty())
            tree_.nodes()[row].reason = "not all of its calls can be made again: " + why;
        return made;
    }

    [[nodiscard]] static std::string called_elsewhere(std::int64_t times) {
        return "called on another thread, where calls are not captured (" + std::to_string(times) +
               (times == 1 ? " call)" : " calls)");
    }

    void give_up(std::size_t row, component& one, status state, std::string why) {
        tree_.nodes()[row].state = state;
        tree_.nodes()[row].reason = why;
        one.give_up(std::move(why));
    }

    only_run only_;
    std::vector<found_region> regions_;
    std::vector<declared_module> declared_;
    module_tree tree_;
    model_state state_;
    options wishes_;
    std::optional<wanted_rows> wanted_;
    std::unique_ptr<session> session_;
    std::vector<std::vector<std::size_t>> calls_of_;  ///< numbers of the calls of each row
    bool has_gradients_ = false;
    bool sees_libtorch_;
};

using captured_model = basic_captured_model<c10::function_ref<at::Tensor(session& listener)>>;

}  // namespace component_benchmark::capture
