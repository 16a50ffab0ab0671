// hook -> CAPTURE: members that modules declared with CB_STATE, as they were at one moment
#pragma once

#include <component_benchmark/capture/generators.hpp>
#include <component_benchmark/capture/module_tree.hpp>
#include <component_benchmark/capture/tensor_bytes.hpp>
#include <component_benchmark/capture/tensor_parts.hpp>
#include <component_benchmark/core/failure.hpp>
#include <component_benchmark/hook/state.hpp>

#include <torch/csrc/autograd/variable.h>

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
        members_->each_tensor([&](at::Tensor& tensor) {
            tensors_.push_back({tensor, tensor.detach().clone(), tensor.grad_fn(),
                                static_cast<std::uint32_t>(tensor.output_nr()),
                                version_of(tensor)});
        });
        std::vector<at::Generator> generators;
        members_->each_generator(
            [&](at::Generator& generator) { generators.push_back(generator); });
        generators_ = generator_states{generators};
    }

    /// As they were, also in their graph, which is the user's.
    void put_back() const {
        if (!members_->is_same(false))
            members_->assign();
        for (auto const& saved : tensors_) {
            set_graph(saved.tensor, saved.function, saved.output);
            restore_value(saved);
            set_version(saved.tensor, saved.version);
        }
        generators_.put_back();
    }

    /// As they were, and cut off from their graph: what runs now must not use that graph up.
    void put_back_detached() const {
        if (!members_->is_same(false))
            members_->assign();
        for (auto const& saved : tensors_) {
            set_graph(saved.tensor, nullptr, 0);
            restore_value(saved);
        }
        generators_.put_back();
    }

    /// By value. `unknown`: what to think of members that cannot be compared.
    [[nodiscard]] bool is_current(bool unknown) const {
        for (auto const& saved : tensors_)
            if (!same_bytes(saved.tensor, saved.value))
                return false;
        return members_->is_same(unknown) && generators_.is_current();
    }

    [[nodiscard]] bool is_comparable() const { return members_->is_comparable(); }

    /// Those that a backward reaches as it does parameters.
    [[nodiscard]] std::vector<at::Tensor> leaves() const {
        std::vector<at::Tensor> found;
        for (auto const& saved : tensors_)
            if (saved.function == nullptr && saved.tensor.requires_grad())
                found.push_back(saved.tensor);
        return found;
    }

    /// Calls that find state of another size do not cost the same.
    [[nodiscard]] std::string sizes() const {
        std::string text;
        for (auto const& saved : tensors_)
            for (auto const& part : parts_of(saved.value))
                for (auto const size : part.sizes())
                    text += std::to_string(size) + ',';
        return text + ';';
    }

private:
    struct saved_tensor {
        at::Tensor tensor;
        at::Tensor value;
        std::shared_ptr<torch::autograd::Node> function;  // that made it; null for a leaf
        std::uint32_t output;
        std::uint32_t version;
    };

    static void set_graph(at::Tensor const& tensor,
                          std::shared_ptr<torch::autograd::Node> const& function,
                          std::uint32_t output) {
        if (tensor.grad_fn() != function)
            torch::autograd::impl::set_gradient_edge(tensor, {function, output});
    }

    static void restore_value(saved_tensor const& saved) {
        if (!same_bytes(saved.tensor, saved.value))
            overwrite(saved.tensor, saved.value);
    }

    std::unique_ptr<State> members_;
    std::vector<saved_tensor> tensors_;
    generator_states generators_;
};

using state_copy = basic_state_copy<hook::stored_state>;

/// Copies at one moment; equal ones are shared by calls.
using state_copies = std::vector<std::shared_ptr<state_copy const>>;

/// All modules that declare members. What CB_COMPONENTS names is known from the start; others
/// become known when they are first called.
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
            copy->put_back_detached();
            for (auto const& leaf : copy->leaves())
                hooks_.emplace_back(leaf, std::exchange(torch::autograd::impl::hooks(leaf), {}));
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
            if (!last_[index]->is_current(false))
                last_[index] =
                    std::make_shared<state_copy const>(known_[index].make(*known_[index].module));
        return last_;
    }

    /// Sizes of the state, as `now` has just given it, of the modules that `is_part` says yes to.
    template<class IsPart>
    [[nodiscard]] std::string sizes_of(IsPart is_part) const {
        std::string text;
        for (std::size_t index = 0; index < known_.size(); ++index)
            if (is_part(*known_[index].module))
                text += last_[index]->sizes();
        return text;
    }

    void put_back() {
        for (auto& [leaf, hooks] : hooks_)
            torch::autograd::impl::hooks(leaf).swap(hooks);
        hooks_.clear();
        for (auto const& copy : originals_)
            copy->put_back();
    }
    void put_back_detached() const {
        for (auto const& copy : originals_)
            copy->put_back_detached();
    }

    /// By value, as far as the members can be compared.
    [[nodiscard]] bool is_current() const {
        return std::all_of(originals_.begin(), originals_.end(),
                           [](auto const& copy) { return copy->is_current(true); });
    }
    [[nodiscard]] bool is_comparable() const {
        return std::all_of(originals_.begin(), originals_.end(),
                           [](auto const& copy) { return copy->is_comparable(); });
    }

    [[nodiscard]] std::size_t size() const noexcept { return known_.size(); }

private:
    struct known_module {
        Module* module;
        hook::state_maker make;
    };
    using hooks_of_leaf = std::vector<std::unique_ptr<torch::autograd::FunctionPreHook>>;
    std::vector<known_module> known_;
    std::vector<known_module> without_copy_;
    std::vector<std::string> failures_;
    state_copies originals_;
    state_copies last_;
    std::vector<std::pair<at::Tensor, hooks_of_leaf>> hooks_;  // taken away, as those of parameters
};

using declared_states = basic_declared_states<torch::nn::Module>;

}  // namespace component_benchmark::capture
