// What counting FLOPs adds to a forward, beside FlopCounterMode of Python where there is one.
#include "../support/pairs.hpp"
#include "../support/peer.hpp"
#include "models/deepfm_shapes.hpp"
#include "models/gpt_shapes.hpp"
#include "support/command_line.hpp"
#include <component_benchmark/profile/flop_counter.hpp>
#include <component_benchmark/profile/op_observer.hpp>

#include <nlohmann/json.hpp>

#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace cb = component_benchmark;

namespace {

/// One shape, how it is measured, and how much longer a counted forward may take.
struct measured_shape {
    std::string name;
    int rounds;
    int repetitions;
    double most;
};

/// One run of `work` with a watch around it, as the profiler makes it.
template<class Convention, class Work>
[[nodiscard]] double flops_of(Work& work) {
    static std::vector<cb::flop_formula> const none;
    cb::flop_counter counter{cb::counting_rules::of<Convention>(cb::causal_attention::dense), none};
    {
        cb::op_watch const watch{counter};
        work();
    }
    return counter.take().forward.total();
}

struct measurement {
    bench::pair_of_times times;
    double flops = 0.0;  ///< as FlopCounterMode counts them
};

template<class Forward>
[[nodiscard]] measurement measure(measured_shape const& shape, Forward forward) {
    auto const counted = [&] { bench::keep(flops_of<cb::strict>(forward)); };
    return {bench::in_turns(forward, counted, shape.rounds, shape.repetitions),
            flops_of<cb::strict_pytorch>(forward)};
}

[[nodiscard]] measurement measure(measured_shape const& shape) {
    if (shape.name == "124m") {
        auto const made = models::nanogpt::gpt_shape_named(shape.name);
        auto model = models::nanogpt::make_model(made);
        auto const batch = models::nanogpt::make_batch(made);
        return measure(shape, [&] { bench::keep(model(batch.idx, batch.targets)); });
    }
    auto const made = models::deepfm_shape_named(shape.name);
    auto model = models::make_model(made);
    auto const batch = models::make_batch(made);
    return measure(shape, [&] { bench::keep(model(batch.dense, batch.sparse)); });
}

/// Null without a Python that has the whole torch, and where it ran something else: then what it
/// counted is not what we count.
[[nodiscard]] nlohmann::json peer_of(measured_shape const& shape, double flops,
                                     std::string const& python, int threads) {
    if (python.empty())
        return {};
    auto peer = bench::peer_says(
        python, "flop_counter.py",
        {shape.name, "--threads", std::to_string(threads), "--rounds", std::to_string(shape.rounds),
         "--repetitions", std::to_string(shape.repetitions)});
    if (peer.is_null() || peer.at("flops").get<double>() == flops)
        return peer;
    std::fprintf(stderr, "%s: FlopCounterMode counts %s FLOPs and strict_pytorch %.0f\n",
                 shape.name.c_str(), peer.at("flops").dump().c_str(), flops);
    return {};
}

template<class... Values>
[[nodiscard]] std::string text(char const* format, Values... values) {
    char made[160];
    std::snprintf(made, sizeof made, format, values...);
    return made;
}

void report_ratio(measured_shape const& shape, std::string const& with, measurement const& ours,
                  nlohmann::json const& peer) {
    auto measured = text("%.3f x", ours.times.ratio);
    if (!peer.is_null())
        measured += text(" (FlopCounterMode %.3g x)", peer.at("ratio").get<double>());
    bench::row(("forward with its FLOPs counted / plain forward, " + shape.name + with).c_str(),
               measured.c_str(), text("%.2f x", shape.most).c_str(),
               ours.times.ratio <= shape.most);
}

void report_added(measured_shape const& shape, std::string const& with, measurement const& ours,
                  nlohmann::json const& peer) {
    constexpr auto goal = 25.0;
    auto const added = ours.times.difference_ns / 1e3;
    auto measured = text("%.1f us", added);
    auto times_less = 0.0;
    if (!peer.is_null()) {
        auto const theirs = peer.at("added_us").get<double>();
        times_less = theirs / added;
        measured += text(" and %.0f us, %.1f times less", theirs, times_less);
    } else {
        measured += " (FlopCounterMode not measured: no Python given that can import torch)";
    }
    bench::row(
        ("time that counting adds, ours and FlopCounterMode's, " + shape.name + with).c_str(),
        measured.c_str(), text("%.0f times less", goal).c_str(), times_less >= goal);
}

}  // namespace

int main(int count, char** words) {
    CLI::App app{"What counting FLOPs adds to a forward.", "bench_overhead_flops"};
    std::string python;
    int threads = 1;
    app.add_option("--python", python, "one that can import torch, to measure FlopCounterMode")
        ->envname("COMPONENT_BENCHMARK_FULL_PYTHON");
    app.add_option("--threads", threads, "of both")
        ->check(command_line::whole_number(1, command_line::most_threads));
    return command_line::run(app, [&] {
        app.parse(count, words);
        at::set_num_threads(threads);
        auto const with = text(", %d thread%s", threads, threads == 1 ? "" : "s");
        measured_shape const small{"cpu-small", 101, 10, 1.6};
        for (auto const& shape :
             {small, measured_shape{"paper", 201, 1, 1.05}, measured_shape{"124m", 75, 1, 1.03}}) {
            auto const ours = measure(shape);
            auto const peer = peer_of(shape, ours.flops, python, threads);
            report_ratio(shape, with, ours, peer);
            if (shape.name == small.name)
                report_added(shape, with, ours, peer);
        }
        return true;
    });
}
