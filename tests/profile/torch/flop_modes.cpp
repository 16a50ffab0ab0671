// Counting in the ways that a program may run its operators: threads, autograd, other observers.
#include "support/catch2.hpp"
#include "support/count_flops.hpp"
#include <component_benchmark/core/error.hpp>
#include <component_benchmark/core/peaks.hpp>
#include <component_benchmark/core/run_notes.hpp>
#include <component_benchmark/profile/flop_formulas.hpp>
#include <component_benchmark/profile/flop_result.hpp>
#include <component_benchmark/profile/flops.hpp>
#include <component_benchmark/profile/op_observer.hpp>

#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <torch/csrc/autograd/profiler.h>
#include <torch/library.h>
#include <torch/torch.h>
#include <torch/version.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <dlfcn.h>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <vector>

namespace cb = component_benchmark;
namespace nn = torch::nn;
using at::Tensor;

namespace {

constexpr double one = 2.0 * 4 * 5 * 6;  // FLOPs of product()

Tensor left(bool gradient = false) {
    return at::ones({4, 5}).requires_grad_(gradient);
}
Tensor right(bool gradient = false) {
    return at::ones({5, 6}).requires_grad_(gradient);
}
Tensor product() {
    return at::mm(left(), right());
}

/// Names of operators that are not known, and why.
std::string unknown_in(cb::flop_tally const& tally) {
    return cb::formulas::names_of(tally.coverage);
}

/// A product that only its own loops make, in memory from LibTorch.
Tensor by_hand(Tensor const& a, Tensor const& b) {
    auto made = at::empty({a.size(0), b.size(1)});
    auto const x = a.contiguous();
    auto const y = b.contiguous();
    auto const* const from = x.const_data_ptr<float>();
    auto const* const by = y.const_data_ptr<float>();
    auto* const to = made.mutable_data_ptr<float>();
    auto const inner = a.size(1);
    for (std::int64_t i = 0; i < made.size(0); ++i)
        for (std::int64_t j = 0; j < made.size(1); ++j) {
            to[i * made.size(1) + j] = 0.0F;
            for (std::int64_t k = 0; k < inner; ++k)
                to[i * made.size(1) + j] += from[i * inner + k] * by[k * made.size(1) + j];
        }
    return made;
}

Tensor call(char const* name, Tensor const& a, Tensor const& b) {
    return c10::Dispatcher::singleton()
        .findSchemaOrThrow(name, "")
        .typed<Tensor(Tensor const&, Tensor const&)>()
        .call(a, b);
}

}  // namespace

TORCH_LIBRARY(flop_modes, library) {
    // with one function for all devices, which says nothing of what it is made of
    library.def("own_loops(Tensor a, Tensor b) -> Tensor", &by_hand);
    library.def("parts(Tensor a, Tensor b) -> Tensor",
                [](Tensor const& a, Tensor const& b) { return at::relu(at::mm(a, b)) + 1; });
    library.def("loops_and_relu(Tensor a, Tensor b) -> Tensor",
                [](Tensor const& a, Tensor const& b) { return at::relu(by_hand(a, b)); });
    library.def("both(Tensor a, Tensor b) -> Tensor", [](Tensor const& a, Tensor const& b) {
        return call("flop_modes::own_loops", a, b) + at::mm(a, b);
    });
    library.def("kernel(Tensor a, Tensor b) -> Tensor");
    library.def("kernel_of_parts(Tensor a, Tensor b) -> Tensor");
    library.def("kernel_of_relu(Tensor a, Tensor b) -> Tensor");
    library.def("kernel_of_both(Tensor a, Tensor b) -> Tensor");
    library.def("throws(Tensor a, Tensor b) -> Tensor", [](Tensor const& a, Tensor const& b) {
        at::mm(a, b);
        throw std::runtime_error{"after a product"};
        return a;
    });
}
TORCH_LIBRARY_IMPL(flop_modes, CPU, library) {
    library.impl("kernel", &by_hand);
    library.impl("kernel_of_parts", [](Tensor const& a, Tensor const& b) { return at::mm(a, b); });
    library.impl("kernel_of_relu",
                 [](Tensor const& a, Tensor const& b) { return at::relu(by_hand(a, b)); });
    library.impl("kernel_of_both", [](Tensor const& a, Tensor const& b) {
        return call("flop_modes::kernel", a, b) + at::mm(a, b);
    });
}

TEST_CASE("operators on threads of a program are counted") {
    auto const in_threads = [] {
        std::vector<std::thread> all;
        for (int index = 0; index < 4; ++index)
            all.emplace_back([] {
                for (int round = 0; round < 25; ++round)
                    product();
            });
        for (auto& thread : all)
            thread.join();
    };
    CHECK(count_flops(in_threads) == 100 * one);
    auto const launched = [] {
        std::atomic<int> left_over{8};
        for (int index = 0; index < 8; ++index)
            at::launch([&left_over] {
                product();
                --left_over;
            });
        while (left_over > 0)
            std::this_thread::yield();
    };
    CHECK(count_flops(launched) == 8 * one);
}

TEST_CASE("work on threads that may be those of another is said") {
    auto const with_another = [] {
        std::thread{[] { product(); }}.join();
        product();
    };
    auto const found = tally_of(with_another);
    CHECK(found.forward.total() == 2 * one);
    CHECK(found.elsewhere == one);
    auto const row = cb::formulas::flops_of_calls({{1, {0}, found, "none", false}}, 2);
    CHECK(row.flops_fwd.value() == static_cast<std::int64_t>(2 * one));
    CHECK(row.flops_fwd.why() ==
          "240 FLOPs on other threads, which are another's if the component starts none");
    auto const in_parallel = tally_of([] {
        at::parallel_for(0, 8, 1, [](std::int64_t from, std::int64_t to) {
            for (; from < to; ++from)
                product();
        });
    });
    CHECK(in_parallel.forward.total() == 8 * one);
    CHECK(in_parallel.elsewhere == 0.0);
}

TEST_CASE("products within a parallel loop are counted, those of an operator's own loop are not") {
    auto const threads = at::get_num_threads();
    at::set_num_threads(4);
    CHECK(count_flops([] {
              at::parallel_for(0, 64, 1, [](std::int64_t begin, std::int64_t end) {
                  for (auto index = begin; index < end; ++index)
                      product();
              });
          }) == 64 * one);
    auto const x = at::rand({8, 4, 16, 16}, at::kDouble).requires_grad_(true);
    auto const w = at::rand({4, 4, 3, 3}, at::kDouble).requires_grad_(true);
    for (auto const dilation : {1, 2}) {
        double const places = dilation == 1 ? 16 * 16 : 14 * 14;
        for (int round = 0; round < 10; ++round)
            CHECK(count_flops([&] {
                      at::conv2d(x, w, {}, 1, at::IntArrayRef{1, 1}, dilation).sum().backward();
                  }) == 3 * 2.0 * 8 * places * 144);
    }
    auto const volume = at::rand({4, 2, 6, 6, 6}, at::kDouble);
    CHECK(count_flops([&] {
              at::conv3d(volume, at::rand({3, 2, 2, 2, 2}, at::kDouble));
          }) == 2.0 * 4 * 125 * 48);
    CHECK(count_flops([&] {
              at::conv_transpose3d(volume, at::rand({2, 3, 2, 2, 2}, at::kDouble));
          }) == 2.0 * 4 * 216 * 48);
    at::set_num_threads(threads);
}

TEST_CASE("a watch may end while other threads are within operators") {
    std::atomic<bool> stop{false};
    std::vector<std::thread> all;
    for (int index = 0; index < 3; ++index)
        all.emplace_back([&] {
            while (!stop) {
                product();
                at::relu(left());
            }
        });
    for (int round = 0; round < 200; ++round) {
        auto const mine = tally_of([] { product(); });  // and what the others do meanwhile
        CHECK(mine.forward.total() >= one);
        CHECK(unknown_in(mine).empty());
    }
    stop = true;
    for (auto& thread : all)
        thread.join();
    CHECK(count_flops([] { product(); }) == one);
}

TEST_CASE("what throws leaves the counting in order") {
    // what an operator refuses, or has no memory for, it does not do
    CHECK(count_flops([] {
              CHECK_THROWS(at::mm(left(), left()).sum());
              product();
          }) == one);
    for (int round = 0; round < 3; ++round) {
        auto const found = tally_of([] {
            product();
            CHECK_THROWS_AS(call("flop_modes::throws", left(), right()), std::runtime_error);
            product();
        });
        CHECK(found.forward.total() == 3 * one);
        CHECK(unknown_in(found) == "flop_modes::throws");
    }
    // a formula sees arguments before the operator refuses them
    for (
        auto const& work : std::vector<std::function<void()>>{
            [] {
                at::conv2d(at::ones({1, 1, 4, 4}), at::ones({1, 1, 2, 2}), {}, 0);
            },
            [] {
                at::conv2d(at::ones({1, 1, 4, 4}), at::ones({1, 1, 9, 9}));
            },
            [] {
                at::convolution(at::ones({4}), at::ones({1, 1, 2, 2}), {}, 1, 0, 1, false, 0, 1);
            },
            [] {
                at::convolution(at::ones({1, 1, 4, 4}), at::ones({2, 2}), {}, 1, 0, 1, false, 0, 1);
            },
            [] {
                at::bmm(at::ones({2, 3}), at::ones({2, 3}));
            },
            [] { at::mm(at::ones({2}), at::ones({2})); }})
        CHECK(tally_of([&] { CHECK_THROWS(work()); }).forward.total() == 0.0);
}

TEST_CASE("ranges of a program are no operators") {
    auto const work = [] {
        RECORD_FUNCTION("mine", std::vector<c10::IValue>{});
        {
            RECORD_USER_SCOPE("a scope");
            nn::Linear{5, 6}(left());
        }
        {
            RECORD_FUNCTION("aten::mm", std::vector<c10::IValue>({left(), right()}));
            product();
        }
    };
    auto const tally = tally_of(work);
    CHECK(tally.forward.total() == 2 * one);
    CHECK(unknown_in(tally).empty());
    // a range may end in another order, and on another thread, than it began
    CHECK(count_flops([] {
              auto first = std::make_unique<at::RecordFunction>(at::RecordScope::FUNCTION);
              auto second = std::make_unique<at::RecordFunction>(at::RecordScope::FUNCTION);
              auto third = std::make_unique<at::RecordFunction>(at::RecordScope::FUNCTION);
              first->before("first");
              second->before("second");
              third->before("third");
              product();
              first.reset();
              product();
              second.reset();
              std::thread{[&] {
                  product();
                  third.reset();
                  product();
              }}.join();
              product();
          }) == 5 * one);
}

TEST_CASE("others may observe at the same time") {
    static std::atomic<int> seen{0};
    auto const callback = [] {
        return at::RecordFunctionCallback{
            [](at::RecordFunction const&) -> std::unique_ptr<at::ObserverContext> {
                ++seen;
                return nullptr;
            }};
    };
    auto const global = at::addGlobalCallback(callback());
    auto const local = at::addThreadLocalCallback(callback().needsInputs(true));
    CHECK(count_flops([] { product(); }) == one);
    CHECK(seen > 0);
    at::removeCallback(global);
    at::removeCallback(local);
    namespace profiler = torch::autograd::profiler;
    profiler::enableProfilerLegacy(
        profiler::ProfilerConfig{torch::profiler::impl::ProfilerState::CPU, true, false});
    CHECK(count_flops([] { product(); }) == one);
    profiler::disableProfilerLegacy();
    auto enabled = at::hasCallbacks();
    CHECK_FALSE(enabled);  // the watch leaves none behind
    at::enableRecordFunction(false);
    CHECK(count_flops([] { product(); }) == one);
    CHECK_FALSE(at::isRecordFunctionEnabled());
    at::enableRecordFunction(true);
}

TEST_CASE("without gradients, and in inference mode") {
    nn::Linear layer{5, 6};
    CHECK(count_flops([&] {
              at::NoGradGuard const guard;
              layer(left());
          }) == one);
    CHECK(count_flops([&] {
              c10::InferenceMode const guard;
              layer(left());
              at::scaled_dot_product_attention(at::ones({1, 1, 4, 8}), at::ones({1, 1, 4, 8}),
                                               at::ones({1, 1, 4, 8}));
          }) == one + 2 * 16 * 16);
}

TEST_CASE("autocast: once, and in the narrow format") {
    auto const in_bf16 = [](auto work) {
        auto const tally = tally_of([&] {
            at::autocast::set_autocast_enabled(at::kCPU, true);
            at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
            work();
            at::autocast::clear_cache();
            at::autocast::set_autocast_enabled(at::kCPU, false);
        });
        CHECK(unknown_in(tally) == "");
        auto const bf16 =
            tally.forward.by_format[static_cast<std::size_t>(cb::number_format::bf16)];
        CHECK(bf16 == tally.forward.total());
        return bf16;
    };
    CHECK(in_bf16([] { product(); }) == one);
    CHECK(in_bf16([] { at::matmul(at::ones({2, 4, 5}), right()); }) == 2 * one);
    CHECK(in_bf16([] { nn::Linear{5, 6}(left()); }) == one);
    CHECK(in_bf16([] { nn::Linear{5, 6}(left(true)).sum().backward(); }) == 3 * one);
    CHECK(in_bf16([] {
              at::baddbmm(at::ones({2, 4, 6}), at::ones({2, 4, 5}), at::ones({2, 5, 6}));
          }) == 2 * one);
    CHECK(in_bf16([] {
              at::conv2d(at::ones({2, 3, 6, 6}), at::ones({6, 3, 4, 4}), {}, 1, 1);
          }) == 28'800);
    CHECK(in_bf16([] {
              auto const x = at::ones({1, 2, 8, 16});
              at::scaled_dot_product_attention(x, x, x);
          }) == 2 * 2 * 64 * 32);
}

namespace {

struct doubled : torch::autograd::Function<doubled> {
    static Tensor forward(torch::autograd::AutogradContext* context, Tensor const& x,
                          Tensor const& w) {
        context->save_for_backward({x, w});
        return at::mm(x, w);
    }
    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                   torch::autograd::variable_list gradients) {
        auto const saved = context->get_saved_variables();
        return {at::mm(gradients[0], saved[1].t()), at::mm(saved[0].t(), gradients[0])};
    }
};

}  // namespace

TEST_CASE("autograd: functions of a program, gradients of gradients") {
    CHECK(count_flops([] { doubled::apply(left(true), right(true)).sum().backward(); }) == 3 * one);
    CHECK(count_flops([] {
              auto const a = left(true);
              auto const b = right(true);
              auto const made = at::mm(a, b).pow(2).sum();
              auto const first = torch::autograd::grad({made}, {a}, {}, true, true)[0];
              first.pow(2).sum().backward();
              // forward; A's gradient; then of its product both, and of the first product both
          }) == (1 + 1 + 2 + 2) * one);
    // a convolution's double backward is made of convolutions
    auto const twice = tally_of([] {
        auto const x = at::rand({2, 3, 6, 6}).requires_grad_(true);
        auto const w = at::rand({6, 3, 4, 4}).requires_grad_(true);
        auto const first = torch::autograd::grad({at::conv2d(x, w, {}, 1, 1).pow(2).sum()}, {x}, {},
                                                 true, true)[0];
        first.pow(2).sum().backward();
    });
    CHECK(unknown_in(twice) == "");
    CHECK(twice.forward.total() == (1 + 1 + 2 + 2) * 28'800.0);
    // what a node that began without gradients runs with them is not its own work
    std::vector<cb::flop_formula> const none;
    cb::flop_counter counter{{}, none};
    counter.in_backward(true);
    {
        cb::op_watch const watch{counter};
        at::NoGradGuard const guard;
        counter.begin_node();
        product();
        {
            at::AutoGradMode const enabled{true};
            product();
            product();
        }
        counter.end_node();
    }
    auto const tally = counter.take();
    CHECK(tally.forward.total() == 0.0);
    CHECK(tally.backward.total() == one);
    CHECK(tally.recomputed.total() == 2 * one);
}

TEST_CASE("results given, in place, or nowhere") {
    auto out = at::empty({4, 6});
    CHECK(count_flops([&] {
              at::mm_out(out, left(), right());
              at::addmm_out(out, out, left(), right());
              out.addmm_(left(), right());
              at::matmul_out(out, left(), right());
              at::linear_out(out, left(), right().t().contiguous());
          }) == 5 * one);
    auto batch = at::zeros({2, 4, 6});
    CHECK(count_flops([&] {
              batch.baddbmm_(at::ones({2, 4, 5}), at::ones({2, 5, 6}));
              at::bmm_out(batch, at::ones({2, 4, 5}), at::ones({2, 5, 6}));
              out.addbmm_(at::ones({2, 4, 5}), at::ones({2, 5, 6}));
          }) == 6 * one);
    CHECK(count_flops([] {
              at::mm(at::empty({4, 5}, at::kMeta), at::empty({5, 6}, at::kMeta));
          }) == one);
}

TEST_CASE("nested tensors: what their operators call, or unknown, never nothing") {
    auto const batch = at::_nested_tensor_from_tensor_list({at::rand({2, 4}), at::rand({3, 4})});
    // some are padded first, and the padding is multiplied
    auto const run = [](double ragged, double padded, auto work) {
        auto const tally = tally_of(work);
        CHECK(unknown_in(tally) == "");
        CHECK(tally.forward.total() >= ragged);
        CHECK(tally.forward.total() <= padded);
    };
    run(2 * 5 * 4 * 6, 2 * 5 * 4 * 6, [&] { at::linear(batch, at::rand({6, 4}), at::rand({6})); });
    run(2 * (4 + 9) * 4, 2 * (9 + 9) * 4, [&] { at::matmul(batch, batch.transpose(1, 2)); });
    run(2 * (4 + 9) * 4, 2 * (9 + 9) * 4, [&] { at::bmm(batch, batch.transpose(1, 2)); });
    auto const heads =
        at::_nested_tensor_from_tensor_list({at::rand({2, 5, 8}), at::rand({2, 3, 8})});
    run(2 * 2 * (25 + 9) * (8 + 8), 2 * 2 * (25 + 25) * (8 + 8),
        [&] { at::scaled_dot_product_attention(heads, heads, heads); });
}

TEST_CASE("operators of a library: its parts, or unknown by name") {
    auto const run = [](char const* name) {
        return tally_of([name] { call(name, left(), right()); });
    };
    CHECK(unknown_in(run("flop_modes::own_loops")) == "flop_modes::own_loops");
    CHECK(unknown_in(run("flop_modes::kernel")) == "flop_modes::kernel");
    CHECK(run("flop_modes::own_loops").coverage.unknown_ones.ns > 0);
    // what calls others may have loops of its own beside them: a lower bound
    for (auto const* name : {"flop_modes::parts", "flop_modes::kernel_of_parts"}) {
        auto const found = run(name);
        CHECK(found.forward.total() == one);
        CHECK(unknown_in(found) == name);
        auto const shown = cb::formulas::flops_metric(one, found.coverage, 2);
        CHECK(shown.value() == static_cast<std::int64_t>(one));
        CHECK(shown.why() == "lower bound: no formula for " + std::string{name});
    }
    for (auto const* name : {"flop_modes::loops_and_relu", "flop_modes::kernel_of_relu"}) {
        CHECK(run(name).forward.total() == 0.0);
        CHECK(unknown_in(run(name)) == name);
    }
    CHECK(run("flop_modes::both").forward.total() == one);
    CHECK(unknown_in(run("flop_modes::both")) == "flop_modes::own_loops");
    CHECK(run("flop_modes::kernel_of_both").forward.total() == one);
    CHECK(unknown_in(run("flop_modes::kernel_of_both")) == "flop_modes::kernel_of_both");
}

TEST_CASE("products of FBGEMM are unknown by name") {
    std::filesystem::path const folder = COMPONENT_BENCHMARK_TEST_FBGEMM;
    if (TORCH_VERSION_MAJOR != 2 || TORCH_VERSION_MINOR != 11 ||
        !exists(folder / "fbgemm_gpu_py.so")) {
        WARN("skipped: no fbgemm_gpu for this LibTorch in " << folder.string());
        return;
    }
    for (auto const& library : {std::filesystem::path{COMPONENT_BENCHMARK_TEST_LIBTORCH_NAME},
                                folder / "fbgemm_gpu_py.so"})
        if (dlopen(library.c_str(), RTLD_NOW) == nullptr)
            FAIL(dlerror());
    auto const offsets = at::tensor(std::vector<std::int64_t>{0, 2, 5}, at::kLong);
    auto const run = [&](char const* name, torch::jit::Stack stack) {
        return tally_of(
            [&] { c10::Dispatcher::singleton().findSchemaOrThrow(name, "").callBoxed(stack); });
    };
    auto const product = run("fbgemm::jagged_dense_bmm",
                             {at::rand({5, 4}), offsets, at::rand({2, 4, 6}), std::int64_t{3}});
    CHECK(unknown_in(product) == "fbgemm::jagged_dense_bmm");
    CHECK(cb::formulas::flops_metric(0.0, product.coverage, 2).why() ==
          "no formula for fbgemm::jagged_dense_bmm");
    auto const padded =
        run("fbgemm::jagged_to_padded_dense",
            {at::rand({5, 4}), std::vector<Tensor>{offsets}, std::vector<std::int64_t>{3}, 0.0});
    CHECK(unknown_in(padded).find("fbgemm::jagged_") != std::string::npos);
}

TEST_CASE("quantized products are unknown by name") {
    auto const handle = c10::Dispatcher::singleton().findSchema({"quantized::linear_dynamic", ""});
    auto const engines = at::globalContext().supportedQEngines();
    if (!handle || engines.size() < 2) {
        WARN("skipped: no quantized::linear_dynamic here");
        return;
    }
    auto const weight = at::quantize_per_tensor(at::rand({6, 5}), 0.1, 0, at::kQInt8);
    torch::jit::Stack stack{weight, c10::IValue{}};
    c10::Dispatcher::singleton()
        .findSchemaOrThrow("quantized::linear_prepack", "")
        .callBoxed(stack);
    auto const packed = stack.at(0);
    auto const tally = tally_of([&] {
        torch::jit::Stack arguments{left(), packed, false};
        handle->callBoxed(arguments);
    });
    CHECK(unknown_in(tally).find("quantized::linear_dynamic") != std::string::npos);
    CHECK(tally.forward.total() == 0.0);
}

TEST_CASE("formulas of a program") {
    auto const with = [](std::vector<cb::flop_formula> const& own, auto work) {
        return tally_of(work, cb::causal_attention::dense, own);
    };
    using flops = std::optional<std::int64_t>;
    auto const by_sizes = [](cb::op_call const& given) -> flops {
        return 2 * given.size_of(0, 0) * given.size_of(0, 1) * given.size_of(1, -1);
    };
    auto const run = [](char const* name) { return [name] { call(name, left(), right()); }; };
    for (auto const* name : {"flop_modes::own_loops", "flop_modes::kernel", "flop_modes::parts",
                             "flop_modes::kernel_of_parts"}) {
        auto const counted = with({{name, by_sizes}}, run(name));
        CHECK(counted.forward.total() == one);
        CHECK(unknown_in(counted) == "");
    }
    auto const throws = [](cb::op_call const&) -> flops { throw std::runtime_error{"no idea"}; };
    auto const none = [](cb::op_call const&) -> flops { return {}; };
    auto const negative = [](cb::op_call const&) -> flops { return -5; };
    auto const beyond = [](cb::op_call const& given) -> flops { return given.size_of(7, 0); };
    for (auto const* name : {"flop_modes::own_loops", "flop_modes::kernel"}) {
        std::string const op = name;
        CHECK(unknown_in(with({{op, throws}}, run(name))) == op + " (no idea)");
        CHECK(unknown_in(with({{op, none}}, run(name))) == op);
        CHECK(unknown_in(with({{op, negative}}, run(name))) ==
              op + " (its formula gave -5 FLOPs; 0 or more were expected)");
        CHECK(unknown_in(with({{op, beyond}}, run(name))) ==
              op + " (component_benchmark: " + op + ": argument 7 is not a tensor)");
    }
    auto const huge = [](cb::op_call const&) -> flops {
        return (std::numeric_limits<std::int64_t>::max)();
    };
    CHECK(unknown_in(with({{"flop_modes::kernel", huge}}, run("flop_modes::kernel"))) ==
          "flop_modes::kernel (its formula gave 9223372036854775807 FLOPs; at most 10^18 were "
          "expected)");
    // nothing: then its parts
    CHECK(with({{"flop_modes::parts", none}}, run("flop_modes::parts")).forward.total() == one);
    auto const broken = with({{"flop_modes::parts", throws}}, run("flop_modes::parts"));
    CHECK(broken.forward.total() == one);
    CHECK(unknown_in(broken) == "flop_modes::parts (no idea)");
    // what failed is no covered call, whatever it calls
    for (auto const* name : {"flop_modes::parts", "flop_modes::kernel_of_parts"})
        CHECK(with({{name, negative}}, run(name)).coverage.unknown_ones.calls == 1);
    auto const linear = with({{"aten::linear", throws}}, [] { at::linear(left(), right().t()); });
    CHECK(linear.forward.total() == one);
    CHECK(unknown_in(linear) == "aten::linear (no idea)");
    CHECK(linear.coverage.unknown_ones.calls == 1);
    // an own formula for what has one
    auto const half = [](cb::op_call const&) -> flops { return 7; };
    CHECK(with({{"aten::mm", half, true}}, [] { product(); }).forward.total() == 7.0);
    CHECK(with({{"aten::linear", half}}, [] { at::linear(left(), right().t()); }).forward.total() ==
          7.0);
    CHECK(unknown_in(with({{"aten::mm", throws, true}}, [] { product(); })) ==
          "aten::mm (no idea)");
    // a formula may call operators itself
    auto const asks = [](cb::op_call const& given) -> flops {
        return at::mm(given.tensor(0), given.tensor(1)).numel();
    };
    CHECK(with({{"flop_modes::kernel", asks}}, run("flop_modes::kernel")).forward.total() == 24.0);

    using cb::formulas::check;
    CHECK_NOTHROW(check({{"a::b", none}, {"a::c", none}, {"aten::mm", none, true}}));
    CHECK_THROWS_AS(check({{"a::b", none}, {"a::b", none}}), cb::error);
    CHECK_THROWS_AS(check({{"aten::mm", none}}), cb::error);
    CHECK_THROWS_AS(check({{"mm", none}}), cb::error);
    CHECK_THROWS_WITH(check({{"aten::mm.out", none, true}}),
                      Catch::Contains("write 'aten::mm', not 'aten::mm.out'"));
    CHECK_THROWS_AS(check({{"a::b", {}}}), cb::error);
}

TEST_CASE("a formula for no operator is said") {
    auto const formula = [](cb::op_call const&) -> std::optional<std::int64_t> { return 1; };
    cb::flops const counting{
        .formulas = {{"flop_modes::kernel", formula}, {"flop_modes::kernle", formula}}};
    cb::run_notes notes;
    counting.tell(notes);
    REQUIRE(notes.warnings.size() == 1);
    CHECK(notes.warnings[0] ==
          "flops: the formula for 'flop_modes::kernle' was not used: no operator has this name");
}

TEST_CASE("fast paths that modules of other languages take are made of operators") {
    auto const weight = at::rand({24, 8});
    auto const out = at::rand({8, 8});
    auto const x = at::rand({2, 5, 8});
    auto const tally = tally_of([&] {
        c10::InferenceMode const guard;
        at::_native_multi_head_attention(x, x, x, 8, 2, weight, at::rand({24}), out, at::rand({8}),
                                         {}, false);
    });
    if (unknown_in(tally).empty())
        CHECK(tally.forward.total() == 6'720.0);
    else
        WARN(unknown_in(tally));
    CHECK(
        count_flops([] {
            at::mm(at::rand({4, 5}, at::kComplexFloat).conj(), at::rand({5, 6}, at::kComplexFloat));
        }) == one);
}

TEST_CASE("the elementwise convention does not stumble over shapes") {
    auto const count = [](auto work) { return count_flops<cb::elementwise>(work); };
    CHECK(count([] { at::ones({}).sum(0); }) == 0);
    CHECK(count([] { at::ones({}).mean(-1); }) == 1);
    CHECK(count([] { at::ones({0, 3}).sum(); }) == 0);
    CHECK(count([] { at::ones({0, 3}).sum(0); }) == 0);
    CHECK(count([] { at::ones({2, 3}).sum(at::IntArrayRef{-1, 0}, true); }) == 5);
    CHECK(count([] { at::ones({2, 3}).sum(at::kDouble); }) == 5);
    CHECK(count([] { 1 - at::ones({2, 3}); }) == 6);
    CHECK(count([] { at::add(at::ones({2, 1, 3}), at::ones({4, 1})); }) == 24);
    CHECK(count([] { at::eye(3).to_sparse().mul(at::eye(3).to_sparse()); }) >= 0);
}
