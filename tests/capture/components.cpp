// CB_COMPONENTS: members with their types, registered or not.
#include "support/catch2.hpp"
#include "support/quick.hpp"
#include <component_benchmark/component_benchmark.hpp>

#include <boost/hana/define_struct.hpp>

#include <torch/torch.h>

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cb = component_benchmark;
namespace nn = torch::nn;
using at::Tensor;

namespace {

class Tower : public nn::Module {
public:
    explicit Tower(int count) {
        for (int index = 0; index < count; ++index)
            layers_.push_back(register_module("fc" + std::to_string(index), nn::Linear(4, 4)));
    }
    Tensor forward(Tensor x) {
        CB_FORWARD(x);
        for (auto& layer : layers_)
            x = layer(x);
        return x;
    }

private:
    std::vector<nn::Linear> layers_;
    CB_COMPONENTS(layers_);
};

class Model : public nn::Module {
public:
    Model() {
        named_["a"] = register_module("named_a", nn::ReLU());
        pair_[1] = register_module("second", nn::Linear(4, 4));
        tied_ = pair_[1];
    }
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        auto const y = named_["a"](tower_->forward(x));
        return free_(tied_(pair_[1](y))) + (*maybe_)(y) + hidden_->forward(y);
    }
    /// Parameters that are registered nowhere.
    std::vector<Tensor> free_parameters() {
        auto found = free_->parameters();
        for (auto const& more : hidden_->parameters())
            found.push_back(more);
        return found;
    }

private:
    std::shared_ptr<Tower> tower_ = register_module("towers", std::make_shared<Tower>(2));
    std::map<std::string, nn::ReLU> named_;
    std::array<nn::Linear, 2> pair_{nullptr, nullptr};
    nn::Linear tied_ = nullptr;
    nn::Linear free_{4, 4};  // a member that nobody registered
    std::optional<nn::Linear> maybe_ = nn::Linear(4, 4);
    std::unique_ptr<Tower> hidden_ = std::make_unique<Tower>(1);
    std::shared_ptr<Tower> null_;
    CB_COMPONENTS(tower_, named_, pair_, tied_, free_, maybe_, hidden_, null_);
};

/// Counts weights of what it knows to be a Linear, by overload.
struct weights {
    static constexpr char const* name = "weights";
    struct result {
        BOOST_HANA_DEFINE_STRUCT(result, (cb::metric<cb::count>, linear_weights));
    };
    static std::int64_t count(nn::LinearImpl const& linear) { return linear.weight.numel(); }
    static std::int64_t count(Tower const&) { return -1; }
    static std::int64_t count(nn::Module const&) { return 0; }

    template<class Component>
    result profile(Component& component) const {
        if constexpr (requires { component.module(); })
            return {count(component.module())};
        else
            return {};
    }
};

}  // namespace

TEST_CASE("declared members come with their own types, at their registered paths", "[capture]") {
    Model model;
    auto pipeline = cb::pipeline{
        cb::preprocessors{},
        cb::profilers{weights{}, cb::model_size{}, cb::latency{.warmup = 1, .samples = 2}},
        cb::sinks{}};
    auto const report = pipeline.run(cb::provide(model, at::rand({2, 4})).loss(sum_of));
    std::vector<std::string> paths;
    for (auto const& node : report.document().nodes)
        paths.push_back(node.path);
    CHECK(paths == std::vector<std::string>{"", "towers", "towers.fc0", "towers.fc1", "named_a",
                                            "second", "free_", "maybe_", "hidden_", "hidden_.fc0"});
    CHECK(report["towers.fc1"].get<weights>().linear_weights.value() == 16);
    CHECK(report["towers"].get<weights>().linear_weights.value() == -1);
    CHECK(report["second"].get<weights>().linear_weights.value() == 16);
    CHECK(report["second"].calls() == 2);
    CHECK(report["free_"].get<weights>().linear_weights.value() == 16);
    CHECK(report["named_a"].get<weights>().linear_weights.value() == 0);
    for (auto const* path : {"", "towers", "free_", "maybe_", "hidden_", "hidden_.fc0"}) {
        INFO(path);
        CHECK(report[path].state() == cb::status::ok);
        CHECK(report[path].get<cb::latency>().latency_bwd_ms.has_value());
    }
    CHECK(report["hidden_"].get<cb::model_size>().params.value() == 20);
    CHECK(report[""].get<cb::model_size>().params.value() == 6 * 20);
    CHECK(report.document().facts.warnings.empty());
    CHECK(report.document().facts.unchanged.verified);
}

TEST_CASE("gradients and values of unregistered members are put back", "[capture]") {
    Model model;
    auto const x = at::rand({2, 4});
    model.forward(x).sum().backward();
    std::vector<Tensor> values;
    std::vector<Tensor> gradients;
    for (auto const& parameter : model.free_parameters()) {
        values.push_back(parameter.detach().clone());
        gradients.push_back(parameter.grad());
    }
    auto captured = cb::provide(model, x).loss(sum_of).capture({});
    for (auto const& parameter : model.free_parameters())
        CHECK_FALSE(parameter.grad().defined());
    captured.reset();
    std::size_t index = 0;
    for (auto const& parameter : model.free_parameters()) {
        CHECK(torch::equal(parameter.detach(), values[index]));
        CHECK(parameter.grad().is_same(gradients[index++]));
    }
}

namespace {
struct CyclicImpl : nn::Module {
    nn::Linear linear = register_module("linear", nn::Linear(4, 4));
    CyclicImpl* up = nullptr;
    std::vector<std::shared_ptr<CyclicImpl>> below;
    CB_COMPONENTS(linear, up, below);
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        return below.empty() ? linear(x) : below[0]->forward(linear(x));
    }
};
}  // namespace

TEST_CASE("children that declare their parents are walked once", "[capture]") {
    CyclicImpl model;
    model.up = &model;
    model.below.push_back(model.register_module("below", std::make_shared<CyclicImpl>()));
    model.below[0]->up = &model;
    auto const captured = cb::provide(model, at::rand({2, 4})).capture({});
    std::vector<std::string> paths;
    for (auto const& node : captured->nodes())
        paths.push_back(node.path);
    CHECK(paths == std::vector<std::string>{"", "linear", "below", "below.linear"});
    CHECK(captured->nodes()[2].calls == 1);
}

namespace {
enum class kind { first, second };
struct HasHidden : nn::Module {
    nn::Linear hidden = nn::Linear(4, 4);
    nn::BatchNorm1d norm = nn::BatchNorm1d(4);
    std::map<kind, nn::Linear> by_kind{{kind::first, nn::Linear(4, 4)},
                                       {kind::second, nn::Linear(4, 4)}};
    CB_COMPONENTS(hidden, norm, by_kind);
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        return norm(hidden(x)) + by_kind.at(kind::first)(x) + by_kind.at(kind::second)(x);
    }
};
struct Holder : nn::Module {
    std::shared_ptr<HasHidden> inner;
    explicit Holder(std::shared_ptr<HasHidden> given) : inner{register_module("inner", given)} {}
    CB_COMPONENTS(inner);
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        return inner->forward(x);
    }
};
struct TwoHolders : nn::Module {
    std::shared_ptr<HasHidden> inner = std::make_shared<HasHidden>();
    std::shared_ptr<Holder> a = register_module("a", std::make_shared<Holder>(inner));
    std::shared_ptr<Holder> b = register_module("b", std::make_shared<Holder>(inner));
    CB_COMPONENTS(a, b);
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        return b->forward(a->forward(x));
    }
};
}  // namespace

TEST_CASE("members that are not registered belong to each holder of a shared module", "[capture]") {
    TwoHolders model;
    auto const report = quick().run(cb::provide(model, at::rand({3, 4})).loss(sum_of));
    CHECK(report["a"].get<cb::model_size>().params.value() == 3 * 20 + 8);
    CHECK(report["b"].get<cb::model_size>().params.value() == 3 * 20 + 8);
    CHECK(report["b"].reason().empty());
    CHECK(report["a.inner.by_kind[1]"].state() == cb::status::ok);
    CHECK(report.document().facts.unchanged.verified);
}
