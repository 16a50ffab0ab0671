// Peaks with LibTorch: what TF32's settings mean, and what the CPU is measured to do.
#include "support/catch2.hpp"
#include "support/environment_variable.hpp"
#include <component_benchmark/device/peaks_of.hpp>
#include <component_benchmark/device/tf32.hpp>

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace cb = component_benchmark;
using Catch::Matchers::ContainsSubstring;
using cb::number_format;
using cb::peak_source;
using cb::unit_use;

namespace {

/// The settings of TF32 are those of the process; afterwards they are as LibTorch starts.
struct settings {
    settings() { as_at_the_start(); }
    settings(settings const&) = delete;
    settings& operator=(settings const&) = delete;
    ~settings() { as_at_the_start(); }

    static void as_at_the_start() {
        auto& context = at::globalContext();
        context.setAllowTF32CuDNN(true);
        context.setAllowTF32CuBLAS(false);
        context.setFloat32MatmulPrecision("highest");
    }
};

/// In what fp32 tensors are multiplied on CUDA, as "matmul convolution rnn".
std::string fp32_on_cuda() {
    std::string result;
    for (auto const use : {unit_use::matmul, unit_use::convolution, unit_use::rnn})
        result.append(result.empty() ? "" : " ")
            .append(cb::name_of(*cb::dispatched_format(at::kFloat, at::kCUDA, use)));
    return result;
}

/// LibTorch 2.9's context, which asks by texts; its old getters throw once both ways were used.
struct context_of_2_9 {
    std::string matmul = "ieee", convolution = "tf32", rnn = "ieee";
    [[nodiscard]] std::string float32Precision(std::string const& backend,
                                               std::string const& op) const {
        if (backend == "mkldnn")
            return matmul;
        return backend != "cuda" ? "none"
               : op == "matmul"  ? matmul
               : op == "conv"    ? convolution
                                 : rnn;
    }
    [[nodiscard]] bool allowTF32CuBLAS() const { throw std::runtime_error{"mixed"}; }
    [[nodiscard]] bool allowTF32CuDNN() const { throw std::runtime_error{"mixed"}; }
};

/// LibTorch 2.6's to 2.8's.
struct context_of_2_8 {
    bool matmul = false, convolution = true;
    [[nodiscard]] bool allowTF32CuBLAS() const { return matmul; }
    [[nodiscard]] bool allowTF32CuDNN() const { return convolution; }
    [[nodiscard]] at::Float32MatmulPrecision float32MatmulPrecision() const {
        return at::Float32MatmulPrecision::MEDIUM;
    }
};

cb::device_peaks cpu_peaks(std::vector<number_format> formats, bool bandwidth = false) {
    return cb::peaks_of("cpu", {std::move(formats), bandwidth});
}

}  // namespace

TEST_CASE("fp32 on CUDA is TF32 where cuBLAS's or cuDNN's setting says so", "[peaks]") {
    settings const kept;
    auto& context = at::globalContext();
    CHECK(fp32_on_cuda() == "fp32 tf32 tf32");  // LibTorch's defaults
    context.setAllowTF32CuBLAS(true);
    CHECK(fp32_on_cuda() == "tf32 tf32 tf32");
    context.setAllowTF32CuDNN(false);
    CHECK(fp32_on_cuda() == "tf32 fp32 fp32");
    context.setAllowTF32CuBLAS(false);
    CHECK(fp32_on_cuda() == "fp32 fp32 fp32");
    context.setFloat32MatmulPrecision("high");
    CHECK(fp32_on_cuda() == "tf32 fp32 fp32");
    context.setFloat32MatmulPrecision("highest");
    CHECK(fp32_on_cuda() == "fp32 fp32 fp32");
}

TEST_CASE("TF32's old and new settings may be mixed", "[peaks]") {
    // A generic lambda: a LibTorch without the new settings has nothing to mix.
    auto const mix = [](auto& context) {
        using context_type = std::remove_reference_t<decltype(context)>;
        if constexpr (cb::detail::says_precision<context_type>) {
            using getter = cb::detail::precision_getter<decltype(&context_type::float32Precision)>;
            if constexpr (std::is_enum_v<typename getter::backend>) {
                constexpr auto cuda = getter::backend::CUDA;
                using op = typename getter::op;
                using precision = typename getter::result;
                context.setAllowTF32CuBLAS(false);
                context.setFloat32Precision(cuda, op::MATMUL, precision::TF32);
                CHECK_THROWS(context.allowTF32CuBLAS());
                CHECK(fp32_on_cuda() == "tf32 tf32 tf32");
                context.setAllowTF32CuBLAS(true);
                context.setFloat32Precision(cuda, op::MATMUL, precision::IEEE);
                CHECK_THROWS(context.allowTF32CuBLAS());
                CHECK(fp32_on_cuda() == "fp32 tf32 tf32");
                context.setFloat32Precision(cuda, op::RNN, precision::IEEE);
                CHECK_THROWS(context.allowTF32CuDNN());
                CHECK(fp32_on_cuda() == "fp32 tf32 fp32");
                context.setFloat32Precision(cuda, op::CONV, precision::IEEE);
                context.setFloat32Precision(cuda, op::RNN, precision::TF32);
                CHECK(fp32_on_cuda() == "fp32 fp32 tf32");
                // An operator without a setting of its own has its backend's.
                context.setFloat32Precision(cuda, op::MATMUL, precision::NONE);
                context.setFloat32Precision(cuda, op::ALL, precision::TF32);
                CHECK(fp32_on_cuda() == "tf32 fp32 tf32");
                context.setFloat32Precision(cuda, op::ALL, precision::NONE);
            }
        }
    };
    settings const kept;
    mix(at::globalContext());
}

TEST_CASE("older LibTorchs are asked as they can be", "[peaks]") {
    using cb::detail::multiplies_in_tf32;
    context_of_2_9 strings;
    CHECK_FALSE(multiplies_in_tf32(strings, unit_use::matmul));
    CHECK(multiplies_in_tf32(strings, unit_use::convolution));
    CHECK_FALSE(multiplies_in_tf32(strings, unit_use::rnn));
    strings.matmul = strings.rnn = "tf32";
    strings.convolution = "none";
    CHECK(multiplies_in_tf32(strings, unit_use::matmul));
    CHECK_FALSE(multiplies_in_tf32(strings, unit_use::convolution));
    CHECK(multiplies_in_tf32(strings, unit_use::rnn));
    auto const tf32 = cb::detail::cpu_precision(strings);
    strings.matmul = "bf16";
    CHECK(cb::detail::cpu_precision(strings) != tf32);

    context_of_2_8 getters;
    CHECK_FALSE(multiplies_in_tf32(getters, unit_use::matmul));
    CHECK(multiplies_in_tf32(getters, unit_use::convolution));
    CHECK(multiplies_in_tf32(getters, unit_use::rnn));
    getters = {true, false};
    CHECK(multiplies_in_tf32(getters, unit_use::matmul));
    CHECK_FALSE(multiplies_in_tf32(getters, unit_use::rnn));
    CHECK(cb::detail::cpu_precision(getters) ==
          static_cast<int>(at::Float32MatmulPrecision::MEDIUM));
}

TEST_CASE("the other types have their own units on every device", "[peaks]") {
    settings const kept;
    at::globalContext().setAllowTF32CuBLAS(true);
    auto const on = [](at::ScalarType type, c10::DeviceType device) {
        auto const format = cb::dispatched_format(type, device, unit_use::matmul);
        return format ? std::string{cb::name_of(*format)} : "none";
    };
    CHECK(on(at::kFloat, at::kCPU) == "fp32");
    CHECK(on(at::kFloat, at::kXPU) == "fp32");
    CHECK(on(at::kComplexFloat, at::kCUDA) == "tf32");
    for (auto const device : {at::kCPU, at::kCUDA}) {
        CHECK(on(at::kDouble, device) == "fp64");
        CHECK(on(at::kComplexDouble, device) == "fp64");
        CHECK(on(at::kBFloat16, device) == "bf16");
        CHECK(on(at::kHalf, device) == "fp16");
        CHECK(on(at::kFloat8_e4m3fn, device) == "fp8");
        CHECK(on(at::kFloat8_e5m2, device) == "fp8");
        CHECK(on(at::kChar, device) == "int8");
        CHECK(on(at::kQUInt8, device) == "int8");
        CHECK(on(at::kLong, device) == "none");
        CHECK(on(at::kBool, device) == "none");
    }
}

TEST_CASE("the CPU's peaks are measured once, and the note says the threads", "[peaks]") {
    auto const first = cpu_peaks({number_format::fp32, number_format::tf32});
    CHECK(first.kind == "cpu");
    REQUIRE(first.of(number_format::fp32));
    CHECK(first.of(number_format::fp32)->source == peak_source::measured);
    // One core makes 10 GFLOP/s on anything built this century, and no machine makes 10 PFLOP/s.
    CHECK(first.of(number_format::fp32)->tflops > 0.0005);
    CHECK(first.of(number_format::fp32)->tflops < 10000.0);
    CHECK_FALSE(first.of(number_format::fp64));  // nobody asked
    CHECK_FALSE(first.bandwidth);
    auto const threads = at::get_num_threads();
    CHECK_THAT(first.note, ContainsSubstring("measured with " + std::to_string(threads) +
                                             (threads == 1 ? " thread" : " threads")));
    auto const second = cpu_peaks({number_format::fp32});
    CHECK(second.of(number_format::fp32)->tflops == first.of(number_format::fp32)->tflops);

    at::set_num_threads(threads + 1);
    auto const other = cpu_peaks({number_format::fp32});
    at::set_num_threads(threads);
    CHECK(other.of(number_format::fp32)->tflops != first.of(number_format::fp32)->tflops);
    CHECK_THAT(other.note,
               ContainsSubstring("measured with " + std::to_string(threads + 1) + " threads"));
    CHECK(at::get_num_threads() == threads);
}

TEST_CASE("a measured peak is that of a product of matrices, whatever the format", "[peaks]") {
    // Not far below what a plain product shows, however busy the machine was while it was measured.
    auto const peaks = cpu_peaks({number_format::fp64, number_format::bf16, number_format::fp16});
    for (auto const& [format, type] : {std::pair{number_format::fp64, at::kDouble},
                                       {number_format::bf16, at::kBFloat16},
                                       {number_format::fp16, at::kHalf}}) {
        CAPTURE(std::string{cb::name_of(format)});
        REQUIRE(peaks.of(format));
        auto const left = torch::ones({512, 512}, type);
        auto const run = cb::detail::fastest([&] { static_cast<void>(at::mm(left, left)); }, 0.01);
        CHECK(peaks.of(format)->tflops > 0.2 * 2.0 * 512.0 * 512.0 * 512.0 / run.seconds / 1e12);
    }
}

TEST_CASE("what a CPU cannot be measured for is absent and said", "[peaks]") {
    auto const peaks = cpu_peaks({number_format::fp8});
    CHECK_FALSE(peaks.of(number_format::fp8));
    CHECK_THAT(peaks.note, ContainsSubstring("fp8 is not measured on a CPU"));
    CHECK_THAT(peaks.note,
               ContainsSubstring("give it by options::peaks or COMPONENT_BENCHMARK_PEAK_TFLOPS"));
}

TEST_CASE("the CPU's bandwidth is measured once", "[peaks]") {
    auto const first = cpu_peaks({}, true);
    REQUIRE(first.bandwidth);
    CHECK(first.bandwidth->source == peak_source::measured);
    CHECK(first.bandwidth->gbps > 0.05);
    CHECK(first.bandwidth->gbps < 20000.0);
    CHECK(cpu_peaks({}, true).bandwidth->gbps == first.bandwidth->gbps);
}

TEST_CASE("arrays are as long as caches ask for and memory allows", "[peaks]") {
    using cb::detail::mebibyte;
    using cb::detail::note_on_arrays;
    using cb::detail::size_of_arrays;
    auto const much = 1'000'000 * mebibyte;
    CHECK(size_of_arrays(32 * mebibyte, much) == 128 * mebibyte);
    CHECK(size_of_arrays(2 * mebibyte, much) == 64 * mebibyte);
    CHECK(size_of_arrays(480 * mebibyte, much) == 512 * mebibyte);
    CHECK(size_of_arrays(32 * mebibyte, 1200 * mebibyte) == 100 * mebibyte);
    CHECK(size_of_arrays(32 * mebibyte, 90 * mebibyte) == 0);
    CHECK(note_on_arrays(128 * mebibyte, 32 * mebibyte).empty());
    CHECK(note_on_arrays(100 * mebibyte, 32 * mebibyte) ==
          "the bandwidth may be that of caches in part: its arrays have 100 MiB, the last-level "
          "cache has 32 MiB");
    auto const none = cb::detail::measured_gbps(32 * mebibyte, 0);
    CHECK_FALSE(none.value);
    CHECK(none.note == "bandwidth is not measured: there is no memory to spare for it");
}

TEST_CASE("copies and triads really move what they count", "[peaks]") {
    using cb::detail::mebibyte;
    cb::detail::shared_out arrays{8 * mebibyte, 2};
    REQUIRE(arrays);
    arrays.touch(10.0);
    CHECK(arrays.bytes() == 8 * mebibyte);
    auto const numbers = [&](int array) {
        return at::from_blob(arrays.start(array), {2 * mebibyte}, at::kFloat);
    };
    numbers(1).fill_(2.0F);
    numbers(2).fill_(0.5F);
    arrays.copy();
    CHECK(numbers(0).eq(2.0F).all().item<bool>());
    arrays.triad();
    CHECK(numbers(0).eq(3.5F).all().item<bool>());
}

TEST_CASE("a program does not notice that its CPU is measured", "[peaks]") {
    torch::manual_seed(7);
    auto const expected = torch::rand({4});
    torch::manual_seed(7);
    at::set_num_threads(at::get_num_threads());
    auto const threads = at::get_num_threads();

    std::int64_t seen = 0;
    static thread_local std::int64_t* counter = nullptr;
    counter = &seen;
    auto const handle = at::addThreadLocalCallback(at::RecordFunctionCallback(
        [](at::RecordFunction const&) -> std::unique_ptr<at::ObserverContext> {
            ++*counter;
            return nullptr;
        }));
    at::autocast::set_autocast_enabled(at::kCPU, true);
    auto const precision = cb::detail::cpu_precision(at::globalContext());
    auto const seen_before = seen;
    auto const tflops = cb::detail::measured_tflops(at::kFloat);
    auto const gbps = cb::detail::measured_gbps(1, 400 * cb::detail::mebibyte);
    CHECK(seen == seen_before);
    CHECK(at::autocast::is_autocast_enabled(at::kCPU));
    auto const left = torch::ones({2, 2}, torch::requires_grad());
    auto const product = at::mm(left, left);
    at::autocast::set_autocast_enabled(at::kCPU, false);
    at::removeCallback(handle);

    CHECK(tflops.value.value_or(0.0) > 0.0);
    CHECK(gbps.value.value_or(0.0) > 0.0);
    CHECK(seen > seen_before);  // the callback does see operators
    CHECK(product.scalar_type() == at::kBFloat16);
    CHECK(product.requires_grad());
    CHECK(at::GradMode::is_enabled());
    CHECK_FALSE(c10::InferenceMode::is_enabled());
    CHECK(at::get_num_threads() == threads);
    CHECK(cb::detail::cpu_precision(at::globalContext()) == precision);
    CHECK(torch::equal(torch::rand({4}), expected));
}

TEST_CASE("threads that ask at once get one measurement", "[peaks]") {
    std::array<std::optional<double>, 4> answers;
    std::vector<std::thread> threads;
    for (auto& answer : answers)
        threads.emplace_back([&answer] {
            at::set_num_threads(1);
            answer = cb::cpu_tflops(number_format::fp64).value;
        });
    for (auto& thread : threads)
        thread.join();
    REQUIRE(answers[0]);
    for (auto const& answer : answers)
        CHECK(answer == answers[0]);
}

TEST_CASE("what the user gives for the CPU is not measured", "[peaks]") {
    cb::test::environment_variable const compute{cb::peaks::tflops_variable, "fp8=3,int8=4"};
    cb::test::environment_variable const bandwidth{cb::peaks::gbps_variable, nullptr};
    auto& measured = cb::detail::cpu_compute_cache<cb::measured_peak>::peaks;
    auto& moved = cb::detail::cpu_bandwidth_cache<cb::measured_peak>::peaks;
    measured.clear();
    moved.clear();
    auto const peaks = cb::peaks_of(
        "cpu",
        {{number_format::fp32, number_format::tf32, number_format::fp8, number_format::int8}},
        {.tflops = {{"fp32", 1.5}, {"fp8", 2}}, .bandwidth_gbps = 50});
    CHECK(measured.empty());
    CHECK(moved.empty());
    CHECK(peaks.of(number_format::fp32)->tflops == 1.5);
    CHECK(peaks.of(number_format::fp32)->source == peak_source::user);
    CHECK(peaks.of(number_format::tf32)->tflops == 1.5);
    CHECK(peaks.of(number_format::fp8)->tflops == 2.0);
    CHECK(peaks.of(number_format::int8)->tflops == 4.0);
    CHECK(peaks.bandwidth->gbps == 50.0);
    CHECK(peaks.note.empty());
}

TEST_CASE("wrong peaks are refused by name wherever they are from", "[peaks]") {
    CHECK_THROWS_WITH(cb::peaks_of("cpu", {{}, false}, {.tflops = {{"bf16", -3}}}),
                      "component_benchmark: the peak of bf16 must be a positive number of TFLOP/s; "
                      "it is -3");
    cb::test::environment_variable const compute{cb::peaks::tflops_variable, "bf16"};
    CHECK_THROWS_AS(cb::peaks_of("cpu", {{}, false}), cb::error);
}

TEST_CASE("a device that nobody knows has only the user's peaks", "[peaks]") {
    auto const peaks = cb::peaks_of("xpu:3", {{number_format::bf16, number_format::fp32}},
                                    {.tflops = {{"bf16", 400}}});
    CHECK(peaks.kind == "xpu");
    CHECK(peaks.of(number_format::bf16)->tflops == 400.0);
    CHECK_FALSE(peaks.of(number_format::fp32));
    CHECK_FALSE(peaks.bandwidth);
    CHECK_THAT(peaks.note, ContainsSubstring("no peak of fp32 is known for 'xpu'"));
}
