// tests: nanoGPT in C++ is the one in Python, number by number, alone and through the library
#include "models/gpt.hpp"

#include "bad_input.hpp"
#include "examples/oracle.hpp"
#include "models/gpt_shapes.hpp"
#include "models/load_weights.hpp"
#include "models/raw_tensors.hpp"
#include "support/catch2.hpp"
#include "support/quick.hpp"
#include <component_benchmark/component_benchmark.hpp>

#include <torch/torch.h>

#include <cmath>
#include <cstdint>
#include <string>

namespace cb = component_benchmark;
namespace nanogpt = models::nanogpt;
using nanogpt::attention_kind;
using test_support::complaint_of;
using test_support::distinct_elements;
using test_support::relative_difference;

namespace {

nanogpt::gpt_shape tiny(attention_kind attention = attention_kind::fused) {
    auto shape = nanogpt::gpt_shape_named("tiny");
    shape.config.attention = attention;
    return shape;
}

models::raw_tensors fixture() {
    return models::raw_tensors::read(test_support::oracle_folder + "gpt_tiny_targets_sdpa.json");
}

/// The oracle's own classes, by nanoGPT's names.
std::string nanogpt_name(std::string const& type) {
    return type == "SelfAttn" ? "CausalSelfAttention" : type == "FeedFwd" ? "MLP" : type;
}

auto const the_loss = [](nanogpt::gpt_output const& output) { return output.loss; };

}  // namespace

TEST_CASE("nanoGPT's sizes have the known numbers of parameters", "[examples]") {
    CHECK(distinct_elements(*nanogpt::make_model(nanogpt::gpt_shape_named("124m"))) == 124'475'904);
    auto const count = [](bool bias) {
        auto shape = tiny();
        shape.config.bias = bias;
        return distinct_elements(*nanogpt::make_model(shape));
    };
    CHECK(count(true) == 30'592);
    CHECK(count(false) == 29'856);
    CHECK(complaint_of([] { return nanogpt::gpt_shape_named("huge"); }) ==
          "expected one of the shapes tiny, 124m, given huge");
}

TEST_CASE("lm_head has the very weight of wte, also after a conversion", "[examples]") {
    auto model = nanogpt::make_model(tiny());
    auto const is_tied = [&] {
        auto const parameters = model->named_parameters();
        return parameters["lm_head.weight"].is_same(parameters["transformer.wte.weight"]);
    };
    CHECK(is_tied());
    model->to(torch::kDouble);
    CHECK(is_tied());
    CHECK(model->parameters().front().scalar_type() == torch::kDouble);
}

TEST_CASE("the seeds of the tiny shape give the weights and tokens of Python, bit by bit",
          "[examples]") {
    auto const file = fixture();
    auto const model = nanogpt::make_model(tiny());
    auto const parameters = models::distinct_parameters(*model);
    CHECK(parameters.size() == file.names("param/").size());
    for (auto const& [path, parameter] : parameters) {
        INFO(path);
        CHECK(torch::equal(parameter, file.at("param/" + path)));
    }
    auto const batch = nanogpt::make_batch(tiny());
    CHECK(torch::equal(batch.idx, file.at("input/idx")));
    CHECK(torch::equal(batch.targets, file.at("input/targets")));
}

TEST_CASE("every row of both kinds of attention has the parameters, calls and shapes of Python",
          "[examples]") {
    auto const batch = nanogpt::make_batch(tiny());
    auto const check = [&](attention_kind attention, std::string const& oracle) {
        INFO(oracle);
        auto model = nanogpt::make_model(tiny(attention));
        auto const report =
            quick().run(cb::provide(model, batch.idx, batch.targets).loss(the_loss));
        test_support::check_rows(report, test_support::oracle_rows(oracle), nanogpt_name);
        CHECK(report.document().facts.unchanged.verified);
    };
    check(attention_kind::fused, "gpt_tiny_targets_sdpa");
    check(attention_kind::manual, "gpt_tiny_targets_manual");
}

TEST_CASE("without targets lm_head is called with the last position only", "[examples]") {
    auto model = nanogpt::make_model(tiny());
    auto const batch = nanogpt::make_batch(tiny());
    auto const report = quick().run(cb::provide(model, batch.idx, torch::Tensor{}));
    CHECK(report[""].in_shapes() == "[1, 32]");
    CHECK(report[""].out_shapes() == "[1, 1, 128]");
    CHECK(report["lm_head"].in_shapes() == "[1, 1, 32]");
    CHECK(report["transformer.ln_f"].out_shapes() == "[1, 32, 32]");
    CHECK(report[""].template get<cb::model_size>().params.value() == 30'592);
    auto const all = model(batch.idx, batch.targets).logits;
    CHECK(relative_difference(model(batch.idx).logits, all.slice(1, 31)) < 1e-6);
    CHECK_FALSE(model(batch.idx).loss.defined());
}

TEST_CASE("with the weights of Python, output, loss and gradients are those of Python",
          "[examples]") {
    auto const file = fixture();
    for (auto const attention : {attention_kind::fused, attention_kind::manual}) {
        auto const gradients_of = [&](bool of_loss, std::string const& prefix) {
            auto shape = tiny(attention);
            auto model = nanogpt::make_model(shape, /*seed=*/99);
            models::load_parameters(*model, file);
            auto const output = model(file.at("input/idx"), file.at("input/targets"));
            CHECK(relative_difference(output.logits, file.at("output/0")) < 1e-5);
            CHECK(relative_difference(output.loss, file.at("output/loss")) < 1e-5);
            (of_loss ? output.loss : output.logits.sum()).backward();
            for (auto const& [path, parameter] : models::distinct_parameters(*model)) {
                INFO(prefix << path);
                CHECK(relative_difference(parameter.grad(), file.at(prefix + path)) < 1e-5);
            }
        };
        gradients_of(true, "grad_ce/");
        gradients_of(false, "grad/");
    }
}

TEST_CASE("every module run alone gives the output of Python, and its gradients by the loss",
          "[examples]") {
    auto const file = fixture();
    auto model = nanogpt::make_model(tiny(), /*seed=*/99);
    models::load_parameters(*model, file);
    auto captured = cb::provide(model, file.at("input/idx"), file.at("input/targets"))
                        .loss(the_loss)
                        .capture({});
    std::size_t compared = 0;
    captured->for_each([&](std::size_t, auto& one) {
        if (one.calls().empty())
            return;
        INFO("'" << one.path() << "'");
        auto replay = one.calls().front().replay();
        replay.prepare();
        replay.forward();
        auto const name = "module_out/" + (one.path().empty() ? "<root>" : one.path());
        auto const outputs = replay.outputs();
        REQUIRE(outputs.size() == (one.path().empty() ? 2U : 1U));
        for (std::size_t output = 0; output < outputs.size(); ++output) {
            auto const key = name + (output == 0 ? "" : "#" + std::to_string(output));
            CHECK(relative_difference(outputs[output].detach(), file.at(key)) < 1e-5);
            ++compared;
        }
        REQUIRE(replay.prepare_backward());
        replay.backward();
        auto const parameters = models::distinct_parameters(one.module());
        auto const inputs = replay.gradients().size() - parameters.size();
        for (std::size_t index = 0; index < parameters.size(); ++index) {
            auto const path =
                (one.path().empty() ? "" : one.path() + ".") + parameters[index].first;
            // wte's weight is lm_head's too, and each alone gives only its own share
            if (path == "transformer.wte.weight" || path == "lm_head.weight")
                continue;
            INFO(path);
            CHECK(relative_difference(replay.gradients()[inputs + index],
                                      file.at("grad_ce/" + path)) < 1e-5);
        }
    });
    CHECK(compared == file.names("module_out/").size());
    CHECK(captured->put_back().verified);
}

TEST_CASE("a target of -1 does not count", "[examples]") {
    auto model = nanogpt::make_model(tiny());
    auto const batch = nanogpt::make_batch(tiny());
    auto targets = batch.targets.clone();
    targets.slice(1, 4).fill_(-1);
    auto const output = model(batch.idx, targets);
    auto const kept = output.logits.slice(1, 0, 4).log_softmax(2);
    auto const expected = -kept.gather(2, targets.slice(1, 0, 4).unsqueeze(2)).mean();
    CHECK(relative_difference(output.loss, expected) < 1e-6);
}

TEST_CASE("a later token changes nothing before it", "[examples]") {
    for (auto const attention : {attention_kind::fused, attention_kind::manual}) {
        auto model = nanogpt::make_model(tiny(attention));
        auto const batch = nanogpt::make_batch(tiny());
        auto idx = batch.idx.clone();
        idx[0][20] = (idx[0][20] + 1) % 128;
        auto const before = model(batch.idx, batch.targets).logits;
        auto const after = model(idx, batch.targets).logits;
        CHECK(torch::equal(before.slice(1, 0, 20), after.slice(1, 0, 20)));
        CHECK((before - after).abs().amax({0, 2}).slice(0, 20).min().item<double>() > 0);
    }
}

TEST_CASE("dropout drops in training only, in fused attention too", "[examples]") {
    for (auto const attention : {attention_kind::fused, attention_kind::manual}) {
        auto shape = tiny(attention);
        shape.config.dropout = 0.5;
        nanogpt::CausalSelfAttention layer{shape.config};
        // what attn_dropout and the operator drop, apart from what resid_dropout does
        layer->named_children()["resid_dropout"]->eval();
        layer->eval();
        auto const input = torch::rand({1, 32, 32});
        CHECK(torch::equal(layer(input), layer(input)));
        layer->train();
        layer->named_children()["resid_dropout"]->eval();
        CHECK_FALSE(torch::equal(layer(input), layer(input)));
    }
}

TEST_CASE("weights begin as nanoGPT's: small, without biases, and smaller where layers add up",
          "[examples]") {
    auto shape = tiny();
    shape.config.width = 128;
    shape.config.layers = 8;
    auto const parameters = nanogpt::make_model(shape)->named_parameters();
    auto const deviation = [&](std::string const& path) {
        return parameters[path].std().item<double>();
    };
    CHECK(deviation("transformer.h.3.mlp.c_fc.weight") == Approx(0.02).epsilon(0.03));
    CHECK(deviation("transformer.wte.weight") == Approx(0.02).epsilon(0.03));
    CHECK(deviation("transformer.h.3.mlp.c_proj.weight") == Approx(0.005).epsilon(0.03));
    CHECK(deviation("transformer.h.3.attn.c_proj.weight") == Approx(0.005).epsilon(0.03));
    CHECK(parameters["transformer.h.3.mlp.c_fc.bias"].count_nonzero().item<int>() == 0);
    CHECK(torch::equal(parameters["transformer.ln_f.weight"], torch::ones({128})));
}

TEST_CASE("tokens that do not fit are refused", "[examples]") {
    auto model = nanogpt::make_model(tiny());
    auto const idx = torch::zeros({1, 4}, torch::kLong);
    auto const complaint = [&](torch::Tensor const& tokens, torch::Tensor const& targets = {}) {
        return complaint_of([&] { return model(tokens, targets); });
    };
    CHECK(complaint(idx, idx).empty());
    std::string const expected = "GPT: expected idx of shape [batch, length] and int64, given ";
    CHECK(complaint(torch::zeros({4}, torch::kLong)) == expected + "[4] and Long");
    CHECK(complaint(torch::zeros({1, 4})) == expected + "[1, 4] and Float");
    CHECK(complaint(torch::zeros({1, 0}, torch::kLong)) == expected + "[1, 0] and Long");
    CHECK(complaint({}) == expected + "an undefined tensor");
    CHECK(complaint(torch::zeros({1, 33}, torch::kLong)) ==
          "GPT: expected at most 32 tokens in a row (the block_size), given 33");
    CHECK(complaint(idx + 128) == "GPT: expected idx from 0 to 127, given 128");
    CHECK(complaint(idx - 1) == "GPT: expected idx from 0 to 127, given -1");
    CHECK(complaint(idx, idx - 2) == "GPT: expected targets from -1 to 127, given -2");
    CHECK(complaint(idx, torch::zeros({1, 3}, torch::kLong)) ==
          "GPT: expected targets of idx's shape [1, 4] and int64, given [1, 3] and Long");
    CHECK(complaint(idx, torch::zeros({1, 4}, torch::kInt)) ==
          "GPT: expected targets of idx's shape [1, 4] and int64, given [1, 4] and Int");
}

TEST_CASE("sizes of which no GPT can be made are refused", "[examples]") {
    auto const complaint = [](auto change) {
        auto config = tiny().config;
        change(config);
        return complaint_of([&] { return nanogpt::GPT{config}; });
    };
    CHECK(complaint([](auto& config) { config.heads = 3; }) ==
          "GPT: expected a width that is a multiple of the heads, given the width 32 and 3 heads");
    CHECK(complaint([](auto& config) { config.heads = 0; }) ==
          "GPT: expected heads of at least 1, given 0");
    CHECK(complaint([](auto& config) { config.vocab_size = -1; }) ==
          "GPT: expected a vocab_size of at least 1, given -1");
    CHECK(complaint([](auto& config) { config.dropout = 1; }) ==
          "GPT: expected a dropout from 0 to below 1, given 1");
}
