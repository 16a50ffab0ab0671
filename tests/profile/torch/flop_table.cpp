// Operators with the FLOPs that they must have, each by running it.
#include "support/catch2.hpp"
#include "support/count_flops.hpp"
#include <component_benchmark/core/flop_convention.hpp>

#include <torch/torch.h>

#include <tuple>

namespace cb = component_benchmark;

namespace {

at::Tensor ones(c10::IntArrayRef sizes) {
    return at::ones(sizes);
}
at::Tensor leaf(c10::IntArrayRef sizes) {
    return at::ones(sizes).requires_grad_(true);
}
at::Tensor ids(std::int64_t below, c10::IntArrayRef sizes) {
    return at::zeros(sizes, at::kLong).add_(below - 1);
}

/// Under the conventions that count products alike.
template<class Work>
void check_all(double expected, Work work) {
    CHECK(count_flops<cb::strict_pytorch>(work) == expected);
    CHECK(count_flops<cb::strict>(work) == expected);
    CHECK(count_flops<cb::macs>(work) == expected);  // in FLOPs; the profiler halves them
}

/// Where PyTorch's counter has no formula.
template<class Work>
void check_missed(double expected, Work work) {
    CHECK(count_flops<cb::strict_pytorch>(work) == 0.0);
    CHECK(count_flops<cb::strict>(work) == expected);
}

at::Tensor attend(at::Tensor const& query, at::Tensor const& key, at::Tensor const& value,
                  bool causal = false, bool grouped = false) {
    return at::scaled_dot_product_attention(query, key, value, {}, 0.0, causal, {}, grouped);
}

}  // namespace

TEST_CASE("products") {
    check_all(240, [] { at::mm(ones({4, 5}), ones({5, 6})); });
    check_all(240, [] { at::addmm(ones({6}), ones({4, 5}), ones({5, 6})); });
    check_all(240, [] { at::addmm(ones({4, 6}), ones({4, 5}), ones({5, 6})); });
    check_all(720, [] { at::bmm(ones({3, 4, 5}), ones({3, 5, 6})); });
    check_all(720, [] { at::baddbmm(ones({3, 4, 6}), ones({3, 4, 5}), ones({3, 5, 6})); });
    check_all(1440, [] { at::matmul(ones({2, 3, 4, 5}), ones({5, 6})); });
    check_all(1440, [] { at::matmul(ones({2, 3, 4, 5}), ones({2, 3, 5, 6})); });
    check_all(1440, [] { at::matmul(ones({2, 1, 4, 5}), ones({3, 5, 6})); });
    check_all(672, [] { at::einsum("ab,bc->ac", {ones({6, 7}), ones({7, 8})}); });
    check_all(0, [] { at::einsum("i,j->ij", {ones({3}), ones({4})}); });
    check_all(24, [] { at::einsum("bi,bi->b", {ones({3, 4}), ones({3, 4})}); });
    check_all(240, [] { at::tensordot(ones({2, 3, 4}), ones({4, 3, 5}), {1, 2}, {1, 0}); });
}

TEST_CASE("products that PyTorch's counter does not know") {
    check_missed(40, [] { at::mv(ones({4, 5}), ones({5})); });
    check_missed(40, [] { at::addmv(ones({4}), ones({4, 5}), ones({5})); });
    check_missed(10, [] { at::dot(ones({5}), ones({5})); });
    check_missed(720, [] { at::addbmm(ones({4, 6}), ones({3, 4, 5}), ones({3, 5, 6})); });
    check_missed(240, [] {
        torch::nn::Bilinear layer{torch::nn::BilinearOptions{3, 4, 5}};
        layer(ones({2, 3}), ones({2, 4}));
    });
    check_missed(7440, [] { at::cdist(ones({30, 4}), ones({31, 4})); });
    check_missed(65'536, [] {
        auto const bytes = at::ones({32, 32}, at::kChar);
        at::_int_mm(bytes, bytes);
    });
    // of 4 elements on the diagonal, each meets a row of 5
    CHECK(count_flops([] { at::mm(at::eye(4).to_sparse(), ones({4, 5})); }) == 40);
    // the gradients of both sides, of few points as of many
    for (auto const many : {10, 30})
        CHECK(count_flops([&] {
                  at::cdist(leaf({many, 4}), leaf({11, 4})).sum().backward();
              }) == 3 * 2 * many * 11 * 4);
    check_all(0, [] { at::addr(ones({4, 5}), ones({4}), ones({5})); });
    // distances that are no product are work on elements
    CHECK(count_flops([] { at::cdist(leaf({3, 4}), ones({5, 4}), 1.0).sum().backward(); }) == 0);
    CHECK(count_flops([] { at::cdist(ones({3, 4}), ones({5, 4}), 1.0); }) == 0);
}

TEST_CASE("linear layers, with and without a batch") {
    torch::nn::Linear layer{9, 10};
    torch::nn::Linear plain{torch::nn::LinearOptions{9, 10}.bias(false)};
    check_all(1440, [&] { layer(ones({8, 9})); });
    check_all(1440, [&] { plain(ones({8, 9})); });
    check_all(2520, [&] { layer(ones({2, 7, 9})); });
    check_all(180, [&] { layer(ones({9})); });
    check_all(2880, [&] { layer(ones({8, 9})).sum().backward(); });
    check_all(4320, [&] { layer(leaf({8, 9})).sum().backward(); });
    check_all(3012, [&] {
        at::mm(ones({4, 5}), ones({5, 6}));
        at::addmm(ones({6}), ones({4, 5}), ones({5, 6}));
        at::matmul(ones({5, 6}), ones({6, 7}));
        at::einsum("ab,bc->ac", {ones({6, 7}), ones({7, 8})});
        layer(ones({8, 9}));
    });
    check_all(5184, [] {
        auto const product = at::mm(leaf({4, 5}), ones({5, 6})).expand({7, 4, 6});
        at::bmm(product, ones({7, 6, 7})).sum().backward();
    });
}

TEST_CASE("convolutions of every kind, forward") {
    using sizes = c10::IntArrayRef;
    at::Tensor const no;
    check_all(28'800, [&] { at::conv2d(ones({2, 3, 6, 6}), ones({6, 3, 4, 4}), no, 1, 1); });
    check_all(1'440, [&] { at::conv1d(ones({2, 3, 6}), ones({6, 3, 4}), no, 1, 1); });
    check_all(13'824, [&] {
        at::conv2d(ones({1, 3, 8, 8}), ones({16, 3, 3, 3}), ones({16}), 2, 1);
    });
    check_all(7'776, [&] {
        at::conv2d(ones({1, 4, 8, 8}), ones({6, 2, 3, 3}), no, 1, sizes{0, 0}, 1, 2);
    });
    check_all(7'776, [&] {
        at::conv2d(ones({1, 3, 10, 10}), ones({4, 3, 3, 3}), no, 1, sizes{0, 0}, 2);
    });
    check_all(1'440, [&] { at::conv_transpose1d(ones({2, 3, 6}), ones({3, 5, 4})); });
    check_all(10'800, [&] {
        at::conv_transpose2d(ones({1, 4, 5, 5}), ones({4, 6, 3, 3}), no, 2, 1, 1);
    });
    check_all(5'184, [&] { at::conv2d(ones({3, 6, 6}), ones({6, 3, 4, 4})); });
    check_all(26'000, [] {
        torch::nn::Sequential model{torch::nn::Conv2d{3, 10, 1}, torch::nn::ReLU{},
                                    torch::nn::Flatten{}, torch::nn::Linear{1000, 10}};
        model->forward(ones({1, 3, 10, 10}));
    });
}

TEST_CASE("convolutions, forward and backward") {
    using sizes = c10::IntArrayRef;
    at::Tensor const no;
    auto const run = [&](at::Tensor const& input) {
        at::conv2d(input, leaf({6, 3, 4, 4}), no, 1, 1).sum().backward();
    };
    check_all(86'400, [&] { run(leaf({2, 3, 6, 6})); });
    check_all(57'600, [&] { run(ones({2, 3, 6, 6})); });
    check_all(23'328, [&] {
        at::conv2d(leaf({1, 4, 8, 8}), leaf({6, 2, 3, 3}), no, 1, sizes{0, 0}, 1, 2)
            .sum()
            .backward();
    });
    check_all(32'400, [&] {
        at::conv_transpose2d(leaf({1, 4, 5, 5}), leaf({4, 6, 3, 3}), no, 2, 1, 1).sum().backward();
    });
}

TEST_CASE("recurrent layers, fused or not") {
    auto const input = ones({5, 2, 3});
    torch::nn::LSTM one{3, 4};
    torch::nn::LSTM two{torch::nn::LSTMOptions{3, 4}.num_layers(2)};
    torch::nn::LSTM both{torch::nn::LSTMOptions{3, 4}.bidirectional(true)};
    CHECK(count_flops([&] { one(input); }) == 2'240);
    CHECK(count_flops([&] { two(input); }) == 4'800);
    CHECK(count_flops([&] { both(input); }) == 4'480);
    check_all(1'680, [&] { torch::nn::GRU{3, 4}(input); });
    check_all(560, [&] { torch::nn::RNN{3, 4}(input); });
    {
        // one operator for a layer makes the gradients of both operands of each product; where it
        // is taken apart, those of the first hidden state and of the input are not asked for
        auto const run = [&] { std::get<0>(one(input)).sum().backward(); };
        auto const fused =
            tally_of([&] { one(input); }).coverage.all.calls < tally_of([&] {
                                                                   torch::nn::GRU{3, 4}(input);
                                                               }).coverage.all.calls;
        CHECK(count_flops(run) == (fused ? 6'720 : 5'504));
    }
}

TEST_CASE("attention") {
    torch::nn::MultiheadAttention layer{8, 2};
    check_all(6'720, [&] { layer(ones({5, 2, 8}), ones({5, 2, 8}), ones({5, 2, 8})); });
    check_all(8'384, [&] { layer(ones({5, 2, 8}), ones({7, 2, 8}), ones({7, 2, 8})); });
    auto const backward = [&](at::Tensor const& x) {
        std::get<0>(layer(x, x, x)).sum().backward();
    };
    check_all(16'320, [&] { backward(ones({5, 2, 8})); });
    check_all(20'160, [&] { backward(leaf({5, 2, 8})); });

    auto const x = ones({4, 8, 128, 64});
    check_missed(134'217'728, [&] { attend(x, x, x); });
    check_missed(134'217'728, [&] { attend(x, x, x, true); });
    check_missed(469'762'048, [&] {
        auto const y = leaf({4, 8, 128, 64});
        attend(y, y, y).sum().backward();
    });
    check_missed(33'554'432, [] {
        auto const few = ones({1, 2, 128, 64});
        attend(ones({1, 8, 128, 64}), few, few, false, true);
    });
    // made of products: its backward keeps the scores
    at::globalContext().setSDPUseFlash(false);
    check_all(134'217'728, [&] { attend(x, x, x); });
    check_all(402'653'184, [&] {
        auto const y = leaf({4, 8, 128, 64});
        attend(y, y, y).sum().backward();
    });
    at::globalContext().setSDPUseFlash(true);
}

TEST_CASE("causal attention may be halved") {
    auto const halved = [](std::int64_t queries, std::int64_t keys, bool causal = true) {
        return tally_of(
                   [&] {
                       auto const key = ones({2, 3, keys, 8});
                       attend(ones({2, 3, queries, 8}), key, key, causal);
                   },
                   cb::causal_attention::halved)
            .forward.total();
    };
    auto const each = 2.0 * 2 * 3 * (8 + 8);
    CHECK(halved(16, 16) == each * 128);
    CHECK(halved(16, 16, false) == each * 256);
    CHECK(halved(16, 64) == each * 128);              // no query sees a key after its own place
    CHECK(halved(64, 16) == each * (128 + 48 * 16));  // the later queries see them all
}

TEST_CASE("what is no product is 0, and known") {
    auto const all = [] {
        torch::nn::Embedding table{10, 4};
        torch::nn::EmbeddingBag bag{10, 4};
        torch::nn::LayerNorm layer_norm{torch::nn::LayerNormOptions{{4}}};
        torch::nn::BatchNorm1d batch_norm{4};
        auto const rows = layer_norm(table(ids(10, {3})));
        auto const acted = at::gelu(at::softmax(at::relu(rows), -1)).mul(rows).add(rows);
        auto const sums =
            batch_norm(at::dropout(acted, 0.5, true)).sum() + bag(ids(10, {3, 2})).sum();
        sums.backward();
        at::cat({acted, acted}).mean().item<float>();
    };
    check_all(0, all);
    auto const step = [] {
        torch::nn::Sequential model{
            torch::nn::Conv2d{3, 8, 3}, torch::nn::BatchNorm2d{8},       torch::nn::ReLU{},
            torch::nn::MaxPool2d{2},    torch::nn::AdaptiveAvgPool2d{1}, torch::nn::Flatten{}};
        torch::optim::AdamW optimizer{model->parameters()};
        auto const loss = at::cross_entropy_loss(model->forward(ones({2, 3, 8, 8})), ids(3, {2}));
        loss.backward();
        optimizer.step();
    };
    CHECK(count_flops(step) == 2.0 * 2 * 8 * 27 * 36 * 2);  // forward and weights
}

TEST_CASE("the elementwise convention counts sums and products of elements") {
    auto const count = [](auto work) { return count_flops<cb::elementwise>(work); };
    CHECK(count([] { at::mul(ones({3, 4}), ones({3, 4})); }) == 12);
    CHECK(count([] { at::add(ones({8, 1}), ones({8, 9})); }) == 72);  // of the broadcast
    CHECK(count([] { ones({3, 4}).sub_(2.0); }) == 12);
    CHECK(count([] { at::div(ones({3}), ones({2, 3})); }) == 6);
    CHECK(count([] { ones({3, 4}).sum(); }) == 11);
    CHECK(count([] { ones({3, 4}).sum(1); }) == 9);
    CHECK(count([] { ones({3, 4}).mean(); }) == 12);
    CHECK(count([] { at::relu(ones({3, 4})); }) == 0);
    CHECK(count([] { at::mm(ones({4, 5}), ones({5, 6})); }) == 240);
    CHECK(count([] { at::layer_norm(ones({3, 4}), {4}); }) == 0);
}

TEST_CASE("transforms and factorizations by their leading terms") {
    CHECK(count_flops([] { at::fft_fft(at::complex(ones({4, 8}), ones({4, 8}))); }) == 5 * 32 * 3);
    CHECK(count_flops([] { at::fft_rfft(ones({4, 8})); }) == 2.5 * 32 * 3);
    CHECK(count_flops([] {
              at::fft_irfft(at::complex(ones({4, 5}), ones({4, 5})));
          }) == 2.5 * 32 * 3);
    auto const matrices = at::eye(6).mul(3.0).expand({2, 6, 6}).contiguous();
    CHECK(count_flops([&] { at::linalg_cholesky(matrices); }) == 2 * 72);
    CHECK(count_flops([&] { at::linalg_inv(matrices); }) == 2 * 432);
    CHECK(count_flops([&] {
              at::linalg_solve(matrices, ones({2, 6, 3}));
          }) == 2 * (144 + 2 * 36 * 3));
    CHECK(count_flops([&] {
              at::linalg_solve_triangular(matrices, ones({2, 6, 3}), true);
          }) == 2 * 36 * 3);
    auto const found = tally_of([&] { at::linalg_svd(matrices, false); }).coverage;
    CHECK(found.find("aten::_linalg_svd") != nullptr);
}
