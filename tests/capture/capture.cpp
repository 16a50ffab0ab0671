// What a captured model knows, and how faithfully a component is run alone.
#include "support/catch2.hpp"
#include "support/quick.hpp"
#include "support/visit.hpp"
#include <component_benchmark/component_benchmark.hpp>

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cb = component_benchmark;
namespace nn = torch::nn;
using at::Tensor;

namespace {

bool same(Tensor const& a, Tensor const& b) {
    return cb::capture::same_bytes(a, b);
}

template<class Captured>
cb::node const& row(Captured& captured, std::string const& path) {
    for (auto const& one : captured.nodes())
        if (one.path == path)
            return one;
    FAIL("no row " << path);
    throw std::logic_error{"unreachable"};
}

struct BlockImpl : nn::Module {
    nn::Linear linear = register_module("linear", nn::Linear(4, 4));
    nn::Dropout dropout = register_module("dropout", nn::Dropout(0.5));
    nn::ReLU relu = register_module("relu", nn::ReLU(nn::ReLUOptions().inplace(true)));
    Tensor forward(Tensor x) {
        CB_FORWARD(x);
        return relu(dropout(linear(x)));
    }
};
TORCH_MODULE(Block);

struct NetImpl : nn::Module {
    Block first = register_module("first", Block());
    Block second = register_module("second", Block());
    nn::BatchNorm1d norm = register_module("norm", nn::BatchNorm1d(4));
    nn::Linear unused = register_module("unused", nn::Linear(2, 2));
    NetImpl() { register_module("again", first); }
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        return second(norm(first(first(x))));
    }
};
TORCH_MODULE(Net);

}  // namespace

TEST_CASE("rows have registered names, types, shapes and calls", "[capture]") {
    Net net;
    auto const x = at::rand({3, 4});
    auto captured = cb::provide(net, x).capture({});
    CHECK(row(*captured, "").type == "Net");
    CHECK(row(*captured, "").calls == 1);
    CHECK(row(*captured, "first").type == "Block");
    CHECK(row(*captured, "first").calls == 2);
    CHECK(row(*captured, "first.linear").in_shapes == "[3, 4]");
    CHECK(row(*captured, "norm").out_shapes == "[3, 4]");
    CHECK(row(*captured, "norm").dtypes == "float32 -> float32");
    CHECK(row(*captured, "unused").calls == 0);
    CHECK(row(*captured, "unused").state == cb::status::not_called);
    auto const& alias = row(*captured, "again");
    CHECK(captured->nodes()[static_cast<std::size_t>(alias.alias_of)].path == "first");
    CHECK(alias.end == captured->nodes().size());
}

TEST_CASE("components come breadth-first, deeper ones than asked are filtered", "[capture]") {
    Net net;
    auto const x = at::rand({3, 4});
    auto captured = cb::provide(net, x).capture({});
    std::vector<std::string> order;
    captured->for_each([&](std::size_t, auto& one) { order.push_back(one.path()); });
    CHECK(order == std::vector<std::string>{"", "first", "second", "norm", "unused", "first.linear",
                                            "first.dropout", "first.relu", "second.linear",
                                            "second.dropout", "second.relu"});
    captured.reset();
    auto shallow = cb::provide(net, x).capture({.depth = 1});
    order.clear();
    shallow->for_each([&](std::size_t, auto& one) { order.push_back(one.path()); });
    CHECK(order == std::vector<std::string>{"", "first", "second", "norm", "unused"});
    CHECK(row(*shallow, "first.linear").state == cb::status::filtered);
    CHECK(row(*shallow, "first.linear").calls == 2);
}

TEST_CASE("calls know their parent and index", "[capture]") {
    Net net;
    auto const x = at::rand({3, 4});
    auto const captured = cb::provide(net, x).capture({});
    auto const calls = captured->calls();
    REQUIRE(calls.size() == 14);
    CHECK(calls[0].parent_call == -1);
    CHECK(captured->nodes()[calls[1].row].path == "first");
    CHECK(calls[1].parent_call == 0);
    CHECK(captured->nodes()[calls[2].row].path == "first.linear");
    CHECK(calls[2].parent_call == 1);
    CHECK(captured->nodes()[calls[5].row].path == "first");
    CHECK(calls[5].index == 1);
    for (std::size_t number = 0; number < calls.size(); ++number)
        CHECK(calls[number].parent_call < static_cast<std::ptrdiff_t>(number));
}

namespace {

/// Keeps what every block really saw and returned.
struct WitnessImpl : nn::Module {
    nn::Linear linear = register_module("linear", nn::Linear(4, 4));
    nn::Dropout dropout = register_module("dropout", nn::Dropout(0.5));
    Tensor steps = register_buffer("steps", at::zeros({1}));
    std::vector<Tensor>* seen = nullptr;
    Tensor forward(Tensor x) {
        CB_FORWARD(x);
        if (seen != nullptr)
            seen->push_back(x.detach().clone());
        steps.add_(1);
        auto y = dropout(linear(x)) * steps;
        if (seen != nullptr)
            seen->push_back(y.detach().clone());
        return y;
    }
};
TORCH_MODULE(Witness);

struct BranchingImpl : nn::Module {
    Witness a = register_module("a", Witness());
    Witness b = register_module("b", Witness());
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        auto y = a(x);
        if (at::rand({1}).item<float>() < 0.5F)
            y = b(y);
        y.mul_(2);  // the input of the next call is edited after it was an output
        y = a(y);
        y.add_(1);
        return b(y);
    }
};
TORCH_MODULE(Branching);

}  // namespace

TEST_CASE("a replay sees the captured inputs, generators and buffers", "[capture]") {
    for (auto const seed : {0U, 1U, 2U, 3U}) {
        torch::manual_seed(seed);
        Branching net;
        auto const x = at::rand({2, 4});
        // what an undisturbed forward sees
        std::vector<Tensor> expected_a;
        std::vector<Tensor> expected_b;
        auto const before = cb::capture::generator_states{cb::capture::default_generators()};
        net->a->seen = &expected_a;
        net->b->seen = &expected_b;
        net(x);
        net->a->seen = net->b->seen = nullptr;
        before.put_back();
        torch::NoGradGuard const no_grad;
        net->a->steps.zero_();
        net->b->steps.zero_();

        torch::AutoGradMode const grad{true};
        auto captured = cb::provide(net, x).capture({});
        auto const check = [&](std::string const& path, Witness& block,
                               std::vector<Tensor> const& expected) {
            visit(*captured, path, [&](auto& one) {
                std::size_t next = 0;
                for (auto& group : one.calls()) {
                    std::vector<Tensor> seen;
                    block->seen = &seen;
                    auto replay = group.replay();
                    for (int repetition = 0; repetition < 3; ++repetition) {
                        seen.clear();
                        replay.prepare();
                        replay.forward();
                        REQUIRE(seen.size() == 2);
                        CHECK(same(seen[0], expected[next]));
                        CHECK(same(seen[1], expected[next + 1]));
                        CHECK(same(replay.outputs()[0], expected[next + 1]));
                    }
                    next += 2 * static_cast<std::size_t>(group.count());
                    block->seen = nullptr;
                }
            });
        };
        // the first call's input needs no gradient and the second's does: two signatures
        check("a", net->a, expected_a);
        captured.reset();
        captured = cb::provide(net, x).capture({});
        check("b", net->b, {expected_b.begin(), expected_b.end()});
        CHECK(captured->put_back().verified);
    }
}

TEST_CASE("backward gets the gradients that the loss really sends", "[capture]") {
    Net net;
    net->eval();
    auto const x = at::rand({3, 4});
    auto const weight = at::rand({3, 4});
    auto const loss = [&](Tensor const& output) { return (output * weight).sum() * 3; };
    auto const run = [&](auto provider) {
        auto captured = provider.capture({});
        std::map<std::string, std::vector<Tensor>> gradients;
        captured->for_each([&](std::size_t, auto& one) {
            for (auto& group : one.calls()) {
                auto replay = group.replay();
                replay.prepare();
                replay.forward();
                if (replay.prepare_backward())
                    replay.backward();
                gradients[one.path()] = replay.gradients();
            }
        });
        return std::pair{gradients, captured->environment().gradients};
    };
    auto const [given, how] = run(cb::provide(net, x).loss(loss));
    CHECK(how == "captured");
    net->zero_grad();
    loss(net(x)).backward();
    auto const& linear = net->second->linear;
    auto const& of_linear = given.at("second.linear");
    REQUIRE(of_linear.size() == 3);  // input, weight, bias
    CHECK(torch::allclose(of_linear[1], linear->weight.grad()));
    CHECK(torch::allclose(of_linear[2], linear->bias.grad()));
    CHECK(torch::allclose(given.at("")[0], net->first->linear->weight.grad()));

    auto const [ones, how_ones] = run(cb::provide(net, x));
    CHECK(how_ones == "ones");
    CHECK_FALSE(torch::allclose(ones.at("second.linear")[1], linear->weight.grad()));
}

namespace {

struct DetachedImpl : nn::Module {
    nn::Linear used = register_module("used", nn::Linear(4, 4));
    nn::Linear cut = register_module("cut", nn::Linear(4, 4));
    nn::Linear frozen = register_module("frozen", nn::Linear(4, 4));
    nn::Flatten flat = register_module("flat", nn::Flatten());
    DetachedImpl() {
        for (auto& parameter : frozen->parameters())
            parameter.requires_grad_(false);
    }
    Tensor forward(Tensor const& x, Tensor const& ids) {
        CB_FORWARD(x, ids);
        flat(ids);
        return used(x) + cut(x).detach() + frozen(x);
    }
};
TORCH_MODULE(Detached);

}  // namespace

TEST_CASE("where nothing goes back, the reason is said", "[capture]") {
    Detached net;
    auto const x = at::rand({2, 4});
    auto const ids = at::arange(4).view({2, 2});
    auto captured = cb::provide(net, x, ids).loss(sum_of).capture({});
    std::map<std::string, std::string> why;
    captured->for_each([&](std::size_t, auto& one) {
        for (auto& group : one.calls()) {
            auto replay = group.replay();
            replay.prepare();
            replay.forward();
            static_cast<void>(replay.prepare_backward());
            why[one.path()] = replay.why_no_backward();
        }
    });
    CHECK(why.at("used").empty());
    CHECK(why.at("cut") == "the loss does not depend on it");
    CHECK(why.at("frozen") == "no output requires a gradient");
    CHECK(why.at("flat") == "no output requires a gradient");
}

TEST_CASE("grad mode and autocast at a replay are those of the call", "[capture]") {
    Detached net;
    auto const x = at::rand({2, 4});
    auto const ids = at::arange(4).view({2, 2});
    std::unique_ptr<cb::capture::captured_model> captured;
    {
        torch::NoGradGuard const no_grad;
        captured.reset();
        captured = cb::provide(net, x, ids).capture({});
    }
    visit(*captured, "used", [](auto& one) {
        auto replay = one.calls().at(0).replay();
        replay.prepare();
        replay.forward();
        CHECK_FALSE(replay.outputs()[0].requires_grad());
    });
    CHECK(torch::GradMode::is_enabled());

    at::autocast::set_autocast_enabled(at::kCPU, true);
    captured.reset();
    captured = cb::provide(net, x, ids).capture({});
    at::autocast::set_autocast_enabled(at::kCPU, false);
    at::autocast::clear_cache();
    visit(*captured, "used", [](auto& one) {
        auto replay = one.calls().at(0).replay();
        replay.prepare();
        replay.forward();
        CHECK(replay.outputs()[0].scalar_type() == at::kBFloat16);
    });
    CHECK_FALSE(at::autocast::is_autocast_enabled(at::kCPU));
    CHECK(row(*captured, "used").dtypes == "float32 -> bfloat16");
    captured.reset();

    c10::InferenceMode const inference;
    captured.reset();
    captured = cb::provide(net, x, ids).capture({});
    visit(*captured, "used", [](auto& one) {
        auto replay = one.calls().at(0).replay();
        replay.prepare();
        CHECK_NOTHROW(replay.forward());
    });
}

namespace {

struct InnerImpl : nn::SequentialImpl {
    using SequentialImpl::SequentialImpl;
    Tensor forward(Tensor x) {
        CB_FORWARD(x);
        return SequentialImpl::forward(x) * 2;
    }
};
TORCH_MODULE(Inner);

struct SequentialsImpl : nn::Module {
    nn::Sequential plain = register_module(
        "plain", nn::Sequential(nn::Linear(4, 4), nn::BatchNorm1d(4),
                                nn::ReLU(nn::ReLUOptions().inplace(true)), nn::Dropout(0.5)));
    nn::Sequential nested = register_module(
        "nested", nn::Sequential(Inner(nn::Linear(4, 4), nn::ReLU()), nn::Identity()));
    nn::Sequential apart = register_module("apart", nn::Sequential(nn::Linear(4, 4), nn::ReLU()));
    nn::ReLU shared = nn::ReLU();
    nn::Sequential repeats = register_module("repeats", nn::Sequential());
    SequentialsImpl() {
        repeats->push_back(nn::Linear(4, 4));
        repeats->push_back(shared);
        repeats->push_back(nn::Linear(4, 4));
        repeats->push_back(shared);
    }
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        auto y = nested->forward(plain->forward(x));
        y = repeats->forward(y);
        y = plain->forward(y);
        // not one pass: the children are called by hand with something between
        auto first = (*apart)[0]->as<nn::Linear>()->forward(y);
        return (*apart)[1]->as<nn::ReLU>()->forward(first + 1);
    }
};
TORCH_MODULE(Sequentials);

}  // namespace

TEST_CASE("a Sequential's calls are inferred where that is certain", "[capture]") {
    Sequentials net;
    auto const x = at::rand({3, 4});
    auto captured = cb::provide(net, x).loss(sum_of).capture({});
    CHECK(row(*captured, "plain").calls == 2);
    CHECK(row(*captured, "nested").calls == 1);
    CHECK(row(*captured, "nested.0").calls == 1);
    CHECK(row(*captured, "repeats").calls == 1);
    CHECK(row(*captured, "apart").calls == 0);
    auto const calls = captured->calls();
    for (auto const& call : calls)
        if (captured->nodes()[call.row].path == "nested.0.1")
            CHECK(captured->nodes()[calls[static_cast<std::size_t>(call.parent_call)].row].path ==
                  "nested.0");
    visit(*captured, "plain", [&](auto& one) {
        for (auto& group : one.calls()) {
            auto replay = group.replay();
            replay.prepare();
            replay.forward();
            auto const first = replay.outputs()[0].detach().clone();
            CHECK(replay.prepare_backward());
            replay.backward();
            CHECK(replay.gradients().size() >= 4);
            replay.prepare();
            replay.forward();
            CHECK(same(replay.outputs()[0], first));
        }
    });
    CHECK(captured->put_back().verified);
}

namespace {

struct SharingImpl : nn::Module {
    nn::Linear common = nn::Linear(4, 4);
    nn::Linear own = register_module("own", nn::Linear(4, 4));
    nn::Sequential one = register_module("one", nn::Sequential(common));
    nn::Sequential chain = register_module("chain", nn::Sequential(common, nn::ReLU(), common));
    nn::Sequential of_own = register_module("of_own", nn::Sequential(own));
    nn::Tanh tanh = nn::Tanh();
    nn::Sequential left = register_module("left", nn::Sequential(own, tanh));
    nn::Sequential right = register_module("right", nn::Sequential(own, tanh));
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        auto y = one->forward(chain->forward(one->forward(x)));
        y = own(of_own->forward(y)) + 1;
        return left->forward(y) + right->forward(y);
    }
};
TORCH_MODULE(Sharing);

}  // namespace

TEST_CASE("calls of Sequentials with a common child go to the longest that they fit", "[capture]") {
    Sharing net;
    auto const x = at::rand({3, 4});
    std::vector<cb::options> const all_wishes{
        {}, {.include = {{.path = "one"}}}, {.include = {{.path = "*", .min_calls = 1}}}};
    for (auto const& wishes : all_wishes) {
        auto const captured = cb::provide(net, x).capture(wishes);
        CHECK(row(*captured, "one").calls == 2);
        CHECK(row(*captured, "own").calls == 4);
        CHECK(row(*captured, "chain").calls == 1);
        CHECK(row(*captured, "one.0").calls == 4);
        // nobody can tell these apart
        CHECK(row(*captured, "of_own").calls == 0);
        CHECK(row(*captured, "left").calls == 0);
        CHECK(row(*captured, "right").calls == 0);
    }
}

TEST_CASE("a Sequential as root has the call that it was given", "[capture]") {
    nn::Sequential net(nn::Linear(4, 4), nn::ReLU(), nn::Linear(4, 4));
    auto const x = at::rand({3, 4});
    auto captured = cb::provide(net, x).loss(sum_of).capture({});
    CHECK(row(*captured, "").calls == 1);
    CHECK(row(*captured, "0").calls == 1);
    CHECK(captured->calls().size() == 4);
    for (auto const& call : captured->calls())
        CHECK(call.parent_call == (call.row == 0 ? cb::node::none : 0));
    captured.reset();
    captured = cb::provide(net, x).loss(sum_of).capture(
        {.depth = 0, .memory = cb::memory_mode::level_by_level});
    CHECK(row(*captured, "").calls == 1);
}

namespace {

struct AliasesImpl : nn::Module {
    Tensor forward(Tensor left, Tensor const& right, Tensor const& strided) {
        CB_FORWARD(left, right, strided);
        left.add_(1);  // seen through `right`, which shares the memory
        return right * 10 + strided.stride(0);
    }
};
struct AliasHolderImpl : nn::Module {
    std::shared_ptr<AliasesImpl> child = register_module("child", std::make_shared<AliasesImpl>());
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        auto const base = x.clone();
        auto const view = base.narrow(1, 8, 8);
        return child->forward(view, view, base.t());
    }
};

}  // namespace

TEST_CASE("views, strides and shared memory between arguments are kept", "[capture]") {
    AliasHolderImpl holder;
    auto const x = at::arange(32).view({2, 16}).to(at::kFloat);
    Tensor const expected = holder.forward(x);
    auto captured = cb::provide(holder, x).capture({});
    visit(*captured, "child", [&](auto& one) {
        auto replay = one.calls().at(0).replay();
        for (int repetition = 0; repetition < 3; ++repetition) {
            replay.prepare();
            replay.forward();
            CHECK(same(replay.outputs()[0], expected));
        }
    });
}

TEST_CASE("a component that fails alone is a row, the others go on", "[capture]") {
    struct FragileImpl : nn::Module {
        nn::Linear linear = register_module("linear", nn::Linear(4, 4));
        bool once = true;
        Tensor forward(Tensor x) {
            CB_FORWARD(x);
            if (!std::exchange(once, false))
                throw 42;
            return linear(x);
        }
    };
    struct HolderImpl : nn::Module {
        std::shared_ptr<FragileImpl> child =
            register_module("child", std::make_shared<FragileImpl>());
        Tensor forward(Tensor x) {
            CB_FORWARD(x);
            return child->forward(x);
        }
    };
    HolderImpl holder;
    auto const x = at::rand({2, 4});
    cb::pipeline pipeline{cb::preprocessors{}, cb::profilers{cb::latency{.samples = 1}},
                          cb::sinks{}};
    auto const report = pipeline.run(cb::provide(holder, x));
    CHECK(report["child"].state() == cb::status::failed);
    CHECK(report["child"].reason() == "something that is not a std::exception was thrown");
    CHECK(report["child.linear"].get<cb::latency>().latency_ms.has_value());
    CHECK(report["child"].get<cb::latency>().latency_ms.from() == cb::origin::estimated);
}

TEST_CASE("a batch that does not fit is answered with path and shapes", "[capture]") {
    Net net;
    auto const wrong = at::rand({3, 5});
    torch::manual_seed(7);
    auto const expected = at::rand({1});
    torch::manual_seed(7);
    CHECK_THROWS_WITH(
        cb::provide(net, wrong).capture({}),
        Catch::Matchers::ContainsSubstring("failed in 'first.linear' (Linear) on inputs [3, 5]"));
    CHECK(same(at::rand({1}), expected));  // and the generator is where it was
    CHECK(cb::hook::current == nullptr);
}

TEST_CASE("a model without a captured call is an error, not an empty report", "[capture]") {
    struct SilentImpl : nn::Module {
        struct Child : nn::Module {
            Tensor forward(Tensor x) { return x; }
        };
        std::shared_ptr<Child> child = register_module("child", std::make_shared<Child>());
        Tensor forward(Tensor x) { return child->forward(x); }
    };
    SilentImpl silent;
    auto const x = at::rand({2});
    CHECK_THROWS_WITH(
        cb::provide(silent, x).capture({}),
        Catch::Matchers::ContainsSubstring("no call of a submodule of Silent was captured"));
}

TEST_CASE("a loss that is no scalar is refused", "[capture]") {
    Net net;
    auto const x = at::rand({3, 4});
    CHECK_THROWS_WITH(cb::provide(net, x).loss([](Tensor const& y) { return y; }).capture({}),
                      Catch::Matchers::ContainsSubstring("the loss must be one number") &&
                          Catch::Matchers::ContainsSubstring("[3, 4]"));
}

TEST_CASE("a module that is called and not registered is said", "[capture]") {
    struct ForgetfulImpl : nn::Module {
        nn::Linear hidden = nn::Linear(4, 4);
        nn::Linear known = register_module("known", nn::Linear(4, 4));
        Tensor forward(Tensor x) {
            CB_FORWARD(x);
            return known(hidden(x));
        }
    };
    ForgetfulImpl forgetful;
    auto const x = at::rand({2, 4});
    auto const captured = cb::provide(forgetful, x).capture({});
    auto const warnings = captured->environment().warnings;
    REQUIRE(warnings.size() == 1);
    CHECK_THAT(warnings[0], Catch::Matchers::ContainsSubstring("Linear, called 1 time,"));
}

TEST_CASE("the root needs no macro, and a shared pointer or a module will do", "[capture]") {
    struct BareImpl : nn::Module {
        nn::Linear linear = register_module("linear", nn::Linear(4, 4));
        Tensor forward(Tensor x) { return linear(x); }
    };
    auto pointer = std::make_shared<BareImpl>();
    auto const x = at::rand({2, 4});
    auto const calls_of = [](auto provider) { return provider.capture({})->calls().size(); };
    CHECK(calls_of(cb::provide(pointer, x)) == 2);
    nn::Linear single(4, 4);
    CHECK(calls_of(cb::provide(single, x)) == 1);
    BareImpl value;
    CHECK(calls_of(cb::provide(value, at::rand({2, 4}))) == 2);
}
