// The main job: trains DeepFM on MovieLens-100K and profiles one batch in the middle of the
// training, or profiles DeepFM in a named shape. `deepfm --help` tells the options.
#include "models/deepfm_shapes.hpp"
#include "models/load_weights.hpp"
#include "models/movielens.hpp"
#include "models/trainer.hpp"
#include "support/command_line.hpp"
#include "support/profile_everything.hpp"
#include "support/show_report.hpp"
#include <component_benchmark/component_benchmark.hpp>
#include <component_benchmark/core/text.hpp>

#include <CLI/CLI.hpp>

#include <ATen/Parallel.h>

#include <cstddef>
#include <cstdio>
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace cb = component_benchmark;

namespace {

struct settings {
    std::string data;
    std::string shape;
    std::string weights;
    std::string json;
    command_line::journal_options journal;
    std::string show;
    std::optional<std::size_t> profile_step;
    std::size_t depth = std::numeric_limits<std::size_t>::max();
    std::vector<std::string> include;
    std::vector<std::string> exclude;
    int threads = 0;
    bool level_by_level = false;
};

// A filter for each path; "." is the root.
std::vector<cb::filter> filters_of(std::vector<std::string> const& paths) {
    std::vector<cb::filter> filters;
    for (auto const& path : paths)
        filters.push_back({.path = path == "." ? "" : path});
    return filters;
}

// What is measured and where it goes: this is all a program writes to be profiled.
auto make_pipeline(settings const& wishes) {
    return cb::pipeline{
        cb::preprocessors{},
        cb::profilers{cb::model_size{}, cb::latency{}, cb::in_context{}, cb::flops{},
                      cb::throughput{}, cb::mfu{}, cb::bandwidth{}, cb::roofline{}},
        cb::sinks{cb::json{wishes.json}, cb::journal{wishes.journal.path}},
        cb::options{.depth = wishes.depth,
                    .include = filters_of(wishes.include),
                    .exclude = filters_of(wishes.exclude),
                    .memory = wishes.level_by_level ? cb::memory_mode::level_by_level
                                                    : cb::memory_mode::one_forward,
                    .resume = recorded(wishes.journal)}};
}

using report = decltype(make_pipeline(settings{})
                            .run(cb::provide(std::declval<models::SimpleDeepFMNN&>(),
                                             std::declval<torch::Tensor const&>(),
                                             std::declval<models::keyed_jagged_tensor const&>())));

// A number as people read it, with what is to be known of it; never a 0 for one that is not known.
template<class Metric>
std::string text_of(Metric const& metric, std::string const& unit, std::string const& reason) {
    if (metric.has_value())
        return cb::text::number(static_cast<double>(metric.value())) + unit +
               (metric.why().empty() ? "" : " (" + metric.why() + ")");
    auto const why = metric.why().empty() ? reason : metric.why();
    return "not available" + (why.empty() ? "" : " (" + why + ")");
}

// One component in a line; a metric of the report has its type.
void show_component(report const& found, std::string const& path, std::size_t depth) {
    auto const component = found[path == "." ? "" : path];
    auto const latency = component.get<cb::latency>();
    auto const params = component.get<cb::model_size>().params;
    auto const why = component.state() != cb::status::filtered ? component.reason()
                     : component.facts().depth > depth         ? "deeper than --depth"
                                                       : "left out by --include or --exclude";
    auto const line =
        path + ": " + cb::text::plural(static_cast<std::size_t>(component.calls()), "call") +
        ", forward " + text_of(latency.latency_ms, " ms", why) + ", backward " +
        text_of(latency.latency_bwd_ms, " ms", why) + ", parameters " +
        (params.has_value() ? cb::text::whole(params.value()) : text_of(params, "", why));
    std::printf("\n%s\n", cb::text::printable(line).c_str());
}

// The table, then, if asked for, one component by its path. False when a file could not be written.
bool show(report const& found, settings const& wishes) {
    auto const written = show_report(found);
    if (!wishes.show.empty())
        show_component(found, wishes.show, wishes.depth);
    return written;
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
        found.emplace(pipeline.run(
            cb::provide(model, batch.dense, batch.sparse).loss(loss).step(trainer.ledger())));
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
    constexpr std::size_t many = 999'999'999;
    settings wishes;
    auto* const data = app.add_option("--data", wishes.data,
                                      "train on MovieLens-100K in this folder (ml-100k.inter, "
                                      ".user, .item)")
                           ->check(command_line::some("a folder"));
    auto* const shape =
        app.add_option("--shape", wishes.shape, "profile DeepFM in a shape: unit, cpu-small, paper")
            ->check(command_line::some("a shape"));
    app.add_option("--weights", wishes.weights,
                   "with --shape: weights and inputs from this manifest (.json beside its .bin)")
        ->check(command_line::some("a file"))
        ->needs(shape);
    app.add_option("--profile-step", wishes.profile_step,
                   "with --data: profile the batch of this step, counted from 0")
        ->transform(command_line::whole_number(0, many))
        ->needs(data);
    command_line::add_threads(app, wishes.threads);
    app.add_option("--depth", wishes.depth, "deepest level to measure; the root is 0")
        ->transform(command_line::whole_number(0, many));
    auto const add_filters = [&](char const* name, std::vector<std::string>& paths,
                                 char const* help) {
        app.add_option(name, paths, help)
            ->check(command_line::some("a path, or . for the root"))
            ->type_name("GLOB")
            ->expected(1)
            ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    };
    add_filters("--include", wishes.include,
                "measure only components whose path fits, as over_arch or '*.model.**'; . is the "
                "root; may be given several times");
    add_filters("--exclude", wishes.exclude, "leave out components whose path fits; likewise");
    app.add_flag(
        "--level-by-level", wishes.level_by_level,
        "capture the inputs of one level of the tree at a time: less memory, more forwards");
    command_line::add_json(app, wishes.json);
    command_line::add_journal(app, wishes.journal);
    app.add_option("--show", wishes.show,
                   "print the component with this path after the table; . is the root")
        ->check(command_line::some("a path, or . for the root"));
    data->excludes(shape);
    app.parse(argc, argv);
    if (wishes.data.empty() == wishes.shape.empty())
        throw CLI::RequiredError{"one of --data DIR and --shape NAME"};
    if (!wishes.data.empty() && !wishes.profile_step &&
        !(wishes.json.empty() && wishes.show.empty() && wishes.journal.path.empty()))
        throw CLI::RequiredError{"--profile-step, for --json, --journal and --show with --data,"};
    return wishes;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Trains or profiles DeepFM, component by component.", "deepfm"};
    return command_line::run(app, [&] {
        auto const wishes = parse(app, argc, argv);
        if (wishes.threads > 0)
            at::set_num_threads(wishes.threads);
        return wishes.data.empty() ? profile_shape(wishes) : train(wishes);
    });
}
