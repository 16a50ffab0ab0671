// Profiles nanoGPT, forward and backward, on made-up tokens. `nanogpt --help` tells the options.
#include "models/gpt_shapes.hpp"
#include "support/command_line.hpp"
#include "support/profile_everything.hpp"
#include <component_benchmark/component_benchmark.hpp>

#include <CLI/CLI.hpp>

#include <ATen/Parallel.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace cb = component_benchmark;
namespace nanogpt = models::nanogpt;

namespace {

struct settings {
    std::string shape = "tiny";
    std::optional<std::int64_t> batch;
    std::optional<std::int64_t> length;
    std::string json;
    command_line::journal_options journal;
    int threads = 0;
    bool no_targets = false;
    bool manual_attention = false;
};

bool profile(settings const& wishes) {
    auto shape = nanogpt::gpt_shape_named(wishes.shape);
    shape.batch_size = wishes.batch.value_or(shape.batch_size);
    shape.length = wishes.length.value_or(shape.length);
    if (wishes.manual_attention)
        shape.config.attention = nanogpt::attention_kind::manual;
    auto model = nanogpt::make_model(shape);
    auto const batch = nanogpt::make_batch(shape);
    auto const targets = wishes.no_targets ? torch::Tensor{} : batch.targets;
    // Without targets there is no loss; then what is generated from is summed.
    auto const loss = [](nanogpt::gpt_output const& output) {
        return output.loss.defined() ? output.loss : output.logits.sum();
    };
    return profile_everything(cb::provide(model, batch.idx, targets).loss(loss), wishes.json,
                              wishes.journal);
}

settings parse(CLI::App& app, int argc, char** argv) {
    constexpr std::size_t many = 999'999;
    settings wishes;
    app.add_option("--shape", wishes.shape, "size of the model: tiny (the default) or 124m")
        ->check(command_line::some("a shape"));
    app.add_option("--batch", wishes.batch, "rows of tokens")
        ->transform(command_line::whole_number(1, many));
    app.add_option("--length", wishes.length, "tokens in a row, at most the model's block size")
        ->transform(command_line::whole_number(1, many));
    app.add_flag("--no-targets", wishes.no_targets,
                 "predict the next token only: lm_head gets the last position");
    app.add_flag("--manual-attention", wishes.manual_attention,
                 "attention by its parts in place of LibTorch's one operator");
    command_line::add_threads(app, wishes.threads);
    command_line::add_json(app, wishes.json);
    command_line::add_journal(app, wishes.journal);
    app.parse(argc, argv);
    return wishes;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Profiles nanoGPT, component by component.", "nanogpt"};
    return command_line::run(app, [&] {
        auto const wishes = parse(app, argc, argv);
        if (wishes.threads > 0)
            at::set_num_threads(wishes.threads);
        return profile(wishes);
    });
}
