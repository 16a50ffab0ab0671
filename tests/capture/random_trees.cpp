// Random models: whatever they do, each replay sees what a plain run saw, and so do its children.
#include "support/catch2.hpp"
#include "support/quick.hpp"
#include <component_benchmark/component_benchmark.hpp>

#include <torch/torch.h>

#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace cb = component_benchmark;
namespace nn = torch::nn;
using at::Tensor;

namespace {

struct seen_call {
    nn::Module const* module;
    Tensor input;
};

/// Set while a test looks: what every module was called with, in order.
std::vector<seen_call>* seen = nullptr;

/// A module that may drop out, keep a count in a buffer and one in a member, edit its argument,
/// call a child several times, catch what a child throws, or throw itself.
struct Node : nn::Module {
    enum class trait { plain, dropout, buffer, state, edits, repeats, branches, throws };
    trait does = trait::plain;
    nn::Linear linear = register_module("linear", nn::Linear(4, 4));
    Tensor count = register_buffer("count", at::zeros({1}));
    double times = 0.0;
    std::vector<std::shared_ptr<Node>> below;
    CB_STATE(times);

    Tensor forward(Tensor x) {
        CB_FORWARD(x);
        if (seen != nullptr)
            seen->push_back({this, x.detach().clone()});
        if (does == trait::throws)
            throw std::runtime_error{"as it does"};
        Tensor y = does == trait::edits ? x.mul_(0.5) : x;
        y = linear(y).tanh();
        if (does == trait::dropout)
            y = at::dropout(y, 0.4, true);
        if (does == trait::buffer) {
            count.add_(1);
            y = y + count * 0.01;
        }
        if (does == trait::state)
            y = y + ++times * 0.01;
        bool const first = does != trait::branches || y.sum().item<float>() > 0.0F;
        for (std::size_t index = first ? 0 : 1; index < below.size(); ++index)
            for (int repetition = does == trait::repeats ? 3 : 1; repetition > 0; --repetition)
                try {
                    y = below[index]->forward(y * 1.01);
                } catch (std::runtime_error const&) {
                    y = y + 1;
                }
        return y;
    }
};

/// A tree in which some children stand at two places.
std::shared_ptr<Node> random_node(std::mt19937& random, int depth,
                                  std::vector<std::shared_ptr<Node>>& all) {
    auto node = std::make_shared<Node>();
    node->does = static_cast<Node::trait>(random() % (depth == 0 ? 7 : 8));
    auto const children = depth == 3 ? 0 : 1 + random() % 3;
    for (std::size_t index = 0; index < children; ++index) {
        auto child = !all.empty() && random() % 5 == 0 ? all[random() % all.size()]
                                                       : random_node(random, depth + 1, all);
        node->below.push_back(node->register_module("child" + std::to_string(index), child));
    }
    all.push_back(node);  // only finished ones are shared, so there is no cycle
    return node;
}

bool same_calls(std::vector<seen_call> const& plain, std::size_t begin,
                std::vector<seen_call> const& replayed) {
    if (begin + replayed.size() > plain.size())
        return false;
    for (std::size_t index = 0; index < replayed.size(); ++index)
        if (plain[begin + index].module != replayed[index].module ||
            !torch::equal(plain[begin + index].input, replayed[index].input))
            return false;
    return true;
}

/// Where the call with this index of a module begins.
std::size_t begin_of(std::vector<seen_call> const& calls, nn::Module const* module,
                     std::int64_t index) {
    for (std::size_t place = 0; place < calls.size(); ++place)
        if (calls[place].module == module && index-- == 0)
            return place;
    return calls.size();
}

}  // namespace

TEST_CASE("replays of random models see what a plain run saw", "[capture]") {
    int compared = 0;
    for (unsigned seed = 0; seed < 24; ++seed) {
        INFO("seed " << seed);
        std::mt19937 random{seed};
        torch::manual_seed(seed);
        std::vector<std::shared_ptr<Node>> all;
        auto model = random_node(random, 0, all);
        auto const x = at::rand({3, 4});

        std::vector<seen_call> plain;
        auto captured = cb::provide(model, x).loss(sum_of).capture({});
        seen = &plain;
        model->forward(x.clone());  // the capture has put everything back
        seen = nullptr;

        auto const calls = captured->calls();
        captured->for_each([&](std::size_t, auto& one) {
            auto const* module = dynamic_cast<Node const*>(&one.module());
            if (module == nullptr)
                return;
            for (auto& group : one.calls()) {
                INFO(one.path() << " " << static_cast<int>(module->does));
                auto const index = calls[group.members().front()].index;
                auto const begin = begin_of(plain, module, index);
                auto replay = group.replay();
                for (int repetition = 0; repetition < 2; ++repetition) {
                    replay.prepare();
                    std::vector<seen_call> replayed;
                    seen = &replayed;
                    replay.forward();
                    seen = nullptr;
                    REQUIRE_FALSE(replayed.empty());
                    CHECK(same_calls(plain, begin, replayed));
                    ++compared;
                    if (replay.prepare_backward())
                        replay.backward();
                }
            }
        });
    }
    CHECK(compared > 200);
}

TEST_CASE("a random model trains on bit-identically after a profile", "[capture]") {
    auto const train = [](unsigned seed, bool profiled) {
        std::mt19937 random{seed};
        torch::manual_seed(seed);
        std::vector<std::shared_ptr<Node>> all;
        auto model = random_node(random, 0, all);
        torch::optim::Adam optimizer{model->parameters(), torch::optim::AdamOptions(1e-2)};
        auto pipeline =
            cb::pipeline{cb::preprocessors{}, cb::profilers{cb::latency{.warmup = 0, .samples = 1}},
                         cb::sinks{}};
        Tensor last;
        for (int step = 0; step < 6; ++step) {
            auto const x = at::rand({3, 4});
            if (profiled && step == 3) {
                auto const report = pipeline.run(cb::provide(model, x).loss(sum_of));
                CHECK(report.document().facts.unchanged.verified);
            }
            optimizer.zero_grad();
            last = model->forward(x.clone()).sum();
            last.backward();
            optimizer.step();
        }
        return last.detach();
    };
    for (unsigned seed = 100; seed < 106; ++seed) {
        INFO("seed " << seed);
        CHECK(torch::equal(train(seed, false), train(seed, true)));
    }
}
