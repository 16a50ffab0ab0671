// tests: jagged tensors, and files of raw tensors
#include "bad_input.hpp"
#include "models/deepfm_shapes.hpp"
#include "models/keyed_jagged_tensor.hpp"
#include "models/keyed_tensor.hpp"
#include "models/load_weights.hpp"
#include "models/raw_tensors.hpp"
#include "support/catch2.hpp"

#include <torch/torch.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using models::keyed_jagged_tensor;
using test_support::complaint_of;

namespace {

torch::Tensor whole(std::vector<std::int64_t> const& numbers) {
    return torch::tensor(numbers, torch::kLong);
}

bool same(torch::Tensor const& given, std::vector<std::int64_t> const& expected) {
    return torch::equal(given, whole(expected));
}

keyed_jagged_tensor example() {
    return keyed_jagged_tensor::from_lengths_sync({"f0", "f1"}, torch::arange(8),
                                                  whole({2, 0, 1, 1, 1, 3}));
}

template<class Value>
std::vector<std::int64_t> sizes_visited(Value value) {
    std::vector<std::int64_t> sizes;
    value.each_tensor([&](at::Tensor& tensor) { sizes.push_back(tensor.size(0)); });
    return sizes;
}

std::string read_complaint(std::filesystem::path const& file) {
    return complaint_of([&] { return models::raw_tensors::read(file).names(); });
}

}  // namespace

TEST_CASE("a keyed jagged tensor computes offsets from lengths and back", "[examples]") {
    auto const from_lengths = example();
    CHECK(from_lengths.stride() == 3);
    CHECK(same(from_lengths.offsets(), {0, 2, 2, 3, 4, 5, 8}));
    CHECK(from_lengths.offset_per_key() == std::vector<std::int64_t>{0, 3, 8});
    CHECK(from_lengths.length_per_key() == std::vector<std::int64_t>{3, 5});
    auto const from_offsets = keyed_jagged_tensor::from_offsets_sync({"f0", "f1"}, torch::arange(8),
                                                                     whole({0, 2, 2, 3, 4, 5, 8}));
    CHECK(same(from_offsets.lengths(), {2, 0, 1, 1, 1, 3}));
    CHECK(keyed_jagged_tensor{}.stride() == 0);
}

TEST_CASE("one key of a keyed jagged tensor is a jagged tensor", "[examples]") {
    auto const second = example()["f1"];
    CHECK(same(second.values(), {3, 4, 5, 6, 7}));
    CHECK(same(second.lengths(), {1, 1, 3}));
    CHECK(same(second.offsets(), {0, 1, 2, 5}));
    CHECK(complaint_of([] { return example()["f2"]; }) ==
          "keyed jagged tensor: expected one of the keys f0, f1, given f2");
}

TEST_CASE("a dictionary of a keyed jagged tensor has offsets from 0", "[examples]") {
    auto const weighted = keyed_jagged_tensor::from_offsets_sync(
        {"f0", "f1"}, torch::arange(8), whole({0, 2, 2, 3, 4, 5, 8}), torch::arange(8) * 10);
    auto const features = weighted.to_dict();
    REQUIRE(features.size() == 2);
    CHECK(same(features.at("f0").values(), {0, 1, 2}));
    CHECK(same(features.at("f0").offsets(), {0, 2, 2, 3}));
    CHECK(same(features.at("f1").values(), {3, 4, 5, 6, 7}));
    CHECK(same(features.at("f1").offsets(), {0, 1, 2, 5}));
    CHECK(same(features.at("f1").lengths(), {1, 1, 3}));
    CHECK(same(features.at("f1").weights(), {30, 40, 50, 60, 70}));
    auto const no_rows = keyed_jagged_tensor::from_lengths_sync({"a", "b"}, whole({}), whole({}));
    CHECK(same(no_rows.to_dict().at("b").offsets(), {0}));
}

TEST_CASE("a visitor sees the tensors that were given, whatever was computed", "[examples]") {
    auto const by_lengths = example();
    static_cast<void>(by_lengths.offsets());
    CHECK(sizes_visited(by_lengths) == std::vector<std::int64_t>{8, 6});
    auto const weighted = keyed_jagged_tensor{
        {"k"}, torch::arange(3), {whole({1, 2}), whole({0, 1, 3})}, torch::rand({3})};
    CHECK(sizes_visited(weighted) == std::vector<std::int64_t>{3, 3, 2, 3});
    CHECK(sizes_visited(weighted["k"]) == std::vector<std::int64_t>{3, 3, 2});
    CHECK(sizes_visited(models::keyed_tensor{{"k"}, {3}, torch::rand({2, 3})}).size() == 1);
}

TEST_CASE("what a visitor replaces is seen in all that is computed from it", "[examples]") {
    auto copy = example();
    static_cast<void>(copy.offsets());
    copy.each_tensor([](at::Tensor& tensor) {
        if (tensor.size(0) == 6)
            tensor = whole({1, 1, 1, 2, 2, 1});
    });
    CHECK(same(copy.offsets(), {0, 1, 2, 3, 5, 7, 8}));
    CHECK(copy.offset_per_key() == std::vector<std::int64_t>{0, 3, 8});
    CHECK(same(copy["f0"].lengths(), {1, 1, 1}));
}

TEST_CASE("jagged tensors that contradict themselves are refused", "[examples]") {
    auto const complaint = [](std::vector<std::string> keys, std::vector<std::int64_t> lengths) {
        return complaint_of([&] {
            return keyed_jagged_tensor::from_lengths_sync(keys, torch::arange(4), whole(lengths));
        });
    };
    CHECK(complaint({"a"}, {1, 2}) ==
          "keyed jagged tensor: expected 3 values by the lengths or offsets, given 4");
    CHECK(complaint({"a", "b"}, {1, 2, 1}) ==
          "keyed jagged tensor: expected as many bags for each of the keys a, b, given 3 bags for "
          "2 keys");
    CHECK(complaint({"a", "a"}, {2, 2}) ==
          "keyed jagged tensor: expected different keys, given a, a");
    CHECK(complaint({"a"}, {5, -1}) ==
          "keyed jagged tensor: expected bags of no negative length, given bag 1 from 5 to 4");
    CHECK(complaint_of([] {
              return keyed_jagged_tensor::from_offsets_sync({"a"}, torch::arange(4), whole({1, 4}));
          }) == "keyed jagged tensor: expected offsets that begin at 0, given 1");
    CHECK(complaint_of([] {
              return models::keyed_tensor{{"a", "b"}, {2, 2}, torch::rand({3, 5})};
          }) == "keyed tensor: expected values of size 4 in dimension 1, given [3, 5]");
}

TEST_CASE("a keyed tensor is a list of tensors side by side", "[examples]") {
    auto const left = torch::rand({2, 3});
    auto const right = torch::rand({2, 4});
    auto const both = models::keyed_tensor::from_tensor_list({"left", "right"}, {left, right});
    CHECK(torch::equal(both["left"], left));
    CHECK(torch::equal(both["right"], right));
    CHECK(both.length_per_key() == std::vector<std::int64_t>{3, 4});
    CHECK(complaint_of([&] { return both["middle"]; }) ==
          "keyed tensor: expected one of the keys left, right, given middle");
}

TEST_CASE("a malformed file of tensors is refused by file and tensor", "[examples]") {
    test_support::temporary_folder const folder;
    auto const complaint = [&](std::string const& manifest, std::string const& bytes) {
        folder.write("t.bin", bytes);
        auto const file = folder.write("t.json", manifest);
        return folder.shortened(
            complaint_of([&] { return models::raw_tensors::read(file).names(); }));
    };
    auto const one = [](std::string const& fields) {
        return R"({"tensors": [{"name": "x", )" + fields + "}]}";
    };
    std::string const good = R"("dtype": "float32", "shape": [2], "offset": 0, "nbytes": 8)";
    CHECK(complaint(one(good), "12345678").empty());
    CHECK(complaint("{", "") == R"(t.json: expected a JSON object with a list "tensors")");
    CHECK(complaint(one(good), "1234") ==
          "t.json: tensor x: expected bytes within the file's 4, given 8 from 0");
    CHECK(complaint(one(good), "123456789") == "t.bin: expected 8 bytes by t.json, given 9");
    CHECK(complaint(one(R"("dtype": "half", "shape": [2], "offset": 0, "nbytes": 8)"), "") ==
          R"(t.json: tensor x: expected the dtype "float32" or "int64", given "half")");
    CHECK(complaint(one(R"("dtype": "int64", "shape": [2], "offset": 0, "nbytes": 8)"), "") ==
          "t.json: tensor x: expected 16 bytes for its shape [2], given nbytes 8");
    CHECK(complaint(one(R"("dtype": "int64", "shape": [-2], "offset": 0, "nbytes": 8)"), "") ==
          R"(t.json: tensor x: expected "shape" to be a list of sizes, given [-2])");
    CHECK(complaint(one(R"("dtype": "int64", "shape": [1], "nbytes": 8)"), "") ==
          R"(t.json: tensor x: expected a whole number "offset", given nothing)");
    CHECK(complaint(one(R"("dtype": "int64", "shape": [4294967296, 4294967296], "offset": 0,
                            "nbytes": 0)"),
                    "") ==
          "t.json: tensor x: expected a shape of at most 1099511627776 bytes, "
          "given [4294967296, 4294967296]");
    CHECK(folder.shortened(read_complaint(folder.path() / "no.json")) ==
          "no.json: expected a readable manifest, given none");
    folder.write("alone.json", one(good));
    CHECK(folder.shortened(read_complaint(folder.path() / "alone.json")) ==
          "alone.bin: expected a readable file beside the manifest, given none");
    std::filesystem::create_directory(folder.path() / "alone.bin");
    CHECK(folder.shortened(read_complaint(folder.path() / "alone.json")) ==
          "alone.bin: expected a readable file beside the manifest, given a directory");
    CHECK(read_complaint(folder.path()) ==
          folder.path().string() + ": expected a readable manifest, given a directory");
}

TEST_CASE("a file that may not be read is refused as such", "[examples]") {
    test_support::temporary_folder const folder;
    auto const file = folder.write("t.json", "{}");
    ::chmod(file.c_str(), 0);
    auto const is_root = ::geteuid() == 0;
    REQUIRE((!is_root || ::seteuid(65534) == 0));  // root may read anything
    auto const complaint = folder.shortened(read_complaint(file));
    if (is_root && ::seteuid(0) != 0)
        std::abort();
    CHECK(complaint == "t.json: expected a readable manifest, given an error: permission denied");
}

TEST_CASE("a manifest made to hurt its reader is refused in a short sentence", "[examples]") {
    test_support::temporary_folder const folder;
    auto const complaint = [&](std::string const& manifest, std::string const& bytes) {
        folder.write("t.bin", bytes);
        return folder.shortened(read_complaint(folder.write("t.json", manifest)));
    };
    auto const tensor = [](std::string const& name, std::string const& shape,
                           std::string const& offset, std::string const& nbytes) {
        return R"({"dtype": "float32", "name": ")" + name + R"(", "shape": )" + shape +
               R"(, "offset": )" + offset + R"(, "nbytes": )" + nbytes + "}";
    };
    auto const listed = [](std::string const& tensors) {
        return R"({"tensors": [)" + tensors + "]}";
    };
    auto const too_deep =
        "t.json: expected values in at most 32 lists and objects around each other, given more";
    CHECK(complaint(std::string(200'000, '['), "") == too_deep);
    std::string const deep = std::string(200'000, '[') + std::string(200'000, ']');
    CHECK(complaint(listed(deep), "") == too_deep);
    CHECK(complaint(listed(tensor("x", deep, "0", "0")), "") == too_deep);
    std::string const no_object =
        "t.json: expected each of the tensors to be an object with a \"name\", given ";
    std::string const deepest = std::string(30, '[') + std::string(30, ']');
    CHECK(complaint(listed(deepest), "") == no_object + deepest);
    CHECK(complaint(listed("\"" + std::string(100'000, 'x') + "\""), "") ==
          no_object + "\"" + std::string(58, 'x') + "\u2026");

    CHECK(complaint(listed(tensor("x", "[0, 4611686018427387904, 4611686018427387904]", "0", "0")),
                    "") ==
          "t.json: tensor x: expected a shape of at most 1099511627776 bytes, given "
          "[0, 4611686018427387904, 4611686018427387904]");
    CHECK(complaint(listed(tensor("x", "[3, 0]", "0", "0")), "").empty());

    CHECK(complaint(listed(tensor("a", "[2]", "0", "8") + "," + tensor("b", "[2]", "4", "8")),
                    "123456789012") ==
          "t.json: tensor b: expected bytes of its own, given some of tensor a");
    CHECK(complaint(listed(tensor("a", "[2]", "4", "8") + "," + tensor("b", "[2]", "0", "8")),
                    "123456789012") ==
          "t.json: tensor b: expected bytes of its own, given some of tensor a");
    CHECK(complaint(listed(tensor("a", "[2]", "4", "8") + "," + tensor("b", "[1]", "0", "4") + "," +
                           tensor("c", "[0]", "6", "0")),
                    "123456789012")
              .empty());

    auto long_shape = std::string{"["};
    for (int size = 0; size < 1000; ++size)
        long_shape += "1, ";
    auto const cut = complaint(listed(tensor("x", long_shape + "2]", "0", "4")), "1234");
    CHECK(cut.size() < 160);
    CHECK(complaint(listed(tensor("a\\u001b[31m\\u0000b", "[1]", "0", "5")), "1234") ==
          "t.json: tensor a\uFFFD[31m\uFFFD"
          "b: expected 4 bytes for its shape [1], given nbytes 5");
}

TEST_CASE("weights of another model are refused and change nothing", "[examples]") {
    auto const file = std::string{COMPONENT_BENCHMARK_TEST_DATA} + "/oracle/deepfm_unit.json";
    auto const tensors = models::raw_tensors::read(file);
    auto const complaint = [&](models::deepfm_shape const& shape) {
        auto model = models::make_model(shape, 5);
        auto const before = model->parameters().back().clone();
        auto text = complaint_of([&] {
            models::load_parameters(*model, tensors);
            return 0;
        });
        CHECK(torch::equal(before, model->parameters().back()));
        return text;
    };
    auto shape = models::deepfm_shape_named("unit");
    shape.num_dense_features = 99;
    CHECK(complaint(shape) == file +
                                  ": parameter dense_arch.model.0.weight: expected Float [20, "
                                  "99], given Float [20, 100]");
    shape.tables[1].name = "t3";
    CHECK(complaint(shape) ==
          file +
              ": tensor param/sparse_arch.embedding_bag_collection.embedding_bags.t2.weight: "
              "expected "
              "a parameter of the model, which has none of this name");
    auto more = models::deepfm_shape_named("unit");
    more.tables.push_back({"t4", 8, 10, {"f4"}});
    CHECK(complaint(more) ==
          file +
              ": expected a tensor "
              "param/sparse_arch.embedding_bag_collection.embedding_bags.t4.weight for the "
              "model's parameter, given none");
}
