// provider -> CAPTURE -> pipeline: the calls of one forward, handed out component by component
#pragma once

#include <component_benchmark/capture/at_the_end.hpp>
#include <component_benchmark/capture/call_table.hpp>
#include <component_benchmark/capture/component.hpp>
#include <component_benchmark/capture/context_times.hpp>
#include <component_benchmark/capture/device_probe.hpp>
#include <component_benchmark/capture/forward_recorder.hpp>
#include <component_benchmark/capture/identical.hpp>
#include <component_benchmark/capture/memory_guard.hpp>
#include <component_benchmark/capture/model_state.hpp>
#include <component_benchmark/capture/only_run.hpp>
#include <component_benchmark/capture/rehearsal.hpp>
#include <component_benchmark/capture/run_environment.hpp>
#include <component_benchmark/capture/seen_below.hpp>
#include <component_benchmark/capture/self_test.hpp>
#include <component_benchmark/capture/session.hpp>
#include <component_benchmark/capture/wanted.hpp>
#include <component_benchmark/core/clock.hpp>
#include <component_benchmark/core/environment.hpp>
#include <component_benchmark/core/error.hpp>
#include <component_benchmark/core/failure.hpp>
#include <component_benchmark/core/interruption.hpp>
#include <component_benchmark/core/options.hpp>

#include <algorithm>
#include <functional>
#include <malloc.h>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace component_benchmark::capture {

/// The captured calls of a model. The model's state is put back by `put_back`, at the latest when
/// this object dies. For `Step` see `basic_forward_recorder`. (A template as `basic_session` is.)
template<class Step, class Root = torch::nn::Module>
class basic_captured_model {
    using module_tree = basic_module_tree<Root>;
    using session = basic_session<module_tree>;
    using model_state = basic_model_state<Root>;
    using call_table = basic_call_table<session>;
    using wanted_rows = basic_wanted_rows<module_tree>;
    using component = basic_component<basic_call_group<basic_replay<model_state>>>;
    using rehearsal_type = rehearsal<module_tree, model_state, component>;

public:
    basic_captured_model(Root& root, batch_look const& batch, options const& wishes, Step run,
                         std::vector<declared_module> declared = {})
        : only_{wishes.busy},
          declared_{std::move(declared)},
          tree_{root, {}, declared_},
          state_{root, batch, tree_.unregistered()},
          wishes_{wishes},
          forwards_{std::move(run), tree_, state_, wishes.copy_arguments},
          sees_libtorch_{interposition_is_live()} {
        for (auto const& one : declared_)
            if (one.state != nullptr)
                state_.declared().add(*one.module, one.state);
        wanted_ = std::make_unique<wanted_rows>(tree_, wishes_);
        auto seen = forwards_.record(first_details());
        // What a forward shows for the first time is there from the start in the next one.
        for (int pass = 0; pass < most_passes && finds_more(root, *seen); ++pass)
            seen = forwards_.record(first_details());
        seen = forwards_.record_edited(std::move(seen), first_details());
        calls_.fill(tree_, std::move(seen), first_details());
        refuse_without_calls(tree_, calls_.all().size(), calls_.forward());
        leave_out();
        forwards_.rewind();
    }

    [[nodiscard]] std::vector<node> const& nodes() const noexcept { return tree_.nodes(); }

    [[nodiscard]] component_benchmark::environment environment() const {
        auto warnings = wanted_->warnings();
        if (!sees_libtorch_)
            warnings.emplace_back(
                "the modules of LibTorch are not seen in this build: link "
                "component_benchmark::torch and a shared LibTorch");
        if (!calls_.forward().found_regions().empty())
            warnings.emplace_back("regions more than " + std::to_string(most_passes) +
                                  " levels deep have no row");
        for (auto const& failure : state_.declared().failures())
            warnings.push_back(failure);
        warn_of_calls(tree_, calls_.forward(), warnings);
        return environment_of(tree_.parameters(0), forwards_.has_loss() ? "captured" : "ones",
                              std::move(warnings), step_);
    }

    /// Runs so many steps with the calls timed; components have the times then.
    void time_in_context(int steps, clock_function now) {
        context_.run(steps, now, forwards_, calls_, tree_, wanted_->outline(wanted_now()));
    }

    /// A step of the user's program, which its environment then has.
    void tell_step(step_times const& step) noexcept { step_ = step; }

    /// All recorded calls as rows of the report.
    [[nodiscard]] std::vector<call> calls() const {
        std::vector<call> rows;
        for (auto const& recorded : calls_.all())
            rows.push_back({recorded.row, recorded.index, recorded.parent, recorded.in_shapes,
                            recorded.out_shapes, recorded.dtypes, recorded.recomputed});
        return rows;
    }

    /// Gives each component that is wanted to `visit(row, component)`, breadth-first, and forgets
    /// its arguments afterwards. Level by level, those of one level are captured before it begins.
    template<class Visit>
    void for_each(Visit&& visit) {
        rehearsal_type rehearse{tree_, state_, wishes_.reuse_identical, goes_back_};
        at_the_end const say_doubts{[&] { rehearse.doubt_what(forwards_.written_backward()); }};
        for (auto const& level : wanted_->levels()) {
            auto const rows = unknown_of(level);
            auto const why = by_level() && !rows.empty() && !interrupted() ? fetch(rows) : "";
            for (auto const row : rows) {
                if (interrupted())
                    return;
                measure(row, why, rehearse, visit);
            }
            malloc_trim(0);
        }
    }

    /// Nobody will run a component backwards.
    void leave_out_backward() noexcept { goes_back_ = false; }

    /// Rows that `for_each` leaves out, because what they cost is known.
    void skip(std::vector<bool> rows) { skipped_ = std::move(rows); }

    verification put_back() { return state_.put_back(); }

private:
    static constexpr int most_passes = 8;  // regions within regions take one each

    /// Those that are to be measured; what was captured for the others is given back.
    [[nodiscard]] std::vector<std::size_t> unknown_of(std::vector<std::size_t> rows) {
        std::erase_if(rows, [this](std::size_t row) {
            if (is_known(row))
                calls_.release(row);
            return is_known(row);
        });
        return rows;
    }

    /// What it costs is known.
    [[nodiscard]] bool is_known(std::size_t row) const {
        return row < skipped_.size() && skipped_[row];
    }

    /// `why`: it cannot be, or empty.
    template<class Visit>
    void measure(std::size_t row, std::string why, rehearsal_type& rehearse, Visit& visit) {
        auto one = make_component(row);
        if (why.empty())
            why = lost_.empty() ? memory_.check(one) : lost_;
        auto found = why.empty() ? rehearse.run(row, one) : rehearsed{.failure = std::move(why)};
        for (auto const above : rehearse.take_late_writers())
            remark(above, std::string{writes_now_and_then});
        if (!found.failure.empty()) {
            if (lost_.empty() && !device_probe(device_of(tree_.parameters(0))))
                lost_ = "device lost: " + found.failure;
            memory_.give_back();
            give_up(row, one, status::failed, std::move(found.failure));
        } else if (!one.calls().empty()) {
            tree_.nodes()[row].state = status::ok;
            one.tell_rehearsed();
            if (wishes_.reuse_identical && found.written.empty() && found.remark.empty())
                one.tell_like(identical_.find_or_add(row, one, rehearse.operators()));
        }
        remark(row, std::move(found.remark));
        visit(row, one);
        if (state_.tensors().moved(one.reachable()))
            state_.rewind(one.reachable());  // by a preprocessor, in and out of another type
        auto const to_come = [&](auto below) {
            return wanted_->measured(below) && !is_known(below) && !calls_.of(below).empty();
        };
        if (!found.written.empty())
            state_.rewind(found.written);  // or its leftovers are taken for its children's work
        else if (rehearse.wrote_later(row, one, parameters_are_below(tree_, row, to_come)))
            remark(row, std::string{writes_now_and_then});
        calls_.release(row);
    }

    /// Unless there is another one.
    void remark(std::size_t row, std::string words) {
        if (auto& reason = tree_.nodes()[row].reason; reason.empty())
            reason = std::move(words);
    }

    /// The last forward had regions without a row, or modules whose state was not known before.
    [[nodiscard]] bool finds_more(Root& root, session const& seen) {
        auto const& found = seen.found_regions();
        if (found.empty())
            return seen.found_state();
        regions_.insert(regions_.end(), found.begin(), found.end());
        tree_ = module_tree{root, regions_, declared_};
        wanted_ = std::make_unique<wanted_rows>(tree_, wishes_);
        return true;
    }

    void leave_out() {
        wanted_->decide();
        for (std::size_t row = 0; row < tree_.nodes().size(); ++row)
            if (!wanted_->measured(row)) {
                tree_.nodes()[row].state = status::filtered;
                calls_.release(row);
            }
    }

    /// Every row to be measured.
    [[nodiscard]] std::vector<std::size_t> wanted_now() const {
        std::vector<std::size_t> rows;
        for (auto const& level : wanted_->levels())
            rows.insert(rows.end(), level.begin(), level.end());
        return rows;
    }

    [[nodiscard]] std::vector<call_detail> first_details() const {
        return by_level() ? wanted_->outline(wanted_now()) : wanted_->details(wanted_now());
    }

    [[nodiscard]] bool by_level() const noexcept {
        return wishes_.memory == memory_mode::level_by_level;
    }

    /// Captures what the calls of a level's `rows` need to be made again. Says why not, or nothing.
    [[nodiscard]] std::string fetch(std::vector<std::size_t> const& rows) {
        std::string why;
        try {
            auto const details = wanted_->details(rows);
            auto const seen = forwards_.record_edited(forwards_.record(details), details);
            calls_.add(tree_, *seen, rows, details);
        } catch (...) {
            why = "its inputs could not be captured: " + current_failure();
        }
        forwards_.rewind();
        return why;
    }

    [[nodiscard]] component make_component(std::size_t row) {
        component made{tree_.nodes()[row], tree_.module(row), tree_.parameters(row),
                       tree_.buffers(row), tree_.is_region(row)};
        made.tell_context(context_.of(calls_.of(row)), context_.why());
        std::unordered_map<std::string, std::size_t> groups;
        std::string why;
        for (auto const number : calls_.of(row)) {
            auto& call = calls_.all()[number];
            if (!call.replayable()) {
                why = call.opaque.empty() ? "it threw while it was captured" : call.opaque;
                continue;
            }
            auto const [known, is_new] = groups.emplace(call.signature, made.calls().size());
            if (is_new)
                made.add(call);
            made.calls()[known->second].add(number);
        }
        if (auto const missed = calls_.forward().missed_calls()[row]; missed > 0)
            why = called_elsewhere(missed);
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
    std::vector<found_region> regions_;
    std::vector<declared_module> declared_;
    module_tree tree_;
    model_state state_;
    options wishes_;
    basic_forward_recorder<Step, Root> forwards_;
    std::unique_ptr<wanted_rows> wanted_;
    call_table calls_;
    std::vector<bool> skipped_;
    bool goes_back_ = true;
    bool sees_libtorch_;
    step_times step_;
    identical_components<component> identical_;
    memory_guard<component> memory_;
    std::string lost_;  // why nothing can be run any more, or empty
    basic_context_times<call_table> context_;
};

using captured_model = basic_captured_model<std::function<at::Tensor(session& listener)>>;

}  // namespace component_benchmark::capture
