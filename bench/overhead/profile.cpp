// What a whole profile takes beside what it measures, and what identical components save. One
// thread.
#include "../support/pairs.hpp"
#include "models/deepfm_shapes.hpp"
#include "models/gpt_shapes.hpp"
#include <component_benchmark/component_benchmark.hpp>

#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

namespace cb = component_benchmark;
using at::Tensor;

namespace {

constexpr int warmup = 2;

auto make_pipeline(int samples, bool backward, bool reuse) {
    return cb::pipeline{cb::preprocessors{},
                        cb::profilers{cb::latency{.warmup = warmup,
                                                  .most_warmup = warmup,
                                                  .samples = samples,
                                                  .target_pct = 0,
                                                  .budget_s = 1e9,
                                                  .backward = backward}},
                        cb::sinks{}, cb::options{.reuse_identical = reuse}};
}

double seconds_since(std::int64_t start) {
    return static_cast<double>(cb::steady_nanoseconds() - start) / 1e9;
}

struct found {
    double wall_s = 0.0;      ///< of pipeline.run
    double capture_s = 0.0;   ///< of provider.capture, apart
    double measured_s = 0.0;  ///< samples and warm-up
    std::size_t rows = 0;     ///< that were measured
};

/// Each call group's samples are kept with its first call; forward+backward has them where there is
/// a backward, and warm-up repetitions take what samples take.
double measured_seconds(cb::document const& report, int samples, bool backward) {
    double sum = 0.0;
    for (auto const& set : report.samples)
        if (set.column == (backward ? "latency_fwd_bwd_ms" : "latency_ms"))
            for (auto const value : set.values)
                sum += value;
    return sum / 1e3 * (samples + warmup) / samples;
}

template<class Provide>
found profile(Provide provide, int samples, bool backward, bool reuse) {
    found made;
    auto start = cb::steady_nanoseconds();
    {
        auto const captured = provide().capture({});
        made.capture_s = seconds_since(start);
    }
    start = cb::steady_nanoseconds();
    auto const report = make_pipeline(samples, backward, reuse).run(provide());
    made.wall_s = seconds_since(start);
    made.measured_s = measured_seconds(report.document(), samples, backward);
    made.rows = static_cast<std::size_t>(
        std::count_if(report.document().nodes.begin(), report.document().nodes.end(),
                      [](auto const& row) { return row.state == cb::status::ok; }));
    return made;
}

template<class Provide>
void show_wall(char const* what, Provide provide, int samples, int rounds, bool backward) {
    std::vector<double> ratios;
    std::vector<double> to_samples;
    for (int round = 0; round < rounds; ++round) {
        auto const one = profile(provide, samples, backward, false);
        ratios.push_back(one.wall_s / (one.capture_s + one.measured_s));
        to_samples.push_back(one.wall_s / (one.measured_s * samples / (samples + warmup)));
    }
    char title[160];
    std::snprintf(title, sizeof title, "wall of a profile / (captured forward + samples), %s, %s",
                  what, backward ? "forward and backward" : "forward");
    char value[96];
    std::snprintf(value, sizeof value, "%.3f x (%.3f x of the samples alone)", cb::median(ratios),
                  cb::median(to_samples));
    bench::row(title, value, "1.05 x", cb::median(ratios) <= 1.05);
}

}  // namespace

int main() {
    at::set_num_threads(1);
    auto const paper = models::deepfm_shape_named("paper");
    auto deepfm = models::make_model(paper);
    auto const batch = models::make_batch(paper);
    auto const of_deepfm = [&] {
        return cb::provide(deepfm, batch.dense, batch.sparse).loss([](Tensor const& output) {
            return output.sum();
        });
    };
    constexpr int samples = 20;  // as bench/peers and others of their kind
    show_wall("paper", of_deepfm, samples, 3, false);
    show_wall("paper", of_deepfm, samples, 3, true);

    auto const shape = models::nanogpt::gpt_shape_named("124m");
    auto gpt = models::nanogpt::make_model(shape);
    auto const text = models::nanogpt::make_batch(shape);
    auto const of_gpt = [&] {
        return cb::provide(gpt, text.idx, text.targets).loss([](auto const& output) {
            return output.loss;
        });
    };
    show_wall("GPT-124M B1 T64", of_gpt, samples, 1, false);
    show_wall("GPT-124M B1 T64", of_gpt, samples, 1, true);

    auto const all = profile(of_gpt, samples, true, false);
    auto const once = profile(of_gpt, samples, true, true);
    auto const rows = static_cast<double>(all.rows) / static_cast<double>(once.rows);
    char value[96];
    std::snprintf(value, sizeof value, "%.1f x (%zu, %zu)", rows, all.rows, once.rows);
    bench::row("rows measured / with reuse_identical, GPT-124M", value, "8 x", rows >= 8.0);
    auto const wall = all.wall_s / once.wall_s;
    std::snprintf(value, sizeof value, "%.2f x (%.1f s, %.1f s)", wall, all.wall_s, once.wall_s);
    bench::row("wall / with reuse_identical, GPT-124M, forward and backward", value, "2 x",
               wall >= 2.0);
}
