// LibTorch -> HOOK: the forwards that LibTorch exports, one line each
// Result, class, parameters. A class that a LibTorch lacks does not compile here: take its line
// out.
#pragma once

#ifndef COMPONENT_BENCHMARK_DETAIL_INTERPOSE
#    error "include <component_benchmark/hook/interpose.hpp> instead"
#endif

namespace component_benchmark::hook {

using output_size = std::optional<at::IntArrayRef> const&;
using unpool_size = std::optional<std::vector<std::int64_t>> const&;
using lstm_state = std::optional<std::tuple<at::Tensor, at::Tensor>>;
using two_tensors = std::tuple<at::Tensor, at::Tensor>;
using lstm_result = std::tuple<at::Tensor, std::tuple<at::Tensor, at::Tensor>>;
using packed_sequence = torch::nn::utils::rnn::PackedSequence;
using lstm_packed_result = std::tuple<packed_sequence, std::tuple<at::Tensor, at::Tensor>>;
using rnn_packed_result = std::tuple<packed_sequence, at::Tensor>;

}  // namespace component_benchmark::hook

// clang-format off
#define COMPONENT_BENCHMARK_DETAIL_METHOD_1(Result, Impl, method, A) \
    [[gnu::weak]] Result torch::nn::Impl::method(A a) { \
        COMPONENT_BENCHMARK_DETAIL_INTERPOSE( \
            torch::nn::Impl, method, Result, (A), \
            std::forward<A>(a)); \
    }
#define COMPONENT_BENCHMARK_DETAIL_FORWARD_1(Result, Impl, ...) \
    COMPONENT_BENCHMARK_DETAIL_METHOD_1(Result, Impl, forward, __VA_ARGS__)
#define COMPONENT_BENCHMARK_DETAIL_METHOD_2(Result, Impl, method, A, B) \
    [[gnu::weak]] Result torch::nn::Impl::method(A a, B b) { \
        COMPONENT_BENCHMARK_DETAIL_INTERPOSE( \
            torch::nn::Impl, method, Result, (A, B), \
            std::forward<A>(a), std::forward<B>(b)); \
    }
#define COMPONENT_BENCHMARK_DETAIL_FORWARD_2(Result, Impl, ...) \
    COMPONENT_BENCHMARK_DETAIL_METHOD_2(Result, Impl, forward, __VA_ARGS__)
#define COMPONENT_BENCHMARK_DETAIL_METHOD_3(Result, Impl, method, A, B, C) \
    [[gnu::weak]] Result torch::nn::Impl::method(A a, B b, C c) { \
        COMPONENT_BENCHMARK_DETAIL_INTERPOSE( \
            torch::nn::Impl, method, Result, (A, B, C), \
            std::forward<A>(a), std::forward<B>(b), std::forward<C>(c)); \
    }
#define COMPONENT_BENCHMARK_DETAIL_FORWARD_3(Result, Impl, ...) \
    COMPONENT_BENCHMARK_DETAIL_METHOD_3(Result, Impl, forward, __VA_ARGS__)
#define COMPONENT_BENCHMARK_DETAIL_METHOD_4(Result, Impl, method, A, B, C, D) \
    [[gnu::weak]] Result torch::nn::Impl::method(A a, B b, C c, D d) { \
        COMPONENT_BENCHMARK_DETAIL_INTERPOSE( \
            torch::nn::Impl, method, Result, (A, B, C, D), \
            std::forward<A>(a), std::forward<B>(b), std::forward<C>(c), \
            std::forward<D>(d)); \
    }
#define COMPONENT_BENCHMARK_DETAIL_FORWARD_4(Result, Impl, ...) \
    COMPONENT_BENCHMARK_DETAIL_METHOD_4(Result, Impl, forward, __VA_ARGS__)
#define COMPONENT_BENCHMARK_DETAIL_METHOD_6(Result, Impl, method, A, B, C, D, E, F) \
    [[gnu::weak]] Result torch::nn::Impl::method(A a, B b, C c, D d, E e, F f) { \
        COMPONENT_BENCHMARK_DETAIL_INTERPOSE( \
            torch::nn::Impl, method, Result, (A, B, C, D, E, F), \
            std::forward<A>(a), std::forward<B>(b), std::forward<C>(c), \
            std::forward<D>(d), std::forward<E>(e), std::forward<F>(f)); \
    }
#define COMPONENT_BENCHMARK_DETAIL_FORWARD_6(Result, Impl, ...) \
    COMPONENT_BENCHMARK_DETAIL_METHOD_6(Result, Impl, forward, __VA_ARGS__)
#define COMPONENT_BENCHMARK_DETAIL_METHOD_7(Result, Impl, method, A, B, C, D, E, F, G) \
    [[gnu::weak]] Result torch::nn::Impl::method(A a, B b, C c, D d, E e, F f, G g) { \
        COMPONENT_BENCHMARK_DETAIL_INTERPOSE( \
            torch::nn::Impl, method, Result, (A, B, C, D, E, F, G), \
            std::forward<A>(a), std::forward<B>(b), std::forward<C>(c), \
            std::forward<D>(d), std::forward<E>(e), std::forward<F>(f), \
            std::forward<G>(g)); \
    }
#define COMPONENT_BENCHMARK_DETAIL_FORWARD_7(Result, Impl, ...) \
    COMPONENT_BENCHMARK_DETAIL_METHOD_7(Result, Impl, forward, __VA_ARGS__)
#define COMPONENT_BENCHMARK_DETAIL_METHOD_8(Result, Impl, method, A, B, C, D, E, F, G, H) \
    [[gnu::weak]] Result torch::nn::Impl::method(A a, B b, C c, D d, E e, F f, G g, H h) { \
        COMPONENT_BENCHMARK_DETAIL_INTERPOSE( \
            torch::nn::Impl, method, Result, (A, B, C, D, E, F, G, H), \
            std::forward<A>(a), std::forward<B>(b), std::forward<C>(c), \
            std::forward<D>(d), std::forward<E>(e), std::forward<F>(f), \
            std::forward<G>(g), std::forward<H>(h)); \
    }
#define COMPONENT_BENCHMARK_DETAIL_FORWARD_8(Result, Impl, ...) \
    COMPONENT_BENCHMARK_DETAIL_METHOD_8(Result, Impl, forward, __VA_ARGS__)

COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, AdaptiveAvgPool1dImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, AdaptiveAvgPool2dImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, AdaptiveAvgPool3dImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_2(torch::nn::ASMoutput, AdaptiveLogSoftmaxWithLossImpl, at::Tensor const&, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, AdaptiveMaxPool1dImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, AdaptiveMaxPool2dImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, AdaptiveMaxPool3dImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, AlphaDropoutImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, AvgPool1dImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, AvgPool2dImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, AvgPool3dImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_2(at::Tensor, BCELossImpl, at::Tensor const&, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_2(at::Tensor, BCEWithLogitsLossImpl, at::Tensor const&, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_2(at::Tensor, BilinearImpl, at::Tensor const&, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, CELUImpl, at::Tensor)
COMPONENT_BENCHMARK_DETAIL_FORWARD_4(at::Tensor, CTCLossImpl, at::Tensor const&, at::Tensor const&, at::Tensor const&, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, Conv1dImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, Conv2dImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, Conv3dImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_2(at::Tensor, ConvTranspose1dImpl, at::Tensor const&, component_benchmark::hook::output_size)
COMPONENT_BENCHMARK_DETAIL_FORWARD_2(at::Tensor, ConvTranspose2dImpl, at::Tensor const&, component_benchmark::hook::output_size)
COMPONENT_BENCHMARK_DETAIL_FORWARD_2(at::Tensor, ConvTranspose3dImpl, at::Tensor const&, component_benchmark::hook::output_size)
COMPONENT_BENCHMARK_DETAIL_FORWARD_3(at::Tensor, CosineEmbeddingLossImpl, at::Tensor const&, at::Tensor const&, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_2(at::Tensor, CosineSimilarityImpl, at::Tensor const&, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_2(at::Tensor, CrossEntropyLossImpl, at::Tensor const&, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, CrossMapLRN2dImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, Dropout2dImpl, at::Tensor)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, Dropout3dImpl, at::Tensor)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, DropoutImpl, at::Tensor)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, ELUImpl, at::Tensor)
COMPONENT_BENCHMARK_DETAIL_FORWARD_3(at::Tensor, EmbeddingBagImpl, at::Tensor const&, at::Tensor const&, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, EmbeddingImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, FeatureAlphaDropoutImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, FlattenImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, FoldImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, FractionalMaxPool2dImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, FractionalMaxPool3dImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, FunctionalImpl, at::Tensor)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, GELUImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, GLUImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_2(at::Tensor, GRUCellImpl, at::Tensor const&, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_2(component_benchmark::hook::two_tensors, GRUImpl, at::Tensor const&, at::Tensor)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, GroupNormImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, HardshrinkImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, HardtanhImpl, at::Tensor)
COMPONENT_BENCHMARK_DETAIL_FORWARD_2(at::Tensor, HingeEmbeddingLossImpl, at::Tensor const&, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_2(at::Tensor, HuberLossImpl, at::Tensor const&, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, IdentityImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_2(at::Tensor, KLDivLossImpl, at::Tensor const&, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_2(at::Tensor, L1LossImpl, at::Tensor const&, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, LPPool1dImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, LPPool2dImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, LPPool3dImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_2(component_benchmark::hook::two_tensors, LSTMCellImpl, at::Tensor const&, component_benchmark::hook::lstm_state)
COMPONENT_BENCHMARK_DETAIL_FORWARD_2(component_benchmark::hook::lstm_result, LSTMImpl, at::Tensor const&, component_benchmark::hook::lstm_state)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, LayerNormImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, LeakyReLUImpl, at::Tensor)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, LinearImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, LocalResponseNormImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, LogSigmoidImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, LogSoftmaxImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_2(at::Tensor, MSELossImpl, at::Tensor const&, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_3(at::Tensor, MarginRankingLossImpl, at::Tensor const&, at::Tensor const&, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, MaxPool1dImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, MaxPool2dImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, MaxPool3dImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_3(at::Tensor, MaxUnpool1dImpl, at::Tensor const&, at::Tensor const&, component_benchmark::hook::unpool_size)
COMPONENT_BENCHMARK_DETAIL_FORWARD_3(at::Tensor, MaxUnpool2dImpl, at::Tensor const&, at::Tensor const&, component_benchmark::hook::unpool_size)
COMPONENT_BENCHMARK_DETAIL_FORWARD_3(at::Tensor, MaxUnpool3dImpl, at::Tensor const&, at::Tensor const&, component_benchmark::hook::unpool_size)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, MishImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_2(at::Tensor, MultiLabelMarginLossImpl, at::Tensor const&, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_2(at::Tensor, MultiLabelSoftMarginLossImpl, at::Tensor const&, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_2(at::Tensor, MultiMarginLossImpl, at::Tensor const&, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_7(component_benchmark::hook::two_tensors, MultiheadAttentionImpl, at::Tensor const&, at::Tensor const&, at::Tensor const&, at::Tensor const&, bool, at::Tensor const&, bool)
COMPONENT_BENCHMARK_DETAIL_FORWARD_2(at::Tensor, NLLLossImpl, at::Tensor const&, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, PReLUImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_2(at::Tensor, PairwiseDistanceImpl, at::Tensor const&, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, PixelShuffleImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, PixelUnshuffleImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_2(at::Tensor, PoissonNLLLossImpl, at::Tensor const&, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_2(at::Tensor, RNNCellImpl, at::Tensor const&, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_2(component_benchmark::hook::two_tensors, RNNImpl, at::Tensor const&, at::Tensor)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, RReLUImpl, at::Tensor)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, ReLU6Impl, at::Tensor)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, ReLUImpl, at::Tensor)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, SELUImpl, at::Tensor)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, SiLUImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, SigmoidImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_2(at::Tensor, SmoothL1LossImpl, at::Tensor const&, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_2(at::Tensor, SoftMarginLossImpl, at::Tensor const&, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, Softmax2dImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, SoftmaxImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, SoftminImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, SoftplusImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, SoftshrinkImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, SoftsignImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, TanhImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, TanhshrinkImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, ThresholdImpl, at::Tensor)
COMPONENT_BENCHMARK_DETAIL_FORWARD_6(at::Tensor, TransformerDecoderImpl, at::Tensor const&, at::Tensor const&, at::Tensor const&, at::Tensor const&, at::Tensor const&, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_6(at::Tensor, TransformerDecoderLayerImpl, at::Tensor, at::Tensor const&, at::Tensor const&, at::Tensor const&, at::Tensor const&, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_3(at::Tensor, TransformerEncoderImpl, at::Tensor const&, at::Tensor const&, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_3(at::Tensor, TransformerEncoderLayerImpl, at::Tensor const&, at::Tensor const&, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_8(at::Tensor, TransformerImpl, at::Tensor const&, at::Tensor const&, at::Tensor const&, at::Tensor const&, at::Tensor const&, at::Tensor const&, at::Tensor const&, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_3(at::Tensor, TripletMarginLossImpl, at::Tensor const&, at::Tensor const&, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_3(at::Tensor, TripletMarginWithDistanceLossImpl, at::Tensor const&, at::Tensor const&, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, UnflattenImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, UnfoldImpl, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_FORWARD_1(at::Tensor, UpsampleImpl, at::Tensor const&)

// the same modules, asked for more
COMPONENT_BENCHMARK_DETAIL_METHOD_1(component_benchmark::hook::two_tensors, MaxPool1dImpl, forward_with_indices, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_METHOD_1(component_benchmark::hook::two_tensors, MaxPool2dImpl, forward_with_indices, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_METHOD_1(component_benchmark::hook::two_tensors, MaxPool3dImpl, forward_with_indices, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_METHOD_1(component_benchmark::hook::two_tensors, AdaptiveMaxPool1dImpl, forward_with_indices, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_METHOD_1(component_benchmark::hook::two_tensors, AdaptiveMaxPool2dImpl, forward_with_indices, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_METHOD_1(component_benchmark::hook::two_tensors, AdaptiveMaxPool3dImpl, forward_with_indices, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_METHOD_1(component_benchmark::hook::two_tensors, FractionalMaxPool2dImpl, forward_with_indices, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_METHOD_1(component_benchmark::hook::two_tensors, FractionalMaxPool3dImpl, forward_with_indices, at::Tensor const&)
COMPONENT_BENCHMARK_DETAIL_METHOD_2(component_benchmark::hook::rnn_packed_result, GRUImpl, forward_with_packed_input, component_benchmark::hook::packed_sequence const&, at::Tensor)
COMPONENT_BENCHMARK_DETAIL_METHOD_2(component_benchmark::hook::rnn_packed_result, RNNImpl, forward_with_packed_input, component_benchmark::hook::packed_sequence const&, at::Tensor)
COMPONENT_BENCHMARK_DETAIL_METHOD_2(component_benchmark::hook::lstm_packed_result, LSTMImpl, forward_with_packed_input, component_benchmark::hook::packed_sequence const&, component_benchmark::hook::lstm_state)

// exported instantiations of a template, which has no definition in LibTorch's headers
#define COMPONENT_BENCHMARK_DETAIL_PAD(Base, Size, Impl) \
    template<> \
    [[gnu::weak]] at::Tensor torch::nn::Base<Size, torch::nn::Impl>::forward(at::Tensor const& a) { \
        using padding = torch::nn::Base<Size, torch::nn::Impl>; \
        COMPONENT_BENCHMARK_DETAIL_INTERPOSE(padding, forward, at::Tensor, (at::Tensor const&), a); \
    }
COMPONENT_BENCHMARK_DETAIL_PAD(ReflectionPadImpl, 1, ReflectionPad1dImpl)
COMPONENT_BENCHMARK_DETAIL_PAD(ReflectionPadImpl, 2, ReflectionPad2dImpl)
COMPONENT_BENCHMARK_DETAIL_PAD(ReflectionPadImpl, 3, ReflectionPad3dImpl)
COMPONENT_BENCHMARK_DETAIL_PAD(ReplicationPadImpl, 1, ReplicationPad1dImpl)
COMPONENT_BENCHMARK_DETAIL_PAD(ReplicationPadImpl, 2, ReplicationPad2dImpl)
COMPONENT_BENCHMARK_DETAIL_PAD(ReplicationPadImpl, 3, ReplicationPad3dImpl)
COMPONENT_BENCHMARK_DETAIL_PAD(ConstantPadImpl, 1, ConstantPad1dImpl)
COMPONENT_BENCHMARK_DETAIL_PAD(ConstantPadImpl, 2, ConstantPad2dImpl)
COMPONENT_BENCHMARK_DETAIL_PAD(ConstantPadImpl, 3, ConstantPad3dImpl)
COMPONENT_BENCHMARK_DETAIL_PAD(ZeroPadImpl, 1, ZeroPad1dImpl)
COMPONENT_BENCHMARK_DETAIL_PAD(ZeroPadImpl, 2, ZeroPad2dImpl)
COMPONENT_BENCHMARK_DETAIL_PAD(ZeroPadImpl, 3, ZeroPad3dImpl)
// clang-format on

#undef COMPONENT_BENCHMARK_DETAIL_PAD
#undef COMPONENT_BENCHMARK_DETAIL_FORWARD_1
#undef COMPONENT_BENCHMARK_DETAIL_METHOD_1
#undef COMPONENT_BENCHMARK_DETAIL_FORWARD_2
#undef COMPONENT_BENCHMARK_DETAIL_METHOD_2
#undef COMPONENT_BENCHMARK_DETAIL_FORWARD_3
#undef COMPONENT_BENCHMARK_DETAIL_METHOD_3
#undef COMPONENT_BENCHMARK_DETAIL_FORWARD_4
#undef COMPONENT_BENCHMARK_DETAIL_METHOD_4
#undef COMPONENT_BENCHMARK_DETAIL_FORWARD_6
#undef COMPONENT_BENCHMARK_DETAIL_METHOD_6
#undef COMPONENT_BENCHMARK_DETAIL_FORWARD_7
#undef COMPONENT_BENCHMARK_DETAIL_METHOD_7
#undef COMPONENT_BENCHMARK_DETAIL_FORWARD_8
#undef COMPONENT_BENCHMARK_DETAIL_METHOD_8
