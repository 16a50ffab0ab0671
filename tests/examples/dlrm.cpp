// tests: DLRM and DLRM-DCN in C++ are torchrec's, alone and through the library
#include "models/dlrm.hpp"

#include "bad_input.hpp"
#include "examples/oracle.hpp"
#include "models/dlrm_shapes.hpp"
#include "support/catch2.hpp"
#include "support/quick.hpp"
#include <component_benchmark/component_benchmark.hpp>

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cb = component_benchmark;
namespace dlrm = models::dlrm;
using dlrm::interaction;
using test_support::complaint_of;
using test_support::distinct_elements;

namespace {

auto const shape_small = dlrm::dlrm_shape_named("small");

using matrix = std::vector<std::vector<double>>;

matrix matrix_of(torch::Tensor const& tensor) {
    matrix rows;
    for (std::int64_t row = 0; row < tensor.size(0); ++row) {
        auto const line = tensor[row].flatten().to(torch::kDouble).contiguous();
        auto const* const begin = line.const_data_ptr<double>();
        rows.emplace_back(begin, begin + line.numel());
    }
    return rows;
}

using vector = std::vector<double>;

vector times(matrix const& weights, vector const& input) {
    vector output;
    for (auto const& row : weights) {
        double sum = 0;
        for (std::size_t column = 0; column < input.size(); ++column)
            sum += row[column] * input[column];
        output.push_back(sum);
    }
    return output;
}

/// What the model should make of one row of a batch, by loops over its parameters.
class by_hand {
public:
    explicit by_hand(torch::nn::Module const& model) {
        for (auto const& parameter : model.named_parameters())
            parameters_[parameter.key()] = matrix_of(parameter.value().detach());
    }

    [[nodiscard]] double logit(models::batch const& batch, std::int64_t row) const {
        auto dense = matrix_of(batch.dense)[static_cast<std::size_t>(row)];
        for (int layer = 0; layer < 3; ++layer)
            dense = perceptron("dense_arch.model._mlp." + std::to_string(layer), dense);
        auto all = interaction_of(dense, bags(batch, row));
        for (int layer = 0; layer < 2; ++layer)
            all = perceptron("over_arch.model.0._mlp." + std::to_string(layer), all);
        return linear("over_arch.model.1", all).at(0);
    }

private:
    [[nodiscard]] matrix bags(models::batch const& batch, std::int64_t row) const {
        matrix vectors;
        for (std::size_t table = 0; table < batch.sparse.keys().size(); ++table) {
            auto const number = std::to_string(table);
            auto const& weights = parameters_.at(
                "sparse_arch.embedding_bag_collection.embedding_bags.t" + number + ".weight");
            auto const feature = batch.sparse["f" + number];
            auto const begin = feature.offsets()[row].item<std::int64_t>();
            auto const end = feature.offsets()[row + 1].item<std::int64_t>();
            vector sum(weights.front().size());
            for (auto at = begin; at < end; ++at) {
                auto const id = feature.values()[at].item<std::int64_t>();
                for (std::size_t column = 0; column < sum.size(); ++column)
                    sum[column] += weights[static_cast<std::size_t>(id)][column];
            }
            vectors.push_back(sum);
        }
        return vectors;
    }

    [[nodiscard]] vector interaction_of(vector const& dense, matrix vectors) const {
        vectors.insert(vectors.begin(), dense);
        if (parameters_.contains("inter_arch.crossnet.W_kernels.0"))
            return crossed(vectors);
        auto all = dense;
        for (std::size_t left = 0; left < vectors.size(); ++left)
            for (auto right = left + 1; right < vectors.size(); ++right)
                all.push_back(times({vectors[left]}, vectors[right]).at(0));
        return all;
    }

    [[nodiscard]] vector crossed(matrix const& vectors) const {
        vector first;
        for (auto const& one : vectors)
            first.insert(first.end(), one.begin(), one.end());
        auto all = first;
        for (int layer = 0; layer < 2; ++layer) {
            auto const kernel = [&](std::string const& name) -> matrix const& {
                return parameters_.at("inter_arch.crossnet." + name + "." + std::to_string(layer));
            };
            auto const wide = times(kernel("W_kernels"), times(kernel("V_kernels"), all));
            for (std::size_t at = 0; at < all.size(); ++at)
                all[at] += first[at] * (wide[at] + kernel("bias")[at].at(0));
        }
        return all;
    }

    [[nodiscard]] vector linear(std::string const& path, vector const& input) const {
        auto output = times(parameters_.at(path + ".weight"), input);
        for (std::size_t at = 0; at < output.size(); ++at)
            output[at] += parameters_.at(path + ".bias")[at].at(0);
        return output;
    }

    [[nodiscard]] vector perceptron(std::string const& path, vector const& input) const {
        auto output = linear(path + "._linear", input);
        for (auto& value : output)
            value = value > 0 ? value : 0;
        return output;
    }

    std::map<std::string, matrix> parameters_;
};

auto const same_name = [](std::string const& type) { return type; };

}  // namespace

TEST_CASE("the shapes of DLRM have the known numbers of parameters", "[examples]") {
    auto const count = [](char const* shape, interaction how) {
        return distinct_elements(*dlrm::make_model(dlrm::dlrm_shape_named(shape), how));
    };
    CHECK(count("small", interaction::dot) == 137'009);
    CHECK(count("small", interaction::dcn) == 152'401);
    std::int64_t const rows = 34'912;
    CHECK(count("criteo", interaction::dot) == rows * 128 + 171'392 + 2'197'505);
    CHECK(count("criteo", interaction::dcn) ==
          rows * 128 + 171'392 + 3 * (2 * 3'456 * 512 + 3'456) + 5'245'953);
    CHECK(complaint_of([] { return dlrm::dlrm_shape_named("huge"); }) ==
          "expected one of the shapes small, criteo, given huge");
}

TEST_CASE("the tables of Criteo are those of MLPerf, cut off", "[examples]") {
    auto const whole = dlrm::criteo_shape(40'000'000, 1);
    std::int64_t rows = 0;
    std::int64_t ids = 0;
    for (auto const& table : whole.tables)
        rows += table.num_embeddings;
    for (auto const count : whole.ids_per_bag)
        ids += count;
    CHECK(rows == 204'184'588);
    CHECK(ids == 214);
    CHECK(dlrm::criteo_shape(3, 1).tables.front().num_embeddings == 3);
    auto shape = dlrm::criteo_shape(100, 5);
    auto const batch = dlrm::make_batch(shape);
    CHECK(batch.sparse.values().numel() == 5 * 214);
    CHECK(batch.sparse.length_per_key() ==
          std::vector<std::int64_t>{15, 10, 5,  10, 30, 5, 5,  5,   5,   35, 15, 40, 5,
                                    30, 45, 25, 5,  5,  5, 60, 500, 135, 50, 15, 5,  5});
    CHECK(dlrm::make_model(shape, interaction::dot)(batch.dense, batch.sparse).sizes() ==
          torch::IntArrayRef{5, 1});
}

TEST_CASE("every row of DLRM and of DLRM-DCN has torchrec's type, parameters, calls and shapes",
          "[examples]") {
    auto const batch = dlrm::make_batch(shape_small);
    auto const check = [&](interaction how, nlohmann::json const& rows) {
        auto model = dlrm::make_model(shape_small, how);
        auto const report = quick().run(cb::provide(model, batch.dense, batch.sparse));
        test_support::check_rows(report, rows, same_name);
        CHECK(report.document().facts.unchanged.verified);
    };
    check(interaction::dot, test_support::oracle_rows("dlrm_small"));
    check(interaction::dcn, test_support::oracle_rows("dlrm_dcn_small"));
}

TEST_CASE("the seeds of the small shape give torchrec's numbers in every module", "[examples]") {
    auto const batch = dlrm::make_batch(shape_small);
    auto const check = [&](interaction how, char const* oracle) {
        auto model = dlrm::make_model(shape_small, how);
        auto captured = cb::provide(model, batch.dense, batch.sparse).capture({});
        auto const rows = test_support::oracle_rows(oracle);
        auto const is_called = [](auto const& row) { return row.at("calls") != 0; };
        CHECK(test_support::check_first_values(*captured, rows) ==
              static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), is_called)));
    };
    check(interaction::dot, "dlrm_small");
    check(interaction::dcn, "dlrm_dcn_small");
}

TEST_CASE("the logits are those of a computation by loops", "[examples]") {
    for (auto const how : {interaction::dot, interaction::dcn}) {
        auto model = dlrm::make_model(shape_small, how, /*seed=*/5);
        torch::NoGradGuard const no_grad;
        for (auto& parameter : model->named_parameters())  // a bias of 0 would hide a mistake
            if (parameter.key().find("crossnet.bias") != std::string::npos)
                parameter.value().uniform_(-1, 1);
        auto const batch = dlrm::make_batch(shape_small, /*seed=*/6);
        auto const logits = model(batch.dense, batch.sparse);
        by_hand const expected{*model};
        for (std::int64_t row = 0; row < 4; ++row)
            CHECK(logits[row][0].item<double>() ==
                  Approx(expected.logit(batch, row)).epsilon(1e-4).margin(1e-6));
    }
}

TEST_CASE("all parameters of a cross net get a gradient", "[examples]") {
    auto model = dlrm::make_model(shape_small, interaction::dcn);
    auto const batch = dlrm::make_batch(shape_small);
    model(batch.dense, batch.sparse).sum().backward();
    for (auto const& parameter : model->named_parameters()) {
        INFO(parameter.key());
        REQUIRE(parameter.value().grad().defined());
        CHECK(parameter.value().grad().abs().sum().item<double>() > 0);
    }
}

TEST_CASE("DLRM's batches that do not fit are refused with the component's path", "[examples]") {
    auto model = dlrm::make_model(shape_small, interaction::dot);
    auto const batch = dlrm::make_batch(shape_small);
    auto const complaint = [&](torch::Tensor const& dense) {
        return complaint_of([&] { return model(dense, batch.sparse); });
    };
    CHECK(complaint(batch.dense).empty());
    CHECK(complaint(torch::rand({32, 10})) ==
          "dense_arch: expected dense features of shape [batch, 13], given [32, 10]");
    CHECK(complaint(torch::rand({2, 13})) ==
          "DLRM: expected a bag of each sparse feature for each row of the dense features [2, 13], "
          "given 32 bags of each of f0, f1, f2, f3, f4, f5, f6, f7");
    dlrm::InteractionArch inter_arch{2, 3};
    auto const given = [&](torch::Tensor const& dense, torch::Tensor const& sparse) {
        return complaint_of([&] { return inter_arch(dense, sparse); });
    };
    CHECK(given(torch::rand({4, 5}), torch::rand({4, 2, 3})) ==
          "inter_arch: expected dense features of shape [batch, 3], given [4, 5]");
    CHECK(given(torch::rand({4, 3}), torch::rand({4, 3, 3})) ==
          "inter_arch: expected sparse features of shape [4, 2, 3], given [4, 3, 3]");
    dlrm::OverArch over_arch{5, std::vector<std::int64_t>{4, 1}};
    CHECK(complaint_of([&] {
              return over_arch(torch::rand({2, 4}));
          }) == "over_arch: expected features of shape [batch, 5], given [2, 4]");
    models::LowRankCrossNet cross_net{4, 1, 2};
    CHECK(complaint_of([&] {
              return cross_net(torch::rand({2, 5}));
          }) == "LowRankCrossNet: expected an input of shape [batch, 4], given [2, 5]");
}

TEST_CASE("sizes of which no DLRM can be made are refused", "[examples]") {
    auto const complaint = [](auto change, interaction how = interaction::dot) {
        auto shape = shape_small;
        change(shape);
        return complaint_of([&] { return dlrm::make_model(shape, how); });
    };
    CHECK(complaint([](auto& shape) {
              shape.dense_arch_layer_sizes = {64, 32};
          }) ==
          "DLRM: expected the last layer of dense_arch to be as wide as the tables (embedding_dim "
          "16), given 32");
    CHECK(complaint([](auto& shape) { shape.dense_arch_layer_sizes.clear(); }) ==
          "DLRM: expected the last layer of dense_arch to be as wide as the tables (embedding_dim "
          "16), given 0");
    CHECK(complaint([](auto& shape) { shape.over_arch_layer_sizes = {1}; }) ==
          "over_arch: expected at least two layers, given 1");
    CHECK(complaint([](auto& shape) {
              shape.over_arch_layer_sizes = {8, 0};
          }) == "over_arch: expected a last layer of at least 1, given 0");
    CHECK(complaint([](auto& shape) {
              shape.dense_arch_layer_sizes = {0, 16};
          }) == "MLP: expected layers of at least 1, given 13 and 0");
    CHECK(complaint([](auto& shape) { shape.tables.back().embedding_dim = 8; }) ==
          "DLRM: expected tables of one embedding_dim, given 16 in t0 and 8 in t7");
    CHECK(complaint([](auto& shape) { shape.tables.clear(); }) ==
          "DLRM: expected at least one table, given none");
    CHECK(complaint([](auto& shape) { shape.dcn_low_rank_dim = 0; }, interaction::dcn) ==
          "LowRankCrossNet: expected in_features, num_layers and low_rank of at least 1, given "
          "144, 2 and 0");
    CHECK(complaint_of([] { return models::random_bags(shape_small.tables, 2, {1}); }) ==
          "random bags: expected a number of ids for each of 8 tables, given 1");
    CHECK(complaint_of([] {
              return models::MLP{3, std::vector<std::int64_t>{}};
          }) == "MLP: expected at least one layer, given none");
}
