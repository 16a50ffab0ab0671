// op call -> FORMULA -> flops: recurrent layers, factorizations, Fourier transforms
#pragma once

#include <component_benchmark/profile/matrix_formulas.hpp>
#include <component_benchmark/profile/op_call.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace component_benchmark::formulas {

// -- recurrent layers that one operator runs: each row of input and of hidden state meets the
// matrices of its layer and direction. 2 T B gates H (I + H).

/// (input[T, B, I], W_ih, W_hh, ...): one layer, one direction. Its backward makes the gradients of
/// both operands of each product.
template<std::int64_t Times>
[[nodiscard]] flops_or_nothing mkldnn_rnn_layer(op_call const& call) {
    auto const input = call.shape(0);
    auto const rows = product(input.slice(0, input.size() - 1));
    return Times * 2 * rows * (product(call.shape(1)) + product(call.shape(2)));
}

/// Elements of the matrices among the weights of a recurrent layer; biases are vectors.
[[nodiscard]] inline std::int64_t matrix_elements(c10::IValue const& weights) {
    std::int64_t elements = 0;
    for (at::Tensor const& weight : weights.toTensorVector())
        if (weight.dim() == 2)
            elements += weight.numel();
    return elements;
}

/// (input[T, B, I] or packed [sum of lengths, I], weights, ...): all layers and directions.
[[nodiscard]] inline flops_or_nothing fused_rnn(op_call const& call) {
    auto const input = call.shape(0);
    auto const matrices = matrix_elements(call[1]);
    if (matrices == 0)
        return {};
    return 2 * product(input.slice(0, input.size() - 1)) * matrices;
}

/// The gradients of input and hidden state cost what the forward does, and so do those of the
/// weights; the mask of four says which are wanted.
template<std::size_t Mask>
[[nodiscard]] flops_or_nothing fused_rnn_backward(op_call const& call) {
    auto const forward = fused_rnn(call);
    if (!forward)
        return {};
    auto const wanted = call[Mask].toBoolList();
    auto const states = wanted.get(0) || wanted.get(1) || wanted.get(2);
    return *forward * ((states ? 1 : 0) + (wanted.get(3) ? 1 : 0));
}

// -- factorizations of n x n matrices, leading terms (Golub and Van Loan, Matrix Computations):
// Cholesky n^3 / 3, LU 2 n^3 / 3, inverse 2 n^3, two triangular solves 2 n^2 for a right-hand side.

[[nodiscard]] inline std::int64_t batch_of(c10::IntArrayRef shape) {
    return product(shape.slice(0, shape.size() - 2));
}

/// Numerator / 3 of n^3, for each matrix of the batch.
template<std::int64_t Numerator>
[[nodiscard]] flops_or_nothing thirds_of_cube(op_call const& call) {
    auto const order = call.size_of(0, -1);
    return batch_of(call.shape(0)) * Numerator * order * order * order / 3;
}

/// LU of m x n matrices, with k the smaller size: 2 (m n k - (m + n) k^2 / 2 + k^3 / 3).
[[nodiscard]] inline flops_or_nothing lu(op_call const& call) {
    auto const rows = call.size_of(0, -2);
    auto const columns = call.size_of(0, -1);
    auto const least = (std::min)(rows, columns);
    auto const thirds = 6 * rows * columns * least - 3 * (rows + columns) * least * least +
                        2 * least * least * least;
    return batch_of(call.shape(0)) * thirds / 3;
}

/// A X = B by LU and two triangular solves.
[[nodiscard]] inline flops_or_nothing solve(op_call const& call) {
    auto const order = call.size_of(0, -1);
    auto const of_rows = call.shape(0).slice(0, call.shape(0).size() - 1);
    auto const is_vector = call.shape(1).size() == 1 || call.shape(1) == of_rows;
    if (order == 0)
        return 0;
    auto const sides =
        is_vector ? 1 : product(call.shape(1).slice(call.shape(1).size() - 2)) / order;
    return batch_of(call.shape(0)) * (2 * order * order * order / 3 + 2 * order * order * sides);
}

/// One triangular solve with the matrix at `Matrix` and right-hand sides at `Sides`: n^2 each.
template<std::size_t Matrix, std::size_t Sides, std::int64_t Solves>
[[nodiscard]] flops_or_nothing triangular(op_call const& call) {
    return Solves * product(call.shape(Sides)) * call.size_of(Matrix, -1);
}

// -- Fourier transforms: 5 n log2(n) for a complex one of n points, half of it for a real one (the
// count that FFTW's authors use; no transform makes exactly so many).

[[nodiscard]] inline std::int64_t fourier(std::int64_t elements,
                                          std::vector<std::int64_t> const& lengths, double each) {
    double steps = 0.0;
    for (auto const length : lengths)
        steps += length > 0 ? std::log2(static_cast<double>(length)) : 0.0;
    return std::llround(each * static_cast<double>(elements) * steps);
}

[[nodiscard]] inline std::vector<std::int64_t> lengths_along(op_call const& call) {
    std::vector<std::int64_t> lengths;
    for (auto const dimension : call[1].toIntVector())
        lengths.push_back(call.size_of(0, dimension));
    return lengths;
}

[[nodiscard]] inline flops_or_nothing complex_fft(op_call const& call) {
    return fourier(product(call.shape(0)), lengths_along(call), 5.0);
}

[[nodiscard]] inline flops_or_nothing real_fft(op_call const& call) {
    return fourier(product(call.shape(0)), lengths_along(call), 2.5);
}

/// (input, dim, normalization, last_dim_size): back to `last_dim_size` real points.
[[nodiscard]] inline flops_or_nothing inverse_real_fft(op_call const& call) {
    auto lengths = lengths_along(call);
    if (lengths.empty())
        return 0;
    auto const last = call[3].toInt();
    auto const half = lengths.back();
    lengths.back() = last;
    return fourier(product(call.shape(0)) / (half > 0 ? half : 1) * last, lengths, 2.5);
}

}  // namespace component_benchmark::formulas
