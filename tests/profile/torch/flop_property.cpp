// Formulas against loops that count multiply-adds, for random small shapes.
#include "support/catch2.hpp"
#include "support/count_flops.hpp"
#include <component_benchmark/core/flop_convention.hpp>
#include <component_benchmark/profile/flop_formulas.hpp>
#include <component_benchmark/profile/flop_result.hpp>

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/torch.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace cb = component_benchmark;
namespace nn = torch::nn;
using at::Tensor;
using sizes = std::vector<std::int64_t>;

namespace {

/// The same shapes in every run.
class shapes {
public:
    std::int64_t pick(std::int64_t least, std::int64_t most) {
        return least +
               static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(most - least + 1));
    }
    bool coin() { return pick(0, 1) == 1; }
    sizes some(std::size_t count, std::int64_t least, std::int64_t most) {
        sizes list;
        for (std::size_t index = 0; index < count; ++index)
            list.push_back(pick(least, most));
        return list;
    }

private:
    std::mt19937_64 engine_{42};
};

/// Calls `visit` for each point of a space, as nested loops do.
template<class Visit>
void each_point(sizes const& space, Visit visit) {
    sizes point(space.size(), 0);
    if (std::find(space.begin(), space.end(), 0) != space.end())
        return;
    while (true) {
        visit(point);
        auto dimension = space.size();
        while (dimension > 0 && ++point[dimension - 1] == space[dimension - 1])
            point[--dimension] = 0;
        if (dimension == 0)
            return;
    }
}

std::int64_t points_of(sizes const& space) {
    std::int64_t points = 0;
    each_point(space, [&](sizes const&) { ++points; });
    return points;
}

Tensor tensor(sizes const& shape, bool wants_gradient = false) {
    return at::ones(shape).requires_grad_(wants_gradient);
}

void backward(Tensor const& result) {
    if (result.requires_grad())
        result.sum().backward();
}

/// FLOPs of a number of multiply-adds that `work` must make.
template<class Work>
void check(std::int64_t multiply_adds, Work work) {
    auto const tally = tally_of(work);
    CHECK(cb::formulas::names_of(tally.coverage) == "");
    CHECK(tally.forward.total() == 2.0 * static_cast<double>(multiply_adds));
}

/// Two shapes that can be broadcast to one.
std::pair<sizes, sizes> broadcastable(shapes& random, sizes const& whole) {
    auto const thinned = [&] {
        auto shape = whole;
        for (auto& size : shape)
            size = random.pick(0, 2) == 0 ? 1 : size;
        shape.erase(shape.begin(),
                    shape.begin() + random.pick(0, static_cast<std::int64_t>(shape.size())));
        return shape;
    };
    auto left = thinned();
    auto right = thinned();
    return {left, right};
}

sizes broadcast_of(sizes const& left, sizes const& right) {
    sizes whole(std::max(left.size(), right.size()), 1);
    for (auto const* shape : {&left, &right})
        for (std::size_t back = 1; back <= shape->size(); ++back)
            whole[whole.size() - back] =
                std::max(whole[whole.size() - back], (*shape)[shape->size() - back]);
    return whole;
}

sizes operator+(sizes left, sizes const& right) {
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

struct convolution_case {
    std::size_t rank;
    std::int64_t batch, groups, in, out;  ///< channels of a group
    sizes image, kernel, stride, padding, dilation, output_padding;
    bool transposed, with_bias, batched;

    static convolution_case of(shapes& random, bool transposed) {
        convolution_case one;
        one.rank = static_cast<std::size_t>(random.pick(1, 3));
        one.transposed = transposed;
        one.batched = random.pick(0, 3) > 0;
        one.batch = one.batched ? random.pick(1, 3) : 1;
        one.groups = random.pick(1, 3);
        one.in = random.pick(1, 3);
        one.out = random.pick(1, 3);
        one.image = random.some(one.rank, 4, 7);
        one.kernel = random.some(one.rank, 1, 3);
        one.stride = random.some(one.rank, 1, 3);
        one.padding = random.some(one.rank, 0, 2);
        one.dilation = random.some(one.rank, 1, 2);
        for (std::size_t index = 0; index < one.rank; ++index) {
            // both kinds must leave a result, and the second image has to be in one of the steps
            if (one.dilation[index] * (one.kernel[index] - 1) + 1 > one.image[index])
                one.dilation[index] = 1;
            one.padding[index] = std::min(one.padding[index], one.kernel[index] - 1);
            one.output_padding.push_back(
                random.pick(0, std::max(one.stride[index], one.dilation[index]) - 1));
        }
        one.with_bias = random.coin();
        return one;
    }

    [[nodiscard]] Tensor input(bool gradient) const {
        return tensor((batched ? sizes{batch} : sizes{}) + sizes{groups * in} + image, gradient);
    }
    [[nodiscard]] Tensor weight(bool gradient) const {
        return tensor((transposed ? sizes{groups * in, out} : sizes{groups * out, in}) + kernel,
                      gradient);
    }
    [[nodiscard]] Tensor bias(bool gradient) const {
        return with_bias ? tensor({groups * out}, gradient) : Tensor{};
    }

    /// Places that the kernel is laid on: where it fits into the image and its padding.
    [[nodiscard]] std::int64_t places(std::size_t dimension) const {
        std::int64_t count = 0;
        auto const reach = dilation[dimension] * (kernel[dimension] - 1);
        for (auto start = -padding[dimension];
             start + reach < image[dimension] + padding[dimension]; start += stride[dimension])
            ++count;
        return count;
    }

    [[nodiscard]] std::int64_t multiply_adds() const {
        sizes where = image;
        if (!transposed)
            for (std::size_t index = 0; index < rank; ++index)
                where[index] = places(index);
        return points_of(sizes{batch, groups, in, out} + where + kernel);
    }

    [[nodiscard]] Tensor run(Tensor const& x, Tensor const& w, Tensor const& b) const {
        switch (transposed ? rank + 3 : rank) {
            case 1:
                return at::conv1d(x, w, b, stride, padding, dilation, groups);
            case 2:
                return at::conv2d(x, w, b, stride, padding, dilation, groups);
            case 3:
                return at::conv3d(x, w, b, stride, padding, dilation, groups);
            case 4:
                return at::conv_transpose1d(x, w, b, stride, padding, output_padding, groups,
                                            dilation);
            case 5:
                return at::conv_transpose2d(x, w, b, stride, padding, output_padding, groups,
                                            dilation);
            default:
                return at::conv_transpose3d(x, w, b, stride, padding, output_padding, groups,
                                            dilation);
        }
    }
};

/// Arguments of an operator by the names in its schema; the others are defaults, or false, 0, an
/// empty list.
std::vector<c10::IValue> arguments_of(
    std::string const& op, std::vector<std::pair<std::string_view, c10::IValue>> const& given) {
    std::vector<c10::IValue> all;
    std::size_t used = 0;
    for (auto const& one :
         c10::Dispatcher::singleton().findSchemaOrThrow(op.c_str(), "").schema().arguments()) {
        auto const mine = std::find_if(given.begin(), given.end(), [&](auto const& argument) {
            return argument.first == one.name() || argument.first == one.name() + "_";
        });
        used += mine != given.end() ? 1 : 0;
        all.push_back(mine != given.end()                             ? mine->second
                      : one.default_value()                           ? *one.default_value()
                      : one.type()->kind() == c10::TypeKind::BoolType ? c10::IValue{false}
                      : one.type()->kind() == c10::TypeKind::IntType  ? c10::IValue{0}
                                                                      : c10::IValue{});
    }
    INFO(op);
    CHECK(used == given.size());
    return all;
}

double by_formula(std::string const& op,
                  std::vector<std::pair<std::string_view, c10::IValue>> const& given,
                  cb::causal_attention causal = cb::causal_attention::dense) {
    auto const arguments = arguments_of(op, given);
    auto const* const found = cb::formulas::find(op);
    if (found == nullptr)
        return -2.0;
    auto const flops = found->count(cb::op_call{op, arguments}, causal);
    return flops ? static_cast<double>(*flops) : -1.0;
}

}  // namespace

TEST_CASE("products of matrices, batches of them and their sums") {
    shapes random;
    for (int round = 0; round < 60; ++round) {
        auto const m = random.pick(1, 6);
        auto const k = random.pick(1, 6);
        auto const n = random.pick(1, 6);
        auto const b = random.pick(1, 4);
        auto const left = random.coin();
        auto const right = random.coin();
        auto const times = 1 + (left ? 1 : 0) + (right ? 1 : 0);
        CAPTURE(m, k, n, b, left, right);
        auto const one = points_of({m, n, k}) * times;
        auto const all = points_of({b, m, n, k}) * times;
        check(one, [&] { backward(at::mm(tensor({m, k}, left), tensor({k, n}, right))); });
        check(one, [&] {
            backward(at::addmm(tensor({n}, true), tensor({m, k}, left), tensor({k, n}, right)));
        });
        check(all, [&] { backward(at::bmm(tensor({b, m, k}, left), tensor({b, k, n}, right))); });
        check(all, [&] {
            backward(at::baddbmm(tensor({b, m, n}, true), tensor({b, m, k}, left),
                                 tensor({b, k, n}, right)));
        });
        check(2 * points_of({b, m, n, k}), [&] {
            tensor({m, n}).addbmm_(tensor({b, m, k}), tensor({b, k, n}));
            tensor({b, m, n}).baddbmm_(tensor({b, m, k}), tensor({b, k, n})).zero_();
        });
    }
}

TEST_CASE("matmul of what can be broadcast") {
    shapes random;
    for (int round = 0; round < 120; ++round) {
        auto const m = random.pick(1, 5);
        auto const k = random.pick(1, 5);
        auto const n = random.pick(1, 5);
        auto const kind = random.pick(0, 5);
        CAPTURE(m, k, n, kind);
        if (kind == 0) {
            check(points_of({k}), [&] { at::matmul(tensor({k}), tensor({k})); });
            continue;
        }
        auto const [left, right] =
            broadcastable(random, random.some(static_cast<std::size_t>(random.pick(0, 2)), 1, 3));
        if (kind == 1) {
            check(points_of(left + sizes{m, k}), [&, left = left] {
                at::matmul(tensor(left + sizes{m, k}), tensor({k}));
            });
            continue;
        }
        if (kind == 2) {
            check(points_of(right + sizes{k, n}), [&, right = right] {
                at::matmul(tensor({k}), tensor(right + sizes{k, n}));
            });
            continue;
        }
        auto const a = tensor(left + sizes{m, k}, random.coin());
        auto const b = tensor(right + sizes{k, n}, random.coin());
        auto const times = 1 + (a.requires_grad() ? 1 : 0) + (b.requires_grad() ? 1 : 0);
        CAPTURE(a.sizes(), b.sizes());
        check(points_of(broadcast_of(left, right) + sizes{m, n, k}) * times,
              [&] { backward(at::matmul(a, b)); });
    }
}

TEST_CASE("einsum of two, with something to contract") {
    shapes random;
    for (std::string const left_right :
         {"ab bc ac", "ab cb ac", "abc cd abd", "abc abd acd", "bij bjk bik", "ab ab a",
          "abcd cde abe", "bhid bhjd bhij", "ab b a", "abc cb a"}) {
        for (int round = 0; round < 5; ++round) {
            std::vector<std::string> words{""};
            for (auto const letter : left_right) {
                if (letter == ' ')
                    words.emplace_back();
                else
                    words.back() += letter;
            }
            std::string letters;
            sizes of_letter;
            auto const shape = [&](std::string const& word) {
                sizes made;
                for (auto const letter : word) {
                    if (letters.find(letter) == std::string::npos) {
                        letters += letter;
                        of_letter.push_back(random.pick(2, 4));
                    }
                    made.push_back(of_letter[letters.find(letter)]);
                }
                return made;
            };
            auto const left = shape(words[0]);
            auto const right = shape(words[1]);
            CAPTURE(left_right, left, right);
            check(points_of(of_letter), [&] {
                at::einsum(words[0] + "," + words[1] + "->" + words[2],
                           {tensor(left), tensor(right)});
            });
        }
    }
}

TEST_CASE("linear layers of inputs with up to four dimensions") {
    shapes random;
    for (int round = 0; round < 60; ++round) {
        auto const lead = random.some(static_cast<std::size_t>(round % 4), 1, 4);
        auto const in = random.pick(1, 6);
        auto const out = random.pick(1, 6);
        auto const input = tensor(lead + sizes{in}, random.coin());
        nn::Linear layer{nn::LinearOptions{in, out}.bias(random.coin())};
        layer->weight.requires_grad_(random.coin());
        auto const times =
            1 + (input.requires_grad() ? 1 : 0) + (layer->weight.requires_grad() ? 1 : 0);
        CAPTURE(lead, in, out, times);
        // the gradient of the weight of one row is made of no product in some versions
        if (lead.empty() && layer->weight.requires_grad())
            check(points_of({in, out}), [&] { layer(input); });
        else
            check(points_of(lead + sizes{out, in}) * times, [&] { backward(layer(input)); });
    }
}

TEST_CASE("convolutions with groups, strides, dilation and padding, both ways") {
    shapes random;
    for (int round = 0; round < 160; ++round) {
        auto const one = convolution_case::of(random, round % 2 == 1);
        auto const x = one.input(random.coin());
        auto const w = one.weight(random.coin());
        auto const b = one.bias(random.coin());
        auto const times = 1 + (x.requires_grad() ? 1 : 0) + (w.requires_grad() ? 1 : 0);
        CAPTURE(x.sizes(), w.sizes(), one.groups, one.stride, one.padding, one.dilation,
                one.output_padding, one.transposed, times);
        check(one.multiply_adds() * times, [&] { backward(one.run(x, w, b)); });
    }
}

TEST_CASE("convolutions that keep the size") {
    shapes random;
    for (int round = 0; round < 10; ++round) {
        auto const k = random.pick(1, 4);
        auto const image = random.some(2, 5, 8);
        check(points_of(sizes{2, 3, 4, k, k} + image), [&] {
            at::conv2d(tensor(sizes{2, 3} + image), tensor({4, 3, k, k}), {}, 1, "same");
        });
    }
}

TEST_CASE("attention of every pair of a query and a key, fused or written out") {
    shapes random;
    for (int round = 0; round < 60; ++round) {
        auto const b = random.pick(1, 2);
        auto const shared = random.pick(1, 2);  // heads that have the same key
        auto const h = random.pick(1, 2) * shared;
        auto const queries = random.pick(1, 9);
        auto const keys = random.pick(1, 9);
        auto const dq = random.pick(1, 4) * 4;
        auto const dv = random.coin() ? dq : random.pick(1, 4) * 4;
        auto const causal = random.coin();
        auto const train = shared == 1 && random.coin();
        CAPTURE(b, h, shared, queries, keys, dq, dv, causal, train);
        std::int64_t twice_dense = 0;  // pairs
        std::int64_t twice_halved = 0;
        each_point({b, h, queries, keys}, [&](sizes const& at) {
            twice_dense += 2;
            twice_halved += at[3] < at[2] ? 2 : at[3] == at[2] ? 1 : 0;
        });
        auto const run = [&] {
            backward(at::scaled_dot_product_attention(
                tensor({b, h, queries, dq}, train), tensor({b, h / shared, keys, dq}, train),
                tensor({b, h / shared, keys, dv}, train), {}, 0.0, causal, {}, shared > 1));
        };
        // the fused one needs equal sizes; its backward makes the scores again
        auto const fused = count_flops<cb::strict_pytorch>(run) == 0.0;
        CHECK(fused == (dq == dv));
        auto const each = dq + dv + (!train ? 0 : fused ? 3 * dq + 2 * dv : 2 * (dq + dv));
        CHECK(count_flops(run) == static_cast<double>(twice_dense * each));
        auto const halved = tally_of(run, cb::causal_attention::halved).forward.total();
        CHECK(halved == static_cast<double>((fused && causal ? twice_halved : twice_dense) * each));
    }
}

TEST_CASE("recurrent layers of every kind, both ways") {
    shapes random;
    for (int round = 0; round < 24; ++round) {
        auto const t = random.pick(1, 4);
        auto const b = random.pick(1, 3);
        auto const in = random.pick(1, 5);
        auto const h = random.pick(2, 5);
        auto const layers = random.pick(1, 3);
        auto const directions = random.pick(1, 2);
        auto const batch_first = random.coin();
        auto const train = random.coin();
        auto const kind = round % 3;
        auto const gates = kind == 0 ? 4 : kind == 1 ? 3 : 1;
        auto const out = kind == 0 && h > 2 && random.coin() ? h - 1 : h;  // of LSTM's projection
        CAPTURE(t, b, in, h, layers, directions, kind, out, train);
        std::int64_t forward = 0;
        for (std::int64_t layer = 0; layer < layers; ++layer) {
            auto const width = layer == 0 ? in : out * directions;
            forward += points_of({directions, t, b, gates, h, width + out});
            forward += out == h ? 0 : points_of({directions, t, b, h, out});
        }
        auto const x = tensor(batch_first ? sizes{b, t, in} : sizes{t, b, in}, train);
        auto const state = [&](std::int64_t width) {
            return tensor({layers * directions, b, width}, train);
        };
        auto const finish = [&](Tensor const& result) {
            if (train)
                backward(result);
        };
        check(forward * (train ? 3 : 1), [&] {
            if (kind == 0)
                finish(std::get<0>(nn::LSTM{nn::LSTMOptions{in, h}
                                                .num_layers(layers)
                                                .bidirectional(directions == 2)
                                                .batch_first(batch_first)
                                                .proj_size(out == h ? 0 : out)}(
                    x, std::tuple{state(out), state(h)})));
            else if (kind == 1)
                finish(std::get<0>(nn::GRU{nn::GRUOptions{in, h}
                                               .num_layers(layers)
                                               .bidirectional(directions == 2)
                                               .batch_first(batch_first)}(x, state(h))));
            else
                finish(std::get<0>(nn::RNN{nn::RNNOptions{in, h}
                                               .num_layers(layers)
                                               .bidirectional(directions == 2)
                                               .batch_first(batch_first)}(x, state(h))));
        });
    }
    check(points_of({2, 4, 4, 3 + 4}), [] { nn::LSTMCell{3, 4}(tensor({2, 3})); });
    check(points_of({2, 3, 4, 3 + 4}), [] { nn::GRUCell{3, 4}(tensor({2, 3})); });
    check(points_of({2, 4, 3 + 4}), [] { nn::RNNCell{3, 4}(tensor({2, 3})); });
}

TEST_CASE("bilinear maps and Euclidean distances") {
    shapes random;
    for (int round = 0; round < 30; ++round) {
        auto const rows = random.pick(1, 4);
        auto const [a, b, out] =
            std::tuple{random.pick(1, 4), random.pick(1, 4), random.pick(1, 4)};
        check(points_of({rows, out, a, b}), [&, a = a, b = b, out = out] {
            nn::Bilinear{a, b, out}(tensor({rows, a}), tensor({rows, b}));
        });
        auto const [left, right] =
            broadcastable(random, random.some(static_cast<std::size_t>(random.pick(0, 2)), 1, 3));
        for (auto const m : {random.pick(1, 5), std::int64_t{30}}) {
            CAPTURE(left, right, m, a, b);
            check(points_of(broadcast_of(left, right) + sizes{m, a, b}),
                  [&, a = a, b = b, left = left, right = right] {
                      at::cdist(at::rand(left + sizes{m, b}), at::rand(right + sizes{a, b}));
                  });
        }
    }
}

TEST_CASE("nothing to multiply is 0, and counted") {
    for (auto const m : {0, 3})
        for (auto const k : {0, 4})
            for (auto const n : {0, 5}) {
                check(points_of({m, k, n}), [&] { at::mm(tensor({m, k}), tensor({k, n})); });
                check(points_of({2, m, k, n}), [&] {
                    at::bmm(tensor({2, m, k}), tensor({2, k, n}));
                });
            }
    check(0, [] { at::conv2d(tensor({0, 3, 5, 5}), tensor({4, 3, 2, 2})); });
    check(0, [] { at::linalg_solve(tensor({0, 0}), tensor({0, 3})); });
    check(0, [] { at::cdist(tensor({0, 3}), tensor({2, 3})); });
}

TEST_CASE("operators of other devices have their arguments where the formulas look") {
    using enum cb::causal_attention;
    constexpr double b = 2;
    constexpr double h = 3;
    constexpr double pairs = 5 * 7;
    constexpr double twice_halved = 5 * 5;  // from the first key
    auto const q = tensor({2, 3, 5, 4});
    auto const k = tensor({2, 3, 7, 4});
    auto const v = tensor({2, 3, 7, 6});
    for (std::string const kernel : {"flash", "efficient", "cudnn", "fused", "for_cpu"}) {
        auto const op = "aten::_scaled_dot_product_" +
                        (kernel == "for_cpu" ? std::string{"flash"} : kernel) + "_attention" +
                        (kernel == "fused"     ? "_overrideable"
                         : kernel == "for_cpu" ? "_for_cpu"
                                               : "");
        CAPTURE(op);
        for (auto const causal : {false, true}) {
            auto const run = [&](std::string const& name, auto how) {
                return by_formula(
                    name, {{"query", q}, {"key", k}, {"value", v}, {"is_causal", causal}}, how);
            };
            auto const back = op + "_backward";
            CHECK(run(op, dense) == 2 * b * h * pairs * (4 + 6));
            CHECK(run(op, halved) == b * h * (causal ? twice_halved : 2 * pairs) * (4 + 6));
            CHECK(run(back, dense) == 2 * b * h * pairs * (3 * 4 + 2 * 6));
            CHECK(run(back, halved) ==
                  b * h * (causal ? twice_halved : 2 * pairs) * (3 * 4 + 2 * 6));
        }
    }
    // [batch, length, head, size], or without a batch and with offsets; a flash kernel's causal
    // mask is at the last key
    auto const turned = [](Tensor const& x) { return x.transpose(1, 2); };
    auto const offsets = [](std::vector<std::int64_t> const& ends) {
        return at::tensor(ends, at::kInt);
    };
    auto const queries = offsets({0, 2, 5});
    auto const keys = offsets({0, 4, 7});
    constexpr double jagged = 2 * 4 + 3 * 3;
    constexpr double jagged_last = (2 * 2 + 2 * 2 * 2) + 3 * 3;  // twice
    auto const flat = [](std::int64_t length, std::int64_t size) {
        return tensor({length, 3, size});
    };
    for (std::string const kernel : {"flash", "efficient", "cudnn"}) {
        auto const op = "aten::_" + kernel + "_attention_";
        auto const mask =
            kernel == "efficient" ? std::string_view{"custom_mask_type"} : "is_causal";
        auto const is = kernel == "efficient" ? c10::IValue{2} : c10::IValue{true};
        auto const first = kernel == "efficient" ? "cu_seqlens_q" : "cum_seq_q";
        auto const second = kernel == "efficient" ? "cu_seqlens_k" : "cum_seq_k";
        auto const by_head = kernel == "cudnn";
        CAPTURE(op);
        for (auto const way : {"forward", "backward"}) {
            auto const each = way == std::string{"forward"} ? 4 + 6 : 3 * 4 + 2 * 6;
            CHECK(by_formula(op + way, {{"query", by_head ? q : turned(q)},
                                        {"key", by_head ? k : turned(k)},
                                        {"value", by_head ? v : turned(v)}}) ==
                  2 * b * h * pairs * each);
            auto const run = [&](auto how) {
                return by_formula(op + way,
                                  {{"query", flat(5, 4)},
                                   {"key", flat(7, 4)},
                                   {"value", flat(7, 6)},
                                   {first, queries},
                                   {second, keys},
                                   {mask, is}},
                                  how);
            };
            CHECK(run(dense) == 2 * h * jagged * each);
            CHECK(run(halved) == h * jagged_last * each);
        }
    }
    CHECK(by_formula("aten::_efficient_attention_forward",
                     {{"query", turned(q)},
                      {"key", turned(k)},
                      {"value", turned(v)},
                      {"custom_mask_type", 1}},
                     halved) == b * h * twice_halved * (4 + 6));
}

TEST_CASE("recurrent layers of other devices") {
    // 2 layers, hidden 4, both of W_ih, W_hh and two biases
    auto const weights =
        std::vector<Tensor>{tensor({16, 3}), tensor({16, 4}), tensor({16}), tensor({16}),
                            tensor({16, 4}), tensor({16, 4}), tensor({16}), tensor({16})};
    constexpr double forward = 2 * 5 * 2 * 16 * (3 + 4 + 4 + 4);
    auto const x = tensor({5, 2, 3});
    CHECK(by_formula("aten::_cudnn_rnn", {{"input", x}, {"weight", weights}}) == forward);
    CHECK(by_formula("aten::miopen_rnn", {{"input", x}, {"weight", weights}}) == forward);
    auto const back = [&](std::vector<bool> const& wanted) {
        c10::List<bool> mask;
        for (bool const one : wanted)
            mask.push_back(one);
        return by_formula("aten::_cudnn_rnn_backward",
                          {{"input", x}, {"weight", weights}, {"output_mask", mask}});
    };
    CHECK(back({true, true, true, true}) == 2 * forward);
    CHECK(back({false, false, false, true}) == forward);
    CHECK(back({true, false, false, false}) == forward);
}
