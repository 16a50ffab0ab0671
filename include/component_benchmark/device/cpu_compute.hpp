// DEVICE -> profile: what the processor multiplies at best, measured
#pragma once

#include <component_benchmark/core/peaks.hpp>
#include <component_benchmark/device/quiet.hpp>
#include <component_benchmark/device/tf32.hpp>

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>

namespace component_benchmark {

/// A measured peak and what to know about it, or why there is none.
struct measured_peak {
    std::optional<double> value;
    std::string note;
};

namespace detail {

[[nodiscard]] inline std::optional<at::ScalarType> type_of(number_format format) {
    switch (format) {
        case number_format::fp64:
            return at::kDouble;
        case number_format::fp32:
        case number_format::tf32:  // fp32 tensors are what a processor gets there
            return at::kFloat;
        case number_format::bf16:
            return at::kBFloat16;
        case number_format::fp16:
            return at::kHalf;
        default:
            return std::nullopt;
    }
}

/// Numbers that differ, as a model's do, and come from no generator.
[[nodiscard]] inline at::Tensor matrix_of(std::int64_t size, at::ScalarType type) {
    auto const plain = at::TensorOptions{}.device(at::kCPU).layout(at::kStrided).dtype(at::kFloat);
    auto filled = at::empty({size, size}, plain);
    auto* const numbers = filled.data_ptr<float>();
    std::uint32_t state = 1;
    for (std::int64_t i = 0; i < size * size; ++i) {
        state = state * 1664525U + 1013904223U;
        numbers[i] = static_cast<float>(state >> 16) / 65536.0F - 0.5F;
    }
    return filled.to(type);
}

/// TFLOP/s of the best of many products of square matrices. Sizes grow as long as a product is
/// expected to take less than 30 ms: large ones hide the start of the threads, short ones are over
/// before somebody else gets a core. Where others do get it, what is expected means little.
template<class Peak = measured_peak>
[[nodiscard]] Peak measured_tflops(at::ScalarType type) {
    quiet const unseen;
    double best = 0.0;
    bool disturbed = false;
    auto const tera = [](std::int64_t size) {
        auto const edge = static_cast<double>(size);
        return 2.0 * edge * edge * edge / 1e12;
    };
    for (std::int64_t size = 512; size <= 4096; size *= 2) {
        if (best > 0.0 && tera(size) / best > (disturbed && size <= 1024 ? 1.0 : 0.03))
            break;
        auto const left = matrix_of(size, type);
        auto const right = left.t().contiguous();
        auto out = at::empty({size, size}, left.options());
        auto const run = fastest([&] { at::mm_out(out, left, right); }, 0.04);
        best = (std::max)(best, tera(size) / run.seconds);
        disturbed = disturbed || run.disturbed;
    }
    return {best, disturbed ? disturbed_note : ""};
}

/// What a process measures once, however many libraries it is made of.
template<class Peak>
struct [[gnu::visibility("default")]] cpu_compute_cache {
    using key = std::tuple<at::ScalarType, int, int>;  ///< threads, and settings for fp32
    inline static std::mutex mutex;  ///< held while measuring: two at once would disturb each other
    inline static std::map<key, Peak> peaks;
};

}  // namespace detail

/// TFLOP/s of matrix products on the CPU with the threads and the fp32 settings of this moment;
/// measured the first time (about 0.1 s, longer on a busy machine), the same number afterwards.
template<class Peak = measured_peak>
[[nodiscard]] Peak cpu_tflops(number_format format) {
    auto const type = detail::type_of(format);
    if (!type)
        return {std::nullopt, std::string{name_of(format)} + " is not measured on a CPU"};
    using cache = detail::cpu_compute_cache<Peak>;
    auto const setting = *type == at::kFloat ? detail::cpu_precision(at::globalContext()) : 0;
    std::lock_guard<std::mutex> const lock{cache::mutex};
    auto const [place, is_new] =
        cache::peaks.try_emplace(typename cache::key{*type, at::get_num_threads(), setting});
    if (is_new) {
        try {
            place->second = detail::measured_tflops<Peak>(*type);
        } catch (std::exception const& reason) {
            place->second.note = "a product of matrices failed: " + std::string{reason.what()};
        }
    }
    return place->second;
}

}  // namespace component_benchmark
