// op observer -> BACKWARD WORK -> flop counter: what a backward does itself, and what it does again
#pragma once

#include <component_benchmark/profile/flop_amounts.hpp>
#include <component_benchmark/profile/forward_trace.hpp>

#include <ATen/SequenceNumber.h>
#include <ATen/core/grad_mode.h>

#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace component_benchmark {

/// Tells a backward's own work from forwards that it runs again (checkpointing). Again is what runs
/// with gradients enabled in a node of the graph that began without them, and what repeats the
/// forward in a node that does so, or goes backward through something. (A template as `op_watch`
/// is. Not for several threads at once.)
template<class Amounts = flop_amounts>
class backward_work {
public:
    Amounts own, again;
    double guessed_own = 0.0;    ///< part of `own` without a sign that it is not done again
    double guessed_again = 0.0;  ///< likewise of `again`

    void begin_node() noexcept {
        if (auto* const around = innermost(); around != nullptr)
            go_backward(*around);
        auto& missed = missed_by_this_thread();
        if (missed.owner != this)
            missed = {this, 0};
        try {
            if (missed.nodes == 0)
                nodes_.push_back({std::this_thread::get_id(), at::sequence_number::peek(),
                                  at::GradMode::is_enabled()});
            else
                ++missed.nodes;
        } catch (...) {  // no memory: what runs in it is the work of the one around it
            ++missed.nodes;
        }
    }

    void end_node() noexcept {
        auto& missed = missed_by_this_thread();
        if (missed.owner == this && missed.nodes > 0) {
            --missed.nodes;
            return;
        }
        auto* const ending = innermost();
        if (ending == nullptr)
            return;  // it began before anybody watched
        end(*ending);
        nodes_.erase(nodes_.begin() + (ending - nodes_.data()));
        if (auto* const around = innermost(); around != nullptr)
            around->made_before = at::sequence_number::peek();
    }

    /// Whether this thread runs a node.
    [[nodiscard]] bool in_node() noexcept { return innermost() != nullptr; }

    void add(double flops, std::size_t place, likeness how) noexcept {
        auto* const node = innermost();
        auto const gradients = at::GradMode::is_enabled();
        if (gradients && node != nullptr && !node->began_with_gradients) {
            node->recomputes = true;
            guessed_again += how == likeness::none ? flops : 0.0;
            again.by_format[place] += flops;
        } else if (how == likeness::exact || (how == likeness::repeated && node == nullptr)) {
            again.by_format[place] += flops;
        } else if (how == likeness::none || node == nullptr) {
            guessed_own += how == likeness::none ? 0.0 : flops;
            own.by_format[place] += flops;
        } else {
            auto& amounts = how == likeness::repeated ? node->repeated
                            : node->has_made_graphs() ? node->undecided
                                                      : node->similar;
            amounts.by_format[place] += flops;
        }
    }

private:
    /// One that runs. LibTorch counts, on each thread, what it makes for graphs.
    struct running_node {
        std::thread::id thread;
        std::uint64_t made_before = 0;
        bool began_with_gradients = false;  ///< of gradients: then they say nothing
        bool recomputes = false;
        Amounts repeated{};
        Amounts undecided{};  ///< similar, after something was made for a graph
        Amounts similar{};    ///< before that

        [[nodiscard]] bool has_made_graphs() const {
            return at::sequence_number::peek() > made_before;
        }
    };

    struct missed_nodes {
        void const* owner = nullptr;
        std::size_t nodes = 0;
    };
    [[nodiscard]] static missed_nodes& missed_by_this_thread() noexcept {
        thread_local missed_nodes mine;
        return mine;
    }

    /// It goes backward through what was just made in it.
    void go_backward(running_node& node) noexcept {
        node.recomputes = true;
        guessed_again += node.undecided.total();
        for (auto* const amounts : {&node.repeated, &node.undecided}) {
            again.add(*amounts, 1.0);
            *amounts = Amounts{};
        }
    }

    void end(running_node& node) noexcept {
        (node.recomputes ? again : own).add(node.repeated, 1.0);
        if (node.recomputes)
            guessed_own += node.undecided.total() + node.similar.total();
        own.add(node.undecided, 1.0);
        own.add(node.similar, 1.0);
    }

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
