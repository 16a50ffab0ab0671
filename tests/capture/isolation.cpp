// What a component gives alone is what it gave in the model, or the row says so.
#include "support/catch2.hpp"
#include "support/quick.hpp"
#include <component_benchmark/component_benchmark.hpp>

#include <torch/torch.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace cb = component_benchmark;
namespace nn = torch::nn;
using at::Tensor;
using Catch::Contains;

namespace {

/// State that nobody can find: a number that grows with each forward.
struct CountingImpl : nn::Module {
    explicit CountingImpl(double by) : by_{by} {}
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        count_ += by_;
        return x + count_;
    }
    double by_;
    double count_ = 0.0;
};
TORCH_MODULE(Counting);

struct MixedImpl : nn::Module {
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        auto y = dropout(linear(norm(x)));
        return relu(counting(y) * 1) + tiny(y);
    }
    nn::BatchNorm1d norm = register_module("norm", nn::BatchNorm1d(8));
    nn::Linear linear = register_module("linear", nn::Linear(8, 8));
    nn::Dropout dropout = register_module("dropout", nn::Dropout(0.5));
    nn::ReLU relu = register_module("relu", nn::ReLU(nn::ReLUOptions().inplace(true)));
    Counting counting = register_module("counting", Counting(3.0));
    Counting tiny = register_module("tiny", Counting(1e-9));  // rounding
};
TORCH_MODULE(Mixed);

}  // namespace

TEST_CASE("a component that gives other values alone is flagged with the largest difference",
          "[isolation]") {
    Mixed model;
    auto const x = at::rand({16, 8});
    auto const report = quick().run(cb::provide(model, x).loss(sum_of));
    CHECK_THAT(report["counting"].reason(),
               Contains("alone it gives other values than in the model: largest difference 18"));
    CHECK(report["counting"].state() == cb::status::ok);  // its time is none the worse
    CHECK(report["counting"].get<cb::latency>().latency_ms.has_value());
    for (auto const* same : {"norm", "linear", "dropout", "relu", "tiny"}) {
        INFO(same);
        CHECK(report[same].reason().empty());
    }
}

TEST_CASE("differences are exact but for rounding", "[isolation]") {
    using list = std::vector<Tensor>;
    auto const nan = std::numeric_limits<float>::quiet_NaN();
    auto const infinity = std::numeric_limits<float>::infinity();
    auto const a = at::tensor({1.0F, 100.0F, nan, infinity, -infinity});
    CHECK(cb::capture::difference_of(list{a}, list{a.clone()}).empty());
    CHECK(cb::capture::difference_of(list{a}, list{a + 1e-4}).empty());
    CHECK_THAT(cb::capture::difference_of(list{a}, list{a + 0.01}),
               Contains("largest difference 0.01, largest value 100"));
    CHECK_THAT(cb::capture::difference_of(list{a}, list{at::zeros({5})}),
               Contains("largest difference inf"));
    CHECK_THAT(cb::capture::difference_of(list{a}, list{a, a}), Contains("2 tensors, not 1"));
    CHECK_THAT(cb::capture::difference_of(list{a, a}, list{a, at::zeros({4})}),
               Contains("in output 1 shape or type differ"));
    CHECK_THAT(cb::capture::difference_of(list{a}, list{a.to(at::kDouble)}),
               Contains("shape or type differ"));
    auto const whole = at::arange(6);
    CHECK_THAT(cb::capture::difference_of(list{whole}, list{whole.clamp_max(3)}),
               Contains("2 of 6 values differ"));
    auto const half = at::ones({3}, at::kHalf);
    CHECK(cb::capture::difference_of(list{half}, list{half + 0.005}).empty());
    CHECK_FALSE(cb::capture::difference_of(list{half}, list{half + 0.05}).empty());
    CHECK(cb::capture::difference_of(list{Tensor{}}, list{Tensor{}}).empty());
    CHECK_FALSE(cb::capture::difference_of(list{Tensor{}}, list{a}).empty());
    CHECK(cb::capture::difference_of(list{at::zeros({0})}, list{at::zeros({0})}).empty());
}
