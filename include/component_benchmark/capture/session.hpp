// hook -> CAPTURE: records the calls of one forward
#pragma once

#include <component_benchmark/capture/captured_call.hpp>
#include <component_benchmark/capture/module_tree.hpp>
#include <component_benchmark/core/clock.hpp>
#include <component_benchmark/core/error.hpp>
#include <component_benchmark/core/failure.hpp>
#include <component_benchmark/hook/record.hpp>

#include <ATen/autocast_mode.h>
#include <torch/csrc/autograd/graph_task.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace component_benchmark::capture {

/// The recorder of one forward. It never throws into the user's program. A template, so that a file
/// which runs no pipeline does not pay for it.
template<class Tree>
class basic_session final : public hook::recorder {
public:
    /// `wanted` says for each row how much of its calls is kept. Calls whose numbers
    /// are in `copied` get arguments of their own at once, because something edits them later.
    /// `declared`, if given, is told of modules that declare state.
    basic_session(Tree const& tree, std::vector<call_detail> wanted, std::vector<bool> copied = {},
                  declared_states* declared = nullptr)
        : tree_{tree},
          wanted_{std::move(wanted)},
          copied_{std::move(copied)},
          declared_{declared},
          counts_(tree.nodes().size()),
          missed_(tree.nodes().size()),
          parts_(tree.nodes().size()) {}

    [[nodiscard]] hook::callee innermost() const noexcept override {
        return open_.empty() ? hook::callee{nullptr, &typeid(void)} : open_.back().who;
    }

    void begin(hook::callee who, maker make, std::string (*why_not)(),
               hook::state_maker state) noexcept override {
        span_clock::pause recording{clock_.get()};
        drop_open_norm();
        auto const row = row_of(who);
        // a module without a row may be gone when the forward is over
        if (state != nullptr && declared_ != nullptr && row != node::none)
            found_state_ = declared_->add(*who.module, state) || found_state_;
        if (row == node::none) {
            if (who.region == nullptr)
                note_unregistered(short_name(typeid(*who.module)));
            open_.push_back({who, captured_call::none, parent()});
            return;
        }
        auto const number = calls_.size();
        auto& call = calls_.emplace_back();
        call.row = static_cast<std::size_t>(row);
        call.index = counts_[call.row]++;
        call.parent = parent();
        recording.open(call.span);
        call.recomputed = torch::autograd::get_current_graph_task_id() >= 0;
        call.makes_graph = c10::GradMode::is_enabled();
        call.autocast = at::autocast::is_autocast_enabled(at::kCPU) ||
                        at::autocast::is_autocast_enabled(at::kCUDA);
        open_.push_back({who, static_cast<std::ptrdiff_t>(number), call.parent});
        if (wanted_[call.row].looks)
            store(call, number, *who.module, make, why_not);
    }

    void succeed(results each) noexcept override {
        span_clock::pause const recording{clock_.get()};
        auto* const call = close();
        if (call == nullptr)
            return;
        recording.close(call->span);
        call->finished = true;
        deepest_failure_ = nullptr;  // if there was one below, it was caught
        if (!wanted_[call->row].looks || !call->opaque.empty())
            return;
        call->edits_arguments = call->edits_arguments || call->arguments_moved();
        auto const with_edges = wanted_[call->row].gradients;
        try {
            each([&](at::Tensor& output) {
                call->outputs.emplace_back(output);
                if (wanted_[call->row].arguments)
                    call->returned.push_back(output.is_inference() ? output : output.detach());
                if (with_edges)
                    call->output_edges.push_back(output.requires_grad()
                                                     ? torch::autograd::impl::gradient_edge(output)
                                                     : torch::autograd::Edge{});
            });
        } catch (...) {
            call->give_up("its result threw while it was looked at: " + current_failure());
        }
    }

    void fail() noexcept override {
        if (auto* call = close(); call != nullptr && deepest_failure_ == nullptr)
            deepest_failure_ = call;
    }

    void missed(torch::nn::Module const& module) noexcept override {
        if (auto const row = tree_.row_of(&module); row != node::none)
            ++missed_[static_cast<std::size_t>(row)];
    }

    /// From here on calls have a span.
    void time_calls(clock_function now) { clock_ = std::make_unique<span_clock>(now); }

    [[nodiscard]] std::deque<captured_call>& calls() noexcept { return calls_; }
    [[nodiscard]] std::vector<std::int64_t> const& counts() const noexcept { return counts_; }

    /// Calls on other threads, by row.
    [[nodiscard]] std::vector<std::int64_t> const& missed_calls() const noexcept { return missed_; }

    /// A module that declares state was not known when the forward began: earlier calls lack it.
    [[nodiscard]] bool found_state() const noexcept { return found_state_; }

    /// Regions that have no row yet.
    [[nodiscard]] std::vector<found_region> const& found_regions() const noexcept {
        return regions_;
    }

    /// The innermost call that threw, or null.
    [[nodiscard]] captured_call const* deepest_failure() const noexcept { return deepest_failure_; }

    /// Classes of modules that were called and are not registered in the model, with call counts.
    [[nodiscard]] std::vector<std::pair<std::string, std::int64_t>> const& unregistered()
        const noexcept {
        return unregistered_;
    }

private:
    struct open_entry {
        hook::callee who;
        std::ptrdiff_t call;
        std::ptrdiff_t parent;
    };

    [[nodiscard]] std::ptrdiff_t parent() const noexcept {
        if (open_.empty())
            return captured_call::none;
        auto const& top = open_.back();
        return top.call != captured_call::none ? top.call : top.parent;
    }

    [[nodiscard]] std::ptrdiff_t row_of(hook::callee const& who) {
        if (who.region == nullptr)
            return tree_.row_of(who.module);
        auto const above = open_.empty() ? captured_call::none : open_.back().call;
        if (above == captured_call::none)
            return node::none;  // below something without a row, which may have one next time
        auto const parent_row = calls_[static_cast<std::size_t>(above)].row;
        auto const row = tree_.region_of(parent_row, who.region);
        if (row == node::none) {
            found_region region{tree_.nodes()[parent_row].path, who.region};
            if (std::find(regions_.begin(), regions_.end(), region) == regions_.end())
                regions_.push_back(std::move(region));
        }
        return row;
    }

    // A normalisation layer threw between its two ends.
    void drop_open_norm() noexcept {
        if (std::exchange(open_norm, false))
            fail();
    }

    captured_call* close() noexcept {
        drop_open_norm();
        auto const top = open_.back();
        open_.pop_back();
        return top.call == captured_call::none ? nullptr
                                               : &calls_[static_cast<std::size_t>(top.call)];
    }

    void store(captured_call& call, std::size_t number, torch::nn::Module& module, maker make,
               std::string (*why_not)()) noexcept {
        try {
            call.stored = make();
            if (call.stored == nullptr) {
                call.opaque = why_not();
                return;
            }
            bool inference = false;
            call.begins_with_tensor = call.stored->begins_with_tensor();
            call.stored->each_argument([&](at::Tensor& tensor) {
                call.inputs.emplace_back(tensor);
                inference = inference || tensor.is_inference();
            });
            // no version counter tells whether an inference tensor is edited
            call.edits_arguments = inference;
            if (!wanted_[call.row].arguments)
                call.stored.reset();
            else if (inference || (number < copied_.size() && copied_[number]))
                call.copy_arguments();
            if (!wanted_[call.row].context)
                return;
            auto const& below = parts_of(call.row, module);
            call.context.emplace(call_context{generators_now(), at::ThreadLocalState{},
                                              training_flags{below.modules},
                                              buffers_now(below.buffers), state_now(call)});
        } catch (hook::cannot_be_kept const& why) {
            call.give_up(why.what());
        } catch (...) {
            call.give_up("an argument threw while it was copied: " + current_failure());
        }
    }

    state_copies state_now(captured_call& call) {
        if (declared_ == nullptr || declared_->size() == 0)
            return {};
        auto copies = declared_->now();
        call.state_sizes = declared_->sizes_of([&](torch::nn::Module& module) {
            auto const row = tree_.row_of(&module);
            return row != node::none && tree_.is_below(static_cast<std::size_t>(row), call.row);
        });
        return copies;
    }

    /// What lies below a module; asked for once.
    struct parts {
        std::shared_ptr<std::vector<std::shared_ptr<torch::nn::Module>> const> modules;
        std::vector<at::Tensor> buffers;
    };

    parts const& parts_of(std::size_t row, torch::nn::Module& module) {
        auto& known = parts_[row];
        if (known.modules == nullptr)
            known = {std::make_shared<std::vector<std::shared_ptr<torch::nn::Module>> const>(
                         modules_of(module)),
                     tree_.buffers(row)};
        return known;
    }

    void note_unregistered(std::string name) {
        for (auto& [known, times] : unregistered_)
            if (known == name) {
                ++times;
                return;
            }
        unregistered_.emplace_back(std::move(name), 1);
    }

    // Most calls draw no random numbers: then the states of the call before are shared.
    std::shared_ptr<generator_states const> generators_now() {
        auto const only_cpu = generators_.size() == 1;
        if (last_generators_ == nullptr ||
            !(only_cpu ? mark_.is_current() : last_generators_->is_current())) {
            last_generators_ = std::make_shared<generator_states const>(generators_);
            mark_.set();
        }
        return last_generators_;
    }

    buffer_values buffers_now(std::vector<at::Tensor> const& buffers) {
        buffer_values values;
        for (auto const& buffer : buffers) {
            auto& last = last_values_[buffer.unsafeGetTensorImpl()];
            if (!last.defined() || !same_bytes(buffer, last))
                last = buffer.detach().clone();
            values.emplace_back(buffer, last);
        }
        return values;
    }

    Tree const& tree_;
    std::vector<call_detail> wanted_;
    std::vector<bool> copied_;
    declared_states* declared_;
    bool found_state_ = false;
    std::unique_ptr<span_clock> clock_;
    std::vector<found_region> regions_;
    std::vector<std::int64_t> counts_;
    std::vector<std::int64_t> missed_;
    std::deque<captured_call> calls_;
    std::vector<open_entry> open_;
    captured_call const* deepest_failure_ = nullptr;
    std::vector<std::pair<std::string, std::int64_t>> unregistered_;
    std::vector<at::Generator> generators_ = default_generators();
    cpu_generator_mark mark_{generators_.front()};
    std::shared_ptr<generator_states const> last_generators_;
    std::vector<parts> parts_;                                 // of each row
    std::unordered_map<void const*, at::Tensor> last_values_;  // by address of the buffer
};

using session = basic_session<module_tree>;

}  // namespace component_benchmark::capture
