// Forwards that a backward runs again: they count for the hardware, and never for the model.
#include "support/catch2.hpp"
#include <component_benchmark/component_benchmark.hpp>
#include <component_benchmark/profile/backward_work.hpp>
#include <component_benchmark/profile/flop_counter.hpp>
#include <component_benchmark/profile/flop_result.hpp>
#include <component_benchmark/profile/forward_trace.hpp>
#include <component_benchmark/profile/op_observer.hpp>

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <thread>
#include <utility>
#include <vector>

namespace cb = component_benchmark;
namespace nn = torch::nn;
using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

namespace {

constexpr std::int64_t width = 16;
constexpr double product = 2.0 * 8 * width * width;  // FLOPs of 8 rows by a square of weights

/// A part of a model that can be run again.
struct part : nn::Module {
    virtual Tensor forward(Tensor const& x) = 0;
};

/// Keeps the input and nothing else: the backward runs the part again.
struct checkpoint : torch::autograd::Function<checkpoint> {
    static Tensor forward(AutogradContext* context, Tensor x, part* what) {
        context->save_for_backward({x});
        context->saved_data["part"] = reinterpret_cast<std::int64_t>(what);
        return what->forward(x);
    }
    static variable_list backward(AutogradContext* context, variable_list gradients) {
        auto* const what = reinterpret_cast<part*>(context->saved_data["part"].toInt());
        at::AutoGradMode const enabled{true};
        auto const x = context->get_saved_variables()[0].detach().requires_grad_(true);
        auto const y = what->forward(x);
        torch::autograd::backward({y}, {gradients[0]});
        return {x.grad(), Tensor{}};
    }
};

/// A product with a backward of its own.
struct own_product : torch::autograd::Function<own_product> {
    static Tensor forward(AutogradContext* context, Tensor const& x, Tensor const& weight) {
        context->save_for_backward({x, weight});
        return at::mm(x, weight);
    }
    static variable_list backward(AutogradContext* context, variable_list gradients) {
        auto const saved = context->get_saved_variables();
        return {at::mm(gradients[0], saved[1].t()), at::mm(saved[0].t(), gradients[0])};
    }
};

/// Two products of operators.
struct layers : part {
    nn::Linear up = register_module("up", nn::Linear{width, width});
    nn::Linear down = register_module("down", nn::Linear{width, width});
    Tensor forward(Tensor const& x) override {
        CB_FORWARD(x);
        return down(up(x).relu());
    }
};

/// Two products of a function, and no operator that makes a node of the graph.
struct functions : part {
    Tensor up = register_parameter("up", at::rand({width, width}));
    Tensor down = register_parameter("down", at::rand({width, width}));
    Tensor forward(Tensor const& x) override {
        CB_FORWARD(x);
        return own_product::apply(own_product::apply(x, up), down);
    }
};

/// A product that learns and one that does not, though its weight could.
struct half_frozen : part {
    nn::Linear learns = register_module("learns", nn::Linear{width, width});
    nn::Linear target = register_module("target", nn::Linear{width, width});
    Tensor forward(Tensor const& x) override {
        CB_FORWARD(x);
        auto const fixed = [&] {
            at::NoGradGuard const none;
            return target(x);
        };
        auto const y = learns(x);
        return y + fixed();
    }
};

/// The one that does not learn comes first.
struct teacher_first : part {
    nn::Linear teacher = register_module("teacher", nn::Linear{width, width});
    nn::Linear learns = register_module("learns", nn::Linear{width, width});
    Tensor forward(Tensor const& x) override {
        CB_FORWARD(x);
        auto const fixed = [&] {
            at::NoGradGuard const none;
            return teacher(x);
        };
        auto const known = fixed();
        return learns(x) * known;
    }
};

/// Products without weights between two that have some.
struct attention : part {
    nn::Linear in = register_module("in", nn::Linear{width, width});
    nn::Linear out = register_module("out", nn::Linear{width, width});
    Tensor forward(Tensor const& x) override {
        CB_FORWARD(x);
        auto const y = in(x);
        return out(at::mm(at::mm(y, y.t()).softmax(-1), y));
    }
};

/// Two products in bfloat16.
struct narrow : part {
    std::shared_ptr<layers> inside = register_module("inside", std::make_shared<layers>());
    Tensor forward(Tensor const& x) override {
        CB_FORWARD(x);
        at::autocast::set_autocast_enabled(at::kCPU, true);
        auto const y = inside->forward(x);
        at::autocast::clear_cache();
        at::autocast::set_autocast_enabled(at::kCPU, false);
        return y.to(at::kFloat);
    }
};

/// Checkpoints within, one after the other.
struct nested : part {
    std::shared_ptr<layers> first = register_module("first", std::make_shared<layers>());
    std::shared_ptr<layers> second = register_module("second", std::make_shared<layers>());
    bool again = true;
    Tensor forward(Tensor const& x) override {
        CB_FORWARD(x);
        if (!again)
            return second->forward(first->forward(x));
        return checkpoint::apply(checkpoint::apply(x, first.get()), second.get());
    }
};

struct model_impl : nn::Module {
    model_impl(std::shared_ptr<part> what, bool checkpoints)
        : block{register_module("block", std::move(what))}, again{checkpoints} {}
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        auto const y = stem(x);
        return head(again ? checkpoint::apply(y, block.get()) : block->forward(y));
    }
    nn::Linear stem = register_module("stem", nn::Linear{width, width});
    std::shared_ptr<part> block;
    nn::Linear head = register_module("head", nn::Linear{width, width});
    bool again;
};

auto profiled(std::shared_ptr<part> what, bool checkpoints) {
    model_impl model{std::move(what), checkpoints};
    auto pipeline =
        cb::pipeline{cb::preprocessors{},
                     cb::profilers{cb::latency{.warmup = 1, .samples = 3}, cb::flops{},
                                   cb::throughput{}, cb::mfu{}},
                     cb::sinks{}, cb::options{.peaks = {.tflops = {{"fp32", 2.0}, {"bf16", 2.0}}}}};
    return pipeline.run(
        cb::provide(model, at::rand({8, width})).loss([](Tensor const& y) { return y.sum(); }));
}

/// FLOPs that a share of the peak of 2 TFLOP/s is, so that the times do not matter.
template<class Row>
double flops_of(
    cb::metric<cb::utilization_percent, cb::aggregate::fwd_bwd_latency_weighted_mean> const& share,
    Row const& row) {
    return share.value() / 100.0 * 2e9 * row.template get<cb::latency>().latency_fwd_bwd_ms.value();
}

/// FLOPs of a backward, as a profiler counts them.
cb::flop_tally backward_of(Tensor const& result) {
    std::vector<cb::flop_formula> const none;
    cb::flop_counter counter{{}, none};
    counter.in_backward(true);
    {
        cb::op_watch const watch{counter};
        result.sum().backward();
    }
    return counter.take();
}

}  // namespace

TEST_CASE("HFU has what checkpoints run again, MFU and FLOPs are those of the model without them") {
    struct block_of_a_model {
        char const* what;
        std::function<std::shared_ptr<part>(bool)> make;
        double again;  ///< FLOPs
    };
    auto const any = []<class Part>(Part) {
        return [](bool) -> std::shared_ptr<part> { return std::make_shared<Part>(); };
    };
    auto const made_nested = [](bool checkpoints) {
        auto made = std::make_shared<nested>();
        made->again = checkpoints;
        return made;
    };
    for (auto const& block : {block_of_a_model{"operators", any(layers{}), 2 * product},
                              {"functions of the program", any(functions{}), 2 * product},
                              {"no gradients in its middle", any(half_frozen{}), 2 * product},
                              {"no gradients at its beginning", any(teacher_first{}), 2 * product},
                              {"products without weights", any(attention{}), 3 * product},
                              {"autocast", any(narrow{}), 2 * product},
                              {"checkpoints in a checkpoint", made_nested, 2 * 4 * product}}) {
        INFO(block.what);
        auto const plain = profiled(block.make(false), false);
        auto const checkpointed = profiled(block.make(true), true);
        auto const expected = plain[""].get<cb::flops>();
        auto const found = checkpointed[""].get<cb::flops>();
        CHECK(found.flops_fwd.value() == expected.flops_fwd.value());
        CHECK(found.flops_bwd.value() == expected.flops_bwd.value());
        CHECK(found.flops_fwd_bwd.value() == expected.flops_fwd_bwd.value());
        CHECK(found.flops_bwd.why() == "");
        auto const both = static_cast<double>(expected.flops_fwd_bwd.value());
        for (auto const* report : {&plain, &checkpointed}) {
            auto const row = (*report)[""];
            auto const share = row.get<cb::mfu>();
            auto const again = report == &plain ? 0.0 : block.again;
            CHECK(flops_of(share.mfu_fwd_bwd_pct, row) == Approx(both));
            CHECK(flops_of(share.hfu_pct, row) == Approx(both + again));
            CHECK((share.hfu_pct.value() > share.mfu_fwd_bwd_pct.value()) == (again > 0.0));
            CHECK(row.get<cb::throughput>().tflops_per_s_fwd_bwd.value() ==
                  Approx(share.mfu_fwd_bwd_pct.value() / 100.0 * 2.0));
        }
    }
}

TEST_CASE("what autocast narrows is narrow when it is run again") {
    narrow part_of_it;
    auto const x = at::rand({8, width}).requires_grad_(true);
    auto const found = backward_of(checkpoint::apply(x, &part_of_it));
    auto const bf16 = static_cast<std::size_t>(cb::number_format::bf16);
    CHECK(found.recomputed.total() == 2 * product);
    CHECK(found.recomputed.by_format[bf16] == 2 * product);
    CHECK(found.backward.by_format[bf16] == 4 * product);
}

TEST_CASE("a part that is called again within a backward has it in its HFU only") {
    auto const plain = profiled(std::make_shared<layers>(), false);
    auto const checkpointed = profiled(std::make_shared<layers>(), true);
    for (auto const* path : {"block", "block.up", "block.down"}) {
        INFO(path);
        auto const row = checkpointed[path];
        auto const found = row.get<cb::flops>();
        auto const expected = plain[path].get<cb::flops>();
        REQUIRE(row.calls() == 2);
        REQUIRE(plain[path].calls() == 1);
        // one call forward without a graph, one forward again and backward
        auto const both = static_cast<double>(expected.flops_fwd_bwd.value());
        CHECK(2 * found.flops_fwd_bwd.value() == expected.flops_fwd_bwd.value());
        CHECK(2 * found.flops_bwd.value() == expected.flops_bwd.value());
        CHECK(found.flops_fwd.value() == expected.flops_fwd.value());
        auto const share = row.get<cb::mfu>();
        CHECK(2 * flops_of(share.mfu_fwd_bwd_pct, row) == Approx(both));
        CHECK(2 * flops_of(share.hfu_pct, row) ==
              Approx(both + static_cast<double>(expected.flops_fwd.value())));
        CHECK(row.get<cb::throughput>().tflops_per_s.value() > 0.0);
    }
}

namespace {

/// In one backward: own work, then a part again, then own work.
struct mixed : torch::autograd::Function<mixed> {
    static Tensor forward(AutogradContext* context, Tensor x, part* what) {
        return checkpoint::forward(context, std::move(x), what);
    }
    static variable_list backward(AutogradContext* context, variable_list gradients) {
        auto const weight = at::rand({width, width});
        auto const before = at::mm(gradients[0], weight);
        auto result = checkpoint::backward(context, {before});
        return {at::mm(result[0], weight), Tensor{}};
    }
};

/// A backward that has a backward: another function, whose forward is the work of the first's
/// backward.
struct twice : torch::autograd::Function<twice> {
    static Tensor forward(AutogradContext* context, Tensor const& x, Tensor const& weight) {
        context->save_for_backward({x, weight});
        return at::mm(x, weight);
    }
    static variable_list backward(AutogradContext* context, variable_list gradients) {
        auto const saved = context->get_saved_variables();
        return {own_product::apply(gradients[0], saved[1]), Tensor{}};
    }
};

}  // namespace

TEST_CASE("a backward's own work around what it runs again is its own") {
    layers part_of_it;
    auto const x = at::rand({8, width}).requires_grad_(true);
    auto const around = backward_of(mixed::apply(x, &part_of_it));
    CHECK(around.backward.total() == (2 + 2 * 2) * product);
    CHECK(around.recomputed.total() == 2 * product);
    auto const weight = at::rand({width, width});
    auto const double_backward = backward_of(twice::apply(x, weight));
    CHECK(double_backward.backward.total() == product);
    CHECK(double_backward.recomputed.total() == 0.0);
}

namespace {

/// A part with a product behind it. The backward runs the part again, makes the gradients of its
/// own product and goes backward through the part.
struct with_a_head : torch::autograd::Function<with_a_head> {
    static Tensor forward(AutogradContext* context, Tensor x, Tensor weight, part* what) {
        context->save_for_backward({x, weight});
        context->saved_data["part"] = reinterpret_cast<std::int64_t>(what);
        return at::mm(what->forward(x), weight);
    }
    static variable_list backward(AutogradContext* context, variable_list gradients) {
        auto* const what = reinterpret_cast<part*>(context->saved_data["part"].toInt());
        auto const saved = context->get_saved_variables();
        auto const x = saved[0].detach().requires_grad_(true);
        auto const hidden = [&] {
            at::AutoGradMode const enabled{true};
            return what->forward(x);
        }();
        auto const of_weight = at::mm(hidden.detach().t(), gradients[0]);
        torch::autograd::backward({hidden}, {at::mm(gradients[0], saved[1].t())});
        return {x.grad(), of_weight, Tensor{}};
    }
};

/// The backward's own work, by a function, before it runs a part again.
struct own_work_first : torch::autograd::Function<own_work_first> {
    static Tensor forward(AutogradContext* context, Tensor x, Tensor weight, part* what) {
        context->saved_data["weight"] = weight;
        return checkpoint::forward(context, std::move(x), what);
    }
    static variable_list backward(AutogradContext* context, variable_list gradients) {
        auto const weight = context->saved_data["weight"].toTensor();
        auto const before = own_product::apply(gradients[0], weight);
        auto result = checkpoint::backward(context, {before});
        return {result[0], Tensor{}, Tensor{}};
    }
};

/// Its backward is a thread's work: new threads begin with gradients enabled.
struct by_a_thread : torch::autograd::Function<by_a_thread> {
    static Tensor forward(AutogradContext* context, Tensor const& x, Tensor const& weight) {
        return own_product::forward(context, x, weight);
    }
    static variable_list backward(AutogradContext* context, variable_list gradients) {
        variable_list result;
        std::thread{[&] { result = own_product::backward(context, gradients); }}.join();
        return result;
    }
};

/// A backward that runs a product with gradients enabled which the forward has not.
struct asks_more : torch::autograd::Function<asks_more> {
    static Tensor forward(AutogradContext* context, Tensor x, part* what) {
        return checkpoint::forward(context, std::move(x), what);
    }
    static variable_list backward(AutogradContext* context, variable_list gradients) {
        at::AutoGradMode const enabled{true};
        at::mm(gradients[0], at::rand({width, 3}));
        return checkpoint::backward(context, gradients);
    }
};

/// FLOPs of a backward, by a counter that saw its forward.
template<class Forward, class Backward>
cb::flop_tally tally_of_both(Forward forward, Backward backward) {
    std::vector<cb::flop_formula> const none;
    cb::flop_counter counter{{}, none};
    Tensor result;
    {
        cb::op_watch const watch{counter};
        result = forward();
    }
    counter.in_backward(true);
    {
        cb::op_watch const watch{counter};
        backward(result);
    }
    return counter.take();
}
void go_backward(Tensor const& result) {
    result.sum().backward();
}

}  // namespace

TEST_CASE("a backward's own products are told from a forward that it runs again") {
    layers inner;
    auto const x = at::rand({8, width}).requires_grad_(true);
    auto const weight = at::rand({width, width}).requires_grad_(true);
    auto const check = [](cb::flop_tally const& found, double own, double again) {
        CHECK(found.backward.total() == own * product);
        CHECK(found.recomputed.total() == again * product);
        CHECK(found.guessed_own == 0.0);
        CHECK(found.guessed_again == 0.0);
    };
    check(tally_of_both([&] { return with_a_head::apply(x, weight, &inner); }, go_backward), 6, 2);
    check(tally_of_both([&] { return own_work_first::apply(x, weight, &inner); }, go_backward), 5,
          2);
    check(tally_of_both([&] { return by_a_thread::apply(x, weight); }, go_backward), 2, 0);
    auto const with_graph = [&](Tensor const& y) {
        static_cast<void>(torch::autograd::grad({y}, {x, weight}, {}, true, true));
    };
    check(tally_of_both([&] { return at::mm(x, weight).pow(2).sum(); }, with_graph), 2, 0);
    check(tally_of_both([&] { return own_product::apply(x, weight).pow(2).sum(); }, with_graph), 2,
          0);
}

TEST_CASE("what is told by guess is said") {
    layers inner;
    auto const x = at::rand({8, width}).requires_grad_(true);
    auto const found = tally_of_both([&] { return asks_more::apply(x, &inner); }, go_backward);
    auto const more = 2.0 * 8 * width * 3;
    CHECK(found.recomputed.total() == 2 * product + more);
    CHECK(found.guessed_again == more);
    auto const row = cb::formulas::flops_of_calls({{1, {0}, found, {}, false}}, 2);
    CHECK(row.flops_bwd.why() == "told by guess: 768 FLOPs as run again");
    CHECK(row.flops_fwd_bwd.why() == row.flops_bwd.why());
    CHECK(row.flops_fwd.why() == "");
    auto beyond = found;
    beyond.forward.by_format[0] = 1e19;
    auto const most = cb::formulas::flops_of_calls({{1, {0}, beyond, {}, false}}, 2);
    CHECK(most.flops_fwd.why() == "more FLOPs than a number of 64 bits holds");
    CHECK_FALSE(most.flops_fwd_bwd.has_value());
    CHECK(cb::formulas::remark_on_guesses(5.0, 7.0) ==
          "told by guess: 5 FLOPs as the backward's own work, 7 FLOPs as run again");
}

TEST_CASE("a report has the metrics of a count, and no amounts that would be zeros") {
    auto const report = profiled(std::make_shared<layers>(), false);
    auto const found = report[""].get<cb::flops>();
    CHECK(found.flops_fwd.value() == static_cast<std::int64_t>(4 * product));
    CHECK(found.covered_calls_pct.value() == 100.0);
    auto const has_amounts = [](auto const& one) {
        return requires {
            one.forward;
        };
    };
    CHECK_FALSE(has_amounts(found));
    CHECK(has_amounts(cb::flops::result{}));
}

namespace {

/// Amounts for which there is no memory on demand.
struct costly_amounts {
    static inline bool no_memory = false;
    costly_amounts() = default;
    costly_amounts(costly_amounts const& other) : by_format{other.by_format} {
        if (no_memory)
            throw std::bad_alloc{};
    }
    costly_amounts& operator=(costly_amounts const&) = default;
    std::array<double, 1> by_format{};
    [[nodiscard]] double total() const { return by_format[0]; }
    void add(costly_amounts const& more, double times) { by_format[0] += times * more.total(); }
};

}  // namespace

TEST_CASE("a node for which there is no memory does not end the one around it") {
    at::NoGradGuard const none;
    cb::backward_work<costly_amounts> work;
    work.begin_node();
    costly_amounts::no_memory = true;
    work.begin_node();
    costly_amounts::no_memory = false;
    work.begin_node();  // within the one that is missing
    work.end_node();
    work.end_node();
    work.add(3.0, 0, cb::likeness::repeated);  // in the first node still, which went backward
    CHECK(work.own.total() == 0.0);
    work.end_node();
    CHECK(work.again.total() == 3.0);
    CHECK(work.own.total() == 0.0);
}
