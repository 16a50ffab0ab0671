// Profiles DLRM, forward and backward, on made-up data. `dlrm --help` tells the options.
#include "models/dlrm_shapes.hpp"
#include "support/command_line.hpp"
#include "support/profile_everything.hpp"
#include <component_benchmark/component_benchmark.hpp>

#include <CLI/CLI.hpp>

#include <ATen/Parallel.h>
#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/rand.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace cb = component_benchmark;
namespace dlrm = models::dlrm;

namespace {

struct settings {
    std::string shape = "small";
    std::optional<std::int64_t> batch;
    std::string json;
    command_line::journal_options journal;
    int threads = 0;
    bool dcn = false;
};

bool profile(settings const& wishes) {
    auto shape = dlrm::dlrm_shape_named(wishes.shape);
    shape.batch_size = wishes.batch.value_or(shape.batch_size);
    auto model =
        dlrm::make_model(shape, wishes.dcn ? dlrm::interaction::dcn : dlrm::interaction::dot);
    auto const batch = dlrm::make_batch(shape);
    auto const labels = at::rand({shape.batch_size, 1}).round();
    auto const loss = [&](torch::Tensor const& logits) {
        return at::binary_cross_entropy_with_logits(logits, labels);
    };
    return profile_everything(cb::provide(model, batch.dense, batch.sparse).loss(loss), wishes.json,
                              wishes.journal);
}

settings parse(CLI::App& app, int argc, char** argv) {
    constexpr std::size_t many = 999'999;
    settings wishes;
    app.add_option("--shape", wishes.shape,
                   "size of the model: small (the default) or criteo, with MLPerf's layers")
        ->check(command_line::some("a shape"));
    app.add_flag("--dcn", wishes.dcn, "a deep cross network in place of dot products");
    app.add_option("--batch", wishes.batch, "rows of the batch")
        ->transform(command_line::whole_number(1, many));
    command_line::add_threads(app, wishes.threads);
    command_line::add_json(app, wishes.json);
    command_line::add_journal(app, wishes.journal);
    app.parse(argc, argv);
    return wishes;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Profiles DLRM, component by component.", "dlrm"};
    return command_line::run(app, [&] {
        auto const wishes = parse(app, argc, argv);
        if (wishes.threads > 0)
            at::set_num_threads(wishes.threads);
        return profile(wishes);
    });
}
