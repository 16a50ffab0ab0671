// Identical components are measured once, where that is asked for.
#include "support/catch2.hpp"
#include "support/quick.hpp"
#include <component_benchmark/component_benchmark.hpp>

#include <torch/torch.h>

#include <string>

namespace cb = component_benchmark;
namespace nn = torch::nn;
using at::Tensor;

namespace {

struct BlockImpl : nn::Module {
    explicit BlockImpl(double drop = 0.0)
        : dropout{register_module("dropout", nn::Dropout(drop))} {}
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        return dropout(second(at::relu(first(x))));
    }
    nn::Linear first = register_module("first", nn::Linear(8, 16));
    nn::Linear second = register_module("second", nn::Linear(16, 8));
    nn::Dropout dropout;
};
TORCH_MODULE(Block);

/// As Block, and its forward does more.
struct OtherImpl : nn::Module {
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        return twice ? linear(linear(x)) : linear(x);
    }
    nn::Linear linear = register_module("linear", nn::Linear(8, 8));
    bool twice = false;
};
TORCH_MODULE(Other);

struct ModelImpl : nn::Module {
    ModelImpl() {
        twice->twice = true;
        frozen->first->weight.set_requires_grad(false);
        evaluated->eval();
        for (auto const* name : {"a", "b", "c"})
            blocks->push_back(register_module(name, Block()));
    }
    Tensor forward(Tensor const& x, Tensor const& ids) {
        CB_FORWARD(x, ids);
        auto y = x + table(ids) + same_table(ids);
        for (auto const& block : *blocks)
            y = block->as<Block>()->forward(y);
        y = frozen(evaluated(dropping(y)));
        return other(twice(y)) + half(x.narrow(0, 0, 2)).sum();
    }
    nn::Embedding table = register_module("table", nn::Embedding(10, 8));
    nn::Embedding same_table = register_module("same_table", nn::Embedding(10, 8));
    nn::ModuleList blocks;
    Block dropping = register_module("dropping", Block(0.5));
    Block evaluated = register_module("evaluated", Block());
    Block frozen = register_module("frozen", Block());
    Block half = register_module("half", Block());
    Other other = register_module("other", Other());
    Other twice = register_module("twice", Other());
};
TORCH_MODULE(Model);

Tensor sum_of_all(Tensor const& output) {
    return output.sum();
}

auto profile(bool reuse) {
    Model model;
    auto const x = at::rand({4, 8});
    auto const ids = at::arange(4);
    cb::pipeline pipeline{
        cb::preprocessors{},
        cb::profilers{cb::model_size{}, cb::latency{.warmup = 1, .samples = 6, .target_pct = 0},
                      cb::flops{}, cb::in_context{}},
        cb::sinks{}, cb::options{.reuse_identical = reuse}};
    return pipeline.run(cb::provide(model, x, ids).loss(sum_of_all));
}

}  // namespace

TEST_CASE("identical components are measured once, and say so", "[identical]") {
    auto const report = profile(true);
    for (auto const* path : {"b", "c", "b.first", "c.second"}) {
        INFO(path);
        CHECK(report[path].state() == cb::status::reused);
        std::string const words = "reused from ";
        REQUIRE(report[path].reason().substr(0, words.size()) == words);
        auto const from = report[path].reason().substr(words.size());
        auto const mine = report[path].get<cb::latency>();
        auto const theirs = report[from].get<cb::latency>();
        CHECK(mine.latency_ms.value() == theirs.latency_ms.value());
        CHECK(mine.latency_bwd_ms.value() == theirs.latency_bwd_ms.value());
        CHECK(mine.latency_ms.from() == cb::origin::reused);
        CHECK(mine.total_ms.has_value());
        CHECK(report[path].get<cb::flops>().flops_fwd_bwd.value() ==
              report[from].get<cb::flops>().flops_fwd_bwd.value());
        // what is of the place is of the place
        CHECK(report[path].get<cb::in_context>().in_context_ms.from() == cb::origin::measured);
    }
    auto const* latency = report.document().find("latency_ms");
    for (std::size_t call = 0; call < latency->calls.size(); ++call)
        if (report.document().nodes[report.document().calls[call].row].path == "b")
            CHECK(latency->calls[call].from == cb::origin::reused);
    CHECK(report["b"].reason() == "reused from a");
    CHECK(report["b.first"].reason() == "reused from dropping.first");
    // shapes, weights, modes, operators and gathers tell components apart
    for (auto const* path : {"a", "dropping", "evaluated", "frozen", "half", "table", "same_table",
                             "other", "twice", ""}) {
        INFO(path);
        CHECK(report[path].state() == cb::status::ok);
        CHECK(report[path].reason().find("reused") == std::string::npos);
    }
    CHECK(report.document().facts.unchanged.verified);
}

TEST_CASE("nothing is reused where that is not asked for", "[identical]") {
    auto const report = profile(false);
    for (auto const& row : report.document().nodes)
        CHECK(row.state != cb::status::reused);
}
