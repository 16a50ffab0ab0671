// op observer -> BACKWARD WORK -> flop counter: what a backward does itself, and what it does again
#pragma once

#include <component_benchmark/profile/flop_amounts.hpp>

#include <ATen/SequenceNumber.h>
#include <ATen/core/grad_mode.h>

#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

namespace component_benchmark {

/// Tells a backward's own work from forwards that it runs again (checkpointing). Again is what runs
/// with gradients enabled, and what runs without them on the way: a function of a program turns
/// them off in its forward. So in a node of the graph all is done again that comes after something
/// else for the graph was made there and before a backward goes through that. (A template as
/// `op_watch` is. Not for several threads at once.)
template<class Amounts = flop_amounts>
class backward_work {
public:
    Amounts own, again;

    void begin_node() noexcept {
        if (auto* const around = innermost(); around != nullptr)
            around->settle(again);  // it goes backward through what was just made there
        try {
            nodes_.push_back({std::this_thread::get_id(), at::sequence_number::peek(), {}});
        } catch (...) {  // no memory: what runs in it is the work of the one around it
        }
    }

    void end_node() noexcept {
        auto* const ending = innermost();
        if (ending == nullptr)
            return;  // it began before anybody watched
        ending->settle(own);
        nodes_.erase(nodes_.begin() + (ending - nodes_.data()));
        if (auto* const around = innermost(); around != nullptr)
            around->made_before = at::sequence_number::peek();
    }

    void add(double flops, std::size_t place) noexcept {
        auto* const node = innermost();
        auto& amounts = at::GradMode::is_enabled()                   ? again
                        : node != nullptr && node->has_made_graphs() ? node->undecided
                                                                     : own;
        amounts.by_format[place] += flops;
    }

private:
    /// One that runs. LibTorch counts, on each thread, what it makes for graphs.
    struct running_node {
        std::thread::id thread;
        std::uint64_t made_before = 0;
        Amounts undecided;

        [[nodiscard]] bool has_made_graphs() const {
            return at::sequence_number::peek() > made_before;
        }
        void settle(Amounts& where) noexcept { where.add(std::exchange(undecided, {}), 1.0); }
    };

    /// Of this thread, or null.
    [[nodiscard]] running_node* innermost() noexcept {
        auto const mine = std::this_thread::get_id();
        for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node)
            if (node->thread == mine)
                return &*node;
        return nullptr;
    }

    std::vector<running_node> nodes_;  ///< of all threads, each one's in order
};

}  // namespace component_benchmark
