// The main job: trains DeepFM on MovieLens-100K and profiles one batch in the middle of the
// training, or profiles DeepFM in a named shape. `deepfm --help` tells the options.
#include "models/deepfm_shapes.hpp"
#include "models/load_weights.hpp"
#include "models/movielens.hpp"
#include "models/trainer.hpp"
#include <component_benchmark/component_benchmark.hpp>

#include <CLI/CLI.hpp>

#include <ATen/Parallel.h>

#include <cstdio>
#include <exception>
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

namespace cb = component_benchmark;

namespace {

struct settings {
    std::string data;
    std::string shape;
    std::string weights;
    std::string json;
    std::string show;
    std::optional<std::size_t> profile_step;
    std::size_t depth = std::numeric_limits<std::size_t>::max();
    int threads = 0;
};

// What is measured and where it goes: this is all a program writes to be profiled.
auto make_pipeline(settings const& wishes) {
    return cb::pipeline{cb::preprocessors{}, cb::profilers{cb::model_size{}, cb::latency{}},
                        cb::sinks{cb::json{wishes.json}}, cb::options{.depth = wishes.depth}};
}

using report = decltype(make_pipeline(settings{})
                            .run(cb::provide(std::declval<models::SimpleDeepFMNN&>(),
                                             std::declval<torch::Tensor const&>(),
                                             std::declval<models::keyed_jagged_tensor const&>())));

// The table, then, if asked for, one component by its path. False when a file could not be written.
bool show(report const& found, settings const& wishes) {
    cb::table{}.write(found.document());
    if (!wishes.show.empty()) {
        auto const component = found[wishes.show];
        auto const latency = component.get<cb::latency>();
        std::printf("\n%s: %ld calls, forward %.4g ms, backward %.4g ms, %.0f parameters\n",
                    wishes.show.c_str(), static_cast<long>(component.calls()),
                    latency.latency_ms.value_or(0.0), latency.latency_bwd_ms.value_or(0.0),
                    static_cast<double>(component.get<cb::model_size>().params.value_or(0)));
    }
    return found.failures().empty();
}

bool profile_shape(settings const& wishes) {
    auto const shape = models::deepfm_shape_named(wishes.shape);
    auto model = models::make_model(shape);
    auto batch = models::make_batch(shape);
    if (!wishes.weights.empty()) {
        auto const file = models::raw_tensors::read(wishes.weights);
        models::load_parameters(*model, file);
        batch = models::load_batch(file);
    }
    auto const found = make_pipeline(wishes).run(cb::provide(model, batch.dense, batch.sparse));
    return show(found, wishes);
}

bool train(settings const& wishes) {
    models::trainer trainer{models::movielens::load(wishes.data)};
    if (wishes.profile_step && *wishes.profile_step >= trainer.steps())
        throw std::invalid_argument{"--profile-step " + std::to_string(*wishes.profile_step) +
                                    ": the training has the steps 0 to " +
                                    std::to_string(trainer.steps() - 1)};
    auto pipeline = make_pipeline(wishes);
    pipeline.check();  // an output that cannot be written is said now, not after the training
    std::optional<report> found;

    auto const on_step = [&](std::size_t step, auto& model, auto const& batch, auto const& loss) {
        if (step != wishes.profile_step)
            return;
        std::printf("step %zu: profiling this batch, then training goes on\n", step);
        found.emplace(pipeline.run(cb::provide(model, batch.dense, batch.sparse).loss(loss)));
    };
    auto const on_epoch = [](std::size_t epoch, models::score const& score) {
        std::printf("epoch %zu: held-out log loss %.4f, AUC %.4f\n", epoch + 1, score.log_loss,
                    score.auc);
        std::fflush(stdout);
    };
    std::printf("training DeepFM on %zu ratings, %zu steps\n", trainer.data().size(),
                trainer.steps());
    trainer.train(on_step, on_epoch);
    if (!found)
        return true;
    std::printf("\ncomponents of step %zu:\n\n", *wishes.profile_step);
    return show(*found, wishes);
}

settings parse(CLI::App& app, int argc, char** argv) {
    settings wishes;
    auto* const data = app.add_option("--data", wishes.data,
                                      "train on MovieLens-100K in this folder (ml-100k.inter, "
                                      ".user, .item)");
    auto* const shape = app.add_option("--shape", wishes.shape,
                                       "profile DeepFM in a shape: unit, cpu-small, paper");
    app.add_option("--weights", wishes.weights,
                   "with --shape: weights and inputs from this manifest (.json beside its .bin)")
        ->needs(shape);
    app.add_option("--profile-step", wishes.profile_step,
                   "with --data: profile the batch of this step, counted from 0")
        ->needs(data);
    app.add_option("--threads", wishes.threads, "threads of LibTorch")->check(CLI::PositiveNumber);
    app.add_option("--depth", wishes.depth, "deepest level to measure; the root is 0");
    app.add_option("--json", wishes.json, "write the report to this file");
    app.add_option("--show", wishes.show, "print the component with this path after the table");
    data->excludes(shape);
    app.parse(argc, argv);
    if (wishes.data.empty() == wishes.shape.empty())
        throw CLI::RequiredError{"one of --data DIR and --shape NAME"};
    if (!wishes.data.empty() && !wishes.profile_step &&
        !(wishes.json.empty() && wishes.show.empty()))
        throw CLI::RequiredError{"--profile-step, for --json and --show with --data,"};
    return wishes;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Trains or profiles DeepFM, component by component.", "deepfm"};
    try {
        auto const wishes = parse(app, argc, argv);
        if (wishes.threads > 0)
            at::set_num_threads(wishes.threads);
        return (wishes.data.empty() ? profile_shape(wishes) : train(wishes)) ? 0 : 1;
    } catch (CLI::ParseError const& error) {
        return app.exit(error);
    } catch (c10::Error const& error) {
        std::fprintf(stderr, "deepfm: %s\n", error.what_without_backtrace());
    } catch (std::exception const& error) {
        std::fprintf(stderr, "deepfm: %s\n", error.what());
    }
    return 1;
}
