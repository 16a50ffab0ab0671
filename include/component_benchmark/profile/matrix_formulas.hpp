// op call -> FORMULA -> flops: products, convolutions and attention
// Every formula gives 2 for a multiply-add. Sizes that a formula does not know, and layouts that
// have none, give nothing.
#pragma once

#include <component_benchmark/profile/op_call.hpp>

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace component_benchmark::formulas {

using flops_or_nothing = std::optional<std::int64_t>;

[[nodiscard]] inline std::int64_t product(c10::IntArrayRef sizes) noexcept {
    std::int64_t all = 1;
    for (auto const size : sizes)
        all *= size;
    return all;
}

/// Sizes that two shapes are broadcast to.
[[nodiscard]] inline std::vector<std::int64_t> broadcast(std::vector<std::int64_t> sizes,
                                                         c10::IntArrayRef other) {
    if (sizes.size() < other.size())
        sizes.insert(sizes.begin(), other.size() - sizes.size(), 1);
    for (std::size_t back = 1; back <= other.size(); ++back) {
        auto& mine = sizes[sizes.size() - back];
        mine = mine == 1 ? other[other.size() - back] : mine;
    }
    return sizes;
}

/// A[m, k] B[k, n], where A stands at `First` of the arguments: 2 m n k. A sparse A multiplies once
/// for each of its stored elements.
template<std::size_t First>
[[nodiscard]] flops_or_nothing mm(op_call const& call) {
    auto const& left = call.tensor(First);
    auto const& right = call.tensor(First + 1);
    if (right.layout() != c10::kStrided)
        return {};
    auto const columns = call.size_of(First + 1, 1);
    if (left.layout() == c10::kSparse || left.layout() == c10::kSparseCsr ||
        left.layout() == c10::kSparseCsc)
        return 2 * left._nnz() * columns;
    if (left.layout() != c10::kStrided)
        return {};
    return 2 * call.size_of(First, 0) * call.size_of(First, 1) * columns;
}

/// A[b, m, k] B[b, k, n]: 2 b m n k.
template<std::size_t First>
[[nodiscard]] flops_or_nothing bmm(op_call const& call) {
    if (call.tensor(First).layout() != c10::kStrided)
        return {};
    return 2 * call.size_of(First, 0) * call.size_of(First, 1) * call.size_of(First, 2) *
           call.size_of(First + 1, 2);
}

/// A[m, k] x[k], or the dot product of two vectors: 2 for each element of A.
template<std::size_t First>
[[nodiscard]] flops_or_nothing each_element(op_call const& call) {
    if (call.tensor(First).layout() != c10::kStrided)
        return {};
    return 2 * product(call.shape(First));
}

/// x[.., k] by W[n, k], each row: 2 rows n k.
[[nodiscard]] inline flops_or_nothing by_rows(op_call const& call) {
    return 2 * product(call.shape(0)) * call.size_of(1, 0);
}

/// A[.., m, k] B[.., k, n] without a jagged dimension: 2 numel(A) n.
[[nodiscard]] inline flops_or_nothing grouped_mm(op_call const& call) {
    if (call.shape(0).size() != 3 || call.shape(1).size() != 3)
        return {};  // the groups are rows or columns, as offsets on the device say
    return 2 * product(call.shape(0)) * call.size_of(1, 2);
}

// -- bilinear maps and distances

/// _trilinear(i1, i2, i3, expand1, expand2, expand3, ...): 2 for each point of the space that the
/// three expanded tensors span. Bilinear(in1, in2, out) on n rows: 2 n out in1 in2.
[[nodiscard]] inline flops_or_nothing trilinear(op_call const& call) {
    std::vector<std::int64_t> space;
    for (std::size_t one = 0; one < 3; ++one) {
        auto sizes = call.shape(one).vec();
        auto expand = call[one + 3].toIntVector();
        std::sort(expand.begin(), expand.end());
        for (auto const dimension : expand)
            sizes.insert(sizes.begin() + dimension, 1);
        space.resize((std::max)(space.size(), sizes.size()), 1);
        for (std::size_t index = 0; index < sizes.size(); ++index)
            space[index] = (std::max)(space[index], sizes[index]);
    }
    return 2 * product(space);
}

/// (x1[.., m, k], x2[.., n, k], p) from `First` on: the Euclidean distance is a product, 2 m n k,
/// and so is the gradient of one side; no other one is.
template<std::size_t First>
[[nodiscard]] flops_or_nothing cdist(op_call const& call) {
    if (call[First + 2].toDouble() != 2.0)
        return {};
    auto const left = call.shape(First);
    auto const right = call.shape(First + 1);
    auto const batch =
        product(broadcast(left.slice(0, left.size() - 2).vec(), right.slice(0, right.size() - 2)));
    return 2 * batch * call.size_of(First, -2) * call.size_of(First + 1, -2) *
           call.size_of(First, -1);
}

/// (x1[.., m, k], x2[.., n, k]): 2 m n k.
[[nodiscard]] inline flops_or_nothing euclidean_distance(op_call const& call) {
    return 2 * product(call.shape(0)) * call.size_of(1, -2);
}

// -- convolutions

/// Every element of W[o, i / groups, k...] meets every place of one channel: of the output, of the
/// input where the convolution is transposed. 2 N prod(S) numel(W). Padding is not taken off.
[[nodiscard]] inline std::int64_t convolution_of(c10::IntArrayRef places, std::int64_t batch,
                                                 c10::IntArrayRef weight) {
    return 2 * batch * product(places) * product(weight);
}

/// (input, weight, bias, stride, padding, dilation, transposed, ...)
[[nodiscard]] inline flops_or_nothing convolution(op_call const& call) {
    auto const input = call.shape(0);
    auto const weight = call.shape(1);
    if (weight.size() < 3 || (input.size() != weight.size() && input.size() + 1 != weight.size()))
        return {};
    auto const spatial = weight.size() - 2;
    auto const batched = input.size() == weight.size();
    auto places = input.slice(input.size() - spatial).vec();
    if (!call.flag(6)) {
        auto const stride = call[3].toIntVector();
        auto const padding = call[4].toIntVector();
        auto const dilation = call[5].toIntVector();
        auto const at = [](std::vector<std::int64_t> const& list, std::size_t index) {
            return list.size() == 1 ? list[0] : list.at(index);
        };
        for (std::size_t index = 0; index < spatial; ++index) {
            auto const steps = places[index] + 2 * at(padding, index) -
                               at(dilation, index) * (weight[index + 2] - 1) - 1;
            if (steps < 0 || at(stride, index) <= 0)
                return {};  // the operator will say why
            places[index] = steps / at(stride, index) + 1;
        }
    }
    return convolution_of(places, batched ? input[0] : 1, weight);
}

/// (grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding,
/// groups, output_mask): the gradients of input and of weight each cost what the forward does, in
/// grouped convolutions, too; that of the bias is free.
[[nodiscard]] inline flops_or_nothing convolution_backward(op_call const& call) {
    auto const transposed = call.flag(7);
    auto const of_places = call.shape(transposed ? 1 : 0);
    auto const weight = call.shape(2);
    if (weight.size() < 3 || of_places.size() != weight.size())
        return {};
    auto const forward = convolution_of(of_places.slice(2), of_places[0], weight);
    auto const wanted = call[10].toBoolList();
    return (wanted.get(0) ? forward : 0) + (wanted.get(1) ? forward : 0);
}

// -- attention

/// `from_last`: the last query sees all keys, and not the first query just the first key.
enum class masked { nothing, from_first, from_last };

/// Twice the pairs of a query and a key that meet: those that a causal mask leaves, with its
/// diagonal counted as half.
[[nodiscard]] inline std::int64_t twice_pairs_of(std::int64_t queries, std::int64_t keys,
                                                 masked how) {
    if (how == masked::nothing)
        return 2 * queries * keys;
    auto const square = (std::min)(queries, keys);
    auto const seen_by_all = how == masked::from_first
                                 ? (std::max<std::int64_t>)(0, queries - keys) * keys
                                 : (std::max<std::int64_t>)(0, keys - queries) * queries;
    return square * square + 2 * seen_by_all;
}

[[nodiscard]] constexpr std::int64_t operand_sizes(bool is_backward, std::int64_t query,
                                                   std::int64_t value) {
    return is_backward ? 3 * query + 2 * value : query + value;
}

/// q[b, h, sq, dq], k[b, hk, sk, dq], v[b, hk, sk, dv] at `First` of the arguments. Keys and values
/// that several heads share are used by each: the heads of the queries count.
/// Forward: 2 b h sq sk (dq + dv). Backward, which makes the scores again: 2 b h sq sk (3 dq + 2
/// dv).
template<std::size_t First, bool IsBackward, std::size_t Causal>
[[nodiscard]] flops_or_nothing attention(op_call const& call, bool halved) {
    auto const query = call.shape(First);
    if (query.size() < 3)
        return {};
    auto const batch_and_heads = product(query.slice(0, query.size() - 2));
    auto const how = halved && call.flag(Causal) ? masked::from_first : masked::nothing;
    return batch_and_heads *
           twice_pairs_of(call.size_of(First, -2), call.size_of(First + 1, -2), how) *
           operand_sizes(IsBackward, call.size_of(First, -1), call.size_of(First + 2, -1));
}

/// Lengths of sequences that lie one behind the other, from their offsets.
[[nodiscard]] inline std::vector<std::int64_t> lengths_of(at::Tensor const& offsets) {
    auto const ends = offsets.to(c10::kCPU, c10::kLong).contiguous();
    auto const* const values = ends.const_data_ptr<std::int64_t>();
    std::vector<std::int64_t> lengths;
    for (std::int64_t index = 1; index < ends.numel(); ++index)
        lengths.push_back(values[index] - values[index - 1]);
    return lengths;
}

/// q[b, s, h, d], or [sum of s, h, d] with offsets of the sequences at `Offsets` and `Offsets + 1`:
/// the same formula, added up over the real lengths.
template<std::size_t First, std::size_t Offsets, bool IsBackward, std::size_t Causal>
[[nodiscard]] flops_or_nothing jagged_attention(op_call const& call, bool halved) {
    // the efficient kernel has the kind of mask as a number, of which 1 is from the first key
    auto const& mask = call[Causal];
    auto const number = mask.isBool() ? (mask.toBool() ? 2 : 0) : mask.toInt();
    auto const how = !halved || number == 0 ? masked::nothing
                     : number == 1          ? masked::from_first
                                            : masked::from_last;
    std::int64_t pairs = 0;
    if (call.has_tensor(Offsets) && call.has_tensor(Offsets + 1)) {
        auto const queries = lengths_of(call.tensor(Offsets));
        auto const keys = lengths_of(call.tensor(Offsets + 1));
        for (std::size_t one = 0; one < (std::min)(queries.size(), keys.size()); ++one)
            pairs += twice_pairs_of(queries[one], keys[one], how);
    } else {
        if (call.shape(First).size() != 4)
            return {};
        pairs = call.size_of(First, 0) *
                twice_pairs_of(call.size_of(First, 1), call.size_of(First + 1, 1), how);
    }
    return call.size_of(First, -2) * pairs *
           operand_sizes(IsBackward, call.size_of(First, -1), call.size_of(First + 2, -1));
}

/// cuDNN's: jagged where there are offsets, else q[b, h, s, d].
template<std::size_t First, std::size_t Offsets, bool IsBackward, std::size_t Causal>
[[nodiscard]] flops_or_nothing cudnn_attention(op_call const& call, bool halved) {
    return call.has_tensor(Offsets)
               ? jagged_attention<First, Offsets, IsBackward, Causal>(call, halved)
               : attention<First, IsBackward, Causal>(call, halved);
}

}  // namespace component_benchmark::formulas
