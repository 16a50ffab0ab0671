// Accelerators: figures by name, figures by units and clocks, and drivers that say what they like.
#include "support/catch2.hpp"
#include <component_benchmark/device/accelerator.hpp>
#include <component_benchmark/device/datasheet.hpp>
#include <component_benchmark/device/derived.hpp>
#include <component_benchmark/device/known_peaks.hpp>

#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cb = component_benchmark;
using Catch::Matchers::ContainsSubstring;
using cb::number_format;
using cb::peak_source;

static_assert(cb::datasheet::find("NVIDIA H200")->bf16 == 989.4);
static_assert(cb::datasheet::find("NVIDIA A100-SXM4-80GB")->gbps == 2039);
static_assert(cb::datasheet::find("A100-SXM4-80GB")->gbps == 2039);  // before the vendor's name
static_assert(cb::datasheet::find(" NVIDIA H200") == nullptr);

namespace {

/// A driver of devices that a test describes.
struct fake {
    struct device {
        std::string name;
        std::map<int, int> attributes = {};
    };
    inline static std::vector<device> devices;
    inline static int init_says = 0;

    static int init(unsigned) { return init_says; }
    static int device_at(int* handle, int index) {
        if (index < 0 || index >= static_cast<int>(devices.size()))
            return 101;
        *handle = index + 1000;  // a handle is not an index
        return 0;
    }
    static int name(char* text, int length, int handle) {
        std::strncpy(text, at(handle).name.c_str(), static_cast<std::size_t>(length));
        return 0;
    }
    static int attribute(int* value, int number, int handle) {
        auto const found = at(handle).attributes.find(number);
        if (found == at(handle).attributes.end())
            return 1;
        *value = found->second;
        return 0;
    }
    static device const& at(int handle) { return devices[static_cast<std::size_t>(handle - 1000)]; }

    static cb::accelerator_driver driver() { return {init, device_at, name, attribute}; }
};

cb::device_peaks peaks_of(std::string const& name, std::map<int, int> attributes = {}) {
    fake::devices = {{name, std::move(attributes)}};
    fake::init_says = 0;
    return cb::peaks::of_accelerator({"cuda", 0}, {fake::driver()});
}

/// Attributes of a device as the driver numbers them.
std::map<int, int> h100(int clock_khz) {
    return {{75, 9}, {76, 0}, {16, 132}, {13, clock_khz}, {36, 2'619'000}, {37, 5120}};
}

cb::device_peaks derived(std::string name, int major, int minor, int units, int mhz,
                         double memory_mhz, int bits) {
    cb::device_peaks device;
    cb::derived::apply(device, {.name = std::move(name),
                                .major = major,
                                .minor = minor,
                                .multiprocessors = units,
                                .clock_khz = mhz * 1000,
                                .memory_clock_khz = static_cast<std::int64_t>(memory_mhz * 1e3),
                                .memory_bus_bits = bits});
    return device;
}

}  // namespace

TEST_CASE("a neighbour's name does not get a device's figures", "[peaks]") {
    for (std::string const name : {"NVIDIA H20",
                                   "NVIDIA H200 NVL",
                                   "NVIDIA H800",
                                   "NVIDIA H100",
                                   "NVIDIA GH200 480GB",
                                   "NVIDIA GB300",
                                   "NVIDIA B300",
                                   "NVIDIA L40",
                                   "NVIDIA L4 Laptop",
                                   "NVIDIA L2",
                                   "NVIDIA A10G",
                                   "NVIDIA A100X",
                                   "NVIDIA A1000",
                                   "NVIDIA A30",
                                   "NVIDIA GeForce RTX 4090 D",
                                   "NVIDIA GeForce RTX 4090 Laptop GPU",
                                   "NVIDIA GeForce RTX 3090 Ti",
                                   "NVIDIA GeForce RTX 5090 D",
                                   "GeForce RTX",
                                   "NVIDIA",
                                   "",
                                   "Tesla V100S-PCIE-32GB",
                                   "Tesla V100-SXM3-32GB",
                                   "NVIDIA T4G",
                                   "AMD Instinct MI300A",
                                   "AMD Instinct MI250X / MI250",
                                   "AMD Instinct MI325X",
                                   "PCIe H100",
                                   "NVIDIA H100 80GB HBM3 MIG 1g.10gb",
                                   "NVIDIA A10-24Q",
                                   "my NVIDIA H200"})
        CHECK((cb::datasheet::find(name) == nullptr ? name : "") == name);
}

TEST_CASE("figures of the datasheet are dense and of the right device", "[peaks]") {
    auto const sxm = peaks_of("NVIDIA H100 80GB HBM3", h100(1'980'000));
    CHECK(sxm.name == "NVIDIA H100 80GB HBM3");
    CHECK(sxm.kind == "cuda");
    CHECK(sxm.of(number_format::bf16)->tflops == 989.4);  // 1979 is with sparsity
    CHECK(sxm.of(number_format::bf16)->source == peak_source::datasheet);
    CHECK(sxm.of(number_format::fp8)->tflops == 1979);
    CHECK(sxm.of(number_format::tf32)->tflops == 494.7);
    CHECK(sxm.of(number_format::fp32)->tflops == 67);
    CHECK(sxm.bandwidth->gbps == 3350);
    CHECK(sxm.note.empty());
    CHECK(peaks_of("NVIDIA H100 PCIe").of(number_format::bf16)->tflops == 756);
    CHECK(peaks_of("NVIDIA H100 NVL").of(number_format::bf16)->tflops == 835.5);
    CHECK(peaks_of("NVIDIA H200").bandwidth->gbps == 4800);
    CHECK(peaks_of("NVIDIA A100-SXM4-40GB").bandwidth->gbps == 1555);
    CHECK(peaks_of("NVIDIA A10").of(number_format::bf16)->tflops == 125);
    CHECK(peaks_of("NVIDIA L4").of(number_format::bf16)->tflops == 121);
    CHECK(peaks_of("NVIDIA GeForce RTX 4090").of(number_format::fp16)->tflops == 165.2);
    CHECK(peaks_of("AMD Instinct MI250X").of(number_format::bf16)->tflops == 191.5);

    auto const volta = peaks_of("Tesla V100-SXM2-16GB");
    CHECK(volta.of(number_format::fp16)->tflops == 125);
    CHECK(volta.of(number_format::tf32)->tflops == 15.7);  // it has none: what runs is FP32
    CHECK_FALSE(volta.of(number_format::bf16));
    CHECK_FALSE(volta.of(number_format::fp8));
}

TEST_CASE("every row of the table is found by its name and has sensible columns", "[peaks]") {
    for (auto const& one : cb::datasheet::table) {
        CAPTURE(std::string{one.name});
        CHECK(cb::datasheet::find(one.name) == &one);
        CHECK(one.fp64 > 0.0);
        CHECK(one.fp32 > 0.0);
        CHECK(one.gbps > 0.0);
        CHECK(one.tf32 <= one.fp16 * 0.51);
        CHECK((one.bf16 == 0.0 || one.bf16 == one.fp16));
        CHECK((one.fp8 == 0.0 || one.fp8 == Approx(2.0 * one.fp16).epsilon(0.02)));
        CHECK((one.source >= 'a' && one.source <= 'o'));
    }
}

TEST_CASE("the page of the docs has the table of the header", "[peaks]") {
    std::ifstream file{COMPONENT_BENCHMARK_TEST_DATA "/../docs/peaks.md"};
    std::string const page{std::istreambuf_iterator<char>{file}, {}};
    REQUIRE_FALSE(page.empty());
    std::size_t rows = 0;
    for (auto const& one : cb::datasheet::table) {
        auto row = "| " + std::string{one.name} + " |";
        for (double const cell :
             {one.fp64, one.fp32, one.tf32, one.bf16, one.fp16, one.fp8, one.fp4, one.gbps})
            row += cell == 0.0 ? " \u2013 |" : " " + cb::detail::digits_of(cell) + " |";
        CHECK_THAT(page, ContainsSubstring(row + "\n"));
    }
    for (std::size_t at = page.find("| fp64 |");
         (at = page.find("\n| ", at + 1)) != std::string::npos;)
        ++rows;
    CHECK(rows == cb::datasheet::table.size() + 1);  // and the line below the heads
}

TEST_CASE("units and clocks give the figures of the datasheets, and are marked", "[peaks]") {
    // What drivers say of these devices: units, clock of the matrix units and of the others,
    // memory.
    struct known {
        std::string_view name;
        int major, minor, units, matrix_mhz, mhz;
        double memory_mhz;
        int bits;
    };
    known const devices[] = {
        {"Tesla V100-SXM2-16GB", 7, 0, 80, 1530, 1530, 877, 4096},
        {"Tesla V100-PCIE-16GB", 7, 0, 80, 1380, 1380, 877, 4096},
        {"Tesla T4", 7, 5, 40, 1590, 1590, 5001, 256},
        {"A10", 8, 6, 72, 1695, 1695, 6251, 384},
        {"A100-SXM4-40GB", 8, 0, 108, 1410, 1410, 1215, 5120},
        {"A100 80GB PCIe", 8, 0, 108, 1410, 1410, 1512, 5120},
        {"A100-SXM4-80GB", 8, 0, 108, 1410, 1410, 1593, 5120},
        {"L4", 8, 9, 58, 2040, 2040, 6251, 192},
        {"L40S", 8, 9, 142, 2520, 2520, 9001, 384},
        {"H100 PCIe", 9, 0, 114, 1620, 1755, 0, 0},
        {"H100 80GB HBM3", 9, 0, 132, 1830, 1980, 2619, 5120},
        {"H200", 9, 0, 132, 1830, 1980, 3201, 6144},
        {"GeForce RTX 3090", 8, 6, 82, 1695, 1695, 9751, 384},
        {"GeForce RTX 4090", 8, 9, 128, 2520, 2520, 10501, 384},
        {"GeForce RTX 5090", 12, 0, 170, 2407, 2407, 14001, 512},
    };
    for (auto const& one : devices) {
        CAPTURE(std::string{one.name});
        auto const& sheet = *cb::datasheet::find(one.name);
        std::string const name{one.name};
        auto const matrix = derived(name, one.major, one.minor, one.units, one.matrix_mhz,
                                    one.memory_mhz, one.bits);
        auto const other =
            derived(name, one.major, one.minor, one.units, one.mhz, one.memory_mhz, one.bits);
        auto const check = [&](cb::device_peaks const& device, number_format format, double figure,
                               double tolerance = 0.011) {
            CAPTURE(std::string{cb::name_of(format)});
            auto const peak = device.compute[static_cast<std::size_t>(format)];
            REQUIRE(peak.has_value() == (figure > 0.0));
            if (peak) {
                CHECK(peak->tflops == Approx(figure).epsilon(tolerance));
                CHECK(peak->source == peak_source::derived);
            }
        };
        // Figures of two digits are rounded by more than a hundredth (T4, L40S); L4's FP64 is not
        // what its clock gives, nor is L40S's 362.
        check(other, number_format::fp64, sheet.fp64, sheet.fp64 < 2.0 ? 0.035 : 0.011);
        check(other, number_format::fp32, sheet.fp32);
        check(matrix, number_format::tf32, sheet.tf32);
        check(matrix, number_format::bf16, sheet.bf16, one.name == "L40S" ? 0.013 : 0.011);
        check(matrix, number_format::fp16, sheet.fp16, one.name == "L40S" ? 0.013 : 0.011);
        check(matrix, number_format::fp8, sheet.fp8);
        check(matrix, number_format::fp4, sheet.fp4);
        if (one.bits != 0) {
            // H200 is sold with 4800 and runs its memory at what would be 4917.
            CHECK(matrix.bandwidth->gbps ==
                  Approx(sheet.gbps).epsilon(one.name == "H200" ? 0.025 : 0.011));
            CHECK(matrix.bandwidth->source == peak_source::derived);
        }
    }
}

TEST_CASE("a device that is in no datasheet is derived, and only if its kind is known", "[peaks]") {
    auto const a30 = peaks_of(
        "NVIDIA A30", {{75, 8}, {76, 0}, {16, 56}, {13, 1'440'000}, {36, 1'215'000}, {37, 3072}});
    CHECK(a30.of(number_format::bf16)->tflops == Approx(165.15).epsilon(0.001));
    CHECK(a30.of(number_format::bf16)->source == peak_source::derived);
    CHECK(a30.bandwidth->gbps == Approx(933.1).epsilon(0.001));
    CHECK(a30.note.empty());

    for (auto const& [major, minor] : {std::pair{6, 1}, {8, 7}, {10, 3}, {11, 0}, {0, 0}}) {
        auto const unknown = peaks_of(
            "NVIDIA Something",
            {{75, major}, {76, minor}, {16, 100}, {13, 1'000'000}, {36, 1'000'000}, {37, 256}});
        for (auto const& peak : unknown.compute)
            CHECK_FALSE(peak);
        CHECK_FALSE(unknown.bandwidth);
    }

    // No clock, no figure: never a zero.
    auto const silent = peaks_of("NVIDIA A30", {{75, 8}, {76, 0}, {16, 56}});
    CHECK_FALSE(silent.of(number_format::fp32));
    CHECK_FALSE(silent.bandwidth);
}

TEST_CASE("cards for games multiply matrices at half the rate of the same chip", "[peaks]") {
    std::map<int, int> const chip{{75, 8}, {76, 9}, {16, 142}, {13, 2'505'000}};
    auto const professional = peaks_of("NVIDIA RTX 6000 Ada Generation", chip);
    auto const game = peaks_of("NVIDIA GeForce RTX 6000", chip);
    CHECK(professional.of(number_format::bf16)->tflops ==
          Approx(2.0 * game.of(number_format::bf16)->tflops));
    CHECK(professional.of(number_format::fp32)->tflops ==
          Approx(game.of(number_format::fp32)->tflops));
}

TEST_CASE("nothing is derived where the formula is known to be wrong, and the note says so",
          "[peaks]") {
    auto const slowed = peaks_of("NVIDIA H20", h100(1'980'000));
    CHECK_FALSE(slowed.of(number_format::bf16));
    CHECK(slowed.note ==
          "nothing is derived for 'NVIDIA H20': its matrix units are slower than its clocks tell");
    for (std::string const part : {"NVIDIA H100 80GB HBM3 MIG 1g.10gb", "NVIDIA H200 MIG 3g.71gb",
                                   "NVIDIA A40-48Q", "GRID A100-10C"}) {
        auto const found = peaks_of(part, h100(1'980'000));
        CHECK_FALSE(found.of(number_format::bf16));
        CHECK_FALSE(found.bandwidth);
        CHECK(found.note == "nothing is derived for '" + part + "': it is a part of a device");
    }
    CHECK_FALSE(cb::derived::is_part_of_a_device("NVIDIA A100-SXM4-40GB"));
    CHECK_FALSE(cb::derived::is_part_of_a_device("Tesla C"));
    CHECK_FALSE(cb::derived::is_part_of_a_device("Q"));
}

TEST_CASE("a device that nobody knows has no peaks and says how to give them", "[peaks]") {
    auto device = peaks_of("NVIDIA Something");
    cb::wanted_peaks const wanted{{number_format::bf16, number_format::fp32}};
    cb::peaks::say_what_is_missing(device, wanted);
    CHECK(device.note ==
          "no peak is known for 'NVIDIA Something': give it by options::peaks or "
          "COMPONENT_BENCHMARK_PEAK_TFLOPS");

    auto volta = peaks_of("Tesla V100-SXM2-16GB");
    cb::peaks::say_what_is_missing(volta, {{number_format::tf32, number_format::bf16}});
    CHECK(volta.note ==
          "no peak of bf16 is known for 'Tesla V100-SXM2-16GB': give it by options::peaks or "
          "COMPONENT_BENCHMARK_PEAK_TFLOPS");
    auto complete = peaks_of("NVIDIA H200");
    cb::peaks::say_what_is_missing(complete, wanted);
    CHECK(complete.note.empty());
}

TEST_CASE("a driver that fails anywhere is as good as none", "[peaks]") {
    fake::devices = {{"NVIDIA H200", {}}};
    fake::init_says = 0;
    CHECK(cb::facts_of(fake::driver(), 0)->name == "NVIDIA H200");
    CHECK_FALSE(cb::facts_of(fake::driver(), 1));
    CHECK_FALSE(cb::facts_of(cb::accelerator_driver{}, 0));
    fake::init_says = 100;  // CUDA: no device
    CHECK_FALSE(cb::facts_of(fake::driver(), 0));

    auto const none = cb::peaks::of_accelerator({"cuda", 0}, {fake::driver()});
    CHECK(none.name == "cuda");
    CHECK(none.note == "no driver tells which device 'cuda' is");

    fake::init_says = 0;
    auto name_only = fake::driver();
    name_only.attribute = nullptr;
    auto const second = cb::peaks::of_accelerator({"cuda", 0}, {{}, name_only});
    CHECK(second.of(number_format::bf16)->tflops == 989.4);

    // Whatever this machine has, asking is safe.
    static_assert(noexcept(cb::facts_of(cb::accelerator_driver::cuda(), 0)));
    auto const real = cb::facts_of(cb::accelerator_driver::cuda(), 0);
    CHECK((!real || (!real->name.empty() && real->major > 0)));
    CHECK_FALSE(cb::facts_of(cb::accelerator_driver::cuda(), 4096));
    CHECK_FALSE(cb::accelerator_driver::hip());  // nobody has loaded it
}

TEST_CASE("the second device of a driver is asked for by its number", "[peaks]") {
    fake::devices = {{"NVIDIA L4", {}}, {"NVIDIA H200", {}}};
    fake::init_says = 0;
    auto const parts = cb::peaks::parts_of("cuda:1");
    CHECK(parts.kind == "cuda");
    CHECK(cb::peaks::of_accelerator(parts, {fake::driver()}).name == "NVIDIA H200");
    CHECK(cb::peaks::parts_of("cuda").index == 0);
    for (std::string const wrong : {"cuda:", "cuda:x", "cuda:1x", "cuda:-1"})
        CHECK_THROWS_WITH(cb::peaks::parts_of(wrong),
                          "component_benchmark: the device '" + wrong +
                              "' has no number behind its colon, as cuda:0 has");
}

TEST_CASE("an option wins over the environment, both over what the device says", "[peaks]") {
    cb::device_peaks device{.name = "some", .kind = "cuda"};
    device.set(number_format::fp32, {10.0, peak_source::datasheet});
    device.set(number_format::bf16, {20.0, peak_source::datasheet});
    device.set(number_format::fp16, {30.0, peak_source::derived});
    device.bandwidth = cb::bandwidth_peak{100.0, peak_source::datasheet};
    cb::peaks::apply(device, {.tflops = {{"fp32", 11.0}}, .bandwidth_gbps = {}},
                     {.tflops = {{"fp32", 12.0}, {"bf16", 21.0}}, .bandwidth_gbps = 101.0});
    CHECK(device.of(number_format::fp32)->tflops == 11.0);
    CHECK(device.of(number_format::fp32)->source == peak_source::user);
    CHECK(device.of(number_format::bf16)->tflops == 21.0);
    CHECK(device.of(number_format::bf16)->source == peak_source::user);
    CHECK(device.of(number_format::fp16)->tflops == 30.0);
    CHECK(device.of(number_format::fp16)->source == peak_source::derived);
    CHECK(device.bandwidth->gbps == 101.0);
    CHECK(device.bandwidth->source == peak_source::user);
    cb::peaks::apply(device, {.tflops = {}, .bandwidth_gbps = 99.0}, {});
    CHECK(device.bandwidth->gbps == 99.0);
}
