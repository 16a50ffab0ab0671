// FLOPs of whole models, module by module, as the Python originals have them.
#include "examples/oracle.hpp"
#include "models/deepfm_shapes.hpp"
#include "models/dlrm_dcn.hpp"
#include "models/dlrm_shapes.hpp"
#include "models/gpt_shapes.hpp"
#include "support/catch2.hpp"
#include "support/count_flops.hpp"
#include "support/profiled_flops.hpp"
#include <component_benchmark/component_benchmark.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace cb = component_benchmark;
using models::nanogpt::attention_kind;

namespace {

std::int64_t value_or_zero(auto const& metric) {
    CHECK((metric.has_value() || cb::costs_nothing(metric.why())));
    return metric.value_or(0);
}

/// Each module that is called, alone on what it was called with.
template<class Provide>
void check_modules(std::string const& model, Provide provide) {
    auto const plain = profiled_flops<cb::strict_pytorch>(cb::preprocessors{}, provide());
    auto const cut =
        profiled_flops<cb::strict_pytorch>(cb::preprocessors{detached_arguments{}}, provide());
    for (auto const& expected : test_support::oracle_rows(model)) {
        if (expected.at("calls").get<std::int64_t>() == 0)
            continue;
        auto const path = expected.at("path").get<std::string>();
        INFO(model << " '" << path << "'");
        using flops = cb::flops_with<cb::strict_pytorch>;
        auto const found = plain[path].template get<flops>();
        CHECK(found.flops_fwd.value() == expected.at("iso_fwd").get<std::int64_t>());
        CHECK(found.flops_fwd.value() + value_or_zero(found.flops_bwd) ==
              expected.at("iso_fwdbwd").get<std::int64_t>());
        auto const without = cut[path].template get<flops>();
        CHECK(without.flops_fwd.value() + value_or_zero(without.flops_bwd) ==
              expected.at("iso_fwdbwd_detached").get<std::int64_t>());
        CHECK(found.covered_calls_pct.value() == 100.0);
    }
}

/// A frozen layer with a low-rank one beside it, which learns (Hu et al., LoRA, 2021).
struct lora_layer_impl : torch::nn::Module {
    lora_layer_impl() {
        frozen = register_module("frozen", torch::nn::Linear{64, 32});
        down =
            register_module("down", torch::nn::Linear{torch::nn::LinearOptions{64, 4}.bias(false)});
        up = register_module("up", torch::nn::Linear{torch::nn::LinearOptions{4, 32}.bias(false)});
        for (auto& parameter : frozen->parameters())
            parameter.requires_grad_(false);
    }
    torch::Tensor forward(torch::Tensor const& input) {
        CB_FORWARD(input);
        return frozen(input) + up(down(input));
    }
    torch::nn::Linear frozen{nullptr}, down{nullptr}, up{nullptr};
};

auto gpt(attention_kind attention) {
    auto shape = models::nanogpt::gpt_shape_named("tiny");
    shape.config.attention = attention;
    return std::pair{models::nanogpt::make_model(shape), models::nanogpt::make_batch(shape)};
}

auto const the_loss = [](models::nanogpt::gpt_output const& output) { return output.loss; };

}  // namespace

TEST_CASE("DeepFM's modules have the FLOPs of torchrec's") {
    for (char const* name : {"unit", "cpu-small"}) {
        auto const shape = models::deepfm_shape_named(name);
        auto model = models::make_model(shape);
        auto const batch = models::make_batch(shape);
        check_modules(name == std::string{"unit"} ? "deepfm_unit" : "deepfm_small",
                      [&] { return cb::provide(model, batch.dense, batch.sparse); });
    }
}

TEST_CASE("DLRM's modules have the FLOPs of torchrec's") {
    using models::dlrm::interaction;
    auto const shape = models::dlrm::dlrm_shape_named("small");
    auto const batch = models::dlrm::make_batch(shape);
    auto model = models::dlrm::make_model(shape, interaction::dot);
    check_modules("dlrm_small", [&] { return cb::provide(model, batch.dense, batch.sparse); });

    auto dcn = models::dlrm::make_model(shape, interaction::dcn);
    check_modules("dlrm_dcn_small", [&] { return cb::provide(dcn, batch.dense, batch.sparse); });
    auto const report = profiled_flops<cb::strict_pytorch>(
        cb::preprocessors{}, cb::provide(dcn, batch.dense, batch.sparse));
    // 4 B N r a layer
    CHECK(report["inter_arch.crossnet"]["flops_fwd"].number() == 2.0 * 4 * 32 * 9 * 16 * 16);
}

TEST_CASE("nanoGPT's modules have the FLOPs of the original") {
    auto [fused, batch] = gpt(attention_kind::fused);
    check_modules("gpt_tiny_targets_sdpa", [&, &model = fused, &given = batch] {
        return cb::provide(model, given.idx, given.targets).loss(the_loss);
    });
    auto [manual, other] = gpt(attention_kind::manual);
    check_modules("gpt_tiny_targets_manual", [&, &model = manual, &given = other] {
        return cb::provide(model, given.idx, given.targets).loss(the_loss);
    });
}

TEST_CASE("strict counts attention on the CPU, which PyTorch's counter leaves out") {
    auto [model, batch] = gpt(attention_kind::fused);
    auto const report = profiled_flops<cb::strict>(
        cb::preprocessors{}, cb::provide(model, batch.idx, batch.targets).loss(the_loss));
    auto const root = report[""].get<cb::flops>();
    CHECK(root.flops_fwd.value() == 2'097'152);
    CHECK(root.flops_fwd_bwd.value() == 6'422'528);  // the backward makes the scores again
    auto const macs = profiled_flops<cb::macs>(
        cb::preprocessors{}, cb::provide(model, batch.idx, batch.targets).loss(the_loss));
    CHECK(macs[""]["flops_fwd"].number() == 1'048'576.0);
    CHECK(report["transformer.h.0.attn"]["flops_fwd"].number() == 393'216.0);

    auto const last = profiled_flops<cb::strict>(cb::preprocessors{},
                                                 cb::provide(model, batch.idx, torch::Tensor{}));
    CHECK(last[""]["flops_fwd"].number() == 1'843'200.0);  // the head sees the last position
    CHECK(last["lm_head"]["flops_fwd"].number() == 8'192.0);
}

TEST_CASE("elementwise gives FM work and ReLU none, as in the paper") {
    auto const shape = models::deepfm_shape_named("cpu-small");
    auto model = models::make_model(shape);
    auto const batch = models::make_batch(shape);
    auto const report = profiled_flops<cb::elementwise>(
        cb::preprocessors{}, cb::provide(model, batch.dense, batch.sparse));
    auto const flops_of = [&](char const* path) { return report[path]["flops_fwd"].number(); };
    auto const elements = 32.0 * 5 * 32;  // B (F + 1) D
    CHECK(flops_of("inter_arch.fm") > 2.9 * elements);
    CHECK(flops_of("inter_arch.fm") < 3.1 * elements);
    CHECK(flops_of("dense_arch.model.1") == 0.0);
    CHECK(flops_of("inter_arch.deep_fm.dense_module.1") == 0.0);
}

TEST_CASE("rows add up: the parts of a model are its whole") {
    auto [model, batch] = gpt(attention_kind::manual);
    auto const report = profiled_flops<cb::strict>(
        cb::preprocessors{}, cb::provide(model, batch.idx, batch.targets).loss(the_loss));
    auto const& nodes = report.document().nodes;
    for (std::size_t row = 0; row < nodes.size(); ++row) {
        if (nodes[row].path.ends_with("attn"))
            continue;  // the products of attention are its own
        double parts = 0.0;
        bool any = false;
        for (auto next = row + 1; next < nodes[row].end; next = nodes[next].end) {
            parts += report[nodes[next].path]["flops_fwd"].number();
            any = true;
        }
        INFO("'" << nodes[row].path << "'");
        if (any)
            CHECK(report[nodes[row].path]["flops_fwd"].number() == parts);
    }
}

TEST_CASE("frozen weights get no gradient, and none is counted") {
    lora_layer_impl layer;
    auto const input = at::ones({8, 64});
    auto const report = profiled_flops<cb::strict>(cb::preprocessors{}, cb::provide(layer, input));
    auto const root = report[""].get<cb::flops>();
    auto const frozen = 2.0 * 8 * 64 * 32;
    auto const down = 2.0 * 8 * 64 * 4;
    auto const up = 2.0 * 8 * 4 * 32;
    CHECK(root.flops_fwd.value() == static_cast<std::int64_t>(frozen + down + up));
    // of the weights of both, and through `up`
    CHECK(root.flops_bwd.value() == static_cast<std::int64_t>(down + 2 * up));
    CHECK(report["frozen"]["flops_fwd"].number() == frozen);
    CHECK_FALSE(report["frozen"]["flops_bwd"].has_value());
    CHECK_THAT(report["frozen"]["flops_bwd"].why, Catch::Matchers::Contains("gradient"));
}

TEST_CASE("ResNet-18 has the FLOPs that are known of it") {
    std::vector<at::Tensor> weights;
    auto const conv = [&](at::Tensor const& x, std::int64_t out, std::int64_t size,
                          std::int64_t stride) {
        auto const weight = at::full({out, x.size(1), size, size}, 1e-3).requires_grad_(true);
        weights.push_back(weight);
        return at::conv2d(x, weight, {}, stride, size / 2);
    };
    auto const block = [&](at::Tensor x, std::int64_t out, std::int64_t stride) {
        auto const body = conv(at::relu(conv(x, out, 3, stride)), out, 3, 1);
        if (stride != 1)
            x = conv(x, out, 1, stride);
        return at::relu(x + body);
    };
    auto const run = [&] {
        auto x = at::max_pool2d(conv(at::ones({1, 3, 224, 224}).requires_grad_(true), 64, 7, 2), 3,
                                2, 1);
        for (std::int64_t stage = 0; stage < 4; ++stage)
            x = block(block(x, 64 << stage, stage == 0 ? 1 : 2), 64 << stage, 1);
        auto const head = at::ones({512, 1000}).requires_grad_(true);
        at::mm(at::adaptive_avg_pool2d(x, {1, 1}).flatten(1), head).sum().backward();
    };
    CHECK(count_flops<cb::strict_pytorch>(run) == 10'884'440'064.0);
    auto const input = at::ones({1, 64, 56, 56}).requires_grad_(true);
    auto const layer1 = [&] { return block(block(input, 64, 1), 64, 1); };
    CHECK(count_flops<cb::strict_pytorch>([&] { layer1(); }) == 924'844'032.0);
    CHECK(count_flops<cb::strict_pytorch>([&] { layer1().sum().backward(); }) ==
          924'844'032.0 + 1'849'688'064.0);
}
