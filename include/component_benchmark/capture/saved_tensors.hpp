// CAPTURE: parameters, buffers and arguments as they were before a profile, and which of them
// differ
#pragma once

#include <component_benchmark/capture/saved_tensor.hpp>

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace component_benchmark::capture {

/// Each tensor once, whoever holds it. (A template as `basic_session` is.)
template<class Root>
class basic_saved_tensors {
public:
    using saved_tensor = basic_saved_tensor<Root>;

    void save(std::string name, at::Tensor const& tensor, typename saved_tensor::kind what) {
        if (!tensor.defined() || !index_.emplace(tensor.unsafeGetTensorImpl(), all_.size()).second)
            return;
        all_.push_back(saved_tensor::of(what, std::move(name), tensor));
    }

    [[nodiscard]] std::vector<saved_tensor>& all() noexcept { return all_; }
    [[nodiscard]] std::vector<saved_tensor> const& all() const noexcept { return all_; }

    /// Null when it is not one of them.
    [[nodiscard]] saved_tensor* find(at::Tensor const& tensor) noexcept {
        auto const found = index_.find(tensor.unsafeGetTensorImpl());
        return found == index_.end() ? nullptr : &all_[found->second];
    }
    [[nodiscard]] saved_tensor const* find(at::Tensor const& tensor) const noexcept {
        auto const found = index_.find(tensor.unsafeGetTensorImpl());
        return found == index_.end() ? nullptr : &all_[found->second];
    }

    /// By value, one of these parameters is not what it was, or one that is known to be written.
    [[nodiscard]] bool differs(std::vector<at::Tensor> const& parameters) const {
        for (auto const& tensor : parameters)
            if (auto const* saved = find(tensor); saved != nullptr && saved->differs())
                return true;
        for (auto const& saved : all_)
            if (saved.what == saved_tensor::parameter && saved.was_changed && saved.differs())
                return true;
        return false;
    }

    /// One of these was given other memory, as `Module::to` does.
    [[nodiscard]] bool moved(std::vector<at::Tensor> const& parameters) const {
        for (auto const& tensor : parameters)
            if (auto const* saved = find(tensor);
                saved != nullptr && saved->comparable && !saved->is_in_place())
                return true;
        return false;
    }

    /// One of these is not what it was, and none was ever found so before.
    [[nodiscard]] bool differs_unexplained(std::vector<at::Tensor> const& parameters) const {
        for (auto const& tensor : parameters)
            if (auto const* saved = find(tensor);
                saved != nullptr && !saved->was_changed && saved->differs())
                return true;
        return false;
    }

    /// Parameters and buffers that are not what they were, whoever wrote them.
    [[nodiscard]] std::vector<at::Tensor> differing() const {
        std::vector<at::Tensor> found;
        for (auto const& saved : all_)
            if (saved.what != saved_tensor::argument && saved.differs())
                found.push_back(saved.tensor);
        return found;
    }

    /// The same as far as it shows while a step is under way: parameters, which are most of the
    /// memory, by their version, and buffers, which BatchNorm writes behind it, by value.
    [[nodiscard]] std::vector<at::Tensor> seen_written() const {
        std::vector<at::Tensor> found;
        for (auto const& saved : all_)
            if (saved.what == saved_tensor::parameter
                    ? !saved.has_its_version()
                    : saved.what == saved_tensor::buffer && saved.differs())
                found.push_back(saved.tensor);
        return found;
    }

    /// A parameter with the version that it had: `seen_written` does not see what is written to it.
    [[nodiscard]] bool hides_writes(at::Tensor const& tensor) const {
        auto const* saved = find(tensor);
        return saved != nullptr && saved->what == saved_tensor::parameter &&
               saved->has_its_version();
    }

    /// A tensor of the batch has another value and the same version: nothing else shows the edit.
    [[nodiscard]] bool has_silent_edits() const {
        for (auto const& saved : all_)
            if (saved.what == saved_tensor::argument && saved.has_its_version() && saved.differs())
                return true;
        return false;
    }

    /// "parameter a.weight"
    [[nodiscard]] std::string title_of(at::Tensor const& tensor) const {
        auto const* saved = find(tensor);
        return saved == nullptr ? "a tensor" : saved->title();
    }

private:
    std::vector<saved_tensor> all_;
    std::unordered_map<void const*, std::size_t> index_;  // by address of the tensor
};

}  // namespace component_benchmark::capture
