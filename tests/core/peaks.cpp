// Peaks: what a device knows, what a user says instead, and every wrong way to say it.
#include "support/catch2.hpp"
#include "support/environment_variable.hpp"
#include <component_benchmark/core/options.hpp>
#include <component_benchmark/core/peak_overrides.hpp>
#include <component_benchmark/core/peaks.hpp>

#include <clocale>
#include <cstddef>
#include <limits>
#include <locale>
#include <string>
#include <utility>
#include <vector>

namespace cb = component_benchmark;
using cb::number_format;
using cb::peak_source;
using cb::test::environment_variable;

static_assert(cb::name_of(number_format::fp64) == "fp64");
static_assert(cb::name_of(number_format::int8) == "int8");
static_assert(cb::name_of(peak_source::derived) == "derived");
static_assert(cb::peaks::format_named("tf32") == static_cast<std::size_t>(number_format::tf32));
static_assert(cb::peaks::format_named("TF32") == cb::number_formats);

namespace {

constexpr auto tflops = cb::peaks::tflops_variable;
constexpr auto gbps = cb::peaks::gbps_variable;

/// What is said of these peaks.
std::string sentence_for(cb::peak_overrides const& overrides) {
    try {
        cb::peaks::check(overrides);
    } catch (cb::error const& problem) {
        return problem.what();
    }
    return {};
}

/// What is said of that value of a variable.
std::string sentence_for(char const* name, char const* value) {
    environment_variable const variable{name, value};
    try {
        static_cast<void>(cb::peaks::from_environment());
    } catch (cb::error const& problem) {
        return problem.what();
    }
    return {};
}

struct decimal_comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
};

}  // namespace

TEST_CASE("a device without TF32 units has its FP32 peak there, and no other stand-in", "[peaks]") {
    cb::device_peaks device;
    CHECK_FALSE(device.of(number_format::tf32));
    device.set(number_format::fp32, {14.0, peak_source::datasheet});
    device.set(number_format::fp16, {112.0, peak_source::datasheet});
    CHECK(device.of(number_format::tf32)->tflops == 14.0);
    CHECK_FALSE(device.of(number_format::bf16));
    CHECK_FALSE(device.of(number_format::fp64));
    device.set(number_format::tf32, {60.0, peak_source::derived});
    CHECK(device.of(number_format::tf32)->tflops == 60.0);
    CHECK(device.of(number_format::tf32)->source == peak_source::derived);
    CHECK(device.of(number_format::fp32)->tflops == 14.0);
}

TEST_CASE("a remark stands in the note once", "[peaks]") {
    cb::device_peaks device;
    device.remark("");
    CHECK(device.note.empty());
    device.remark("one");
    device.remark("two");
    device.remark("one");
    CHECK(device.note == "one; two");
}

TEST_CASE("options take peaks as numbers of any kind", "[peaks]") {
    cb::options const wishes{
        .peaks = {.tflops = {{"bf16", 989.4}, {"fp32", 67}}, .bandwidth_gbps = 3350}};
    CHECK(wishes.peaks.tflops[1] == std::pair<std::string, double>{"fp32", 67.0});
    CHECK(wishes.peaks.bandwidth_gbps == 3350.0);
    CHECK(sentence_for(wishes.peaks).empty());
    CHECK_FALSE(cb::options{}.peaks.bandwidth_gbps);
}

TEST_CASE("a peak that is zero, negative or no number is refused by its name", "[peaks]") {
    auto const bf16 = [](double value) { return sentence_for({.tflops = {{"bf16", value}}}); };
    std::string const begins =
        "component_benchmark: the peak of bf16 must be a positive number of TFLOP/s; it is ";
    CHECK(bf16(0.0) == begins + "0");
    CHECK(bf16(-3.0) == begins + "-3");
    CHECK(bf16(std::numeric_limits<double>::quiet_NaN()) == begins + "nan");
    CHECK(bf16(std::numeric_limits<double>::infinity()) == begins + "inf");
    CHECK(bf16(1e-300).empty());
    CHECK(sentence_for({.tflops = {}, .bandwidth_gbps = -0.5}) ==
          "component_benchmark: the peak of the bandwidth must be a positive number of GB/s; it is "
          "-0.5");
}

TEST_CASE("a peak of an unknown format is refused with the known ones, one given twice too",
          "[peaks]") {
    CHECK(sentence_for({.tflops = {{"fp32", 67}, {"bfloat16", 989.4}}}) ==
          "component_benchmark: a peak is given for 'bfloat16', which is none of fp64, fp32, tf32, "
          "bf16, fp16, fp8, fp4, int8");
    CHECK(sentence_for({.tflops = {{"fp32", 67}, {"bf16", 1}, {"fp32", 60}}}) ==
          "component_benchmark: the peak of fp32 is given twice; give it once");
}

TEST_CASE("the environment gives peaks", "[peaks]") {
    environment_variable const compute{tflops, " bf16=989.4, fp32 = 67,fp4=1e4 "};
    environment_variable const bandwidth{gbps, " 3350.5 "};
    auto const found = cb::peaks::from_environment();
    CHECK(found.tflops == std::vector<std::pair<std::string, double>>{
                              {"bf16", 989.4}, {"fp32", 67.0}, {"fp4", 1e4}});
    CHECK(found.bandwidth_gbps == 3350.5);
}

TEST_CASE("an environment that says nothing gives nothing", "[peaks]") {
    for (char const* const nothing : {static_cast<char const*>(nullptr), "", "  "}) {
        environment_variable const compute{tflops, nothing};
        environment_variable const bandwidth{gbps, nothing};
        auto const found = cb::peaks::from_environment();
        CHECK(found.tflops.empty());
        CHECK_FALSE(found.bandwidth_gbps);
    }
}

TEST_CASE("every wrong text in the environment gets a sentence", "[peaks]") {
    environment_variable const no_compute{tflops, nullptr};
    environment_variable const no_bandwidth{gbps, nullptr};
    auto const ends = [](std::string const& value) {
        return ", in the environment variable COMPONENT_BENCHMARK_PEAK_TFLOPS, which is '" + value +
               "'";
    };
    auto const piece = [&](std::string const& wrong, std::string const& value) {
        return "component_benchmark: '" + wrong +
               "' is not FORMAT=NUMBER, as in bf16=989.4,fp32=67 with decimal points" + ends(value);
    };
    for (std::string const wrong : {"bf16", "bf16=", "bf16=fast", "bf16=1.5x", "bf16=+5", "=", "5"})
        CHECK(sentence_for(tflops, wrong.c_str()) == piece(wrong, wrong));
    CHECK(sentence_for(tflops, "bf16=989,4") == piece("4", "bf16=989,4"));
    CHECK(sentence_for(tflops, "bf16=989,") == piece("", "bf16=989,"));
    CHECK(sentence_for(tflops, ",bf16=989") == piece("", ",bf16=989"));
    CHECK(sentence_for(tflops, "fp32=67; bf16=989") ==
          piece("fp32=67; bf16=989", "fp32=67; bf16=989"));
    CHECK(sentence_for(tflops, "fp32=67,bf16=-3") ==
          "component_benchmark: the peak of bf16 must be a positive number of TFLOP/s; it is -3" +
              ends("fp32=67,bf16=-3"));
    CHECK(sentence_for(tflops, "bf16=nan") ==
          "component_benchmark: the peak of bf16 must be a positive number of TFLOP/s; it is nan" +
              ends("bf16=nan"));
    CHECK(sentence_for(tflops, "float=1") ==
          "component_benchmark: a peak is given for 'float', which is none of fp64, fp32, tf32, "
          "bf16, fp16, fp8, fp4, int8" +
              ends("float=1"));
    CHECK(sentence_for(tflops, "fp8=1,fp8=2") ==
          "component_benchmark: the peak of fp8 is given twice; give it once" +
              ends("fp8=1,fp8=2"));
    for (std::string const wrong : {"fast", "3350 GB/s", "3350,5", "bf16=3"})
        CHECK(sentence_for(gbps, wrong.c_str()) ==
              "component_benchmark: the environment variable COMPONENT_BENCHMARK_PEAK_GBPS is '" +
                  wrong + "', which is not a number of GB/s with a decimal point, as in 3350");
    CHECK(sentence_for(gbps, "0") ==
          "component_benchmark: the peak of the bandwidth must be a positive number of GB/s; it is "
          "0, in the environment variable COMPONENT_BENCHMARK_PEAK_GBPS, which is '0'");
}

TEST_CASE("peaks in the environment have decimal points in every locale", "[peaks]") {
    environment_variable const compute{tflops, "bf16=989.4"};
    environment_variable const bandwidth{gbps, "3350.25"};
    auto const before = std::locale::global(std::locale{std::locale::classic(), new decimal_comma});
    std::string const c_locale = std::setlocale(LC_ALL, nullptr);
    for (char const* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"})
        if (std::setlocale(LC_ALL, name) != nullptr)
            break;
    auto const found = cb::peaks::from_environment();
    auto const sentence = sentence_for({.tflops = {{"fp8", -0.5}}});
    std::setlocale(LC_ALL, c_locale.c_str());
    std::locale::global(before);
    CHECK(found.tflops[0].second == 989.4);
    CHECK(found.bandwidth_gbps == 3350.25);
    CHECK(sentence.substr(sentence.size() - 4) == "-0.5");
}
