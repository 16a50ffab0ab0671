// Regions: functional code with a row of its own.
#include "support/catch2.hpp"
#include "support/quick.hpp"
#include <component_benchmark/component_benchmark.hpp>

#include <torch/torch.h>

#include <string>
#include <vector>

namespace cb = component_benchmark;
namespace nn = torch::nn;
using at::Tensor;

namespace {

Tensor doubled(Tensor const& x) {
    return x * 2;
}

struct Interacts : nn::Module {
    nn::Linear left = register_module("left", nn::Linear(4, 4));
    nn::Linear right = register_module("right", nn::Linear(4, 4));
    bool twice = false;

    Tensor cross(Tensor const& a, Tensor const& b) {
        return cb::region(
            "product", [](Tensor const& x, Tensor const& y) { return x * y; }, a, b);
    }

    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        auto y = cb::region("cross", &Interacts::cross, this, left(x), x);
        y = cb::region(
            "mix", [](Interacts& self, Tensor const& value) { return self.right(value); }, *this,
            y);
        auto const scale = 3.0;
        y = cb::region(
            "held", [&](Tensor const& value) { return value * scale; }, y);
        y = cb::region("doubled", doubled, y);
        return twice ? cb::region("doubled", doubled, y) : y;
    }
};

std::vector<std::string> paths(cb::document const& report) {
    std::vector<std::string> found;
    for (auto const& node : report.nodes)
        found.push_back(node.path);
    return found;
}

}  // namespace

TEST_CASE("a region is a row of its own, below the module whose forward has it", "[capture]") {
    torch::manual_seed(1);
    Interacts model;
    model.twice = true;
    auto const x = at::rand({3, 4});
    auto const expected = model.forward(x);
    auto const report = quick().run(cb::provide(model, x).loss(sum_of));
    CHECK(paths(report.document()) == std::vector<std::string>{"", "left", "right", "cross",
                                                               "cross.product", "mix", "held",
                                                               "doubled"});
    CHECK(report["cross"].facts().type == "region");
    CHECK(report["cross.product"].facts().depth == 2);
    CHECK(report["doubled"].calls() == 2);
    CHECK(report["cross"].in_shapes() == "[3, 4], [3, 4]");
    for (auto const* path : {"cross", "cross.product", "mix", "doubled", "left", ""}) {
        INFO(path);
        CHECK(report[path].state() == cb::status::ok);
        CHECK(report[path].get<cb::latency>().latency_ms.has_value());
        CHECK(report[path].get<cb::latency>().latency_bwd_ms.has_value());
    }
    CHECK(report["mix"].get<cb::model_size>().params.value() == 0);
    CHECK(report["held"].state() == cb::status::opaque);
    CHECK(report["held"].reason() ==
          "the region's function holds variables of the forward; give them to cb::region as "
          "arguments");
    CHECK(report.document().facts.unchanged.verified);
    CHECK(torch::equal(model.forward(x), expected));
}

TEST_CASE("the calls below a region are its own", "[capture]") {
    Interacts model;
    auto captured = cb::provide(model, at::rand({3, 4})).capture({});
    auto const calls = captured->calls();
    auto const nodes = captured->nodes();
    for (auto const& call : calls)
        if (nodes[call.row].path == "right")
            CHECK(nodes[calls[static_cast<std::size_t>(call.parent_call)].row].path == "mix");
}

TEST_CASE("a region replays to what its call gave, with gradients", "[capture]") {
    Interacts model;
    auto const x = at::rand({3, 4});
    auto const expected = model.left(x) * x;
    auto captured = cb::provide(model, x).loss(sum_of).capture({});
    bool found = false;
    captured->for_each([&](std::size_t, auto& one) {
        if (one.path() != "cross")
            return;
        found = true;
        auto replay = one.calls().at(0).replay();
        replay.prepare();
        replay.forward();
        CHECK(torch::equal(replay.outputs()[0].detach(), expected.detach()));
        REQUIRE(replay.prepare_backward());
        replay.backward();
        CHECK(replay.gradients()[0].defined());
    });
    CHECK(found);
}

TEST_CASE("outside of a profile a region is the plain call", "[capture]") {
    auto const x = at::rand({2});
    CHECK(torch::equal(cb::region("twice", doubled, x), x * 2));
    int count = 0;
    cb::region("none", [&] { ++count; });
    auto& same = cb::region("reference", [&]() -> int& { return count; });
    CHECK(&same == &count);
    CHECK(count == 1);
}

namespace {
struct Clashes : nn::Module {
    nn::Linear left = register_module("left", nn::Linear(4, 4));
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        return cb::region("left", doubled, left(x));
    }
};
}  // namespace

TEST_CASE("a region with the name of a submodule is refused by name", "[capture]") {
    Clashes model;
    CHECK_THROWS_WITH(quick().run(cb::provide(model, at::rand({2, 4}))),
                      Catch::Matchers::ContainsSubstring(
                          "the region 'left' in Clashes has the name of a submodule"));
    CHECK(cb::hook::current == nullptr);
}

namespace {
struct Encodes : nn::Module {
    nn::Linear linear = register_module("linear", nn::Linear(4, 4));
    Tensor encode(Tensor const& x) {
        CB_CALL(encode, x);
        return linear(x);
    }
    Tensor forward(Tensor x) {
        CB_FORWARD(x);
        for (int step = 0; step < 4; ++step)
            x = cb::region("step", &Encodes::encode, this, x);
        return cb::region("pick", step_of(x), x);
    }
    static Tensor halved(Tensor const& x) { return x / 2; }
    static Tensor (*step_of(Tensor const& x))(Tensor const&) {
        return x.numel() > 0 ? halved : doubled;
    }
};
}  // namespace

TEST_CASE("hooked methods inside a region are its calls, and equal regions are measured once",
          "[capture]") {
    Encodes model;
    auto captured = cb::provide(model, at::rand({2, 4})).loss(sum_of).capture({});
    auto const nodes = captured->nodes();
    int encodes = 0;
    for (auto const calls = captured->calls(); auto const& call : calls)
        if (nodes[call.row].path.empty() && call.parent_call != cb::node::none)
            ++encodes;
    CHECK(encodes == 4);
    captured->for_each([](std::size_t, auto& one) {
        if (one.path() == "step") {
            REQUIRE(one.calls().size() <= 2);  // the first one's input needs no gradient
            CHECK(one.calls().back().count() == 3);
        }
    });
}

namespace {
struct Hidden : nn::Module {
    nn::Linear free{4, 4};
    CB_COMPONENTS(free);
    Tensor apply(Tensor const& x) { return free(x); }
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        return cb::region("apply", &Hidden::apply, this, x);
    }
};
}  // namespace

TEST_CASE("the backward of a region reaches declared members", "[capture]") {
    Hidden model;
    auto const report = quick().run(cb::provide(model, at::rand({2, 4})).loss(sum_of));
    CHECK(report["apply"].get<cb::latency>().latency_bwd_ms.has_value());
}
