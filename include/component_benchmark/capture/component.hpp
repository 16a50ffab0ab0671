// CAPTURE -> preprocess -> profile: one module with its captured calls, as plugins see it
#pragma once

#include <component_benchmark/capture/replay.hpp>
#include <component_benchmark/capture/tensor_parts.hpp>
#include <component_benchmark/core/context_time.hpp>
#include <component_benchmark/core/node.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace component_benchmark::capture {

/// Calls of one component with the same signature: they cost the same and are measured once.
template<class Replay>
class basic_call_group {
public:
    /// `parameters`: what a backward may reach.
    basic_call_group(captured_call& call, std::vector<at::Tensor> parameters)
        : call_{&call}, parameters_{std::move(parameters)} {}

    /// How many calls the group stands for.
    [[nodiscard]] std::int64_t count() const noexcept {
        return static_cast<std::int64_t>(members_.size());
    }

    /// Their positions among the calls of the report.
    [[nodiscard]] std::vector<std::size_t> const& members() const noexcept { return members_; }
    void add(std::size_t number) { members_.push_back(number); }

    /// The call, ready to be made again. One replay at a time.
    [[nodiscard]] Replay replay() const { return {*call_, parameters_, written_, refused_}; }

    /// Every repetition writes these tensors, so before each they are put back.
    void put_back_before_each(std::vector<at::Tensor> written) { written_ = std::move(written); }

    /// A repetition of its backward would do harm that cannot be undone.
    void refuse_backward(std::string_view why) { refused_ = why; }

    [[nodiscard]] captured_call& captured() const noexcept { return *call_; }

    /// They were made within a backward (checkpointing).
    [[nodiscard]] bool recomputed() const noexcept { return call_->recomputed; }

private:
    captured_call* call_;
    std::vector<at::Tensor> parameters_;
    std::vector<at::Tensor> written_;
    std::string refused_;
    std::vector<std::size_t> members_;
};

/// What preprocessors and profilers work on. (A template as `basic_session` is.)
template<class Group>
class basic_component {
public:
    /// `is_region`: a stretch of the module's forward, which owns no parameters.
    basic_component(node const& facts, torch::nn::Module& module,
                    std::vector<at::Tensor> parameters, std::vector<at::Tensor> buffers,
                    bool is_region = false)
        : facts_{&facts},
          module_{&module},
          parameters_{each_once(std::move(parameters))},
          buffers_{each_once(std::move(buffers))},
          is_region_{is_region} {}

    [[nodiscard]] std::string const& path() const noexcept { return facts_->path; }
    [[nodiscard]] std::string const& type() const noexcept { return facts_->type; }
    /// Of a region: the one whose forward has it.
    [[nodiscard]] torch::nn::Module& module() const noexcept { return *module_; }

    /// The calls that can be made again, grouped by signature. Empty when the component was not
    /// called or cannot be replayed; `why_no_calls` says which.
    [[nodiscard]] std::vector<Group>& calls() noexcept { return calls_; }
    [[nodiscard]] std::string const& why_no_calls() const noexcept { return why_no_calls_; }

    /// Own and inherited, each tensor once.
    [[nodiscard]] std::vector<at::Tensor> parameters() const {
        return is_region_ ? std::vector<at::Tensor>{} : parameters_;
    }
    [[nodiscard]] std::vector<at::Tensor> buffers() const {
        return is_region_ ? std::vector<at::Tensor>{} : buffers_;
    }

    /// A stretch of the forward of `module()`.
    [[nodiscard]] bool is_region() const noexcept { return is_region_; }

    /// What a backward may reach: the parameters, and those of the module around a region.
    [[nodiscard]] std::vector<at::Tensor> const& reachable() const noexcept { return parameters_; }

    /// Each distinct call was run once, forward and as far as asked for backward: whoever warms up
    /// may count it, unless a preprocessor has made another call of it.
    [[nodiscard]] bool rehearsed() const noexcept { return rehearsed_; }
    void tell_rehearsed() noexcept { rehearsed_ = true; }
    void forget_rehearsal() noexcept { rehearsed_ = false; }

    /// Adds a call with a signature of its own.
    void add(captured_call& call) { calls_.emplace_back(call, parameters_); }

    /// For preprocessors: `visit` may replace each argument tensor of each call. Undone by the
    /// pipeline when the component is finished.
    template<class Visit>
    void each_argument(Visit&& visit) {
        for (auto& group : calls_)
            group.captured().stored->each_argument(visit);
    }

    /// While it lives, arguments may be replaced; then they are as they were.
    class preserved_arguments {
    public:
        explicit preserved_arguments(basic_component& owner) : owner_{&owner} {
            for (auto& group : owner.calls_) {
                auto& stored = group.captured().stored;
                originals_.push_back(std::exchange(stored, stored->copy()));
            }
        }
        preserved_arguments(preserved_arguments const&) = delete;
        preserved_arguments& operator=(preserved_arguments const&) = delete;
        ~preserved_arguments() {
            for (std::size_t index = 0; index < originals_.size(); ++index)
                owner_->calls_[index].captured().stored = std::move(originals_[index]);
        }

    private:
        basic_component* owner_;
        std::vector<std::unique_ptr<hook::stored_call>> originals_;
    };
    [[nodiscard]] preserved_arguments preserve_arguments() { return preserved_arguments{*this}; }

    /// The row of an identical component, which was handed out before this one, if such were looked
    /// for and one was found.
    [[nodiscard]] std::optional<std::size_t> like() const noexcept { return like_; }
    void tell_like(std::optional<std::size_t> row) noexcept { like_ = row; }

    /// Of all its calls in the model's own step, where that was timed.
    [[nodiscard]] std::vector<context_time> const& in_context() const noexcept { return context_; }
    [[nodiscard]] no_context_reasons const& why_no_context() const noexcept {
        return why_no_context_;
    }
    void tell_context(std::vector<context_time> times, no_context_reasons why) {
        context_ = std::move(times);
        why_no_context_ = std::move(why);
    }

    /// Nothing of it can be replayed, for this reason.
    void give_up(std::string why) {
        calls_.clear();
        why_no_calls_ = std::move(why);
    }

private:
    node const* facts_;
    torch::nn::Module* module_;
    std::vector<at::Tensor> parameters_;
    std::vector<at::Tensor> buffers_;
    bool is_region_;
    bool rehearsed_ = false;
    std::vector<Group> calls_;
    std::string why_no_calls_ = "not called";
    std::optional<std::size_t> like_;
    std::vector<context_time> context_;
    no_context_reasons why_no_context_;
};

using call_group = basic_call_group<replay>;
using component = basic_component<call_group>;

}  // namespace component_benchmark::capture
