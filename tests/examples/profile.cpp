// tests: DeepFM through the library: every row against what torchrec's model does
#include "examples/oracle.hpp"
#include "models/deepfm_shapes.hpp"
#include "models/load_weights.hpp"
#include "models/raw_tensors.hpp"
#include "support/catch2.hpp"
#include <component_benchmark/component_benchmark.hpp>

#include <nlohmann/json.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cb = component_benchmark;
using test_support::oracle_folder;
using test_support::oracle_rows;
using test_support::relative_difference;

namespace {

/// The rows of shape `paper`, by hand: 8 tables, batch 64, 4 ids a bag; torchrec's would be 500 MB.
nlohmann::json paper_rows() {
    nlohmann::json rows;
    auto const add = [&](std::string const& path, std::string const& type, std::int64_t total,
                         nlohmann::json const& in, nlohmann::json const& out) {
        rows.push_back({{"path", path},
                        {"type", type},
                        {"total", total},
                        {"calls", in.is_null() ? 0 : 1},
                        {"inp", in},
                        {"out", out}});
    };
    using shape = std::vector<std::int64_t>;
    nlohmann::json const ids = {{"KJT", {8, 64, 2048}}};
    nlohmann::json const pooled = {{"KeyedTensor", {64, 4096}}};
    std::string const collection = "sparse_arch.embedding_bag_collection";
    std::string const list = "inter_arch.deep_fm.dense_module";
    auto const one = [](shape const& sizes) { return nlohmann::json::array({sizes}); };
    nlohmann::json const nine(9, shape{64, 512});
    add("", "SimpleDeepFMNN", 49'616'898, {shape{64, 1024}, ids}, shape{64, 1});
    add("sparse_arch", "SparseArch", 40'960'000, nlohmann::json::array({ids}), pooled);
    add(collection, "EmbeddingBagCollection", 40'960'000, nlohmann::json::array({ids}), pooled);
    add(collection + ".embedding_bags", "ModuleDict", 40'960'000, nullptr, nullptr);
    for (int table = 0; table < 8; ++table)
        add(collection + ".embedding_bags.t" + std::to_string(table), "EmbeddingBag", 5'120'000,
            {shape{256}, shape{65}}, shape{64, 512});
    add("dense_arch", "DenseArch", 6'296'064, one({64, 1024}), shape{64, 512});
    add("dense_arch.model", "Sequential", 6'296'064, one({64, 1024}), shape{64, 512});
    add("dense_arch.model.0", "Linear", 4'198'400, one({64, 1024}), shape{64, 4096});
    add("dense_arch.model.1", "ReLU", 0, one({64, 4096}), shape{64, 4096});
    add("dense_arch.model.2", "Linear", 2'097'664, one({64, 4096}), shape{64, 512});
    add("dense_arch.model.3", "ReLU", 0, one({64, 512}), shape{64, 512});
    add("inter_arch", "FMInteractionArch", 2'359'808, {shape{64, 512}, pooled}, shape{64, 1025});
    add("inter_arch.deep_fm", "DeepFM", 2'359'808, nine, shape{64, 512});
    add(list, "Sequential", 2'359'808, one({64, 4608}), shape{64, 512});
    add(list + ".0", "Linear", 2'359'808, one({64, 4608}), shape{64, 512});
    add(list + ".1", "ReLU", 0, one({64, 512}), shape{64, 512});
    add("inter_arch.fm", "FactorizationMachine", 0, nine, shape{64, 1});
    add("over_arch", "OverArch", 1'026, one({64, 1025}), shape{64, 1});
    add("over_arch.model", "Sequential", 1'026, one({64, 1025}), shape{64, 1});
    add("over_arch.model.0", "Linear", 1'026, one({64, 1025}), shape{64, 1});
    add("over_arch.model.1", "Sigmoid", 0, one({64, 1}), shape{64, 1});
    return rows;
}

auto once() {
    return cb::pipeline{cb::preprocessors{},
                        cb::profilers{cb::model_size{}, cb::latency{.warmup = 0, .samples = 1}},
                        cb::sinks{}};
}

}  // namespace

TEST_CASE("every row of the three shapes has torchrec's parameters, calls and shapes",
          "[examples]") {
    std::map<std::string, nlohmann::json> const expectations{
        {"unit", oracle_rows("deepfm_unit")},
        {"cpu-small", oracle_rows("deepfm_small")},
        {"paper", paper_rows()}};
    for (auto const& [shape, rows] : expectations) {
        auto const wanted = models::deepfm_shape_named(shape);
        auto model = models::make_model(wanted);
        auto const batch = models::make_batch(wanted);
        auto const report = once().run(cb::provide(model, batch.dense, batch.sparse));
        INFO(shape);
        test_support::check_rows(report, rows, [](std::string const& type) { return type; });
        for (auto const& of : report.document().nodes)
            if (of.calls > 0)
                CHECK(report[of.path].get<cb::latency>().latency_ms.value() > 0.0);
        CHECK(report.document().facts.unchanged.verified);
    }
}

TEST_CASE("every module run alone gives torchrec's output, and the root its gradients",
          "[examples]") {
    for (std::string const name : {"deepfm_unit", "deepfm_small"}) {
        auto const file = models::raw_tensors::read(oracle_folder + name + ".json");
        auto model = models::make_model(
            models::deepfm_shape_named(name == "deepfm_unit" ? "unit" : "cpu-small"));
        models::load_parameters(*model, file);
        auto const batch = models::load_batch(file);
        auto captured = cb::provide(model, batch.dense, batch.sparse)
                            .loss([](torch::Tensor const& output) { return output.sum(); })
                            .capture({});
        std::size_t compared = 0;
        captured->for_each([&](std::size_t, auto& one) {
            if (one.calls().empty())
                return;
            INFO(name << " '" << one.path() << "'");
            auto replay = one.calls().front().replay();
            replay.prepare();
            replay.forward();
            auto const expected = "module_out/" + (one.path().empty() ? "<root>" : one.path());
            REQUIRE(file.contains(expected));
            CHECK(relative_difference(replay.outputs().at(0).detach(), file.at(expected)) < 1e-5);
            ++compared;
            // a module's parameters get their gradients from its own calls alone
            REQUIRE(replay.prepare_backward());
            replay.backward();
            auto const parameters = one.module().named_parameters();
            auto const inputs = replay.gradients().size() - parameters.size();
            auto const calls = one.calls().front().count();
            for (std::size_t index = 0; index < parameters.size() && calls == 1; ++index) {
                auto const path =
                    (one.path().empty() ? "" : one.path() + ".") + parameters[index].key();
                CHECK(relative_difference(replay.gradients()[inputs + index],
                                          file.at("grad/" + path)) < 1e-5);
            }
        });
        CHECK(compared == file.names("module_out/").size());
        CHECK(captured->put_back().verified);
    }
}
