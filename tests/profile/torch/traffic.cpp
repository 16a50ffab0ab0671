// Bytes that operators move, as known by hand.
#include "support/catch2.hpp"
#include <component_benchmark/profile/op_observer.hpp>
#include <component_benchmark/profile/traffic_counter.hpp>

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

namespace cb = component_benchmark;
namespace nn = torch::nn;
using at::Tensor;

namespace {

cb::traffic_tally traffic_of(std::function<void()> const& work) {
    cb::traffic_counter counter;
    {
        cb::op_watch const watch{counter, true};
        work();
    }
    return counter.take();
}

/// Bytes, and -1 where those of an operator are not known.
std::int64_t moved(std::function<void()> const& work) {
    auto const found = traffic_of(work);
    UNSCOPED_INFO(found.failures);
    return found.failures.empty() ? found.forward : -1;
}

Tensor ids(std::vector<std::int64_t> const& values) {
    return at::tensor(values, at::kLong);
}

constexpr std::int64_t index_bytes = 8;

}  // namespace

TEST_CASE("each argument is read once and each result written") {
    auto const x = at::rand({3, 4});
    auto const y = at::rand({3, 4});
    CHECK(moved([&] { at::add(x, y); }) == 3 * 48);
    CHECK(moved([&] { at::mul(x, x); }) == 2 * 48);
    CHECK(moved([&] { at::relu(x); }) == 2 * 48);
    CHECK(moved([&] { at::addcmul(x, x, x); }) == 2 * 48);
    CHECK(moved([&] { x.sum(); }) == 48 + 4);
    CHECK(moved([&] { x.sum(1); }) == 48 + 3 * 4);
    CHECK(moved([&] { x[0][0].item<float>(); }) == 4);
    CHECK(moved([&] { x.max(); }) == 48 + 4);
    CHECK(moved([&] { x.max(1); }) == 48 + 3 * (4 + 8));  // values and places
    CHECK(moved([&] { x.to(at::kDouble); }) == 48 + 96);
    CHECK(moved([&] { at::mm(x, y.t()); }) == 2 * 48 + 9 * 4);
}

TEST_CASE("factorization machine: 24 bytes for each element, 16 without the concatenation") {
    constexpr std::int64_t rows = 64;
    constexpr std::int64_t parts = 9;
    constexpr std::int64_t width = 16;
    constexpr std::int64_t elements = rows * parts * width;
    std::vector<Tensor> const list(parts, at::rand({rows, width}).clone());
    std::vector<Tensor> different;
    for (auto const& one : list)
        different.push_back(one.clone());
    auto const fm = [&](Tensor const& x) {
        auto const sums = x.sum(1, true);
        auto const squares = (x * x).sum(1, true);
        return (sums * sums - squares).sum(1, true).mul(0.5);
    };
    Tensor all;
    CHECK(moved([&] { all = at::cat(different, 1); }) == 8 * elements);
    auto const small = rows * 4 * (1 + 1 + 2 + 3 + 2 + 2);  // of [rows, 1]
    CHECK(moved([&] { fm(all); }) == 16 * elements + small);
    CHECK(moved([&] { fm(at::cat(different, 1)); }) == 24 * elements + small);
    // the same tensor nine times is read once
    CHECK(moved([&] { at::cat(list, 1); }) == 4 * elements + 4 * elements / parts);
}

TEST_CASE("what is broadcast or expanded lies in memory once") {
    auto const x = at::rand({3, 4});
    auto const row = at::rand({4});
    auto const number = at::rand({});
    CHECK(moved([&] { at::add(x, row); }) == 48 + 16 + 48);
    CHECK(moved([&] { at::add(x, row.expand({3, 4})); }) == 48 + 16 + 48);
    CHECK(moved([&] { at::add(x, number); }) == 48 + 4 + 48);
    CHECK(moved([&] { at::relu(row.expand({3, 4})); }) == 16 + 48);
    CHECK(moved([&] { row.unfold(0, 3, 1).sum(); }) == 16 + 4);  // windows that overlap
    CHECK(moved([&] { row.expand({0, 4}).sum(); }) == 4);
}

TEST_CASE("views and questions move nothing") {
    auto const x = at::rand({4, 6}).requires_grad_(true);
    auto const plain = at::rand({4, 6});
    CHECK(moved([&] {
              x.view({24}).transpose(0, 0).slice(0, 1, 5);
              x.t().unsqueeze(0).squeeze(0).detach();
              x.expand({2, 4, 6}).permute({2, 0, 1}).select(0, 1);
              x.reshape({2, 12}).flatten().unflatten(0, {4, 6}).narrow(0, 1, 2);
              at::_unsafe_view(x, {24});
              x.chunk(2);
              x.unsafe_chunk(2);
              x.split(2);
              x.unbind(0);
              x.contiguous().to(at::kFloat);
              at::dropout(x, 0.5, false);
              nn::Identity{}(x);
              at::real(plain);
              plain.is_same_size(x);
              at::empty({3});
              at::empty_like(x);
          }) == 0);
    CHECK(moved([&] {
              auto view = at::empty({4, 6});
              view.transpose_(0, 1).unsqueeze_(0).squeeze_(0).t_().detach_();
              view.swapaxes_(0, 1).as_strided_({2}, {1});
              view.resize_({3});
              view.set_(plain);
          }) == 0);
    CHECK(moved([&] { plain.t().contiguous(); }) == 2 * 96);
    CHECK(moved([&] { plain.t().reshape({24}); }) == 2 * 96);
}

TEST_CASE("memory that is made is written, and its pattern is not read") {
    auto const x = at::rand({4, 6});
    CHECK(moved([&] { at::zeros({4, 6}); }) == 96);
    CHECK(moved([&] { at::zeros_like(x); }) == 96);
    CHECK(moved([&] { at::ones_like(x); }) == 96);
    CHECK(moved([&] { at::full_like(x, 2); }) == 96);
    CHECK(moved([&] { x.new_zeros({3}); }) == 12);
    CHECK(moved([&] { x.new_full({3}, 1.0); }) == 12);
    CHECK(moved([&] { at::rand({4, 6}); }) == 96);
    CHECK(moved([&] { at::randn_like(x); }) == 96);
    CHECK(moved([&] { at::arange(10); }) == 80);
    CHECK(moved([&] { at::empty({4, 6}).fill_(2).zero_().uniform_(); }) == 3 * 96);
}

TEST_CASE("in-place operators read and write, but for those that only write") {
    auto x = at::rand({3, 4});
    auto const y = at::rand({3, 4});
    auto out = at::empty({3, 4});
    CHECK(moved([&] { x.add_(y); }) == 3 * 48);
    CHECK(moved([&] { x.mul_(2); }) == 2 * 48);
    CHECK(moved([&] { x.relu_(); }) == 2 * 48);
    CHECK(moved([&] { x.mul_(x); }) == 2 * 48);
    CHECK(moved([&] { x.copy_(y); }) == 2 * 48);
    CHECK(moved([&] { x.zero_(); }) == 48);
    CHECK(moved([&] { x.fill_(3); }) == 48);
    CHECK(moved([&] { at::add_out(out, x, y); }) == 3 * 48);
    CHECK(moved([&] { at::mul_out(x, x, y); }) == 3 * 48);  // the result is an argument, too
    CHECK(moved([&] { at::_foreach_add_({x, out}, {y, y}); }) == (2 + 1 + 2) * 48);
    CHECK(moved([&] { at::_foreach_zero_({x, out}); }) == 2 * 48);
    CHECK(moved([&] { at::_foreach_mul({x, y}, 2.0); }) == 4 * 48);
    CHECK(moved([&] { at::stack({x, y}); }) == 4 * 48);
    // written arguments and new results at a time
    auto noise = at::empty({3, 4});
    CHECK(moved([&] { at::rrelu_with_noise(x, noise, 0.1, 0.3, true); }) == 4 * 48);
}

TEST_CASE("of a table the rows that are looked up, each once") {
    auto const table = at::rand({100, 8});
    constexpr std::int64_t row = 32;
    auto const five = ids({7, 3, 7, 3, 7});
    CHECK(moved([&] { at::embedding(table, five); }) == 5 * 8 + 2 * row + 5 * row);
    CHECK(moved([&] { at::index_select(table, 0, five); }) == 5 * 8 + 2 * row + 5 * row);
    CHECK(moved([&] { at::index_select(table, 1, ids({2, 2, 5})); }) == 3 * 8 + 2 * 400 + 3 * 400);
    CHECK(moved([&] { at::index_select(table, -1, ids({2})); }) == 8 + 400 + 400);
    CHECK(moved([&] { table.index({five}); }) == 5 * 8 + 2 * row + 5 * row);
    CHECK(moved([&] { table.index({five, ids({0, 1, 2, 3, 4})}); }) == 10 * 8 + 5 * 4 + 5 * 4);
    // lists that are broadcast name each place of a block
    CHECK(moved([&] {
              table.index({ids({1, 2, 3}).unsqueeze(1), ids({4, 5})});
          }) == 5 * 8 + 6 * 4 + 6 * 4);
    auto const firsts = at::zeros({2, 8}, at::kLong);
    CHECK(moved([&] { at::gather(table, 0, firsts); }) == 16 * 8 + 16 * 4 + 16 * 4);
    CHECK(moved([&] { at::take(table, five); }) == 5 * 8 + 5 * 4 + 5 * 4);
    CHECK(moved([&] { at::embedding(table, ids({})); }) == 0);
    auto mask = at::zeros({100}, at::kBool);
    mask[3] = true;
    mask[9] = true;
    CHECK(moved([&] { table.index({mask}); }) == 100 + 2 * row + 2 * row);
    auto const all = table > 0.5;
    auto const chosen = all.sum().item<std::int64_t>();
    CHECK(moved([&] { table.index({all}); }) == 800 + 2 * 4 * chosen);
}

TEST_CASE("of a target the rows that are written") {
    auto target = at::zeros({100, 8});
    constexpr std::int64_t row = 32;
    auto const three = ids({4, 5, 4});
    auto const rows = at::rand({3, 8});
    auto const given = 3 * index_bytes + 3 * row;
    CHECK(moved([&] { target.index_add_(0, three, rows); }) == given + 2 * 2 * row);
    CHECK(moved([&] { target.index_copy_(0, three, rows); }) == given + 2 * row);
    CHECK(moved([&] { target.index_fill_(0, three, 1.0); }) == 3 * index_bytes + 2 * row);
    CHECK(moved([&] { target.index_put_({three}, rows); }) == given + 2 * row);
    CHECK(moved([&] { target.index_put_({three}, rows, true); }) == given + 2 * 2 * row);
    auto const places = at::zeros({3, 8}, at::kLong);
    CHECK(moved([&] { target.scatter_add_(0, places, rows); }) ==
          24 * index_bytes + 3 * row + 2 * 24 * 4);
    CHECK(moved([&] { target.scatter_(0, places, rows); }) == 24 * index_bytes + 3 * row + 24 * 4);
    CHECK(moved([&] { target.scatter_(0, places, rows, "add"); }) ==
          24 * index_bytes + 3 * row + 2 * 24 * 4);
    // not in place: all of it is copied
    CHECK(moved([&] { at::index_add(target, 0, three, rows); }) == given + 2 * 100 * row);
}

TEST_CASE("bags of embeddings, dense and sparse, both ways") {
    constexpr std::int64_t row = 32;
    auto const indices = ids({1, 2, 1, 2, 9, 9});
    auto const offsets = ids({0, 2, 4});
    auto const run = [&](bool sparse, bool train) {
        nn::EmbeddingBag bag{nn::EmbeddingBagOptions{100, 8}.mode(torch::kSum).sparse(sparse)};
        bag->weight.requires_grad_(train);
        auto const result = bag(indices, offsets);
        if (train)
            result.backward(at::ones({3, 8}));
    };
    auto const setup = moved([&] { nn::EmbeddingBag{100, 8}; });
    auto const ones = 3 * row;
    auto const forward = moved([&] { run(false, false); }) - setup;
    auto const needed = 6 * 8 + 3 * 8 + 3 * row + 3 * row;
    CHECK(forward >= needed);
    CHECK(forward <= needed + 6 * 8 + 2 * 3 * 8);  // what it notes for the backward
    auto const dense = moved([&] { run(false, true); }) - setup - forward - ones;
    CHECK(dense >= 3 * row + 100 * row);  // the gradient of the table
    CHECK(dense <= 3 * row + 100 * row + 1000);
    auto const sparse = moved([&] { run(true, true); }) - setup - forward - ones;
    CHECK(sparse >= 3 * row + 6 * row);  // a row for each index
    CHECK(sparse < dense);
}

TEST_CASE("embedding, backward") {
    constexpr std::int64_t row = 32;
    auto const table = at::rand({100, 8}).requires_grad_(true);
    auto const indices = ids({1, 2, 1, 2, 9, 9});
    auto const gradient = at::ones({6, 8});
    auto const forward = moved([&] { at::embedding(table, indices); });
    CHECK(moved([&] { at::embedding(table, indices).backward(gradient); }) ==
          forward + 6 * 8 + 6 * row + 100 * row);
    nn::Embedding sparse{nn::EmbeddingOptions{100, 8}.sparse(true)};
    auto const backward = moved([&] { sparse(indices).backward(gradient); }) - forward;
    CHECK(backward >= 0);
    CHECK(backward <= 4 * (6 * 8 + 6 * row));
}

TEST_CASE("layers: parameters and activations, each once a pass") {
    auto const within = [](std::int64_t bytes, std::int64_t least, std::int64_t most) {
        CHECK(bytes >= least);
        CHECK(bytes <= most);
    };
    auto const x = at::rand({2, 4, 8, 8}).requires_grad_(true);
    constexpr std::int64_t image = 2 * 4 * 64 * 4;
    auto const w = at::rand({4, 4, 3, 3}).requires_grad_(true);
    constexpr std::int64_t weight = 144 * 4;
    auto const up = at::ones({2, 4, 8, 8});
    CHECK(moved([&] { at::conv2d(x, w, {}, 1, 1); }) == 2 * image + weight);
    // forward; then reads gradient, input, weight, and writes two gradients
    CHECK(moved([&] { at::conv2d(x, w, {}, 1, 1).backward(up); }) ==
          2 * image + weight + 3 * image + 2 * weight);

    auto const rows = at::rand({16, 8}).requires_grad_(true);
    nn::Linear linear{8, 32};
    constexpr std::int64_t in = 16 * 8 * 4;
    constexpr std::int64_t out = 16 * 32 * 4;
    constexpr std::int64_t matrix = 8 * 32 * 4;
    constexpr std::int64_t bias = 32 * 4;
    CHECK(moved([&] { linear(rows); }) == in + matrix + bias + out);
    within(
        moved([&] {
            linear(rows).backward(at::ones({16, 32}));
        }),
        (in + matrix + bias + out) + out + (out + matrix + in) + (out + in + matrix) + (out + bias),
        (in + matrix + bias + out) + out + (out + matrix + in) + (out + in + matrix) +
            (out + bias) + 512);

    nn::LayerNorm norm{nn::LayerNormOptions{{8}}};
    CHECK(moved([&] { norm(rows); }) == 2 * in + 2 * 32 + 2 * 16 * 4);
    nn::BatchNorm2d batch_norm{4};
    within(moved([&] { batch_norm(x); }), 2 * image, 2 * image + 200);
    CHECK(moved([&] { at::softmax(rows, 1); }) == 2 * in);
    auto const ones = at::ones({16, 8});
    auto const scores = at::rand({16, 8}).requires_grad_(true);
    CHECK(moved([&] { at::softmax(scores, 1).backward(ones); }) == 2 * in + 3 * in);

    auto const q = at::rand({2, 2, 16, 8});
    constexpr std::int64_t head = 2 * 2 * 16 * 8 * 4;
    CHECK(moved([&] { at::scaled_dot_product_attention(q, q.clone(), q.clone()); }) ==
          2 * 2 * head + 4 * head + 2 * 2 * 16 * 4);  // clones, attention, sums of its rows
    auto const wants = [] { return at::rand({2, 2, 16, 8}).requires_grad_(true); };
    auto const [query, key, value] = std::tuple{wants(), wants(), wants()};
    auto const gradient = at::ones({2, 2, 16, 8});
    constexpr std::int64_t sums = 2 * 2 * 16 * 4;
    // forward reads 3 and writes 1, backward reads these and a gradient and writes 3, which may be
    // copied
    within(moved([&, query = query, key = key, value = value] {
               at::scaled_dot_product_attention(query, key, value).backward(gradient);
           }),
           12 * head + 2 * sums, 18 * head + 2 * sums);
}

TEST_CASE("narrow types and what autocast makes of wide ones") {
    auto const half = at::rand({3, 4}).to(at::kHalf);
    auto const brain = half.to(at::kBFloat16);
    CHECK(moved([&] { at::add(half, half); }) == 2 * 24);
    CHECK(moved([&] { at::mul(brain, 2); }) == 2 * 24);
    auto const x = at::rand({16, 8});
    auto const w = at::rand({8, 4});
    auto const cast = [](std::int64_t elements) { return elements * (4 + 2); };
    auto const autocast = [](std::function<void()> const& work) {
        return moved([&] {
            at::autocast::set_autocast_enabled(at::kCPU, true);
            at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
            work();
            at::autocast::clear_cache();
            at::autocast::set_autocast_enabled(at::kCPU, false);
        });
    };
    CHECK(autocast([&] { at::mm(x, w); }) == cast(128) + cast(32) + 2 * (128 + 32 + 64));
    auto const b = x.to(at::kBFloat16);
    // promoted: the narrow one is made wide first
    CHECK(autocast([&] { at::cat({x, b}); }) == 128 * (2 + 4) + 4 * 4 * 128);
    CHECK(autocast([&] { at::relu(x); }) == 2 * 512);
}

TEST_CASE("tensors that are empty, sparse, nested, quantized or nowhere") {
    CHECK(moved([] {
              auto const none = at::empty({0, 4});
              at::add(none, none);
              at::mm(none, at::empty({4, 0}));
              none.sum(0);
              at::cat({none, none});
          }) == 4 * 4);
    auto const diagonal = at::eye(8);
    auto const coo = diagonal.to_sparse();
    auto const csr = diagonal.to_sparse_csr();
    auto const y = at::rand({8, 4});
    CHECK(moved([&] { at::mm(coo, y); }) == 8 * (2 * 8 + 4) + 128 + 128);
    CHECK(moved([&] { at::mm(csr, y); }) == (9 * 8 + 8 * 8 + 8 * 4) + 128 + 128);
    CHECK(moved([&] { coo.coalesce(); }) >= 0);
    CHECK(moved([&] { coo.to_dense(); }) >= 256);
    auto const meta = at::empty({3, 4}, at::kMeta);
    CHECK(moved([&] { at::add(meta, meta); }) == 0);
    CHECK(moved([&] { at::mm(meta, meta.t()); }) == 0);
    auto const quantized = at::quantize_per_tensor(y, 0.1, 0, at::kQInt8);
    CHECK(moved([&] { quantized.dequantize(); }) == 32 + 128);
    auto const nested = at::_nested_tensor_from_tensor_list({at::rand({2, 4}), at::rand({3, 4})});
    CHECK(moved([&] { nested.mul(2.0); }) >= 2 * 20 * 4);
    CHECK(moved([&] { at::linear(nested, at::rand({6, 4})); }) >= 20 * 4);
    CHECK(moved([&] { at::softmax(nested, -1); }) >= 0);
    CHECK(moved([&] { nested.to_padded_tensor(0.0); }) >= 20 * 4 + 24 * 4);
}

TEST_CASE("temporaries of an operator are its own affair, on its threads, too") {
    auto const threads = at::get_num_threads();
    at::set_num_threads(4);
    // a convolution in double runs over its images on several threads
    auto const x = at::rand({8, 4, 16, 16}, at::kDouble);
    auto const w = at::rand({4, 4, 3, 3}, at::kDouble);
    constexpr std::int64_t image = 8 * 4 * 256 * 8;
    for (int round = 0; round < 20; ++round)
        CHECK(moved([&] {
                  at::conv2d(x, w, {}, 1, at::IntArrayRef{1, 1}, 2 - round % 2);
              }) == image + 144 * 8 + (round % 2 == 1 ? image : 8 * 4 * 14 * 14 * 8));
    at::set_num_threads(threads);
}
