// Which components are measured, recorded or left out, by the filters of a run's options.
#include "support/catch2.hpp"
#include <component_benchmark/component_benchmark.hpp>

#include <torch/torch.h>

#include <string>
#include <utility>
#include <vector>

namespace cb = component_benchmark;
namespace nn = torch::nn;
using at::Tensor;

namespace {

using list = std::vector<std::string>;

struct BlockImpl : nn::Module {
    nn::Linear linear = register_module("linear", nn::Linear(4, 4));
    nn::Dropout dropout = register_module("dropout", nn::Dropout(0.5));
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        return dropout(linear(x));
    }
};
TORCH_MODULE(Block);

struct InnerImpl : nn::SequentialImpl {
    using SequentialImpl::SequentialImpl;
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        return SequentialImpl::forward(x);
    }
};
TORCH_MODULE(Inner);

/// `first` is called twice and registered again as `again`; the Sequential ends in `act`, which the
/// root has registered before.
struct NetImpl : nn::Module {
    nn::ReLU act = register_module("act", nn::ReLU());
    Block first = register_module("first", Block());
    Block second = register_module("second", Block());
    nn::Sequential head = register_module("head", nn::Sequential());
    nn::ModuleDict rest = register_module("rest", nn::ModuleDict());
    NetImpl() {
        register_module("again", first);
        head->push_back(nn::Linear(4, 8));
        head->push_back(Inner(nn::BatchNorm1d(8), nn::Linear(8, 2)));
        head->push_back(act);
        rest->register_module("unused", nn::Linear(2, 2));
    }
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        return head->forward(second(first(first(x))));
    }
};
TORCH_MODULE(Net);

struct selected {
    list measured;
    list warnings;
    std::vector<cb::node> nodes;
};

selected select(cb::options const& wishes) {
    Net net;
    auto const x = at::rand({3, 4});
    auto captured =
        cb::provide(net, x).loss([](Tensor const& y) { return y.sum(); }).capture(wishes);
    selected found;
    found.warnings = captured->environment().warnings;
    captured->for_each([&](std::size_t row, auto& one) {
        found.measured.push_back(one.path());
        auto const& facts = captured->nodes()[row];
        INFO(one.path() << ": " << facts.reason);
        CHECK((facts.calls == 0 || facts.state == cb::status::ok));
    });
    found.nodes = captured->nodes();
    CHECK(captured->put_back().verified);
    return found;
}

list measured(cb::options const& wishes) {
    auto found = select(wishes);
    CHECK(found.warnings == list{});
    return std::move(found.measured);
}

cb::node const& row(std::vector<cb::node> const& nodes, std::string const& path) {
    for (auto const& one : nodes)
        if (one.path == path)
            return one;
    FAIL("no row " << path);
    throw std::logic_error{"unreachable"};
}

}  // namespace

TEST_CASE("each field of a filter chooses components", "[capture]") {
    CHECK(measured({.include = {{.path = "first.**"}}}) == list{"first.linear", "first.dropout"});
    CHECK(measured({.include = {{.path = "first"}, {.path = "second"}}}) ==
          list{"first", "second"});
    CHECK(measured({.include = {{.path = ""}}}) == list{""});
    CHECK(measured({.include = {{.type = "Linear"}}, .exclude = {{.path = "rest.**"}}}) ==
          list{"first.linear", "second.linear", "head.0", "head.1.1"});
    CHECK(measured({.include = {{.type = "*Norm*"}}}) == list{"head.1.0"});
    CHECK(measured({.include = {{.min_depth = 2, .max_depth = 2}}, .exclude = {{.type = "L*"}}}) ==
          list{"first.dropout", "second.dropout", "head.1"});
    CHECK(measured({.include = {{.min_calls = 2}}}) ==
          list{"first", "first.linear", "first.dropout"});
    CHECK(measured({.include = {{.max_calls = 0}}}) == list{"rest", "rest.unused"});
    CHECK(measured({.include = {{.min_parameters = 41}}}) == list{"", "head"});
    CHECK(measured({.include = {{.path = "head.**", .max_parameters = 18}}}) ==
          list{"head.1.0", "head.1.1"});
    CHECK(measured({.depth = 1, .include = {{.type = "Block"}, {.type = "Linear"}}}) ==
          list{"first", "second"});
    CHECK(measured({.exclude = {{.min_depth = 1}}}) == list{""});
    CHECK(measured({.exclude = {{.path = "**.dropout"},
                                {.type = "Linear"},
                                {.path = "first", .min_calls = 2},
                                {.path = "*", .max_calls = 0}}}) ==
          list{"", "act", "second", "head", "head.1", "head.1.0"});
}

TEST_CASE("what is left out stays a row with its calls", "[capture]") {
    auto const found = select({.include = {{.path = "second.*"}}, .exclude = {{.type = "Linear"}}});
    CHECK(found.measured == list{"second.dropout"});
    CHECK(found.nodes.size() == 17);
    CHECK(row(found.nodes, "second.dropout").state == cb::status::ok);
    for (auto const* path : {"", "act", "first", "second", "second.linear", "rest.unused", "again"})
        CHECK(row(found.nodes, path).state == cb::status::filtered);
    CHECK(row(found.nodes, "first").calls == 2);
    CHECK(row(found.nodes, "second.linear").calls == 1);
    CHECK(row(found.nodes, "second.linear").in_shapes.empty());  // nothing is stored for it
    CHECK(row(found.nodes, "second.linear").reason.empty());
}

TEST_CASE("a Sequential is measured without its children", "[capture]") {
    // `act` is recorded for it, which lies elsewhere
    auto const found = select({.include = {{.path = "head"}}});
    CHECK(found.measured == list{"head"});
    CHECK(row(found.nodes, "head").calls == 1);
    CHECK(row(found.nodes, "head.1").calls == 1);
    CHECK(row(found.nodes, "head.1").state == cb::status::filtered);
    CHECK(row(found.nodes, "head.0").in_shapes == "[3, 4]");
    CHECK(row(found.nodes, "first").in_shapes.empty());
    CHECK(row(found.nodes, "head.1.0").in_shapes.empty());
    CHECK(measured({.include = {{.type = "Sequential", .min_calls = 1}}}) == list{"head"});
}

TEST_CASE("an alias is left out with the component it stands for", "[capture]") {
    auto const found = select({.exclude = {{.path = "first"}}});
    CHECK(row(found.nodes, "again").state == cb::status::filtered);
    CHECK(row(found.nodes, "head.2").state != cb::status::filtered);
}

TEST_CASE("a filter that fits nothing is a warning", "[capture]") {
    CHECK(select({.include = {{.path = "foo.*"}, {.path = "head"}}}).warnings ==
          list{"the include filter path=\"foo.*\" fits no component"});
    CHECK(select({.exclude = {{.type = "Dropuot"}, {.type = "Linear", .min_calls = 3}}}).warnings ==
          list{"the exclude filter type=\"Dropuot\" fits no component",
               "the exclude filter type=\"Linear\" min_calls=3 fits no component"});
    CHECK(select({.exclude = {{.path = "again"}}}).warnings ==
          list{"the exclude filter path=\"again\" fits no component; 'again' is measured as "
               "'first'"});
    // what lies too deep or is left out anyway is there
    CHECK(select({.depth = 1, .exclude = {{.type = "Dropout"}, {.path = "**.dropout"}}})
              .warnings.empty());
}

TEST_CASE("where nothing is left to be measured, a sentence says so", "[capture]") {
    Net net;
    auto const x = at::rand({3, 4});
    auto const capture = [&](cb::options const& wishes) {
        static_cast<void>(cb::provide(net, x).capture(wishes));
    };
    CHECK_THROWS_WITH(
        capture({.include = {{.path = "foo"}}}),
        "component_benchmark: no component of Net is left to be measured: include path=\"foo\"");
    CHECK_THROWS_WITH(
        capture({.depth = 1, .include = {{.path = "first.linear"}}}),
        "component_benchmark: no component of Net is left to be measured: depth 1, include "
        "path=\"first.linear\"");
    CHECK_THROWS_WITH(
        capture({.include = {{.type = "Linear", .min_calls = 3}}, .exclude = {{.path = "rest"}}}),
        "component_benchmark: no component of Net is left to be measured: include type=\"Linear\" "
        "min_calls=3, exclude path=\"rest\"");
    CHECK_THROWS_WITH(
        capture({.exclude = {{}}}),
        Catch::Matchers::StartsWith("component_benchmark: a filter in options.exclude is empty"));
    CHECK(cb::hook::current == nullptr);
    CHECK_NOTHROW(capture({}));
}

TEST_CASE("a report tells its filters, and shows what is left", "[capture]") {
    Net net;
    auto const x = at::rand({3, 4});
    auto pipeline = cb::pipeline{
        cb::preprocessors{},
        cb::profilers{cb::model_size{}, cb::latency{.warmup = 1, .samples = 2}}, cb::sinks{},
        cb::options{.include = {{.path = "first.*"}, {.type = "Block"}, {.path = "typo"}},
                    .exclude = {{.type = "Dropout"}}}};
    auto const report = pipeline.run(cb::provide(net, x));
    CHECK(report["first"].get<cb::latency>().self_ms.has_value());
    CHECK(report["first"].get<cb::model_size>().params.value() == 20);
    CHECK_FALSE(report[""].get<cb::latency>().latency_ms.has_value());
    CHECK_FALSE(report[""].get<cb::model_size>().params.has_value());
    auto const table = cb::to_table(report.document(), 100);
    using Catch::Matchers::ContainsSubstring;
    CHECK_THAT(table, ContainsSubstring("13 rows filtered"));
    CHECK_THAT(table, ContainsSubstring("warning: the include filter path=\"typo\" fits no "));
    auto const json = cb::to_json(report.document());
    CHECK_THAT(
        json, ContainsSubstring(R"("include": "path=\"first.*\"; type=\"Block\"; path=\"typo\"")"));
    CHECK_THAT(json, ContainsSubstring(R"("exclude": "type=\"Dropout\"")"));
}
