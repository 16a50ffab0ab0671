// What hooks cost: nobody recording, one call recorded, a whole captured forward. One thread.
#include "../support/pairs.hpp"
#include "models/deepfm_shapes.hpp"
#include <component_benchmark/component_benchmark.hpp>
#include <component_benchmark/hook/interpose.hpp>

#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <cstdio>

namespace cb = component_benchmark;
using at::Tensor;

namespace {

// The same function twice, as far from the caller as a forward in another file.
struct PlainImpl : torch::nn::Module {
    [[gnu::noinline]] Tensor const& forward(Tensor const& x) {
        bench::keep(x);
        return x;
    }
};
struct HookedImpl : torch::nn::Module {
    [[gnu::noinline]] Tensor const& forward(Tensor const& x) {
        CB_FORWARD(x);
        bench::keep(x);
        return x;
    }
};
struct ValueImpl : torch::nn::Module {
    [[gnu::noinline]] Tensor forward(Tensor x) { return x; }
};
struct HookedValueImpl : torch::nn::Module {
    [[gnu::noinline]] Tensor forward(Tensor x) {
        CB_FORWARD(x);
        return x;
    }
};

constexpr int rounds = 51;

double idle_macro(Tensor const& x) {
    PlainImpl plain;
    HookedImpl hooked;
    return bench::in_turns([&] { bench::keep(plain.forward(x)); },
                           [&] { bench::keep(hooked.forward(x)); }, rounds, 100'000)
        .difference_ns;
}

double idle_interposed(Tensor const& x) {
    torch::nn::Identity identity;
    auto const real =
        cb::hook::real_function(static_cast<Tensor (torch::nn::IdentityImpl::*)(Tensor const&)>(
            &torch::nn::IdentityImpl::forward));
    auto* const module = identity.get();
    return bench::in_turns([&] { bench::keep(real.address(module, x)); },
                           [&] { bench::keep(module->forward(x)); }, rounds, 100'000)
        .difference_ns;
}

double recorded_call(Tensor const& x) {
    constexpr int calls = 1'000;
    ValueImpl plain;
    HookedValueImpl hooked;
    cb::capture::module_tree const tree{hooked};
    std::vector const wanted(1, cb::capture::call_detail::all());
    auto const base = [&] {
        for (int call = 0; call < calls; ++call)
            bench::keep(plain.forward(x));
    };
    auto const recorded = [&] {
        cb::capture::session session{tree, wanted};
        cb::hook::listening const now{session};
        for (int call = 0; call < calls; ++call)
            bench::keep(hooked.forward(x));
    };
    return bench::in_turns(base, recorded, rounds, 1).difference_ns / calls;
}

/// Hooks that one forward of `shape` passes, for its share of the forward's time.
double idle_share(char const* shape, double ns_a_hook) {
    auto const made = models::deepfm_shape_named(shape);
    auto model = models::make_model(made);
    auto const batch = models::make_batch(made);
    auto const hooks = cb::provide(model, batch.dense, batch.sparse).capture({})->calls().size();
    auto const forward = [&] { bench::keep(model(batch.dense, batch.sparse)); };
    auto const ns = bench::in_turns(forward, forward, rounds, 20).base_ns;
    return 100.0 * static_cast<double>(hooks) * ns_a_hook / ns;
}

bench::pair_of_times recorded_forward(char const* shape, int repetitions) {
    auto const made = models::deepfm_shape_named(shape);
    auto model = models::make_model(made);
    auto const batch = models::make_batch(made);
    cb::capture::module_tree const tree{*model};
    std::vector const wanted(tree.nodes().size(), cb::capture::call_detail::all());
    return bench::in_turns([&] { bench::keep(model(batch.dense, batch.sparse)); },
                           [&] {
                               cb::capture::session session{tree, wanted};
                               cb::hook::listening const now{session};
                               bench::keep(model(batch.dense, batch.sparse));
                           },
                           rounds, repetitions);
}

/// A whole capture as a pipeline makes it, with saving the state and finding all gradients, against
/// a plain forward and backward.
double whole_capture(char const* shape) {
    auto const made = models::deepfm_shape_named(shape);
    auto model = models::make_model(made);
    auto const batch = models::make_batch(made);
    auto const loss = [](Tensor const& output) { return output.sum(); };
    auto const step = [&] {
        loss(model(batch.dense, batch.sparse)).backward();
        model->zero_grad();
    };
    auto const capture = [&] {
        bench::keep(cb::provide(model, batch.dense, batch.sparse).loss(loss).capture({}));
    };
    return bench::in_turns(step, capture, 11, 1).ratio;
}

void report(char const* what, double value, char const* unit, double limit, char const* goal) {
    char text[64];
    std::snprintf(text, sizeof text, "%.3g %s", value, unit);
    bench::row(what, text, goal, value <= limit);
}

}  // namespace

int main() {
    at::set_num_threads(1);
    auto const x = at::ones({2, 2});
    auto const macro = idle_macro(x);
    auto const interposed = idle_interposed(x);
    report("CB_FORWARD, nobody recording, a call more than without", macro, "ns", 3.0, "3 ns");
    report("interposed forward, nobody recording, a call more than without", interposed, "ns", 3.0,
           "3 ns");
    report("all hooks of a cpu-small forward, nobody recording",
           idle_share("cpu-small", std::max({macro, interposed, 0.0})), "%", 0.1, "0.1 %");
    report("a recorded call, more than without", recorded_call(x), "ns", 1000.0, "1000 ns");
    report("forward while its calls are recorded / plain forward, paper",
           recorded_forward("paper", 1).ratio, "x", 1.05, "1.05 x");
    report("forward while its calls are recorded / plain forward, cpu-small",
           recorded_forward("cpu-small", 20).ratio, "x", 1e9, "reported");
    report("whole capture with state and gradients / forward and backward, paper",
           whole_capture("paper"), "x", 1e9, "reported");
}
