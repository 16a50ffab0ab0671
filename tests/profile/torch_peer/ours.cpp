// What we count under strict_pytorch for each case of theirs.py, as one JSON object.
#include <component_benchmark/core/flop_convention.hpp>
#include <component_benchmark/profile/flop_counter.hpp>
#include <component_benchmark/profile/op_observer.hpp>

#include <torch/torch.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

namespace cb = component_benchmark;
using at::Tensor;
using sizes = c10::IntArrayRef;

namespace {

struct counted_case {
    std::string name;
    std::function<void()> run;
};
using cases = std::vector<counted_case>;

Tensor ones(sizes shape) {
    return at::ones(shape);
}
Tensor leaf(sizes shape) {
    return at::ones(shape).requires_grad_(true);
}
/// Without memory: operators of another device are dispatched on it.
Tensor meta(sizes shape, at::ScalarType type = at::kFloat) {
    return at::empty(shape, at::TensorOptions{at::kMeta}.dtype(type));
}
void backward(Tensor const& result) {
    result.sum().backward();
}

/// Those that LibTorch has without Python end in an error, after they were dispatched.
template<class Call>
std::function<void()> dispatched(Call call) {
    return [call] {
        try {
            call();
        } catch (c10::NotImplementedError const&) {
        }
    };
}

cases products() {
    return {
        {"mm",
         [] {
             at::mm(ones({4, 5}), ones({5, 6}));
         }},
        {"mm into a given tensor",
         [] {
             auto result = ones({4, 6});
             at::mm_out(result, ones({4, 5}), ones({5, 6}));
         }},
        {"mm of nothing",
         [] {
             at::mm(ones({0, 5}), ones({5, 6}));
         }},
        {"addmm, a vector",
         [] {
             at::addmm(ones({6}), ones({4, 5}), ones({5, 6}));
         }},
        {"addmm, a matrix",
         [] {
             at::addmm(ones({4, 6}), ones({4, 5}), ones({5, 6}));
         }},
        {"addmm in place",
         [] {
             ones({4, 6}).addmm_(ones({4, 5}), ones({5, 6}));
         }},
        {"bmm",
         [] {
             at::bmm(ones({3, 4, 5}), ones({3, 5, 6}));
         }},
        {"baddbmm",
         [] {
             at::baddbmm(ones({3, 4, 6}), ones({3, 4, 5}), ones({3, 5, 6}));
         }},
        {"baddbmm in place",
         [] {
             ones({3, 4, 6}).baddbmm_(ones({3, 4, 5}), ones({3, 5, 6}));
         }},
        {"addbmm",
         [] {
             at::addbmm(ones({4, 6}), ones({3, 4, 5}), ones({3, 5, 6}));
         }},
        {"mv",
         [] {
             at::mv(ones({4, 5}), ones({5}));
         }},
        {"addmv",
         [] {
             at::addmv(ones({4}), ones({4, 5}), ones({5}));
         }},
        {"dot", [] { at::dot(ones({5}), ones({5})); }},
        {"bilinear",
         [] {
             torch::nn::Bilinear{3, 4, 5}(ones({2, 3}), ones({2, 4}));
         }},
        {"cdist",
         [] {
             at::cdist(ones({30, 4}), ones({31, 4}));
         }},
        {"product of int8",
         [] {
             auto const bytes = at::ones({32, 32}, at::kChar);
             at::_int_mm(bytes, bytes);
         }},
        {"scaled mm of fp8", dispatched([] {
             auto const bytes = meta({16, 32}, at::kFloat8_e4m3fn);
             at::_scaled_mm(bytes, bytes.t(), meta({}), meta({}));
         })},
        {"sparse mm",
         [] {
             at::mm(at::eye(4).to_sparse(), ones({4, 5}));
         }},
        {"matmul, rank 4 by 2",
         [] {
             at::matmul(ones({2, 3, 4, 5}), ones({5, 6}));
         }},
        {"matmul, rank 4 by 4",
         [] {
             at::matmul(ones({2, 3, 4, 5}), ones({2, 3, 5, 6}));
         }},
        {"matmul, broadcast",
         [] {
             at::matmul(ones({2, 1, 4, 5}), ones({3, 5, 6}));
         }},
        {"matmul, matrix by vector",
         [] {
             at::matmul(ones({4, 5}), ones({5}));
         }},
        {"einsum of matrices",
         [] {
             at::einsum("ab,bc->ac", {ones({6, 7}), ones({7, 8})});
         }},
        {"einsum of vectors",
         [] {
             at::einsum("i,j->ij", {ones({3}), ones({4})});
         }},
        {"einsum of rows",
         [] {
             at::einsum("bi,bi->b", {ones({3, 4}), ones({3, 4})});
         }},
        {"tensordot",
         [] {
             at::tensordot(ones({2, 3, 4}), ones({4, 3, 5}), {1, 2}, {1, 0});
         }},
        {"mm and bmm, backward",
         [] {
             auto const product = at::mm(leaf({4, 5}), ones({5, 6})).expand({7, 4, 6});
             backward(at::bmm(product, ones({7, 6, 7})));
         }},
    };
}

cases linear_layers() {
    using torch::nn::Linear;
    return {
        {"linear, a batch",
         [] {
             Linear{9, 10}(ones({8, 9}));
         }},
        {"linear, no bias",
         [] {
             Linear{torch::nn::LinearOptions{9, 10}.bias(false)}(ones({8, 9}));
         }},
        {"linear, a batch of rows",
         [] {
             Linear{9, 10}(ones({2, 7, 9}));
         }},
        {"linear, one row",
         [] {
             Linear{9, 10}(ones({9}));
         }},
        {"linear, backward",
         [] {
             backward(Linear{9, 10}(ones({8, 9})));
         }},
        {"linear, backward to the input",
         [] {
             backward(Linear{9, 10}(leaf({8, 9})));
         }},
        {"linear, autocast",
         [] {
             at::autocast::set_autocast_enabled(at::kCPU, true);
             backward(Linear{9, 10}(leaf({8, 9})));
             at::autocast::clear_cache();
             at::autocast::set_autocast_enabled(at::kCPU, false);
         }},
    };
}

cases convolutions() {
    Tensor const no;
    std::array<std::int64_t, 2> const none{0, 0};
    return {
        {"convolution",
         [=] {
             at::conv2d(ones({2, 3, 6, 6}), ones({6, 3, 4, 4}), no, 1, 1);
         }},
        {"convolution, 1-d",
         [=] {
             at::conv1d(ones({2, 3, 6}), ones({6, 3, 4}), no, 1, 1);
         }},
        {"convolution, 3-d",
         [] {
             at::conv3d(ones({1, 2, 5, 6, 7}), ones({3, 2, 2, 3, 2}));
         }},
        {"convolution, stride",
         [] {
             at::conv2d(ones({1, 3, 8, 8}), ones({16, 3, 3, 3}), ones({16}), 2, 1);
         }},
        {"convolution, groups",
         [=] {
             at::conv2d(ones({1, 4, 8, 8}), ones({6, 2, 3, 3}), no, 1, none, 1, 2);
         }},
        {"convolution, dilation",
         [=] {
             at::conv2d(ones({1, 3, 10, 10}), ones({4, 3, 3, 3}), no, 1, none, 2);
         }},
        {"convolution, no batch",
         [] {
             at::conv2d(ones({3, 6, 6}), ones({6, 3, 4, 4}));
         }},
        {"convolution, transposed 1-d",
         [] {
             at::conv_transpose1d(ones({2, 3, 6}), ones({3, 5, 4}));
         }},
        {"convolution, transposed",
         [=] {
             at::conv_transpose2d(ones({1, 4, 5, 5}), ones({4, 6, 3, 3}), no, 2, 1, 1);
         }},
        {"convolution, transposed, groups",
         [=] {
             at::conv_transpose2d(ones({1, 4, 5, 5}), ones({4, 3, 3, 3}), no, 1, 0, 0, 2);
         }},
        {"convolution, backward",
         [=] {
             backward(at::conv2d(leaf({2, 3, 6, 6}), leaf({6, 3, 4, 4}), no, 1, 1));
         }},
        {"convolution, backward to the weight",
         [=] {
             backward(at::conv2d(ones({2, 3, 6, 6}), leaf({6, 3, 4, 4}), no, 1, 1));
         }},
        {"convolution, transposed, backward",
         [=] {
             backward(at::conv_transpose2d(leaf({1, 4, 5, 5}), leaf({4, 6, 3, 3}), no, 2, 1, 1));
         }},
        {"convolution, groups, backward",
         [=] {
             backward(at::conv2d(leaf({1, 4, 8, 8}), leaf({6, 2, 3, 3}), no, 1, none, 1, 2));
         }},
        {"convolution, depthwise, backward",
         [=] {
             backward(at::conv2d(leaf({1, 4, 8, 8}), leaf({4, 1, 3, 3}), no, 1, none, 1, 4));
         }},
        {"convolution, by its inner name",
         [=] {
             at::_convolution(ones({2, 3, 6, 6}), ones({6, 3, 4, 4}), no, {1, 1}, none, {1, 1},
                              false, none, 1, false, false, true, true);
         }},
    };
}

cases recurrent_layers() {
    using torch::nn::GRU;
    using torch::nn::LSTM;
    auto const options = torch::nn::LSTMOptions{3, 4};
    auto const input = [] { return ones({5, 2, 3}); };
    return {
        {"lstm",
         [=] {
             LSTM{3, 4}(input());
         }},
        {"lstm, two layers", [=] { LSTM{torch::nn::LSTMOptions{options}.num_layers(2)}(input()); }},
        {"lstm, both directions, backward",
         [=] {
             LSTM layer{torch::nn::LSTMOptions{options}.bidirectional(true)};
             backward(std::get<0>(layer(input())));
         }},
        {"gru",
         [=] {
             GRU{3, 4}(input());
         }},
        {"gru, backward",
         [=] {
             backward(std::get<0>(GRU{3, 4}(input())));
         }},
        {"rnn",
         [=] {
             torch::nn::RNN{3, 4}(input());
         }},
    };
}

cases attention() {
    using torch::nn::MultiheadAttention;
    auto const attend = [](Tensor const& x, bool causal) {
        return at::scaled_dot_product_attention(x, x, x, {}, 0.0, causal);
    };
    return {
        {"attention layer",
         [] {
             auto const x = ones({5, 2, 8});
             MultiheadAttention{8, 2}(x, x, x);
         }},
        {"attention layer, to others",
         [] {
             auto const others = ones({7, 2, 8});
             MultiheadAttention{8, 2}(ones({5, 2, 8}), others, others);
         }},
        {"attention layer, backward",
         [] {
             auto const x = leaf({5, 2, 8});
             backward(std::get<0>(MultiheadAttention{8, 2}(x, x, x)));
         }},
        {"attention on the CPU",
         [=] {
             attend(ones({2, 8, 16, 32}), true);
         }},
        {"attention on the CPU, backward",
         [=] {
             backward(attend(leaf({2, 8, 16, 32}), false));
         }},
        {"attention, wider values",
         [] {
             at::scaled_dot_product_attention(ones({2, 8, 16, 32}), ones({2, 8, 24, 32}),
                                              ones({2, 8, 24, 40}));
         }},
    };
}

/// As they are dispatched for a GPU: queries [batch, heads, length, width].
cases attention_of_gpus() {
    auto const q = meta({2, 8, 16, 32});
    auto const k = meta({2, 8, 24, 32});
    auto const shared = meta({2, 2, 16, 32});
    auto const sums = meta({2, 8, 16});
    auto const seed = meta({}, at::kLong);
    auto const none = meta({0});
    return {
        {"flash attention", dispatched([=] { at::_scaled_dot_product_flash_attention(q, k, k); })},
        {"flash attention, shared keys",
         dispatched([=] { at::_scaled_dot_product_flash_attention(q, shared, shared); })},
        {"flash attention, backward", dispatched([=] {
             at::_scaled_dot_product_flash_attention_backward(q, q, k, k, q, sums, none, none, 16,
                                                              24, 0.0, false, seed, seed);
         })},
        {"efficient attention",
         dispatched([=] { at::_scaled_dot_product_efficient_attention(q, k, k, {}, true); })},
        {"efficient attention, backward", dispatched([=] {
             at::_scaled_dot_product_efficient_attention_backward(
                 q, q, k, k, none, q, sums, seed, seed, 0.0, {true, true, true, false});
         })},
        {"cudnn attention",
         dispatched([=] { at::_scaled_dot_product_cudnn_attention(q, k, k, {}, true); })},
        {"cudnn attention, backward", dispatched([=] {
             at::_scaled_dot_product_cudnn_attention_backward(q, q, k, k, q, sums, seed, seed, none,
                                                              none, none, 16, 24, 0.0, false);
         })},
    };
}

/// Their kernels by name: [batch, length, heads, width], or sequences one behind the other.
cases attention_kernels() {
    auto const q = meta({2, 16, 8, 32});
    auto const k = meta({2, 24, 8, 32});
    auto const packed = meta({12, 8, 32});
    auto const batch = packed.unsqueeze(0);
    auto const ends = at::tensor({0, 5, 12}, at::kInt);
    auto const sums = meta({2, 8, 16});
    auto const seed = meta({}, at::kLong);
    return {
        {"flash kernel", dispatched([=] {
             at::_flash_attention_forward(q, k, k, {}, {}, 16, 24, 0.0, false, false);
         })},
        {"flash kernel, lengths", dispatched([=] {
             at::_flash_attention_forward(packed, packed, packed, ends, ends, 7, 7, 0.0, false,
                                          false);
         })},
        {"flash kernel, lengths, backward", dispatched([=] {
             at::_flash_attention_backward(packed, packed, packed, packed, packed, sums, ends, ends,
                                           7, 7, 0.0, false, seed, seed);
         })},
        {"efficient kernel", dispatched([=] {
             at::_efficient_attention_forward(q, k, k, {}, {}, {}, 16, 24, 0.0, 0);
         })},
        {"efficient kernel, lengths", dispatched([=] {
             at::_efficient_attention_forward(batch, batch, batch, {}, ends, ends, 7, 7, 0.0, 0);
         })},
        {"efficient kernel, lengths, backward", dispatched([=] {
             at::_efficient_attention_backward(batch, batch, batch, batch, {}, batch, ends, ends, 7,
                                               7, sums, 0.0, seed, seed, 0, false);
         })},
    };
}

cases the_rest() {
    return {
        {"embeddings",
         [] {
             auto const ids = [](sizes shape) { return at::zeros(shape, at::kLong); };
             backward(torch::nn::Embedding{10, 4}(ids({3})) +
                      torch::nn::EmbeddingBag{10, 4}(ids({3, 2})));
         }},
        {"norms and activations",
         [] {
             torch::nn::LayerNorm layer_norm{torch::nn::LayerNormOptions{{4}}};
             auto const acted = at::gelu(at::softmax(at::relu(layer_norm(leaf({3, 4}))), -1));
             backward(torch::nn::BatchNorm1d{4}(at::dropout(acted, 0.5, true)));
         }},
        {"convolution, flatten, linear",
         [] {
             torch::nn::Sequential model{torch::nn::Conv2d{3, 10, 1}, torch::nn::ReLU{},
                                         torch::nn::Flatten{}, torch::nn::Linear{1000, 10}};
             model->forward(ones({1, 3, 10, 10}));
         }},
        {"a step of training",
         [] {
             torch::nn::Sequential model{
                 torch::nn::Conv2d{3, 8, 3}, torch::nn::BatchNorm2d{8},       torch::nn::ReLU{},
                 torch::nn::MaxPool2d{2},    torch::nn::AdaptiveAvgPool2d{1}, torch::nn::Flatten{}};
             torch::optim::AdamW optimizer{model->parameters()};
             auto const labels = at::full({2}, 2, at::kLong);
             at::cross_entropy_loss(model->forward(ones({2, 3, 8, 8})), labels).backward();
             optimizer.step();
         }},
    };
}

/// Counts what ends in an error, too, which the profiler does not.
struct dispatched_flops {
    cb::flop_counter& counter;

    void begin(cb::op_frame& frame, cb::op_call const& call) noexcept {
        counter.begin(frame, call);
    }
    void end(cb::op_frame frame, cb::op_frame* around,
             std::vector<c10::IValue> const& results) noexcept {
        frame.failed = false;
        counter.end(frame, around, results);
    }
};

double flops_of(counted_case const& one) {
    std::vector<cb::flop_formula> const none;
    auto const rules = cb::counting_rules::of<cb::strict_pytorch>(cb::causal_attention::dense);
    cb::flop_counter counter{rules, none};
    dispatched_flops observer{counter};
    {
        cb::op_watch const watch{observer};
        one.run();
    }
    return counter.take().forward.total();
}

}  // namespace

int main() {
    auto const* before = "{";
    for (auto const& all : {products(), linear_layers(), convolutions(), recurrent_layers(),
                            attention(), attention_of_gpus(), attention_kernels(), the_rest()})
        for (auto const& one : all) {
            std::printf("%s\"%s\": %.0f", before, one.name.c_str(), flops_of(one));
            before = ",\n ";
        }
    std::printf("}\n");
}
