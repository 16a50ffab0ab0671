// tests: DeepFM in C++ is torchrec's, number by number
#include "models/deepfm.hpp"

#include "bad_input.hpp"
#include "examples/oracle_file.hpp"
#include "models/deepfm_shapes.hpp"
#include "models/load_weights.hpp"
#include "models/raw_tensors.hpp"
#include "support/catch2.hpp"

#include <torch/torch.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

using test_support::complaint_of;
using test_support::oracle_folder;
using test_support::oracle_rows;

namespace {

struct oracle_case {
    std::string shape;
    std::string file;
};
std::vector<oracle_case> const oracle_cases{{"unit", "deepfm_unit"}, {"cpu-small", "deepfm_small"}};

std::int64_t parameters_of(torch::nn::Module const& module, bool recurse) {
    std::int64_t count = 0;
    for (auto const& parameter : module.parameters(recurse))
        count += parameter.numel();
    return count;
}

std::string short_type(torch::nn::Module const& module) {
    auto name = module.name();
    name.erase(0, name.rfind(':') + 1);
    return name.substr(0, name.rfind("Impl"));
}

double relative_difference(torch::Tensor const& given, torch::Tensor const& expected) {
    REQUIRE(given.sizes() == expected.sizes());
    return ((given - expected).abs().max() / expected.abs().max()).item<double>();
}

}  // namespace

TEST_CASE("the interaction gives the numbers of torchrec's own test", "[examples]") {
    torch::manual_seed(0);
    auto const dense = torch::rand({3, 3});
    models::keyed_tensor const sparse{{"f1", "f2"}, {3, 3}, torch::rand({3, 6})};
    models::FMInteractionArch inter_arch{9, std::vector<std::string>{"f1", "f2"}, 2};
    auto const expected = torch::tensor({{0.4963, 0.7682, 0.0885, 0.0000, 0.2646, 4.3660},
                                         {0.1320, 0.3074, 0.6341, 0.0000, 0.0834, 7.6417},
                                         {0.4901, 0.8964, 0.4556, 0.0000, 0.0671, 15.5230}},
                                        torch::kFloat);
    CHECK(torch::allclose(inter_arch(dense, sparse), expected, 1e-4, 1e-4));
}

TEST_CASE("an interaction without sparse features returns the dense ones", "[examples]") {
    models::FMInteractionArch inter_arch{3, std::vector<std::string>{}, 2};
    auto const dense = torch::rand({2, 3});
    CHECK(torch::equal(inter_arch(dense, models::keyed_tensor{}), dense));
}

TEST_CASE("the three shapes have the known numbers of parameters", "[examples]") {
    auto const count = [](char const* shape) {
        return parameters_of(*models::make_model(models::deepfm_shape_named(shape)), true);
    };
    CHECK(count("unit") == 3'968);
    CHECK(count("cpu-small") == 145'666);
    CHECK(count("paper") == 49'616'898);
    CHECK(complaint_of([] { return models::deepfm_shape_named("huge"); }) ==
          "expected one of the shapes unit, cpu-small, paper, given huge");
}

TEST_CASE("the tree has torchrec's paths, types and parameters", "[examples]") {
    for (auto const& [shape, file] : oracle_cases) {
        auto const model = models::make_model(models::deepfm_shape_named(shape));
        auto const rows = oracle_rows(file);
        auto const modules = model->named_modules();
        REQUIRE(modules.size() == rows.size());
        for (std::size_t index = 0; index < rows.size(); ++index) {
            auto const& row = rows[index];
            auto const& module = modules[index];
            INFO(shape << " " << module.key());
            CHECK(row["path"] == module.key());
            CHECK(row["type"] == short_type(*module.value()));
            CHECK(row["own"] == parameters_of(*module.value(), false));
            CHECK(row["total"] == parameters_of(*module.value(), true));
        }
    }
}

TEST_CASE("the seeds of a shape give torchrec's weights and batch, bit by bit", "[examples]") {
    for (auto const& [shape, file] : oracle_cases) {
        auto const tensors = models::raw_tensors::read(oracle_folder + file + ".json");
        auto const model = models::make_model(models::deepfm_shape_named(shape));
        for (auto const& parameter : model->named_parameters()) {
            INFO(shape << " " << parameter.key());
            CHECK(torch::equal(parameter.value(), tensors.at("param/" + parameter.key())));
        }
        auto const batch = models::make_batch(models::deepfm_shape_named(shape));
        CHECK(torch::equal(batch.dense, tensors.at("input/dense")));
        CHECK(torch::equal(batch.sparse.values(), tensors.at("input/sparse.values")));
        CHECK(torch::equal(batch.sparse.offsets(), tensors.at("input/sparse.offsets")));
        CHECK(torch::equal(batch.sparse.lengths(), tensors.at("input/sparse.lengths")));
        CHECK(batch.sparse.keys() == tensors.kjt_keys());
    }
}

TEST_CASE("with torchrec's weights and inputs, output and gradients are torchrec's", "[examples]") {
    for (auto const& [shape, file] : oracle_cases) {
        auto const tensors = models::raw_tensors::read(oracle_folder + file + ".json");
        auto model = models::make_model(models::deepfm_shape_named(shape), /*seed=*/99);
        models::load_parameters(*model, tensors);
        auto const batch = models::load_batch(tensors);
        auto const output = model(batch.dense, batch.sparse);
        CHECK(relative_difference(output, tensors.at("output/0")) < 1e-5);
        output.sum().backward();
        for (auto const& parameter : model->named_parameters()) {
            INFO(shape << " " << parameter.key());
            CHECK(relative_difference(parameter.value().grad(),
                                      tensors.at("grad/" + parameter.key())) < 1e-5);
        }
    }
}

TEST_CASE("a batch that does not fit is refused with the component's path", "[examples]") {
    auto const shape = models::deepfm_shape_named("cpu-small");
    auto model = models::make_model(shape);
    auto const batch = models::make_batch(shape);
    auto const complaint = [&](torch::Tensor const& dense,
                               models::keyed_jagged_tensor const& sparse) {
        return complaint_of([&] { return model(dense, sparse); });
    };
    CHECK(complaint(torch::rand({32, 10}), batch.sparse) ==
          "dense_arch: expected dense features of shape [batch, 64], given [32, 10]");
    CHECK(complaint(torch::rand({2, 64}), batch.sparse) ==
          "SimpleDeepFMNN: expected a bag of each sparse feature for each row of the dense "
          "features [2, 64], given 32 bags of each of f0, f1, f2, f3");
    CHECK(complaint(torch::rand({64}), batch.sparse) ==
          "SimpleDeepFMNN: expected a bag of each sparse feature for each row of the dense "
          "features [64], given 32 bags of each of f0, f1, f2, f3");

    auto const ids = [](std::vector<std::string> keys, std::int64_t id) {
        auto const count = static_cast<std::int64_t>(keys.size());
        return models::keyed_jagged_tensor::from_lengths_sync(
            std::move(keys), torch::full({count}, id, torch::kLong),
            torch::ones({count}, torch::kLong));
    };
    CHECK(complaint(torch::rand({1, 64}), ids({"f0", "f1", "f3"}, 7)) ==
          "sparse_arch.embedding_bag_collection: table t2 expected the feature f2, given the "
          "features f0, f1, f3");
    CHECK(complaint(torch::rand({1, 64}), ids({"f0", "f1", "f2", "f3"}, 1'000)) ==
          "sparse_arch.embedding_bag_collection.embedding_bags.t0: expected ids from 0 to 999 "
          "(1000 rows) for the feature f0, given 1000");
    CHECK(complaint(torch::rand({1, 64}), ids({"f0", "f1", "f2", "f3"}, 999)).empty());
}

TEST_CASE("a component refuses inputs that are not its own", "[examples]") {
    models::FMInteractionArch inter_arch{9, std::vector<std::string>{"f1", "f2"}, 2};
    auto const complaint = [&](torch::Tensor const& dense, models::keyed_tensor const& sparse) {
        return complaint_of([&] { return inter_arch(dense, sparse); });
    };
    CHECK(complaint(torch::rand({2, 3}), {{"f1", "f2"}, {3, 3}, torch::rand({4, 6})}) ==
          "inter_arch: expected dense features of shape [4, width] as the sparse ones are [4, 6], "
          "given [2, 3]");
    CHECK(complaint(torch::rand({2, 3}), {{"f1"}, {3}, torch::rand({2, 3})}) ==
          "inter_arch: expected the feature f2, given the features f1");
    CHECK(complaint(torch::rand({2, 5}), {{"f1", "f2"}, {3, 3}, torch::rand({2, 6})}) ==
          "inter_arch: expected dense and sparse features of 9 columns together, given 11 (dense "
          "[2, 5], sparse [2, 6])");
    models::FactorizationMachine fm;
    CHECK(complaint_of([&] { return fm(std::vector<torch::Tensor>{}); }) ==
          "inter_arch.fm: expected at least one tensor, given none");
    CHECK(complaint_of([&] {
              return fm(std::vector<torch::Tensor>{torch::rand({2, 3}), torch::rand({4, 3})});
          }) == "inter_arch.fm: expected tensors of shape [2, ...], given [4, 3]");
    models::OverArch over_arch{5};
    CHECK(complaint_of([&] {
              return over_arch(torch::rand({2, 4}));
          }) == "over_arch: expected features of shape [batch, 5], given [2, 4]");
}

TEST_CASE("an embedding bag collection pools by table and names each result", "[examples]") {
    using config = models::embedding_bag_config;
    models::EmbeddingBagCollection collection{std::vector<config>{
        {"sums", 2, 10, {"a", "b"}}, {"means", 2, 10, {"a"}, models::pooling::mean}}};
    CHECK(collection->feature_keys() == std::vector<std::string>{"a@sums", "b", "a@means"});
    auto const ids = models::keyed_jagged_tensor::from_lengths_sync(
        {"a", "b"}, torch::tensor({3, 4, 5}, torch::kLong),
        torch::tensor({2, 0, 0, 1}, torch::kLong));
    auto const pooled = collection(ids);
    auto const parameters = collection->named_parameters();
    auto const sums = parameters["embedding_bags.sums.weight"];
    auto const means = parameters["embedding_bags.means.weight"];
    CHECK(torch::allclose(pooled["a@sums"][0], sums[3] + sums[4]));
    CHECK(torch::equal(pooled["a@sums"][1], torch::zeros({2})));
    CHECK(torch::equal(pooled["b"][1], sums[5]));
    CHECK(torch::allclose(pooled["a@means"][0], (means[3] + means[4]) / 2));
    auto const bound = 1 / std::sqrt(10.0);
    CHECK(sums.abs().max().item<double>() <= bound);
    CHECK(sums.abs().max().item<double>() > bound / 2);
}

TEST_CASE("tables that cannot be built are refused", "[examples]") {
    using config = models::embedding_bag_config;
    CHECK(complaint_of([] {
              return models::EmbeddingBagCollection{
                  std::vector<config>{{"t", 2, 10, {"a"}}, {"t", 2, 10, {"b"}}}};
          }) ==
          "sparse_arch.embedding_bag_collection: expected different table names, given t twice");
    CHECK(complaint_of([] {
              return models::EmbeddingBagCollection{std::vector<config>{{"t", 2, 0, {"a"}}}};
          }) ==
          "sparse_arch.embedding_bag_collection: expected table t to have rows and columns, "
          "given [0, 2]");
    CHECK(complaint_of([] {
              return models::SimpleDeepFMNN{3,
                                            models::EmbeddingBagCollection{std::vector<config>{
                                                {"t", 2, 10, {"a"}}, {"u", 4, 10, {"b"}}}},
                                            4, 5};
          }) == "SimpleDeepFMNN: expected tables of one embedding_dim, given 2 in t and 4 in u");
}
