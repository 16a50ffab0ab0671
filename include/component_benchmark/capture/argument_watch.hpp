// CAPTURE: does a call write to its arguments where no version counter shows it?
#pragma once

#include <component_benchmark/capture/captured_call.hpp>
#include <component_benchmark/capture/tensor_bytes.hpp>

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <unordered_set>
#include <utility>
#include <vector>

namespace component_benchmark::capture {

/// Around one run of a call: looks at its arguments by value, before and after. Writes through
/// `.data()` and raw pointers would change what the next repetition is given. (A template as
/// `basic_module_tree` is.)
template<class Call>
class basic_argument_watch {
public:
    /// Arguments with the memory of `state` are left out: that is put back in another way.
    basic_argument_watch(Call& call, std::vector<at::Tensor> const& state) : call_{call} {
        for (auto const& tensor : state)
            if (tensor.defined() && tensor.has_storage())
                state_.insert(tensor.storage().unsafeGetStorageImpl());
        if (call.edits_arguments)
            return;  // each repetition has arguments of its own already
        if (call.has_own_arguments) {
            untouched_ = std::exchange(call.stored, call.stored->copy());
            call.copy_arguments();
        }
        is_on_ = true;
        before_ = hash_of_arguments();
    }

    /// To be called after the run. Throws when the arguments that the call was given are lost.
    void look() {
        if (!is_on_ || hash_of_arguments() == before_)
            return;
        if (untouched_ == nullptr)
            throw std::runtime_error{
                "it writes to an argument, which no version counter shows; set "
                "cb::options{.copy_arguments = true}"};
        call_.stored = std::move(untouched_);
        call_.edits_arguments = true;
    }

private:
    [[nodiscard]] std::size_t hash_of_arguments() const {
        std::size_t hash = 0;
        call_.stored->each_argument([&](at::Tensor& argument) {
            if (argument.has_storage() &&
                state_.contains(argument.storage().unsafeGetStorageImpl()))
                return;
            hash = hash * 31 + hash_of_bytes(argument);
        });
        return hash;
    }

    Call& call_;
    std::unordered_set<void const*> state_;  // by address of the storage
    bool is_on_ = false;
    std::size_t before_ = 0;
    std::unique_ptr<hook::stored_call> untouched_;
};

using argument_watch = basic_argument_watch<captured_call>;

}  // namespace component_benchmark::capture
