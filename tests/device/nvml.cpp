// What an NVIDIA device is held back by, from libraries that say what they like.
#include "support/catch2.hpp"
#include <component_benchmark/device/nvml.hpp>

#include <cstddef>
#include <cstring>
#include <string>

namespace cb = component_benchmark;

namespace {

/// A driver of two devices, of which NVML counts the second one first.
struct fake {
    inline static int init_says = 0;
    inline static unsigned long long bits = 0;
    inline static int of_two = 2;

    static int driver_init(unsigned) { return 0; }
    static int device_at(int* device, int index) {
        *device = index + 70;
        return index < 2 ? 0 : 101;
    }
    static int bus(char* text, int length, int device) {
        auto const* const address = device == 70 ? "0000:65:00.0" : "0000:17:00.0";
        std::strncpy(text, address, static_cast<std::size_t>(length));
        return 0;
    }
    static int init() { return init_says; }
    static int handle(char const* address, cb::nvml_library::device* found) {
        *found = std::string{address} == "0000:17:00.0" ? nullptr : &of_two;
        return 0;
    }
    static int clock(cb::nvml_library::device device, int which, unsigned* mhz) {
        *mhz = device == &of_two ? 1755 : 1200;
        return which == 1 ? 0 : 2;
    }
    static int reasons(cb::nvml_library::device, unsigned long long* found) {
        *found = bits;
        return 0;
    }

    static cb::accelerator_driver driver() {
        cb::accelerator_driver made;
        made.init = driver_init;
        made.device_at = device_at;
        made.bus = bus;
        return made;
    }
    static cb::nvml_library library() { return {init, handle, clock, reasons}; }
};

}  // namespace

TEST_CASE("a device is found by its bus, whatever each library counts", "[nvml]") {
    fake::bits = 0x44;
    auto const first = cb::reading_of(fake::library(), fake::driver(), 0);
    CHECK(first.clock_mhz == 1755.0);
    CHECK(first.held_back == 0x44);
    CHECK(cb::reading_of(fake::library(), fake::driver(), 1).clock_mhz == 1200.0);
    CHECK(cb::reading_of(fake::library(), fake::driver(), 2).clock_mhz == 0.0);
}

TEST_CASE("libraries that are not there, or know less, say nothing", "[nvml]") {
    fake::bits = 0x44;
    CHECK(cb::reading_of({}, fake::driver(), 0).clock_mhz == 0.0);
    CHECK(cb::reading_of(fake::library(), {}, 0).held_back == 0);
    auto old = fake::library();
    old.reasons = nullptr;
    CHECK(cb::reading_of(old, fake::driver(), 0).clock_mhz == 1755.0);
    CHECK(cb::reading_of(old, fake::driver(), 0).held_back == 0);
    old.clock = nullptr;
    CHECK(cb::reading_of(old, fake::driver(), 0).clock_mhz == 0.0);
    fake::init_says = 9;  // a driver of another version
    CHECK(cb::reading_of(fake::library(), fake::driver(), 0).clock_mhz == 0.0);
    fake::init_says = 0;
    auto blind = fake::driver();
    blind.bus = nullptr;
    CHECK(cb::reading_of(fake::library(), blind, 0).clock_mhz == 0.0);
}

TEST_CASE("what holds a device back is said in words, what does not disturb is not", "[nvml]") {
    CHECK(cb::held_back_in_words(0).empty());
    CHECK(cb::held_back_in_words(0x1 | 0x2 | 0x100).empty());  // idle, set by somebody
    CHECK(cb::held_back_in_words(0x4) == "its power cap");
    CHECK(cb::held_back_in_words(0x20) == "heat");
    CHECK(cb::held_back_in_words(0x8 | 0x40) == "heat");
    CHECK(cb::held_back_in_words(0x8 | 0x80) == "a brake on its power");
    CHECK(cb::held_back_in_words(0x8) == "its hardware");
    CHECK(cb::held_back_in_words(0x4 | 0x40) == "its power cap and heat");
    CHECK(cb::held_back_in_words(0x10) == "the clock of the slowest in its group");
}

TEST_CASE("this machine's libraries can be asked", "[nvml]") {
    auto const found = cb::device_noise_now(0);
    CHECK(found.clock_mhz >= 0.0);
    CHECK(cb::device_noise_now(1'000'000).clock_mhz == 0.0);
}
