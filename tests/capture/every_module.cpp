// tests: every public module of torch::nn, captured below a user's module and called again alone
#include "support/catch2.hpp"
#include <component_benchmark/hook/forward.hpp>
#include <component_benchmark/provider/provide.hpp>

#include <torch/torch.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace cb = component_benchmark;
namespace nn = torch::nn;

namespace {

using tensors = std::vector<at::Tensor>;
using packed_sequence = nn::utils::rnn::PackedSequence;

// ---- one call of one module

/// `learned` inputs, which require a gradient, are leaves in one run and outputs of a Linear in
/// another.
struct example {
    std::string type;    // "LinearImpl"
    std::string method;  // "forward"
    std::string what;    // what is special about it
    std::shared_ptr<nn::Module> module;
    tensors inputs;
    tensors (*call_of)(nn::Module&, tensors const&);
    bool in_place = false;

    [[nodiscard]] tensors call(tensors const& given) const { return call_of(*module, given); }

    [[nodiscard]] std::string title() const { return type + "::" + method + " " + what; }
};

void flatten(tensors& found, at::Tensor const& tensor) {
    if (tensor.defined())
        found.push_back(tensor);
}
void flatten(tensors& found, nn::ASMoutput const& result) {
    flatten(found, result.output);
}
void flatten(tensors& found, packed_sequence const& packed) {
    flatten(found, packed.data());
    flatten(found, packed.batch_sizes());
    flatten(found, packed.sorted_indices());
    flatten(found, packed.unsorted_indices());
}
template<class... T>
void flatten(tensors& found, std::tuple<T...> const& results) {
    std::apply([&](auto const&... result) { (flatten(found, result), ...); }, results);
}
template<class Result>
tensors flat(Result const& result) {
    tensors found;
    flatten(found, result);
    return found;
}

at::Tensor learned(at::IntArrayRef sizes) {
    return at::randn(sizes).requires_grad_(true);
}
at::Tensor learned(at::Tensor const& value) {
    return value.clone().requires_grad_(true);
}
at::Tensor integers(at::IntArrayRef sizes, std::int64_t below) {
    return at::randint(below, sizes, at::kLong);
}
at::Tensor signs(at::IntArrayRef sizes) {
    return at::randint(2, sizes, at::kLong) * 2 - 1;
}
at::Tensor probabilities(at::IntArrayRef sizes) {
    return at::rand(sizes) * 0.8 + 0.1;
}

// Function pointers and few templates: this file is long to compile.
class example_list {
public:
    /// `module.forward(inputs...)`
    template<class Holder, class... Input>
    void add(char const* what, Holder const& module, Input const&... inputs) {
        static_assert(sizeof...(Input) > 0);
        using impl = typename Holder::ContainedType;
        append("forward", what, module.ptr(), {inputs...},
               [](nn::Module& self, tensors const& given) {
                   return call_forward(static_cast<impl&>(self), given,
                                       std::index_sequence_for<Input...>{});
               });
    }

    template<class Holder>
    void add_in_place(Holder const& module, at::Tensor const& input) {
        add("in place", module, input);
        examples_.back().in_place = true;
    }

    /// `call(module, inputs)`
    template<class Holder, class Call>
    void add_call(char const* method, char const* what, Holder const& module, tensors inputs,
                  Call) {
        using impl = typename Holder::ContainedType;
        append(method, what, module.ptr(), std::move(inputs),
               [](nn::Module& self, tensors const& given) {
                   return flat(Call{}(static_cast<impl&>(self), given));
               });
    }

    template<class Holder>
    void add_with_indices(Holder const& module, at::Tensor const& input) {
        add_call("forward_with_indices", "", module, {input},
                 [](auto& pool, tensors const& in) { return pool.forward_with_indices(in[0]); });
    }

    [[nodiscard]] std::vector<example>& examples() noexcept { return examples_; }

private:
    template<class Impl, std::size_t... Index>
    static tensors call_forward(Impl& impl, tensors const& given, std::index_sequence<Index...>) {
        return flat(impl.forward(given[Index]...));
    }

    [[gnu::noinline]] void append(char const* method, char const* what,
                                  std::shared_ptr<nn::Module> module, tensors inputs,
                                  tensors (*call_of)(nn::Module&, tensors const&)) {
        auto const& dynamic = *module;
        auto type = c10::demangle(typeid(dynamic).name());
        type.erase(0, type.rfind("::") + 2);
        examples_.push_back({type, method, what, std::move(module), std::move(inputs), call_of});
    }

    std::vector<example> examples_;
};

// ---- the table

/// A Sequential that fits into another one.
struct stack_impl : nn::SequentialImpl {
    using nn::SequentialImpl::SequentialImpl;
    at::Tensor forward(at::Tensor input) {
        CB_FORWARD(input);
        return nn::SequentialImpl::forward(std::move(input));
    }
};
TORCH_MODULE_IMPL(stack, stack_impl);

void add_linear(example_list& list) {
    list.add("", nn::Linear(3, 4), learned({2, 3}));
    list.add("without bias", nn::Linear(nn::LinearOptions(3, 4).bias(false)), learned({2, 5, 3}));
    list.add("", nn::Bilinear(3, 4, 5), learned({2, 3}), learned({2, 4}));
    list.add("", nn::Identity(), learned({2, 3}));
    list.add("", nn::Flatten(), learned({2, 3, 4}));
    list.add("", nn::Unflatten(nn::UnflattenOptions(1, {2, 3})), learned({2, 6}));
    list.add("", nn::Functional(torch::tanh), learned({2, 3}));
    list.add("bound", nn::Functional(torch::elu, 0.5, 1.5, 0.7), learned({2, 3}));
    list.add("", nn::Sequential(nn::Linear(3, 4), nn::Dropout(0.5), nn::BatchNorm1d(4), nn::ReLU()),
             learned({5, 3}));
    list.add("nested",
             nn::Sequential(stack(nn::Linear(3, 4), stack(nn::Tanh()), nn::Linear(4, 3)),
                            nn::Linear(3, 3), stack(nn::ReLU(), stack(nn::Linear(3, 3)))),
             learned({5, 3}));
    list.add("whose second child writes what it was given",
             nn::Sequential(nn::Identity(), nn::CELU(nn::CELUOptions().inplace(true))),
             learned({5, 3}));
    list.examples().back().in_place = true;
}

void add_convolutions(example_list& list) {
    list.add("", nn::Conv1d(3, 4, 3), learned({2, 3, 7}));
    list.add("", nn::Conv2d(3, 4, 3), learned({2, 3, 7, 6}));
    list.add("", nn::Conv3d(2, 3, 2), learned({2, 2, 4, 5, 4}));
    list.add("padded circularly in groups",
             nn::Conv2d(nn::Conv2dOptions(4, 6, 3).groups(2).stride(2).padding(1).padding_mode(
                 torch::kCircular)),
             learned({2, 4, 7, 6}));
    list.add("channels last", nn::Conv2d(3, 4, 3),
             learned(at::randn({2, 3, 7, 6}).contiguous(at::MemoryFormat::ChannelsLast)));

    nn::ConvTranspose1d transposed_1(nn::ConvTranspose1dOptions(3, 4, 3).stride(2));
    nn::ConvTranspose2d transposed_2(nn::ConvTranspose2dOptions(3, 4, 3).stride(2));
    nn::ConvTranspose3d transposed_3(nn::ConvTranspose3dOptions(2, 3, 2).stride(2));
    list.add("", transposed_1, learned({2, 3, 5}));
    list.add("", transposed_2, learned({2, 3, 5, 4}));
    list.add("", transposed_3, learned({2, 2, 3, 4, 3}));
    list.add_call("forward", "to a size", transposed_1, {learned({2, 3, 5})},
                  [](auto& module, tensors const& in) {
                      std::vector<std::int64_t> const size{12};  // dies before a replay
                      return module.forward(in[0], at::IntArrayRef{size});
                  });
    list.add_call("forward", "to a size", transposed_2, {learned({2, 3, 5, 4})},
                  [](auto& module, tensors const& in) {
                      std::vector<std::int64_t> const size{12, 9};
                      return module.forward(in[0], at::IntArrayRef{size});
                  });
    list.add_call("forward", "to a size", transposed_3, {learned({2, 2, 3, 4, 3})},
                  [](auto& module, tensors const& in) {
                      std::vector<std::int64_t> const size{7, 8, 7};
                      return module.forward(in[0], at::IntArrayRef{size});
                  });

    list.add("", nn::Fold(nn::FoldOptions({4, 5}, {2, 2})), learned({2, 12, 12}));
    list.add("", nn::Unfold(nn::UnfoldOptions({2, 2})), learned({2, 3, 4, 5}));
}

void add_pools(example_list& list) {
    auto const x1 = learned({2, 3, 8});
    auto const x2 = learned({2, 3, 8, 6});
    auto const x3 = learned({2, 3, 6, 4, 6});
    list.add("", nn::AvgPool1d(2), x1);
    list.add("", nn::AvgPool2d(2), x2);
    list.add("", nn::AvgPool3d(2), x3);
    list.add("", nn::MaxPool1d(2), x1);
    list.add("", nn::MaxPool2d(2), x2);
    list.add("", nn::MaxPool3d(2), x3);
    list.add("", nn::LPPool1d(2.0, 2), x1);
    list.add("", nn::LPPool2d(2.0, 2), x2);
    list.add("", nn::LPPool3d(2.0, 2), x3);
    list.add("", nn::AdaptiveAvgPool1d(3), x1);
    list.add("", nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions({3, 2})), x2);
    list.add("", nn::AdaptiveAvgPool3d(nn::AdaptiveAvgPool3dOptions({3, 2, 2})), x3);
    list.add("", nn::AdaptiveMaxPool1d(3), x1);
    list.add("", nn::AdaptiveMaxPool2d(nn::AdaptiveMaxPool2dOptions({3, 2})), x2);
    list.add("", nn::AdaptiveMaxPool3d(nn::AdaptiveMaxPool3dOptions({3, 2, 2})), x3);

    nn::FractionalMaxPool2d fractional_2(nn::FractionalMaxPool2dOptions(2).output_size(3));
    nn::FractionalMaxPool3d fractional_3(
        nn::FractionalMaxPool3dOptions(2).output_ratio(torch::ExpandingArray<3, double>(0.6)));
    list.add("draws its regions", fractional_2, x2);
    list.add("draws its regions", fractional_3, x3);

    list.add_with_indices(nn::MaxPool1d(2), x1);
    list.add_with_indices(nn::MaxPool2d(2), x2);
    list.add_with_indices(nn::MaxPool3d(2), x3);
    list.add_with_indices(nn::AdaptiveMaxPool1d(3), x1);
    list.add_with_indices(nn::AdaptiveMaxPool2d(nn::AdaptiveMaxPool2dOptions({3, 2})), x2);
    list.add_with_indices(nn::AdaptiveMaxPool3d(nn::AdaptiveMaxPool3dOptions({3, 2, 2})), x3);
    list.add_with_indices(fractional_2, x2);
    list.add_with_indices(fractional_3, x3);
}

template<class Pool, class Unpool>
void add_unpool(example_list& list, Pool pool, Unpool const& unpool, at::Tensor const& input) {
    auto const [pooled, indices] = pool->forward_with_indices(input);
    list.add("", unpool, learned(pooled), indices);
    list.add_call("forward", "to a size", unpool, {learned(pooled), indices},
                  [](auto& module, tensors const& in) {
                      auto size = in[0].sizes().vec();
                      for (std::size_t dimension = 2; dimension < size.size(); ++dimension)
                          size[dimension] = 2 * size[dimension] + 1;
                      return module.forward(in[0], in[1], size);
                  });
}

void add_unpools(example_list& list) {
    add_unpool(list, nn::MaxPool1d(2), nn::MaxUnpool1d(2), at::randn({2, 3, 8}));
    add_unpool(list, nn::MaxPool2d(2), nn::MaxUnpool2d(2), at::randn({2, 3, 8, 6}));
    add_unpool(list, nn::MaxPool3d(2), nn::MaxUnpool3d(2), at::randn({2, 3, 4, 4, 6}));
}

void add_embeddings(example_list& list) {
    list.add("", nn::Embedding(7, 3), integers({2, 5}, 7));
    list.add("with sparse gradients", nn::Embedding(nn::EmbeddingOptions(7, 3).sparse(true)),
             integers({2, 5}, 7));
    list.add("that renormalises its weight",
             nn::Embedding(nn::EmbeddingOptions(7, 3).max_norm(0.5)), integers({2, 5}, 7));
    list.add("frozen", nn::Embedding::from_pretrained(at::randn({7, 3})), integers({2, 5}, 7));

    auto const offsets = at::tensor({0, 3, 3, 7}, at::kLong);
    list.add("of rows", nn::EmbeddingBag(7, 3), integers({2, 5}, 7));
    list.add("with offsets", nn::EmbeddingBag(7, 3), integers({10}, 7), offsets);
    list.add("with offsets and weights",
             nn::EmbeddingBag(nn::EmbeddingBagOptions(7, 3).mode(torch::kSum)), integers({10}, 7),
             offsets, learned({10}));
    list.add("of rows with weights",
             nn::EmbeddingBag(nn::EmbeddingBagOptions(7, 3).mode(torch::kSum)), integers({2, 5}, 7),
             at::Tensor{}, learned({2, 5}));
    list.add("taking the maximum",
             nn::EmbeddingBag(nn::EmbeddingBagOptions(7, 3).mode(torch::kMax)), integers({10}, 7),
             offsets);
    list.add("with sparse gradients",
             nn::EmbeddingBag(nn::EmbeddingBagOptions(7, 3).mode(torch::kSum).sparse(true)),
             integers({10}, 7), offsets);
    list.add("that renormalises its weight",
             nn::EmbeddingBag(nn::EmbeddingBagOptions(7, 3).max_norm(0.5)), integers({10}, 7),
             offsets);
}

void add_normalisations(example_list& list) {
    auto const x1 = learned({4, 3, 5});
    auto const x2 = learned({4, 3, 5, 2});
    auto const x3 = learned({4, 3, 2, 3, 2});
    list.add("", nn::BatchNorm1d(3), learned({4, 3}));
    list.add("of sequences", nn::BatchNorm1d(3), x1);
    list.add("", nn::BatchNorm2d(3), x2);
    list.add("", nn::BatchNorm3d(3), x3);
    list.add("with a cumulative average",
             nn::BatchNorm1d(nn::BatchNorm1dOptions(3).momentum(std::nullopt)), x1);
    list.add("without statistics",
             nn::BatchNorm2d(nn::BatchNorm2dOptions(3).track_running_stats(false)), x2);
    list.add("without weights", nn::BatchNorm2d(nn::BatchNorm2dOptions(3).affine(false)), x2);
    list.add("", nn::InstanceNorm1d(3), x1);
    list.add("", nn::InstanceNorm2d(3), x2);
    list.add("", nn::InstanceNorm3d(3), x3);
    list.add(
        "with statistics and weights",
        nn::InstanceNorm2d(nn::InstanceNorm2dOptions(3).affine(true).track_running_stats(true)),
        x2);
    list.add("without a batch", nn::InstanceNorm1d(3), learned({3, 5}));
    list.add("without a batch", nn::InstanceNorm2d(nn::InstanceNorm2dOptions(3).affine(true)),
             learned({3, 5, 2}));
    list.add("", nn::LayerNorm(nn::LayerNormOptions({3, 5})), x1);
    list.add("", nn::GroupNorm(nn::GroupNormOptions(2, 4)), learned({3, 4, 5}));
    list.add("", nn::LocalResponseNorm(2), x2);
    list.add("", nn::CrossMapLRN2d(3), learned({2, 4, 3, 3}));
}

void add_dropouts(example_list& list) {
    auto const x = learned({4, 5, 6});
    auto const x2 = learned({4, 5, 3, 2});
    auto const x3 = learned({4, 5, 3, 2, 2});
    list.add("", nn::Dropout(0.5), x);
    list.add("", nn::Dropout2d(0.5), x2);
    list.add("", nn::Dropout3d(0.5), x3);
    list.add("", nn::AlphaDropout(0.5), x);
    list.add("", nn::FeatureAlphaDropout(0.5), x2);
    list.add_in_place(nn::Dropout(nn::DropoutOptions(0.5).inplace(true)), x);
    list.add_in_place(nn::Dropout2d(nn::Dropout2dOptions(0.5).inplace(true)), x2);
    list.add_in_place(nn::Dropout3d(nn::Dropout3dOptions(0.5).inplace(true)), x3);
    list.add_in_place(nn::AlphaDropout(nn::AlphaDropoutOptions(0.5).inplace(true)), x);
    list.add_in_place(nn::FeatureAlphaDropout(nn::FeatureAlphaDropoutOptions(0.5).inplace(true)),
                      x2);
}

void add_activations(example_list& list) {
    auto const x = learned({3, 4});
    list.add("", nn::ELU(), x);
    list.add("", nn::SELU(), x);
    list.add("", nn::Hardshrink(), x);
    list.add("", nn::Hardtanh(), x);
    list.add("", nn::LeakyReLU(), x);
    list.add("", nn::LogSigmoid(), x);
    list.add("", nn::Softmax(1), x);
    list.add("", nn::Softmin(1), x);
    list.add("", nn::LogSoftmax(1), x);
    list.add("", nn::Softmax2d(), learned({2, 3, 4, 5}));
    list.add("", nn::PReLU(), x);
    list.add("with a weight a channel", nn::PReLU(nn::PReLUOptions().num_parameters(4)), x);
    list.add("", nn::ReLU(), x);
    list.add("", nn::ReLU6(), x);
    list.add("draws its slopes", nn::RReLU(), x);
    list.add("", nn::CELU(), x);
    list.add("", nn::GLU(), x);
    list.add("", nn::GELU(), x);
    list.add("approximate", nn::GELU(nn::GELUOptions().approximate("tanh")), x);
    list.add("", nn::SiLU(), x);
    list.add("", nn::Mish(), x);
    list.add("", nn::Sigmoid(), x);
    list.add("", nn::Softplus(), x);
    list.add("", nn::Softshrink(), x);
    list.add("", nn::Softsign(), x);
    list.add("", nn::Tanh(), x);
    list.add("", nn::Tanhshrink(), x);
    list.add("", nn::Threshold(0.1, 0.7), x);
    list.add_in_place(nn::ELU(nn::ELUOptions().inplace(true)), x);
    list.add_in_place(nn::SELU(nn::SELUOptions().inplace(true)), x);
    list.add_in_place(nn::Hardtanh(nn::HardtanhOptions().inplace(true)), x);
    list.add_in_place(nn::LeakyReLU(nn::LeakyReLUOptions().inplace(true)), x);
    list.add_in_place(nn::ReLU(nn::ReLUOptions().inplace(true)), x);
    list.add_in_place(nn::ReLU6(nn::ReLU6Options().inplace(true)), x);
    list.add_in_place(nn::RReLU(nn::RReLUOptions().inplace(true)), x);
    list.add_in_place(nn::CELU(nn::CELUOptions().inplace(true)), x);
    list.add_in_place(nn::Threshold(nn::ThresholdOptions(0.1, 0.7).inplace(true)), x);
}

void add_paddings(example_list& list) {
    auto const x1 = learned({2, 3, 5});
    auto const x2 = learned({2, 3, 5, 4});
    auto const x3 = learned({2, 3, 4, 3, 4});
    list.add("", nn::ReflectionPad1d(2), x1);
    list.add("", nn::ReflectionPad2d(2), x2);
    list.add("", nn::ReflectionPad3d(1), x3);
    list.add("", nn::ReplicationPad1d(2), x1);
    list.add("", nn::ReplicationPad2d(2), x2);
    list.add("", nn::ReplicationPad3d(1), x3);
    list.add("", nn::ZeroPad1d(2), x1);
    list.add("", nn::ZeroPad2d(nn::ZeroPad2dOptions({1, 2, 0, 3})), x2);
    list.add("", nn::ZeroPad3d(1), x3);
    list.add("", nn::ConstantPad1d(nn::ConstantPad1dOptions(2, 3.5)), x1);
    list.add("", nn::ConstantPad2d(nn::ConstantPad2dOptions(2, 3.5)), x2);
    list.add("", nn::ConstantPad3d(nn::ConstantPad3dOptions(1, 3.5)), x3);

    list.add("", nn::Upsample(nn::UpsampleOptions().scale_factor(std::vector<double>{2.0})), x1);
    list.add("bilinear",
             nn::Upsample(nn::UpsampleOptions()
                              .size(std::vector<std::int64_t>{7, 9})
                              .mode(torch::kBilinear)
                              .align_corners(false)),
             x2);
    list.add("", nn::PixelShuffle(2), learned({2, 8, 3, 2}));
    list.add("", nn::PixelUnshuffle(2), learned({2, 3, 4, 6}));
}

template<class Recurrent>
void add_packed(example_list& list, Recurrent const& module, tensors const& state) {
    auto const packed = nn::utils::rnn::pack_padded_sequence(
        at::randn({5, 3, 4}), at::tensor({3, 5, 2}, at::kLong), false, /*enforce_sorted=*/false);
    tensors inputs{learned(packed.data()), packed.batch_sizes(), packed.sorted_indices(),
                   packed.unsorted_indices()};
    list.add_call("forward_with_packed_input", "", module, inputs,
                  [](auto& self, tensors const& in) {
                      packed_sequence const input{in[0], in[1], in[2], in[3]};
                      return self.forward_with_packed_input(input);
                  });
    inputs.insert(inputs.end(), state.begin(), state.end());
    list.add_call("forward_with_packed_input", "with a state", module, inputs,
                  [](auto& self, tensors const& in) {
                      packed_sequence const input{in[0], in[1], in[2], in[3]};
                      if constexpr (std::is_same_v<Recurrent, nn::LSTM>)
                          return self.forward_with_packed_input(input, std::tuple{in[4], in[5]});
                      else
                          return self.forward_with_packed_input(input, in[4]);
                  });
}

void add_recurrent(example_list& list) {
    auto const x = learned({5, 3, 4});  // time, batch, features
    auto const state = [] { return learned({2, 3, 6}); };
    nn::RNN rnn(nn::RNNOptions(4, 6).num_layers(2).dropout(0.5));
    nn::GRU gru(nn::GRUOptions(4, 6).num_layers(2).dropout(0.5));
    nn::LSTM lstm(nn::LSTMOptions(4, 6).num_layers(2).dropout(0.5));
    list.add("", rnn, x);
    list.add("", gru, x);
    list.add("", lstm, x);
    list.add("with a state", rnn, x, state());
    list.add("with a state", gru, x, state());
    list.add_call("forward", "with a state", lstm, {x, state(), state()},
                  [](auto& module, tensors const& in) {
                      return module.forward(in[0], std::tuple{in[1], in[2]});
                  });
    list.add("both ways", nn::GRU(nn::GRUOptions(4, 6).bidirectional(true).batch_first(true)), x);
    list.add("projected", nn::LSTM(nn::LSTMOptions(4, 6).proj_size(2)), x);
    add_packed(list, rnn, {state()});
    add_packed(list, gru, {state()});
    add_packed(list, lstm, {state(), state()});

    auto const step = learned({3, 4});
    nn::LSTMCell lstm_cell(4, 6);
    list.add("", nn::RNNCell(4, 6), step);
    list.add("", nn::GRUCell(4, 6), step);
    list.add("", lstm_cell, step);
    list.add("with a state", nn::RNNCell(4, 6), step, learned({3, 6}));
    list.add("with a state", nn::GRUCell(4, 6), step, learned({3, 6}));
    list.add_call("forward", "with a state", lstm_cell, {step, learned({3, 6}), learned({3, 6})},
                  [](auto& module, tensors const& in) {
                      return module.forward(in[0], std::tuple{in[1], in[2]});
                  });
}

void add_attention(example_list& list) {
    auto const query = learned({5, 2, 8});
    auto const memory = learned({4, 2, 8});
    auto const causal = at::triu(at::ones({5, 5}, at::kBool), 1);
    auto const padding =
        at::tensor({0, 0, 0, 1, 0, 0, 1, 1}, at::kLong).reshape({2, 4}).to(at::kBool);
    nn::MultiheadAttention attention(nn::MultiheadAttentionOptions(8, 2).dropout(0.2));
    list.add("", attention, query, memory, memory);
    list.add_call("forward", "masked, without weights", attention, {query, query, query, causal},
                  [](auto& module, tensors const& in) {
                      return module.forward(in[0], in[1], in[2], {}, false, in[3], false);
                  });
    list.add_call(
        "forward", "with padding", attention, {query, memory, memory, padding},
        [](auto& module, tensors const& in) { return module.forward(in[0], in[1], in[2], in[3]); });
    list.add("with other keys",
             nn::MultiheadAttention(
                 nn::MultiheadAttentionOptions(8, 2).kdim(6).vdim(6).add_bias_kv(true)),
             query, learned({4, 2, 6}), learned({4, 2, 6}));

    auto const mask = [](std::int64_t size) {
        return nn::TransformerImpl::generate_square_subsequent_mask(size);
    };
    nn::TransformerEncoderLayer encoder_layer(
        nn::TransformerEncoderLayerOptions(8, 2).dim_feedforward(16).dropout(0.2));
    nn::TransformerDecoderLayer decoder_layer(
        nn::TransformerDecoderLayerOptions(8, 2).dim_feedforward(16).dropout(0.2));
    list.add("", encoder_layer, query);
    list.add("masked", encoder_layer, memory, mask(4), padding);
    list.add("", decoder_layer, query, memory);
    list.add("masked", decoder_layer, query, memory, mask(5), at::Tensor{}, at::Tensor{}, padding);
    list.add(
        "",
        nn::TransformerEncoder(nn::TransformerEncoderOptions(encoder_layer, 2)
                                   .norm(nn::AnyModule(nn::LayerNorm(nn::LayerNormOptions({8}))))),
        memory, mask(4));
    list.add("", nn::TransformerDecoder(nn::TransformerDecoderOptions(decoder_layer, 2)), query,
             memory, mask(5));
    nn::Transformer transformer(nn::TransformerOptions(8, 2)
                                    .num_encoder_layers(1)
                                    .num_decoder_layers(1)
                                    .dim_feedforward(16)
                                    .activation(torch::kGELU));
    list.add("", transformer, memory, query);
    list.add("masked", transformer, memory, query, mask(4), mask(5), at::Tensor{}, padding,
             at::Tensor{}, padding);
}

void add_losses(example_list& list) {
    auto const x = learned({4, 5});
    auto const other = learned({4, 5});
    auto const labels = integers({4}, 5);
    list.add("", nn::L1Loss(), x, other);
    list.add("", nn::MSELoss(), x, other);
    list.add("", nn::SmoothL1Loss(), x, other);
    list.add("", nn::HuberLoss(), x, other);
    list.add("of each element", nn::MSELoss(nn::MSELossOptions().reduction(torch::kNone)), x,
             other);
    list.add("", nn::KLDivLoss(nn::KLDivLossOptions().reduction(torch::kBatchMean)), x,
             probabilities({4, 5}));
    list.add("", nn::BCELoss(), learned(probabilities({4, 5})), probabilities({4, 5}));
    list.add("", nn::BCEWithLogitsLoss(), x, probabilities({4, 5}));
    list.add("weighted",
             nn::BCEWithLogitsLoss(
                 nn::BCEWithLogitsLossOptions().weight(at::rand({5})).pos_weight(at::rand({5}))),
             x, probabilities({4, 5}));
    list.add("", nn::HingeEmbeddingLoss(), x, signs({4, 5}));
    list.add("", nn::MultiMarginLoss(), x, labels);
    list.add("", nn::CosineEmbeddingLoss(), x, other, signs({4}));
    list.add("", nn::MultiLabelMarginLoss(), x,
             at::tensor({3, 0, -1, 1, 2}, at::kLong).repeat({4, 1}));
    list.add("", nn::SoftMarginLoss(), x, signs({4, 5}));
    list.add("", nn::MultiLabelSoftMarginLoss(), x, at::randint(2, {4, 5}));
    list.add("", nn::TripletMarginLoss(), x, other, learned({4, 5}));
    list.add("", nn::TripletMarginWithDistanceLoss(), x, other, learned({4, 5}));
    list.add(
        "with a distance",
        nn::TripletMarginWithDistanceLoss(
            nn::TripletMarginWithDistanceLossOptions().swap(true).distance_function(
                [](at::Tensor const& a, at::Tensor const& b) { return (a - b).abs().sum(1); })),
        x, other, learned({4, 5}));
    list.add("", nn::CTCLoss(), learned(at::randn({6, 3, 5}).log_softmax(2)),
             at::randint(1, 5, {3, 4}, at::kLong), at::tensor({6, 5, 6}, at::kLong),
             at::tensor({4, 2, 3}, at::kLong));
    list.add("", nn::PoissonNLLLoss(), x, at::randint(4, {4, 5}).to(at::kFloat));
    list.add("", nn::MarginRankingLoss(), learned({4}), learned({4}), signs({4}));
    list.add("", nn::NLLLoss(), x, labels);
    list.add("", nn::CrossEntropyLoss(), x, labels);
    list.add("weighted and smoothed",
             nn::CrossEntropyLoss(
                 nn::CrossEntropyLossOptions().weight(at::rand({5})).label_smoothing(0.1)),
             x, labels);
    list.add("",
             nn::AdaptiveLogSoftmaxWithLoss(nn::AdaptiveLogSoftmaxWithLossOptions(16, 9, {3, 6})),
             learned({4, 16}), integers({4}, 9));
    list.add("", nn::CosineSimilarity(), x, other);
    list.add("", nn::PairwiseDistance(), x, other);
}

std::vector<example>& examples() {
    static example_list list = [] {
        torch::manual_seed(1);
        example_list made;
        add_linear(made);
        add_convolutions(made);
        add_pools(made);
        add_unpools(made);
        add_embeddings(made);
        add_normalisations(made);
        add_dropouts(made);
        add_activations(made);
        add_paddings(made);
        add_recurrent(made);
        add_attention(made);
        add_losses(made);
        return made;
    }();
    return list.examples();
}

// ---- the user's model

/// Everything that a call of the module under test depends on, and what it returned.
struct observed_call {
    at::Tensor generator;
    tensors parameters;
    tensors buffers;
    tensors inputs;
    tensors outputs;
};

at::Generator generator() {
    return at::globalContext().defaultGenerator(at::kCPU);
}
at::Tensor random_state() {
    return generator().get_state();
}

tensors copies_of(tensors const& originals) {
    tensors copies;
    for (auto const& original : originals)
        copies.push_back(!original.defined() ? original
                                             : original.detach().clone().set_requires_grad(
                                                   original.requires_grad()));
    return copies;
}

void overwrite(tensors const& targets, tensors const& values) {
    torch::NoGradGuard const no_grad;
    for (std::size_t position = 0; position < targets.size(); ++position)
        targets[position].copy_(values[position]);
}

/// Calls the module twice, so that the second call finds other random numbers and other buffers
/// than the model's forward did.
struct user_model : nn::Module {
    user_model(example const& tried, bool has_upstream) : one{tried} {
        if (has_upstream) {
            upstream = register_module("upstream", nn::Linear(1, 1));
            torch::NoGradGuard const no_grad;  // probabilities stay probabilities
            upstream->weight.fill_(0.7);
            upstream->bias.fill_(0.1);
        }
        child = register_module("child", tried.module);
    }

    tensors forward(tensors const& inputs) {
        CB_FORWARD(inputs);
        static_cast<void>(at::rand({3}));
        {
            torch::NoGradGuard const no_grad;
            static_cast<void>(observe(copies_of(inputs)));
        }
        tensors given;
        for (auto const& input : inputs)
            given.push_back(input.defined() && input.requires_grad() && upstream
                                ? upstream(input.unsqueeze(-1)).squeeze(-1)
                                : input);
        return observe(given);
    }

    tensors observe(tensors const& inputs) {
        if (observed == nullptr)
            return one.call(inputs);
        observed_call now{random_state(),
                          copies_of(child->parameters()),
                          copies_of(child->buffers()),
                          copies_of(inputs),
                          {}};
        now.outputs = one.call(inputs);
        observed->push_back(now);
        return now.outputs;
    }

    example const& one;
    std::shared_ptr<nn::Module> child;
    nn::Linear upstream{nullptr};
    std::vector<observed_call>* observed = nullptr;
};

tensors that_need_gradients(tensors const& all) {
    tensors some;
    for (auto const& tensor : all)
        if (tensor.defined() && tensor.requires_grad())
            some.push_back(tensor);
    return some;
}

std::vector<cb::capture::tensor_look> looks_of(tensors const& all) {
    return {all.begin(), all.end()};
}

tensors defined(tensors all) {
    std::erase_if(all, [](at::Tensor const& tensor) { return !tensor.defined(); });
    return all;
}

/// Undefined when there is nothing to go back through.
at::Tensor weighted_sum(tensors const& outputs) {
    at::Tensor sum;
    for (auto const& output : that_need_gradients(outputs)) {
        auto const weights = at::linspace(-1.0, 2.0, output.numel()).reshape(output.sizes());
        auto const part = (output * weights).sum();
        sum = sum.defined() ? sum + part : part;
    }
    return sum;
}

// ---- what a replay has to give

struct answer {
    tensors outputs;
    tensors gradients;
    bool has_backward = false;
};

/// The call made by hand, alone, on inputs of its own.
answer call_alone(example const& one, observed_call const& seen, tensors const& output_gradients) {
    overwrite(one.module->parameters(), seen.parameters);
    overwrite(one.module->buffers(), seen.buffers);
    generator().set_state(seen.generator);
    auto leaves = copies_of(seen.inputs);
    auto targets = that_need_gradients(leaves);
    if (one.in_place)  // a leaf that requires a gradient cannot be written
        for (auto& leaf : leaves)
            leaf = leaf.requires_grad() ? leaf.clone() : leaf;
    auto const parameters = that_need_gradients(one.module->parameters());
    targets.insert(targets.end(), parameters.begin(), parameters.end());

    answer alone;
    torch::AutoGradMode const mode{!output_gradients.empty()};
    alone.outputs = one.call(leaves);
    alone.has_backward = !output_gradients.empty() && !targets.empty();
    if (alone.has_backward)
        alone.gradients = torch::autograd::grad(that_need_gradients(alone.outputs), targets,
                                                output_gradients, false, false, true);
    return alone;
}

/// All that a profile must leave as it was.
struct model_values {
    tensors parameters;
    tensors buffers;
    at::Tensor generator = random_state();

    explicit model_values(nn::Module const& model)
        : parameters{copies_of(model.parameters())}, buffers{copies_of(model.buffers())} {}

    void put_back(nn::Module const& model) const {
        overwrite(model.parameters(), parameters);
        overwrite(model.buffers(), buffers);
        ::generator().set_state(generator);
    }
};

bool same_bits(at::Tensor const& left, at::Tensor const& right) {
    if (!left.defined() || !right.defined())
        return left.defined() == right.defined();
    if (left.layout() != right.layout() || left.dtype() != right.dtype() ||
        left.sizes() != right.sizes())
        return false;
    auto const plain = [](at::Tensor const& tensor) {
        return (tensor.is_sparse() ? tensor.to_dense() : tensor).detach().contiguous();
    };
    auto const a = plain(left);
    auto const b = plain(right);
    return a.nbytes() == 0 || std::memcmp(a.const_data_ptr(), b.const_data_ptr(), a.nbytes()) == 0;
}

/// Empty when all are the same, else which differs and how.
std::string difference(tensors const& left, tensors const& right) {
    if (left.size() != right.size())
        return std::to_string(left.size()) + " tensors and " + std::to_string(right.size());
    for (std::size_t position = 0; position < left.size(); ++position)
        if (!same_bits(left[position], right[position])) {
            std::ostringstream text;
            text << "tensor " << position << ": " << left[position] << "\nand " << right[position];
            return text.str();
        }
    return "";
}

// ---- the check

class run {
public:
    run(example const& one, bool has_upstream) : one_{one}, model_{one, has_upstream} {
        for (auto const& input : one.inputs) {
            auto given = input;
            if (given.defined() && one.in_place && !has_upstream)
                given = given.detach();
            inputs_.push_back(given);
        }
    }

    void check(bool training) {
        model_.train(training);
        model_values const before{model_};
        by_hand();
        before.put_back(model_);

        auto inputs = copies_of(inputs_);
        auto const captured = capture(inputs);
        CHECK(difference(inputs, inputs_) == "");
        check_calls(*captured);
        check_replays(*captured);
        auto const verified = captured->put_back();
        CHECK(verified.verified);
        model_values const after{model_};
        CHECK(difference(after.parameters, before.parameters) == "");
        CHECK(difference(after.buffers, before.buffers) == "");
        CHECK(same_bits(after.generator, before.generator));
        for (auto const& parameter : model_.parameters())
            CHECK_FALSE(parameter.grad().defined());
    }

private:
    // The forward without a profile, and each of its calls again, alone.
    void by_hand() {
        std::vector<observed_call> observed;
        model_.observed = &observed;
        auto const outputs = model_.forward(copies_of(inputs_));
        model_.observed = nullptr;
        has_loss_ = false;
        tensors output_gradients;
        // Of each output by itself: one may be made from another, as an LSTM cell's h from its c.
        tensors apart;
        for (auto const& output : outputs)
            apart.push_back(output.defined() && output.requires_grad()
                                ? output.detach().requires_grad_(true)
                                : output);
        if (auto const loss = weighted_sum(apart); loss.defined()) {
            has_loss_ = true;
            output_gradients = torch::autograd::grad({loss}, that_need_gradients(apart));
        }
        for (auto const& seen : observed) {
            in_shapes_ = cb::capture::shapes_text(looks_of(defined(seen.inputs)));
            out_shapes_ = cb::capture::shapes_text(looks_of(seen.outputs));
        }
        expected_ = {call_alone(one_, observed[0], {}),
                     call_alone(one_, observed[1], output_gradients)};
        for (std::size_t call = 0; call < observed.size(); ++call) {
            INFO("two calls by hand differ");
            CHECK(difference(expected_[call].outputs, observed[call].outputs) == "");
        }
    }

    std::unique_ptr<cb::capture::captured_model> capture(tensors& inputs) {
        if (has_loss_)
            return cb::provide(model_, inputs).loss(weighted_sum).capture({});
        return cb::provide(model_, inputs).capture({});
    }

    void check_calls(cb::capture::captured_model const& captured) {
        auto const& nodes = captured.nodes();
        auto const calls = captured.calls();
        std::vector<std::int64_t> of_child;
        for (std::size_t number = 1; number < calls.size(); ++number) {
            auto const& call = calls[number];
            INFO(nodes[call.row].path);
            CHECK(call.parent_call >= 0);
            auto const above = calls.at(static_cast<std::size_t>(call.parent_call)).row;
            CHECK(above < call.row);
            CHECK(call.row < nodes[above].end);
            if (nodes[call.row].path == "child") {
                CHECK(call.parent_call == 0);
                of_child.push_back(call.index);
                CHECK(call.in_shapes == in_shapes_);
                // InstanceNorm takes the batch that it added off again behind the hooked operator
                if (one_.what != "without a batch")
                    CHECK(call.out_shapes == out_shapes_);
            }
        }
        CHECK(of_child == std::vector<std::int64_t>{0, 1});
        CHECK(captured.environment().warnings.empty());
    }

    void check_replays(cb::capture::captured_model& captured) {
        captured.for_each([&](std::size_t row, cb::capture::component& component) {
            INFO("component '" << component.path() << "' (" << component.type() << ")");
            if (captured.nodes()[row].calls > 0)
                CHECK(component.why_no_calls() == "not called");
            CHECK(captured.nodes()[row].state != cb::status::failed);
            if (component.path() != "child")
                return;
            CHECK(component.calls().size() == 2);
            for (std::size_t call = 0; call < component.calls().size(); ++call) {
                INFO("call " << call);
                check_call(component.calls()[call], expected_.at(call));
            }
        });
    }

    void check_call(cb::capture::call_group& group, answer const& expected) {
        std::size_t arguments = 0;
        group.captured().stored->each_argument([&](at::Tensor&) { ++arguments; });
        CHECK(arguments == defined(inputs_).size());
        auto replay = group.replay();
        for (int repetition = 0; repetition < 3; ++repetition) {
            INFO("repetition " << repetition);
            replay.prepare();
            replay.forward();
            CHECK(difference(replay.outputs(), expected.outputs) == "");
            auto const has_backward = replay.prepare_backward();
            INFO("backward: " << replay.why_no_backward());
            CHECK(has_backward == expected.has_backward);
            if (!has_backward)
                continue;
            replay.backward();
            CHECK(difference(replay.gradients(), expected.gradients) == "");
        }
    }

    example const& one_;
    user_model model_;
    tensors inputs_;
    bool has_loss_ = false;
    std::string in_shapes_;
    std::string out_shapes_;
    std::vector<answer> expected_;
};

void check_example(example const& one, bool has_upstream) {
    for (bool const training : {true, false}) {
        INFO(one.title() << ", inputs from " << (has_upstream ? "a Linear" : "the user")
                         << (training ? ", training" : ", evaluating"));
        try {
            torch::manual_seed(2);
            run{one, has_upstream}.check(training);
        } catch (c10::Error const& failure) {
            FAIL_CHECK(failure.what_without_backtrace());
        } catch (std::exception const& failure) {
            FAIL_CHECK(failure.what());
        }
    }
}

// ---- what must be in the table

/// "LinearImpl::forward" for each line of a header that hooks a forward.
std::set<std::string> hooked(std::string const& header) {
    std::ifstream file{std::string{COMPONENT_BENCHMARK_TEST_DATA} +
                       "/../include/component_benchmark/hook/" + header};
    REQUIRE(file);
    static std::regex const line_pattern{
        R"(^COMPONENT_BENCHMARK_DETAIL_(FORWARD_\d|METHOD_\d|PAD|NORM)\((.*)$)"};
    static std::regex const class_pattern{R"((\w+Impl)(?:, (forward_\w+))?[,)])"};
    std::set<std::string> found;
    for (std::string line; std::getline(file, line);) {
        std::smatch hook;
        if (!std::regex_search(line, hook, line_pattern))
            continue;
        std::string const arguments = hook[2];
        std::smatch last;  // the base of a padding stands before its class
        for (std::sregex_iterator one{arguments.begin(), arguments.end(), class_pattern}, end;
             one != end; ++one)
            last = *one;
        REQUIRE(!last.empty());
        found.insert(last[1].str() + "::" + (last[2].matched ? last[2].str() : "forward"));
    }
    return found;
}

// The classes of torch/nn/modules/**.h (LibTorch 2.11) that have a forward: all of TORCH_MODULE,
// Embedding, EmbeddingBag and Sequential, without ModuleList, ModuleDict, ParameterList and
// ParameterDict.
constexpr char const* public_modules =
    "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveLogSoftmaxWithLoss "
    "AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d AlphaDropout AvgPool1d AvgPool2d "
    "AvgPool3d BCELoss BCEWithLogitsLoss BatchNorm1d BatchNorm2d BatchNorm3d Bilinear CELU "
    "CTCLoss ConstantPad1d ConstantPad2d ConstantPad3d Conv1d Conv2d Conv3d ConvTranspose1d "
    "ConvTranspose2d ConvTranspose3d CosineEmbeddingLoss CosineSimilarity CrossEntropyLoss "
    "CrossMapLRN2d Dropout Dropout2d Dropout3d ELU Embedding EmbeddingBag FeatureAlphaDropout "
    "Flatten Fold FractionalMaxPool2d FractionalMaxPool3d Functional GELU GLU GRU GRUCell "
    "GroupNorm Hardshrink Hardtanh HingeEmbeddingLoss HuberLoss Identity InstanceNorm1d "
    "InstanceNorm2d InstanceNorm3d KLDivLoss L1Loss LPPool1d LPPool2d LPPool3d LSTM LSTMCell "
    "LayerNorm LeakyReLU Linear LocalResponseNorm LogSigmoid LogSoftmax MSELoss "
    "MarginRankingLoss MaxPool1d MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d Mish "
    "MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss MultiheadAttention NLLLoss "
    "PReLU PairwiseDistance PixelShuffle PixelUnshuffle PoissonNLLLoss RNN RNNCell RReLU ReLU "
    "ReLU6 ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d "
    "ReplicationPad3d SELU Sequential SiLU Sigmoid SmoothL1Loss SoftMarginLoss Softmax "
    "Softmax2d Softmin Softplus Softshrink Softsign Tanh Tanhshrink Threshold Transformer "
    "TransformerDecoder TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer "
    "TripletMarginLoss TripletMarginWithDistanceLoss Unflatten Unfold Upsample ZeroPad1d "
    "ZeroPad2d ZeroPad3d";

}  // namespace

TEST_CASE("a captured call of any torch::nn module on a user's tensors replays bit by bit") {
    for (auto const& one : examples())
        check_example(one, /*has_upstream=*/false);
}

TEST_CASE("a captured call of any torch::nn module inside a graph replays bit by bit") {
    for (auto const& one : examples())
        check_example(one, /*has_upstream=*/true);
}

TEST_CASE("no module of torch::nn is forgotten by these tests or by the hooks") {
    std::set<std::string> tested;
    for (auto const& one : examples())
        tested.insert(one.type + "::" + one.method);

    std::set<std::string> hooks = hooked("libtorch_forwards.hpp");
    CHECK(std::count_if(hooks.begin(), hooks.end(), [](auto& name) {
              return name.ends_with("::forward");
          }) == 109 + 12);  // functions and the paddings' instantiations
    hooks.merge(hooked("libtorch_norms.hpp"));
    for (auto const& hook : hooks) {
        INFO(hook);
        CHECK(tested.contains(hook));
    }

    std::istringstream names{public_modules};
    for (std::string name; names >> name;) {
        INFO(name);
        CHECK(tested.contains(name + "Impl::forward"));
        CHECK((hooks.contains(name + "Impl::forward") || name == "Sequential"));
    }
}
