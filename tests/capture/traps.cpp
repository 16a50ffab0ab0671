// Traps that a capture once fell into, each set as a program may set it.
#include "support/catch2.hpp"
#include "support/quick.hpp"
#include "support/visit.hpp"
#include <component_benchmark/component_benchmark.hpp>

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace cb = component_benchmark;
namespace nn = torch::nn;
using at::Tensor;

namespace {

struct EditsBatch : nn::Module {
    Tensor weight = register_parameter("weight", at::full({4}, 0.5));
    Tensor forward(Tensor x) {
        CB_FORWARD(x);
        return x.mul_(weight);
    }
};

struct Reassigns : nn::Module {
    nn::Linear linear = register_module("linear", nn::Linear(4, 4));
    Tensor forward(Tensor& x) {
        CB_FORWARD(x);
        x = linear(x);
        return x;
    }
};

}  // namespace

TEST_CASE("a forward that edits its batch with a parameter leaves the next step as it was",
          "[capture]") {
    auto const train = [](bool profiled) {
        torch::manual_seed(1);
        EditsBatch model;
        auto x = at::rand({2, 4});
        if (profiled)
            static_cast<void>(quick().run(cb::provide(model, x).loss(sum_of)));
        CHECK_FALSE(x.requires_grad());
        CHECK(x.is_leaf());
        model.forward(x).sum().backward();
        return model.weight.grad().clone();
    };
    CHECK(torch::equal(train(false), train(true)));
}

TEST_CASE("a forward that assigns to its argument leaves the user's variable", "[capture]") {
    Reassigns model;
    auto x = at::rand({2, 4});
    auto const before = x;
    static_cast<void>(quick().run(cb::provide(model, x)));
    CHECK(x.is_same(before));
}

namespace {
struct Autocasts : nn::Module {
    nn::Linear linear = register_module("linear", nn::Linear(64, 64));
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        at::autocast::set_autocast_enabled(at::kCPU, true);
        auto y = linear(x);
        at::autocast::set_autocast_enabled(at::kCPU, false);
        return y.to(at::kFloat);
    }
};
}  // namespace

TEST_CASE("no cast of a weight outlives a profile", "[capture]") {
    auto const train = [](bool profiled) {
        torch::manual_seed(1);
        Autocasts model;
        auto const x = at::rand({2, 64});
        if (profiled)
            static_cast<void>(quick().run(cb::provide(model, x).loss(sum_of)));
        else
            at::autocast::clear_cache();
        torch::NoGradGuard const no_grad;
        model.linear->weight.add_(1);
        auto const y = model.forward(x);
        at::autocast::clear_cache();
        return y;
    };
    CHECK(torch::equal(train(false), train(true)));
}

namespace {
struct Aliased : nn::Module {
    Tensor forward(Tensor left, Tensor const& right) {
        CB_FORWARD(left, right);
        left.mul_(2);
        return right * 10;
    }
};
struct Aliasing : nn::Module {
    int how = 0;
    std::shared_ptr<Aliased> child = register_module("child", std::make_shared<Aliased>());
    Tensor weight = register_parameter("weight", at::full({1}, 3.0));
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        auto y = how % 2 == 0 ? x.clone() : x * weight;
        if (how < 2)
            return child->forward(y, y);
        return how < 4 ? child->forward(y, y.view(-1)) : child->forward(y, y.narrow(0, 1, 1));
    }
};
}  // namespace

TEST_CASE("arguments that share memory share it at a replay, with gradients and without",
          "[capture]") {
    for (int how = 0; how < 6; ++how) {
        INFO(how);
        Aliasing model;
        model.how = how;
        auto const x = at::rand({2, 4});
        auto const expected = model.forward(x).detach().clone();
        auto captured = cb::provide(model, x).capture({});
        visit(*captured, "child", [&](auto& one) {
            auto replay = one.calls().at(0).replay();
            for (int repetition = 0; repetition < 2; ++repetition) {
                replay.prepare();
                replay.forward();
                CHECK(torch::equal(replay.outputs()[0], expected));
                if (how % 2 == 1 && how < 2) {
                    REQUIRE(replay.prepare_backward());
                    replay.backward();
                    CHECK(replay.gradients()[0].defined());
                }
            }
        });
    }
}

namespace {
struct Triples : nn::Module {
    Tensor forward(Tensor x) {
        CB_FORWARD(x);
        return x.mul_(3);
    }
};
struct HoldsTriples : nn::Module {
    std::shared_ptr<Triples> child = register_module("child", std::make_shared<Triples>());
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        return child->forward(x + 1);
    }
};
}  // namespace

TEST_CASE("an edit in inference mode, which no version shows, is repeated faithfully",
          "[capture]") {
    c10::InferenceMode const inference;
    HoldsTriples model;
    auto const x = at::ones({2});
    auto captured = cb::provide(model, x).capture({});
    visit(*captured, "child", [](auto& one) {
        auto replay = one.calls().at(0).replay();
        for (int repetition = 0; repetition < 3; ++repetition) {
            replay.prepare();
            replay.forward();
            CHECK(replay.outputs()[0][0].template item<float>() == 6.0F);
        }
    });
}

namespace {
struct Masked : nn::Module {
    Tensor mask = register_buffer("mask", at::ones({1, 4}).expand({3, 4}));  // one row, three times
    nn::Linear linear = register_module("linear", nn::Linear(4, 4));
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        return linear(x) * mask;
    }
};
}  // namespace

TEST_CASE("a buffer whose elements share memory is left as it is", "[capture]") {
    Masked model;
    auto const report = quick().run(cb::provide(model, at::rand({3, 4})).loss(sum_of));
    CHECK(report[""].state() == cb::status::ok);
    CHECK(report.document().facts.unchanged.verified);
}

TEST_CASE("an empty model is refused by a sentence", "[capture]") {
    auto const sentence = Catch::Matchers::ContainsSubstring("the model is empty");
    std::shared_ptr<EditsBatch> none;
    nn::Linear holder{nullptr};
    auto const x = at::ones({2});
    CHECK_THROWS_WITH(cb::provide(none, x).capture({}), sentence);
    CHECK_THROWS_WITH(cb::provide(holder, x).capture({}), sentence);
}

namespace {
struct Chunks : nn::Module {
    Tensor forward(Tensor x) {
        CB_FORWARD(x);
        auto parts = x.chunk(2);
        x.add_(1);
        return parts[0];
    }
};
struct HoldsChunks : nn::Module {
    nn::Linear linear = register_module("linear", nn::Linear(4, 4));
    std::shared_ptr<Chunks> child = register_module("child", std::make_shared<Chunks>());
    Tensor forward(Tensor x) {
        CB_FORWARD(x);
        auto const y = child->forward(linear(x));
        return linear(x) + y.detach().sum();
    }
};
}  // namespace

TEST_CASE("an output that autograd cannot look at costs its row and no more", "[capture]") {
    HoldsChunks model;
    auto const x = at::rand({2, 4});
    auto const report = quick().run(cb::provide(model, x).loss(sum_of));
    CHECK(report["child"].state() == cb::status::opaque);
    CHECK(report["linear"].get<cb::latency>().latency_bwd_ms.has_value());
}

namespace {
struct Toggles : nn::Module {
    nn::Dropout dropout = register_module("dropout", nn::Dropout(0.5));
    Tensor forward(Tensor x) {
        CB_FORWARD(x);
        dropout->eval();
        auto y = dropout(x);
        dropout->train();
        return dropout(y);
    }
};
struct Twice : nn::Module {
    nn::Linear linear = register_module("linear", nn::Linear(4, 4));
    Tensor forward(Tensor x) {
        CB_FORWARD(x);
        auto const first = linear(x).detach();
        return first * linear(x);
    }
};
}  // namespace

TEST_CASE("calls that differ in mode or in needed gradients are measured apart", "[capture]") {
    Toggles toggles;
    auto const x = at::rand({2, 4});
    auto captured = cb::provide(toggles, x).capture({});
    visit(*captured, "dropout", [&](auto& one) {
        REQUIRE(one.calls().size() == 2);
        auto replay = one.calls()[0].replay();
        replay.prepare();
        replay.forward();
        CHECK(torch::equal(replay.outputs()[0], x));
    });
    captured.reset();
    CHECK(toggles.dropout->is_training());

    Twice twice;
    auto const again = cb::provide(twice, x).loss(sum_of).capture({});  // gone before the model
    visit(*again, "linear", [&](auto& one) {
        REQUIRE(one.calls().size() == 2);
        for (std::size_t index = 0; index < 2; ++index) {
            auto replay = one.calls()[index].replay();
            replay.prepare();
            replay.forward();
            CHECK(replay.prepare_backward() == (index == 1));
        }
    });
}

namespace {
struct StubbornChild : nn::Module {
    bool armed = false;
    void train(bool on = true) override {
        if (armed && on)
            throw std::runtime_error{"no training today"};
        nn::Module::train(on);
    }
    Tensor forward(Tensor x) {
        CB_FORWARD(x);
        return x * 2;
    }
};
struct Stubborn : nn::Module {
    nn::Linear linear = register_module("linear", nn::Linear(4, 4));
    std::shared_ptr<StubbornChild> child =
        register_module("child", std::make_shared<StubbornChild>());
    Tensor forward(Tensor x) {
        CB_FORWARD(x);
        child->armed = false;
        child->train(false);
        child->armed = true;
        return child->forward(linear(x));
    }
};
}  // namespace

TEST_CASE("what cannot be put back is said, and the rest is put back", "[capture]") {
    Stubborn model;
    auto const x = at::rand({2, 4});
    model.linear(x).sum().backward();
    auto const gradient = model.linear->weight.grad();
    try {
        auto const report = quick().run(cb::provide(model, x));
        CHECK_FALSE(report.document().facts.unchanged.verified);
    } catch (std::exception const& error) {
        CHECK_THAT(error.what(), Catch::Matchers::ContainsSubstring("no training today"));
    }
    CHECK(model.linear->weight.grad().is_same(gradient));
}

namespace {
struct Grows : nn::Module {
    Tensor kept = register_buffer("kept", at::zeros({1, 4}));
    nn::Linear linear = register_module("linear", nn::Linear(4, 4));
    Tensor forward(Tensor x) {
        CB_FORWARD(x);
        kept.set_data(at::cat({kept, x}));
        return linear(x) + kept.sum();
    }
};
struct Frozen : nn::Module {
    nn::Linear linear = register_module("linear", nn::Linear(4, 4));
    Tensor forward(Tensor x) {
        CB_FORWARD(x);
        return linear(x);
    }
};
struct Lazy : nn::Module {
    nn::Linear linear = register_module("linear", nn::Linear(4, 4));
    nn::Linear late{nullptr};
    Tensor forward(Tensor x) {
        CB_FORWARD(x);
        if (late.is_empty())
            late = register_module("late", nn::Linear(4, 4));
        return late(linear(x));
    }
};
}  // namespace

TEST_CASE("tensors that a forward frees, grows or adds", "[capture]") {
    auto const x = at::rand({2, 4});
    Grows grows;
    auto const report = quick().run(cb::provide(grows, x));
    CHECK(report[""].state() == cb::status::ok);
    CHECK(grows.kept.sizes() == at::IntArrayRef{1, 4});
    CHECK(report.document().facts.unchanged.verified);

    Lazy lazy;
    auto const lazily = quick().run(cb::provide(lazy, x));
    CHECK_FALSE(lazily.document().facts.unchanged.verified);
}

TEST_CASE("a loss with parameters of its own over a frozen model", "[capture]") {
    Frozen model;
    for (auto& parameter : model.parameters())
        parameter.requires_grad_(false);
    auto const head = at::rand({4}).requires_grad_(true);
    auto const x = at::rand({2, 4});
    auto const report =
        quick().run(cb::provide(model, x).loss([&](Tensor const& y) { return (y * head).sum(); }));
    CHECK(report["linear"].get<cb::latency>().latency_ms.has_value());
    CHECK(report["linear"].get<cb::latency>().latency_bwd_ms.why() ==
          "no output requires a gradient");
    CHECK_FALSE(head.grad().defined());
}

TEST_CASE("a loss that is undefined or throws is named", "[capture]") {
    Frozen model;
    auto const x = at::rand({2, 4});
    CHECK_THROWS_WITH(
        quick().run(cb::provide(model, x).loss([](Tensor const&) { return Tensor{}; })),
        Catch::Matchers::ContainsSubstring("it is undefined"));
    CHECK_THROWS_WITH(quick().run(cb::provide(model, x).loss(
                          [](Tensor const&) -> Tensor { throw std::runtime_error{"my loss"}; })),
                      "component_benchmark: the loss failed: my loss");
}

namespace {
struct Replaces : nn::Module {
    Replaces() { register_module("linear", nn::Linear(4, 4)); }
    Tensor forward(Tensor x) {
        CB_FORWARD(x);
        auto linear = nn::Linear(4, 4);
        replace_module("linear", linear);
        return linear(x);
    }
};
struct Runs : nn::Module {
    nn::Linear linear = register_module("linear", nn::Linear(4, 4));
    int refused = 0;
    Tensor forward(Tensor x) {
        CB_FORWARD(x);
        try {
            static_cast<void>(quick().run(cb::provide(linear, x)));
        } catch (cb::error const&) {
            ++refused;
        }
        return linear(x);
    }
};
}  // namespace

TEST_CASE("a forward that replaces a child is no use after free", "[capture]") {
    Replaces model;
    auto const x = at::rand({2, 4});
    try {
        static_cast<void>(quick().run(cb::provide(model, x)));
    } catch (cb::error const&) {  // no call of a registered module: that is fine, too
    }
    CHECK(cb::hook::current == nullptr);
}

TEST_CASE("a pipeline inside a forward is refused, in capture and in replays", "[capture]") {
    Runs model;
    auto const x = at::rand({2, 4});
    static_cast<void>(quick().run(cb::provide(model, x)));
    CHECK(model.refused > 2);
}

TEST_CASE("two threads take turns", "[capture]") {
    Frozen model;
    auto const x = at::rand({2, 4});
    model.forward(x).sum().backward();
    auto const gradient = model.linear->weight.grad();
    auto const work = [&] {
        for (int run = 0; run < 5; ++run)
            static_cast<void>(quick().run(cb::provide(model, x)));
    };
    std::thread other{work};
    work();
    other.join();
    CHECK(model.linear->weight.grad().is_same(gradient));
}

namespace {
struct Many : nn::Module {
    nn::ReLU shared = nn::ReLU();
    std::vector<nn::Sequential> list;
    explicit Many(int count) {
        for (int index = 0; index < count; ++index)
            list.push_back(register_module("s" + std::to_string(index),
                                           nn::Sequential(shared, nn::Identity())));
    }
    Tensor forward(Tensor x) {
        CB_FORWARD(x);
        for (auto& one : list)
            x = one->forward(x);
        return x;
    }
};
}  // namespace

TEST_CASE("thousands of Sequentials with one shared child are all inferred", "[capture]") {
    Many model{3000};  // cubic once: a minute and more
    auto const x = at::rand({2});
    auto const captured = cb::provide(model, x).capture({});
    CHECK(captured->nodes()[1].calls == 1);
    CHECK(captured->nodes().back().path == "s2999.1");
    CHECK(captured->calls().size() == 1 + 3000 * 3);
}
