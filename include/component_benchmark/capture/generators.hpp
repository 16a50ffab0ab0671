// capture: the random number generators of all devices, saved and put back
#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/DeviceAccelerator.h>
#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstring>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace component_benchmark::capture {

[[nodiscard]] inline at::Tensor state_of(at::Generator generator) {
    std::lock_guard const lock{generator.mutex()};
    return generator.get_state();
}

/// The default generators of the CPU and of every accelerator. Generators that the user's code owns
/// cannot be found.
[[nodiscard]] inline std::vector<at::Generator> default_generators() {
    auto& context = at::globalContext();
    std::vector<at::Generator> found{context.defaultGenerator(at::kCPU)};
    if (at::accelerator::deviceCount() > 0) {
        auto const kind = at::accelerator::getAccelerator(true).value();
        for (c10::DeviceIndex index = 0; index < at::accelerator::deviceCount(); ++index)
            found.push_back(context.defaultGenerator(c10::Device{kind, index}));
    }
    return found;
}

/// The states of generators at one moment. (A template, so that a file which runs no pipeline does
/// not pay for it.)
template<class Generator>
class basic_generator_states {
public:
    basic_generator_states() = default;

    explicit basic_generator_states(std::vector<Generator> const& generators) {
        for (auto const& generator : generators)
            states_.emplace_back(generator, state_of(generator));
    }

    void put_back() const {
        for (auto [generator, state] : states_) {
            std::lock_guard const lock{generator.mutex()};
            generator.set_state(state);
        }
    }

    /// By value.
    [[nodiscard]] bool is_current() const {
        for (auto const& [generator, state] : states_) {
            auto const now = state_of(generator);
            if (now.nbytes() != state.nbytes() ||
                std::memcmp(now.const_data_ptr(), state.const_data_ptr(), state.nbytes()) != 0)
                return false;
        }
        return true;
    }

private:
    std::vector<std::pair<Generator, at::Tensor>> states_;
};

using generator_states = basic_generator_states<at::Generator>;

/// Whether the CPU's generator is where it was: ten times as fast as asking for its state.
template<class Implementation>
class basic_generator_mark {
public:
    explicit basic_generator_mark(at::Generator const& generator)
        : generator_{at::check_generator<Implementation>(generator)} {
        set();
    }

    void set() {
        std::lock_guard const lock{generator_->mutex_};
        engine_ = generator_->engine().data();
        normals_ = {generator_->next_float_normal_sample(),
                    generator_->next_double_normal_sample()};
    }

    [[nodiscard]] bool is_current() const {
        std::lock_guard const lock{generator_->mutex_};
        auto const now = generator_->engine().data();  // has padding
        return now.seed_ == engine_.seed_ && now.left_ == engine_.left_ &&
               now.seeded_ == engine_.seeded_ && now.next_ == engine_.next_ &&
               now.state_ == engine_.state_ &&
               normals_ == normals{generator_->next_float_normal_sample(),
                                   generator_->next_double_normal_sample()};
    }

private:
    using normals = std::pair<std::optional<float>, std::optional<double>>;
    Implementation* generator_;
    at::mt19937_data_pod engine_{};
    normals normals_;
};

using cpu_generator_mark = basic_generator_mark<at::CPUGeneratorImpl>;

}  // namespace component_benchmark::capture
