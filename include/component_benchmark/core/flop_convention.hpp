// user's program -> profile: what counts as a floating-point operation, with the library on or off
#pragma once

#include <cstdint>
#include <string_view>

namespace component_benchmark {

/// A convention is a type with these four members. A multiply-add is two floating-point operations,
/// but for `macs`, which counts it as one. Bias, activations, norms, softmax, dropout, copies and
/// lookups of embeddings are 0 in all of them. A product of complex numbers counts like one of real
/// ones, as in PyTorch.
struct strict_pytorch {
    static constexpr std::string_view name = "strict_pytorch";
    /// Also counts matrix work that PyTorch's FlopCounterMode has no formula for.
    static constexpr bool all_matrix_work = false;
    /// Also counts each addition, subtraction, multiplication and division of elements.
    static constexpr bool elements = false;
    static constexpr std::int64_t per_multiply_add = 2;
};

/// The default: all matrix work (products, convolutions, attention, recurrent layers, FFT and
/// factorizations), whatever operator does it.
struct strict : strict_pytorch {
    static constexpr std::string_view name = "strict";
    static constexpr bool all_matrix_work = true;
};

/// `strict`, and 1 for each element that `add`, `sub`, `mul` or `div` makes and each that `sum` or
/// `mean` adds. Activations stay 0.
struct elementwise : strict {
    static constexpr std::string_view name = "elementwise";
    static constexpr bool elements = true;
};

/// `strict` in multiply-adds. MFU is the same as under `strict`.
struct macs : strict {
    static constexpr std::string_view name = "macs";
    static constexpr std::int64_t per_multiply_add = 1;
};

/// How fused attention with `is_causal` is counted: `halved` leaves out what the mask hides.
/// Attention that is written out does all of the work, and is always dense.
enum class causal_attention { dense, halved };

[[nodiscard]] constexpr std::string_view name_of(causal_attention how) noexcept {
    return how == causal_attention::dense ? "dense" : "halved";
}

/// Which one `mfu_pct` is.
enum class mfu_of { forward, forward_and_backward };

}  // namespace component_benchmark
