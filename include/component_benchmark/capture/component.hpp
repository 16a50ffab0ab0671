// CAPTURE -> preprocess -> profile: one module with its captured calls, as plugins see it
#pragma once

#include <component_benchmark/capture/replay.hpp>
#include <component_benchmark/core/node.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace component_benchmark::capture {

/// Calls of one component with the same signature: they cost the same and are measured once.
template<class Replay>
class basic_call_group {
public:
    basic_call_group(captured_call& call, torch::nn::Module& module)
        : call_{&call}, module_{&module} {}

    /// How many calls the group stands for.
    [[nodiscard]] std::int64_t count() const noexcept {
        return static_cast<std::int64_t>(members_.size());
    }

    /// Their positions among the calls of the report.
    [[nodiscard]] std::vector<std::size_t> const& members() const noexcept { return members_; }
    void add(std::size_t number) { members_.push_back(number); }

    /// The call, ready to be made again. One replay at a time.
    [[nodiscard]] Replay replay() const { return {*call_, *module_, rewinds_}; }

    /// Every repetition writes parameters, so each is preceded by a restoration of all state.
    void rewind_with(model_state& state) noexcept { rewinds_ = &state; }

    [[nodiscard]] captured_call& captured() const noexcept { return *call_; }

private:
    captured_call* call_;
    torch::nn::Module* module_;
    model_state* rewinds_ = nullptr;
    std::vector<std::size_t> members_;
};

/// What preprocessors and profilers work on. (A template as `basic_session` is.)
template<class Group>
class basic_component {
public:
    basic_component(node const& facts, torch::nn::Module& module)
        : facts_{&facts}, module_{&module} {}

    [[nodiscard]] std::string const& path() const noexcept { return facts_->path; }
    [[nodiscard]] std::string const& type() const noexcept { return facts_->type; }
    [[nodiscard]] torch::nn::Module& module() const noexcept { return *module_; }

    /// The calls that can be made again, grouped by signature. Empty when the component was not
    /// called or cannot be replayed; `why_no_calls` says which.
    [[nodiscard]] std::vector<Group>& calls() noexcept { return calls_; }
    [[nodiscard]] std::string const& why_no_calls() const noexcept { return why_no_calls_; }

    /// Own and inherited, each tensor once.
    [[nodiscard]] std::vector<at::Tensor> parameters() const {
        return each_once(module_->parameters());
    }
    [[nodiscard]] std::vector<at::Tensor> buffers() const { return each_once(module_->buffers()); }

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

    /// Nothing of it can be replayed, for this reason.
    void give_up(std::string why) {
        calls_.clear();
        why_no_calls_ = std::move(why);
    }

private:
    static std::vector<at::Tensor> each_once(std::vector<at::Tensor> tensors) {
        std::unordered_set<void const*> seen;  // by address
        std::erase_if(tensors, [&](at::Tensor const& tensor) {
            return !seen.insert(tensor.unsafeGetTensorImpl()).second;
        });
        return tensors;
    }

    node const* facts_;
    torch::nn::Module* module_;
    std::vector<Group> calls_;
    std::string why_no_calls_ = "not called";
};

using call_group = basic_call_group<replay>;
using component = basic_component<call_group>;

}  // namespace component_benchmark::capture
