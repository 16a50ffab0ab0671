// CAPTURE: which modules are in training mode
#pragma once

#include <torch/nn/module.h>

#include <memory>
#include <utility>
#include <vector>

namespace component_benchmark::capture {

/// A module and all below it, parents first. The module itself must outlive this; the others are
/// kept alive.
[[nodiscard]] inline std::vector<std::shared_ptr<torch::nn::Module>> modules_of(
    torch::nn::Module& root) {
    auto found = root.modules(/*include_self=*/false);
    found.insert(found.begin(), {std::shared_ptr<void>{}, &root});  // not owned
    return found;
}

/// The training flags of a module and all below it at one moment. (A template, so that a file which
/// runs no pipeline does not pay for it.)
template<class Module>
class basic_training_flags {
public:
    basic_training_flags() = default;
    explicit basic_training_flags(Module& root)
        : basic_training_flags{
              std::make_shared<std::vector<std::shared_ptr<Module>> const>(modules_of(root))} {}

    /// `modules` as `modules_of` gives them.
    explicit basic_training_flags(
        std::shared_ptr<std::vector<std::shared_ptr<Module>> const> modules)
        : modules_{std::move(modules)} {
        flags_.reserve(modules_->size());
        for (auto const& module : *modules_)
            flags_.push_back(module->is_training());
    }

    /// Adds the modules of `other`.
    void append(basic_training_flags const& other) {
        auto modules = modules_ == nullptr ? std::vector<std::shared_ptr<Module>>{} : *modules_;
        modules.insert(modules.end(), other.modules_->begin(), other.modules_->end());
        modules_ = std::make_shared<std::vector<std::shared_ptr<Module>> const>(std::move(modules));
        flags_.insert(flags_.end(), other.flags_.begin(), other.flags_.end());
    }

    /// `train` sets a module with all below it, so parents come first.
    void put_back() const {
        for (std::size_t index = 0; index < flags_.size(); ++index)
            if ((*modules_)[index]->is_training() != flags_[index])
                (*modules_)[index]->train(flags_[index]);
    }

    [[nodiscard]] bool is_current() const {
        for (std::size_t index = 0; index < flags_.size(); ++index)
            if ((*modules_)[index]->is_training() != flags_[index])
                return false;
        return true;
    }

    [[nodiscard]] std::vector<bool> const& flags() const noexcept { return flags_; }

private:
    std::shared_ptr<std::vector<std::shared_ptr<Module>> const> modules_;
    std::vector<bool> flags_;
};

using training_flags = basic_training_flags<torch::nn::Module>;

}  // namespace component_benchmark::capture
