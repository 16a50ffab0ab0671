// What lies outside the registered tree: declared state, hooks of the user, other threads.
#include "support/catch2.hpp"
#include "support/quick.hpp"
#include "support/visit.hpp"
#include <component_benchmark/component_benchmark.hpp>

#include <ATen/CPUGeneratorImpl.h>
#include <torch/torch.h>

#include <deque>
#include <future>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

namespace cb = component_benchmark;
namespace nn = torch::nn;
using at::Tensor;

namespace {

/// Everything that a forward may keep to itself, in a private section.
class Remembers : public nn::Module {
public:
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        ++step_;
        past_.push_back(x.detach());
        mean_.mul_(0.9).add_(x.detach().mean(), 0.1);
        last_ = x.detach() * 2;
        auto const noise = at::rand(x.sizes(), generator_);
        auto const scale = 1.0 + static_cast<double>(engine_() % 7);
        return linear(x) * noise * scale + mean_ + static_cast<double>(step_) +
               static_cast<double>(past_.size());
    }

    [[nodiscard]] std::string summary() const {
        auto const generator = generator_;
        return std::to_string(step_) + " " + std::to_string(past_.size()) + " " +
               std::to_string(mean_.item<double>()) + " " +
               (last_ ? std::to_string(last_->sum().item<double>()) : "none") + " " +
               std::to_string(generator.get_state().to(at::kDouble).sum().item<double>());
    }

    nn::Linear linear = register_module("linear", nn::Linear(4, 4));

private:
    std::int64_t step_ = 0;
    std::vector<Tensor> past_;
    Tensor mean_ = at::zeros({}, at::kDouble);
    std::optional<Tensor> last_;
    at::Generator generator_ = at::make_generator<at::CPUGeneratorImpl>(7);
    std::mt19937 engine_{3};
    CB_STATE(step_, past_, mean_, last_, generator_, engine_);
};

struct Twice : nn::Module {
    std::shared_ptr<Remembers> memory = register_module("memory", std::make_shared<Remembers>());
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        return memory->forward(memory->forward(x).to(at::kFloat));
    }
};

}  // namespace

TEST_CASE("declared state is what it was after a profile, and is said to be compared",
          "[capture]") {
    auto const train = [](bool profiled) {
        torch::manual_seed(2);
        Twice model;
        auto const x = at::rand({3, 4});
        static_cast<void>(model.forward(x));
        if (profiled) {
            auto const before = model.memory->summary();
            auto const report = quick().run(cb::provide(model, x).loss(sum_of));
            CHECK(model.memory->summary() == before);
            auto const& unchanged = report.document().facts.unchanged;
            CHECK(unchanged.verified);
            CHECK(std::count(unchanged.compared.begin(), unchanged.compared.end(),
                             "declared state of 1 module") == 1);
        }
        auto const y = model.forward(x);
        y.sum().backward();
        return std::pair{y.detach(), model.memory->linear->weight.grad().clone()};
    };
    auto const plain = train(false);
    auto const profiled = train(true);
    CHECK(torch::equal(plain.first, profiled.first));
    CHECK(torch::equal(plain.second, profiled.second));
}

TEST_CASE("each replay finds declared state as its call did", "[capture]") {
    torch::manual_seed(2);
    Twice model;
    auto const x = at::rand({3, 4});
    auto captured = cb::provide(model, x).capture({});
    auto const expected = model.forward(x).detach();  // the capture has put its state back
    captured->for_each([&](std::size_t, auto& one) {
        for (auto& group : one.calls()) {
            auto replay = group.replay();
            Tensor first;
            for (int repetition = 0; repetition < 3; ++repetition) {
                replay.prepare();
                replay.forward();
                auto const now = replay.outputs()[0].detach();
                if (repetition == 0)
                    first = now.clone();
                CHECK(torch::equal(now, first));
                if (one.path().empty())
                    CHECK(torch::equal(now, expected));
            }
        }
    });
}

namespace {

/// State that hangs on the graph, and containers of every kind.
struct Recurrent : nn::Module {
    nn::Linear linear = register_module("linear", nn::Linear(4, 4));
    std::tuple<Tensor, Tensor> hidden{at::zeros({2, 4}), at::zeros({2, 4})};
    Tensor mean = at::zeros({4});
    std::deque<Tensor> recent;
    std::optional<at::Generator> generator = at::make_generator<at::CPUGeneratorImpl>(5);
    std::vector<bool> flags{true, false};
    float not_a_number = std::numeric_limits<float>::quiet_NaN();
    bool keeps_graph = false;
    CB_STATE(hidden, mean, recent, generator, flags, not_a_number);

    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        auto const y = (linear(x) + std::get<0>(hidden)).tanh() * at::rand({4}, generator);
        mean.mul_(0.9).add_(y.mean(0));  // in place, with a gradient
        recent.push_back(y.detach());
        hidden = {keeps_graph ? y : y.detach(), y.detach() * 2};
        flags.flip();
        auto const out = y + mean;
        if (!keeps_graph)
            mean = mean.detach();
        return out;
    }
};
}  // namespace

TEST_CASE("declared state comes back with its graph, and replays do not use that up", "[capture]") {
    for (bool const keeps_graph : {false, true}) {
        INFO(keeps_graph);
        auto const train = [&](bool profiled) {
            torch::manual_seed(4);
            Recurrent model;
            model.keeps_graph = keeps_graph;
            auto const x = at::rand({2, 4});
            auto loss = model.forward(x).sum();
            if (profiled) {
                auto const report = quick().run(cb::provide(model, x).loss(sum_of));
                CHECK(report.document().facts.unchanged.verified);
                CHECK(report[""].state() == cb::status::ok);
                CHECK(report["linear"].state() == cb::status::ok);
                CHECK(model.recent.size() == 1);
            }
            loss = loss + model.forward(x).sum();
            loss.backward();
            return std::vector<Tensor>{loss.detach(), model.linear->weight.grad().clone(),
                                       model.mean.detach().clone(),
                                       std::get<0>(model.hidden).detach().clone()};
        };
        auto const plain = train(false);
        auto const profiled = train(true);
        for (std::size_t index = 0; index < plain.size(); ++index)
            CHECK(torch::equal(plain[index], profiled[index]));
    }
}

namespace {
struct Attends : nn::Module {
    std::vector<Tensor> past;
    CB_STATE(past);
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        past.push_back(x.detach());
        return at::cat(past).sum(0, true) + x;
    }
};
struct Generates : nn::Module {
    std::shared_ptr<Attends> attention = register_module("attention", std::make_shared<Attends>());
    Tensor forward(Tensor x) {
        CB_FORWARD(x);
        for (int token = 0; token < 3; ++token)
            x = attention->forward(x);
        return x;
    }
};
}  // namespace

TEST_CASE("calls that find more state are measured apart", "[capture]") {
    Generates model;
    auto captured = cb::provide(model, at::rand({1, 4})).capture({});
    visit(*captured, "attention", [](auto& one) { CHECK(one.calls().size() == 3); });
}

namespace {
struct HoldsAttention : nn::Module {
    std::shared_ptr<Attends> attention;
    explicit HoldsAttention(std::shared_ptr<Attends> given)
        : attention{register_module("attention", given)} {}
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        return attention->forward(x);
    }
};
struct TwoHolders : nn::Module {
    std::shared_ptr<Attends> shared = std::make_shared<Attends>();
    std::shared_ptr<HoldsAttention> a =
        register_module("a", std::make_shared<HoldsAttention>(shared));
    std::shared_ptr<HoldsAttention> b =
        register_module("b", std::make_shared<HoldsAttention>(shared));
    Tensor forward(Tensor x) {
        CB_FORWARD(x);
        for (int token = 0; token < 3; ++token)
            x = b->forward(a->forward(x));
        return x;
    }
};
struct ManyGenerators : nn::Module {
    std::vector<at::Generator> generators{at::make_generator<at::CPUGeneratorImpl>(1),
                                          at::make_generator<at::CPUGeneratorImpl>(2)};
    CB_STATE(generators);
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        return x + at::rand(x.sizes(), generators[1]);
    }
};
}  // namespace

TEST_CASE("each holder of a module with state has its calls measured apart", "[capture]") {
    TwoHolders model;
    auto captured = cb::provide(model, at::rand({1, 4})).capture({});
    visit(*captured, "b", [](auto& one) { CHECK(one.calls().size() == 3); });
}

TEST_CASE("generators in a container are state", "[capture]") {
    ManyGenerators model;
    auto const before = model.generators[1].get_state().clone();
    auto const report = quick().run(cb::provide(model, at::rand({1, 4})));
    CHECK(torch::equal(model.generators[1].get_state(), before));
    CHECK(report.document().facts.unchanged.verified);
}

namespace {
struct Elsewhere : nn::Module {
    nn::Linear there = register_module("there", nn::Linear(4, 4));
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        Tensor y;
        std::thread{[&] { y = there(x); }}.join();
        return y;
    }
};
/// A module that is made for a call and is gone after it.
struct Temporary : nn::Module {
    nn::Linear linear = register_module("linear", nn::Linear(4, 4));
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        Attends gone;
        return linear(gone.forward(x));
    }
};
}  // namespace

TEST_CASE("a model whose children are all called elsewhere has its rows", "[capture]") {
    Elsewhere model;
    auto const report = quick().run(cb::provide(model, at::rand({2, 4})));
    CHECK(report["there"].state() == cb::status::opaque);
    CHECK(report[""].get<cb::latency>().latency_ms.has_value());
}

TEST_CASE("declared state of a module that is gone is left alone", "[capture]") {
    Temporary model;
    auto const report = quick().run(cb::provide(model, at::rand({2, 4})));
    CHECK(report.document().facts.unchanged.verified);
    CHECK(report["linear"].calls() == 1);
}

namespace {
struct throws_when_copied {
    throws_when_copied() = default;
    throws_when_copied(throws_when_copied const&) { throw std::runtime_error{"no second one"}; }
    throws_when_copied& operator=(throws_when_copied const&) = default;
};
}  // namespace
template<>
inline constexpr bool cb::safe_to_replay<throws_when_copied> = true;
namespace {
struct CannotCopy : nn::Module {
    nn::Linear linear = register_module("linear", nn::Linear(4, 4));
    throws_when_copied member;
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        return linear(x);
    }
    CB_STATE(member);
};
}  // namespace

TEST_CASE("declared state that cannot be copied is a warning, and not verified", "[capture]") {
    CannotCopy model;
    auto const report = quick().run(cb::provide(model, at::rand({2, 4})));
    auto const& facts = report.document().facts;
    REQUIRE(facts.warnings.size() == 1);
    CHECK(facts.warnings[0] ==
          "the state that CannotCopy declares cannot be copied: no second one");
    CHECK_FALSE(facts.unchanged.verified);
    CHECK(report["linear"].get<cb::latency>().latency_ms.has_value());
}

namespace {
struct Net : nn::Module {
    nn::Linear first = register_module("first", nn::Linear(4, 4));
    nn::Linear second = register_module("second", nn::Linear(4, 1));
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        return second(first(x));
    }
};
}  // namespace

TEST_CASE("hooks of the user do not fire in a profile and fire after it", "[capture]") {
    Net model;
    auto x = at::rand({2, 4}).requires_grad_();
    int fired = 0;
    auto const note = [&](Tensor) { ++fired; };
    for (auto const& parameter : model.parameters())
        parameter.register_hook(note);
    x.register_hook(note);
    static_cast<void>(quick().run(cb::provide(model, x).loss(sum_of)));
    CHECK(fired == 0);
    model.forward(x).sum().backward();
    CHECK(fired == 5);
}

namespace {
struct Threads : nn::Module {
    nn::Linear here = register_module("here", nn::Linear(4, 4));
    nn::Linear there = register_module("there", nn::Linear(4, 4));
    nn::BatchNorm1d norm = register_module("norm", nn::BatchNorm1d(4));
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        auto const y = here(x);
        Tensor z;
        std::thread{[&] { z = norm(there(there(y))); }}.join();
        return z;
    }
};
}  // namespace

TEST_CASE("calls on other threads are counted and said", "[capture]") {
    Threads model;
    auto const report = quick().run(cb::provide(model, at::rand({2, 4})).loss(sum_of));
    CHECK(report["here"].get<cb::latency>().latency_ms.has_value());
    CHECK(report["there"].state() == cb::status::opaque);
    CHECK(report["there"].reason() ==
          "called on another thread, where calls are not captured (2 calls)");
    CHECK(report["norm"].reason() ==
          "called on another thread, where calls are not captured (1 call)");
    auto const& warnings = report.document().facts.warnings;
    REQUIRE(warnings.size() == 2);
    CHECK(warnings[0] ==
          "'there' was called on another thread, where calls are not captured (2 calls)");
    CHECK(report[""].get<cb::latency>().latency_bwd_ms.has_value());
    CHECK(cb::hook::capturing.load() == nullptr);
}

TEST_CASE("a pipeline on another thread waits or is refused, as asked", "[capture]") {
    Net model;
    auto const x = at::rand({2, 4});
    auto captured = cb::provide(model, x).capture({});
    auto refused = std::async(std::launch::async, [&] {
        Net mine;
        std::string why;
        try {
            static_cast<void>(quick({.busy = cb::when_busy::refuse}).run(cb::provide(mine, x)));
        } catch (cb::error const& problem) {
            why = problem.what();
        }
        return why;
    });
    CHECK_THAT(refused.get(),
               Catch::Matchers::ContainsSubstring("a pipeline is running on another thread"));
    auto waiting = std::async(std::launch::async, [&] {
        Net mine;
        return quick().run(cb::provide(mine, x)).document().nodes.size();
    });
    captured.reset();
    CHECK(waiting.get() == 3);
}

namespace {
struct not_hooked : nn::Module {
    not_hooked(std::int64_t, std::int64_t) {}
    Tensor forward(Tensor const& x) { return x; }
};
}  // namespace

TEST_CASE("the self-test tells a build whose LibTorch is not seen", "[capture]") {
    CHECK(cb::capture::interposition_is_live());
    CHECK_FALSE(cb::capture::interposition_is_live<not_hooked>());
}
