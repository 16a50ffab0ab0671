// What we count under strict_pytorch for each model of their_models.py, as one JSON object: {model:
// {"total": [forward, forward and backward], "modules": {path: [forward, forward and backward, the
// same with no input requiring a gradient]}}}.
#include "models/deepfm_shapes.hpp"
#include "models/dlrm_shapes.hpp"
#include "models/gpt_shapes.hpp"
#include "support/count_flops.hpp"
#include "support/profiled_flops.hpp"
#include <component_benchmark/component_benchmark.hpp>

#include <nlohmann/json.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <cstdio>
#include <string>

namespace cb = component_benchmark;
using flops = cb::flops_with<cb::strict_pytorch>;

namespace {

/// A text in the place of a number that there is not: it fits nothing.
nlohmann::json number_of(auto const& metric) {
    if (metric.has_value())
        return metric.value();
    return metric.why();
}

/// A backward that there is none of costs nothing.
nlohmann::json number_of_both(auto const& found) {
    if (!found.flops_bwd.has_value() && cb::costs_nothing(found.flops_bwd.why()))
        return number_of(found.flops_fwd);
    return number_of(found.flops_fwd_bwd);
}

/// Of each module that is called, alone on what it was called with.
template<class Provide>
nlohmann::json modules_of(Provide provide) {
    auto const plain = profiled_flops<cb::strict_pytorch>(cb::preprocessors{}, provide());
    auto const cut =
        profiled_flops<cb::strict_pytorch>(cb::preprocessors{detached_arguments{}}, provide());
    auto modules = nlohmann::json::object();
    for (auto const& node : plain.document().nodes) {
        if (node.calls == 0)
            continue;
        auto const found = plain[node.path].template get<flops>();
        auto const without = cut[node.path].template get<flops>();
        modules[node.path] = {number_of(found.flops_fwd), number_of_both(found),
                              number_of_both(without)};
    }
    return modules;
}

/// `forward()` gives what the backward begins at.
template<class Forward, class Provide>
nlohmann::json counted(Forward forward, Provide provide) {
    auto const once = count_flops<cb::strict_pytorch>([&] { forward(); });
    auto const both = count_flops<cb::strict_pytorch>([&] { forward().backward(); });
    return {{"total", {static_cast<std::int64_t>(once), static_cast<std::int64_t>(both)}},
            {"modules", modules_of(provide)}};
}

/// A model with dense and sparse inputs.
template<class Model, class Batch>
nlohmann::json recommendation(Model model, Batch const& batch) {
    return counted([&] { return model(batch.dense, batch.sparse).sum(); },
                   [&] { return cb::provide(model, batch.dense, batch.sparse); });
}

nlohmann::json gpt(models::nanogpt::attention_kind attention, bool with_targets) {
    auto shape = models::nanogpt::gpt_shape_named("tiny");
    shape.config.attention = attention;
    auto model = models::nanogpt::make_model(shape);
    auto batch = models::nanogpt::make_batch(shape);
    if (!with_targets)
        batch.targets = torch::Tensor{};
    auto const start = [with_targets](models::nanogpt::gpt_output const& output) {
        return with_targets ? output.loss : output.logits.sum();
    };
    return counted([&] { return start(model(batch.idx, batch.targets)); },
                   [&] { return cb::provide(model, batch.idx, batch.targets).loss(start); });
}

}  // namespace

int main() {
    using models::dlrm::interaction;
    using models::nanogpt::attention_kind;
    auto const deepfm = models::deepfm_shape_named("cpu-small");
    auto const dlrm = models::dlrm::dlrm_shape_named("small");
    nlohmann::json const all{
        {"deepfm", recommendation(models::make_model(deepfm), models::make_batch(deepfm))},
        {"dlrm", recommendation(models::dlrm::make_model(dlrm, interaction::dot),
                                models::dlrm::make_batch(dlrm))},
        {"dlrm_dcn", recommendation(models::dlrm::make_model(dlrm, interaction::dcn),
                                    models::dlrm::make_batch(dlrm))},
        {"gpt, fused, targets", gpt(attention_kind::fused, true)},
        {"gpt, fused", gpt(attention_kind::fused, false)},
        {"gpt, manual, targets", gpt(attention_kind::manual, true)},
        {"gpt, manual", gpt(attention_kind::manual, false)},
    };
    std::printf("%s\n", all.dump(1).c_str());
}
