// hook -> CAPTURE: members that modules declared with CB_STATE, as they were at one moment
#pragma once

#include <component_benchmark/capture/generators.hpp>
#include <component_benchmark/capture/module_tree.hpp>
#include <component_benchmark/capture/tensor_bytes.hpp>
#include <component_benchmark/core/failure.hpp>
#include <component_benchmark/hook/state.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace component_benchmark::capture {

/// The declared members of one module, with what is in their tensors and generators.
template<class State>
class basic_state_copy {
public:
    explicit basic_state_copy(std::unique_ptr<State> members) : members_{std::move(members)} {
        members_->each_tensor(
            [&](at::Tensor& tensor) { values_.emplace_back(tensor, tensor.detach().clone()); });
        std::vector<at::Generator> generators;
        members_->each_generator(
            [&](at::Generator& generator) { generators.push_back(generator); });
        generators_ = generator_states{generators};
    }

    void put_back() const {
        if (!members_->is_same())
            members_->assign();
        for (auto const& [tensor, value] : values_)
            if (!same_bytes(tensor, value))
                overwrite(tensor, value);
        generators_.put_back();
    }

    /// By value.
    [[nodiscard]] bool is_current() const {
        for (auto const& [tensor, value] : values_)
            if (!same_bytes(tensor, value))
                return false;
        return members_->is_same() && generators_.is_current();
    }

private:
    std::unique_ptr<State> members_;
    std::vector<std::pair<at::Tensor, at::Tensor>> values_;
    generator_states generators_;
};

using state_copy = basic_state_copy<hook::stored_state>;

/// Copies at one moment; equal ones are shared by calls.
using state_copies = std::vector<std::shared_ptr<state_copy const>>;

/// All modules that declare members. They become known when they are first called, before they have
/// changed anything.
template<class Module>
class basic_declared_states {
public:
    /// True when the module was not known and its state could be copied.
    bool add(Module& module, hook::state_maker make) noexcept {
        auto const is_it = [&](known_module const& one) {
            return one.module == &module && one.make == make;
        };
        if (std::any_of(known_.begin(), known_.end(), is_it) ||
            std::any_of(without_copy_.begin(), without_copy_.end(), is_it))
            return false;
        try {
            auto const copy = std::make_shared<state_copy const>(make(module));
            known_.push_back({&module, make});
            originals_.push_back(copy);
            last_.push_back(copy);
            return true;
        } catch (...) {
            without_copy_.push_back({&module, make});
            failures_.push_back("the state that " + short_name(typeid(module)) +
                                " declares cannot be copied: " + current_failure());
            return false;
        }
    }

    [[nodiscard]] std::vector<std::string> const& failures() const noexcept { return failures_; }

    [[nodiscard]] state_copies now() {
        for (std::size_t index = 0; index < known_.size(); ++index)
            if (!last_[index]->is_current())
                last_[index] =
                    std::make_shared<state_copy const>(known_[index].make(*known_[index].module));
        return last_;
    }

    void put_back() const {
        for (auto const& copy : originals_)
            copy->put_back();
    }

    [[nodiscard]] bool is_current() const {
        for (auto const& copy : originals_)
            if (!copy->is_current())
                return false;
        return true;
    }

    [[nodiscard]] std::size_t size() const noexcept { return known_.size(); }

private:
    struct known_module {
        Module* module;
        hook::state_maker make;
    };
    std::vector<known_module> known_;
    std::vector<known_module> without_copy_;
    std::vector<std::string> failures_;
    state_copies originals_;
    state_copies last_;
};

using declared_states = basic_declared_states<torch::nn::Module>;

}  // namespace component_benchmark::capture
