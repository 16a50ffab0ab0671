// Tensors that are not simply strided ones, wherever a program may have them.
#include "support/catch2.hpp"
#include "support/quick.hpp"
#include "support/visit.hpp"
#include <component_benchmark/component_benchmark.hpp>

#include <torch/torch.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cb = component_benchmark;
namespace nn = torch::nn;
using at::Tensor;
using cb::capture::same_bytes;

namespace {

Tensor nested(std::vector<Tensor> const& tensors) {
    return at::_nested_tensor_from_tensor_list(tensors, {}, {}, {}, {});
}

/// Every way in which a tensor may reach a module, and may be returned.
struct Takes : nn::Module {
    std::function<Tensor(Tensor const&)> work;
    std::pair<Tensor, std::vector<Tensor>> forward(Tensor x, std::optional<Tensor> const& maybe,
                                                   std::vector<Tensor> const& several) {
        CB_FORWARD(x, maybe, several);
        std::vector<Tensor> results;
        for (auto const& one : several)
            results.push_back(one.defined() ? work(one) : one);
        return {maybe ? work(*maybe) : work(x), results};
    }
};
struct Holds : nn::Module {
    nn::Linear linear = register_module("linear", nn::Linear(3, 3));
    std::shared_ptr<Takes> child = register_module("child", std::make_shared<Takes>());
    std::vector<Tensor> seen;
    bool keeps = false;

    Holds() = default;
    explicit Holds(std::function<Tensor(Tensor const&)> work) { child->work = std::move(work); }
    Tensor forward(Tensor const& x, Tensor const& other) {
        CB_FORWARD(x, other);
        auto const [first, rest] = child->forward(other, other, {other, Tensor{}, other});
        if (keeps) {
            seen = {first.detach(), rest[0].detach(), rest[2].detach()};
            CHECK_FALSE(rest[1].defined());
        }
        return linear(x);
    }
};

/// The child's call on `other` replays to what a plain forward gave, and its backward runs.
void check_replay(Holds& model, Tensor const& other, bool goes_back) {
    auto const x = at::rand({2, 3});
    model.keeps = true;
    static_cast<void>(model.forward(x, other));
    model.keeps = false;
    auto const before = other.detach().clone();
    auto captured = cb::provide(model, x, other).capture({});
    visit(*captured, "child", [&](auto& one) {
        REQUIRE(one.calls().size() == 1);
        auto replay = one.calls()[0].replay();
        for (int repetition = 0; repetition < 3; ++repetition) {
            replay.prepare();
            replay.forward();
            auto const outputs = replay.outputs();
            REQUIRE(outputs.size() == model.seen.size());
            for (std::size_t index = 0; index < outputs.size(); ++index)
                CHECK(same_bytes(outputs[index], model.seen[index]));
            REQUIRE(replay.prepare_backward() == goes_back);
            if (goes_back) {
                replay.backward();
                CHECK(replay.gradients().at(0).defined());
            }
        }
    });
    auto const state = captured->put_back();
    CHECK(state.verified);
    CHECK(same_bytes(other, before));
}

}  // namespace

TEST_CASE("nested, sparse and inference tensors among arguments and results replay bit by bit",
          "[capture]") {
    torch::manual_seed(1);
    auto const dense = at::rand({4, 4}) * (at::rand({4, 4}) > 0.5);
    auto const hardly_supported = [](Tensor const& value) {
        return value.layout() == c10::kSparseCsc || value.layout() == c10::kSparseBsr ||
               value.is_quantized();
    };
    auto const twice = [=](Tensor const& value) {
        return hardly_supported(value) ? value.clone() : value * 2;
    };
    auto const edits = [](Tensor const& value) { return Tensor{value}.mul_(2); };
    Tensor inference;
    {
        c10::InferenceMode const mode;
        inference = at::rand({4, 4});
    }
    std::vector<std::pair<std::string, Tensor>> const kinds{
        {"nested", nested({at::rand({2, 3}), at::rand({4, 3})})},
        {"nested, transposed", nested({at::rand({2, 3}), at::rand({4, 3})}).transpose(1, 2)},
        {"COO", dense.to_sparse()},
        {"not coalesced", at::sparse_coo_tensor(at::zeros({1, 3}, at::kLong), at::rand({3, 2}))},
        {"CSR", dense.to_sparse_csr()},
        {"CSC", dense.to_sparse_csc()},
        {"BSR", dense.to_sparse_bsr({2, 2})},
        {"quantized", at::quantize_per_tensor(dense, 0.1, 0, at::kQInt8)},
        {"conjugated", at::rand({3}, at::kComplexFloat).conj()},
        {"zero", at::_efficientzerotensor({2, 2})},
        {"inference", inference},
        {"empty", at::empty({0, 3})}};
    for (auto const& [name, tensor] : kinds) {
        INFO(name);
        Holds model{twice};
        check_replay(model, tensor, false);
        // LibTorch refuses to edit these
        auto const fixed = name == "zero" || name == "inference" || hardly_supported(tensor);
        if (!fixed && name != "nested, transposed") {
            INFO("edited in place");
            Holds editing{edits};
            auto captured = cb::provide(editing, at::rand({2, 3}), tensor).capture({});
            captured->for_each([](std::size_t, auto&) {});
            CHECK(captured->nodes()[2].state == cb::status::ok);
            CHECK(captured->put_back().verified);
        }
        if (!fixed) {
            INFO("with gradients");
            check_replay(model, tensor.detach().clone().requires_grad_(true), true);
        }
    }
}

TEST_CASE("calls on sparse and nested tensors of other sizes inside are measured apart",
          "[capture]") {
    struct Thrice : nn::Module {
        std::shared_ptr<Takes> child = register_module("child", std::make_shared<Takes>());
        std::vector<Tensor> given;
        Tensor forward(Tensor const& x) {
            CB_FORWARD(x);
            for (auto const& one : given)
                static_cast<void>(child->forward(one, {}, {}));
            return x;
        }
    };
    auto const groups = [](std::vector<Tensor> given) {
        Thrice model;
        model.child->work = [](Tensor const& value) { return value * 2; };
        model.given = std::move(given);
        std::size_t count = 0;
        auto captured = cb::provide(model, at::rand({2})).capture({});
        visit(*captured, "child", [&](auto& one) { count = one.calls().size(); });
        return count;
    };
    auto const few = at::eye(4).to_sparse();
    auto const many = at::ones({4, 4}).to_sparse();
    CHECK(groups({few, many, few * 3}) == 2);
    CHECK(groups({few.to_sparse_csr(), many.to_sparse_csr(), few.to_dense()}) == 3);
    CHECK(groups({nested({at::rand({2, 3})}), nested({at::rand({4, 3})}),
                  nested({at::rand({2, 3})})}) == 2);
}

TEST_CASE("calls that differ in which tensors are undefined are measured apart", "[capture]") {
    struct Lists : nn::Module {
        std::shared_ptr<Takes> child = register_module("child", std::make_shared<Takes>());
        Tensor forward(Tensor const& x) {
            CB_FORWARD(x);
            for (auto const& list :
                 {std::vector<Tensor>{x, Tensor{}}, std::vector<Tensor>{Tensor{}, x},
                  std::vector<Tensor>{x, Tensor{}}})
                static_cast<void>(child->forward(x, std::nullopt, list));
            return child->forward(x, Tensor{x}, {}).first;
        }
    };
    Lists model;
    model.child->work = [](Tensor const& value) { return value * 2; };
    auto captured = cb::provide(model, at::rand({2})).capture({});
    visit(*captured, "child", [](auto& one) {
        REQUIRE(one.calls().size() == 3);
        CHECK(one.calls()[0].count() == 2);
    });
}

namespace {
/// Parameters and buffers of every kind, which its forward edits where that is possible.
struct Stores : nn::Module {
    nn::Linear linear = register_module("linear", nn::Linear(3, 3));
    Tensor coo = register_buffer("coo", at::eye(3).to_sparse());
    Tensor csr = register_buffer("csr", at::eye(3).to_sparse_csr());
    Tensor jagged = register_buffer("jagged", nested({at::ones({2, 3}), at::ones({1, 3})}));
    Tensor undefined = register_buffer("undefined", Tensor{});
    Tensor mask = register_parameter("mask", at::eye(3).to_sparse());
    Tensor conjugated = register_buffer("conjugated", at::rand({3}, at::kComplexFloat).conj());
    Tensor frozen;
    Tensor past = at::eye(3).to_sparse();
    CB_STATE(past);
    Stores() {
        c10::InferenceMode const mode;
        frozen = register_buffer("frozen", at::rand({3, 3}));
    }
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        c10::AutoGradMode const no_grad{false};
        coo.mul_(2);
        csr.mul_(2);
        jagged.mul_(2);
        conjugated.mul_(2);
        past.mul_(2);
        {
            c10::InferenceMode const mode;
            frozen.mul_(2);
        }
        c10::AutoGradMode const grad{true};
        return linear(at::mm(coo.to_dense(), x) + csr.to_dense() + past.to_dense() +
                      jagged.values().sum() + frozen + at::real(conjugated).sum()) +
               at::mm(mask, x);
    }
};
struct Wraps : nn::Module {
    std::shared_ptr<Stores> child = register_module("child", std::make_shared<Stores>());
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        return child->forward(child->forward(x));
    }
};
}  // namespace

TEST_CASE("buffers and parameters of every kind are put back, and found as they were",
          "[capture]") {
    auto const train = [](bool profiled) {
        torch::manual_seed(1);
        Wraps model;
        auto const x = at::rand({3, 3});
        if (profiled) {
            auto const report =
                quick().run(cb::provide(model, x).loss([](Tensor const& y) { return y.sum(); }));
            auto const& unchanged = report.document().facts.unchanged;
            CHECK(unchanged.verified);
            CHECK(unchanged.compared.at(1) == "5 buffers");
            CHECK(unchanged.not_compared == std::vector<std::string>{"undeclared state"});
            CHECK(report["child"].state() == cb::status::ok);
            CHECK(report["child"].get<cb::latency>().latency_bwd_ms.has_value());
            CHECK(report["child"].get<cb::model_size>().model_size_mb.has_value());
        }
        auto y = model.forward(x);
        y.sum().backward();
        return std::vector<Tensor>{y.detach(),
                                   model.child->coo,
                                   model.child->csr,
                                   model.child->jagged,
                                   model.child->frozen,
                                   model.child->past,
                                   model.child->mask.grad(),
                                   model.child->linear->weight.grad()};
    };
    auto const plain = train(false);
    auto const profiled = train(true);
    for (std::size_t index = 0; index < plain.size(); ++index) {
        INFO(index);
        CHECK(same_bytes(plain[index], profiled[index]));
    }

    torch::manual_seed(1);
    Wraps model;
    auto const x = at::rand({3, 3});
    auto captured = cb::provide(model, x).capture({});
    auto const second = model.forward(x).detach();
    visit(*captured, "child", [&](auto& one) {
        auto replay = one.calls().back().replay();
        replay.prepare();
        replay.forward();
        CHECK(same_bytes(replay.outputs()[0], second));
    });
}

namespace {
struct Pair : nn::Module {
    Tensor forward(Tensor left, Tensor right) {
        CB_FORWARD(left, right);
        CHECK(left.is_alias_of(right));
        CHECK(left.storage_offset() == 8);
        CHECK(left.strides() == at::IntArrayRef{16, 1});
        return left.mul_(2) + right;
    }
};
struct Narrows : nn::Module {
    std::shared_ptr<Pair> child = register_module("child", std::make_shared<Pair>());
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        auto const y = x.clone();
        return child->forward(y.narrow(1, 8, 8), y.narrow(1, 8, 8));
    }
};
}  // namespace

TEST_CASE("two views of one tensor are so at a replay, in inference mode too", "[capture]") {
    for (bool const inferring : {false, true}) {
        INFO(inferring);
        c10::InferenceMode const mode{inferring};
        Narrows model;
        auto const x = at::rand({2, 16});
        auto const expected = model.forward(x).clone();
        auto captured = cb::provide(model, x).capture({});
        visit(*captured, "child", [&](auto& one) {
            auto replay = one.calls().at(0).replay();
            for (int repetition = 0; repetition < 3; ++repetition) {
                replay.prepare();
                replay.forward();
                CHECK(same_bytes(replay.outputs()[0], expected));
            }
        });
    }
}

TEST_CASE("layouts that cannot be looked into are carried, and said not to be compared",
          "[capture]") {
    for (auto const& other : {at::rand({2, 3}).to_mkldnn(), at::empty({2, 3}, at::kMeta)}) {
        INFO(other.toString());
        Holds model{[](Tensor const& value) { return value.clone(); }};
        auto const x = at::rand({2, 3});
        auto const report = quick().run(cb::provide(model, x, other));
        CHECK(report["child"].state() == cb::status::ok);
        CHECK(report["child"].get<cb::latency>().latency_ms.has_value());
        auto const& unchanged = report.document().facts.unchanged;
        CHECK(unchanged.verified);
        CHECK(std::count(unchanged.not_compared.begin(), unchanged.not_compared.end(),
                         "argument 2 (its layout cannot be looked into)") == other.is_mkldnn());
    }
}
