// driver -> DEVICE: what holds an NVIDIA device back, as its management library says
// The library comes with the driver and is loaded when it is first asked; nothing of it is needed
// to build, and a machine without it simply has none.
#pragma once

#include <component_benchmark/device/accelerator.hpp>

#include <array>
#include <cstdint>
#include <dlfcn.h>
#include <string>
#include <type_traits>

namespace component_benchmark {

/// The functions of NVML that are used here. Each returns 0 when it could do what it was asked.
/// Tests give their own.
struct nvml_library {
    using device = void*;
    int (*init)() = nullptr;
    int (*device_at)(char const* bus, device* found) = nullptr;
    int (*clock)(device, int which, unsigned* mhz) = nullptr;
    int (*reasons)(device, unsigned long long* bits) = nullptr;

    explicit operator bool() const noexcept { return init != nullptr && device_at != nullptr; }

    /// It stays loaded, as the driver does.
    [[nodiscard]] static nvml_library load() noexcept {
        nvml_library found;
        auto* const library = ::dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
        if (library == nullptr)
            return found;
        auto const get = [&](char const* name, auto& into) {
            into =
                reinterpret_cast<std::remove_reference_t<decltype(into)>>(::dlsym(library, name));
        };
        get("nvmlInit_v2", found.init);
        get("nvmlDeviceGetHandleByPciBusId_v2", found.device_at);
        get("nvmlDeviceGetClockInfo", found.clock);
        get("nvmlDeviceGetCurrentClocksThrottleReasons", found.reasons);
        return found;
    }
};

/// A device's clock at this moment, and what keeps it from being higher.
struct device_reading {
    double clock_mhz = 0.0;       ///< of its multiprocessors; 0 where it is not known
    std::uint64_t held_back = 0;  ///< bits of `nvmlClocksThrottleReasons`
};

/// Of the device with that number, counted as the program counts. Zeros where it is not known.
[[nodiscard]] inline device_reading reading_of(nvml_library const& library,
                                               accelerator_driver const& driver,
                                               int index) noexcept {
    device_reading found;
    int device = 0;
    std::array<char, 32> bus{};
    nvml_library::device handle = nullptr;
    if (!library || driver.init == nullptr || driver.device_at == nullptr ||
        driver.bus == nullptr || driver.init(0) != 0 || driver.device_at(&device, index) != 0 ||
        driver.bus(bus.data(), static_cast<int>(bus.size()), device) != 0 || library.init() != 0 ||
        library.device_at(bus.data(), &handle) != 0)
        return found;
    constexpr int multiprocessors = 1;  // NVML_CLOCK_SM
    unsigned mhz = 0;
    if (library.clock != nullptr && library.clock(handle, multiprocessors, &mhz) == 0)
        found.clock_mhz = mhz;
    unsigned long long bits = 0;
    if (library.reasons != nullptr && library.reasons(handle, &bits) == 0)
        found.held_back = bits;
    return found;
}

using device_noise_function = device_reading (*)(int index);

/// What the libraries of this machine say.
[[nodiscard]] inline device_reading device_noise_now(int index) {
    static nvml_library const library = nvml_library::load();
    static accelerator_driver const driver =
        library ? accelerator_driver::cuda() : accelerator_driver{};
    return reading_of(library, driver, index);
}

/// "heat and its power cap", or nothing where nothing that matters holds it back: being idle, and
/// clocks that somebody set, do not disturb a measurement. (Bits of `nvmlClocksThrottleReasons` in
/// nvml.h.)
[[nodiscard]] inline std::string held_back_in_words(std::uint64_t bits) {
    struct reason {
        std::uint64_t bits;
        char const* words;
    };
    constexpr std::uint64_t slowdown = 0x8;  // set along with the two that say why
    constexpr reason reasons[] = {{0x4, "its power cap"},
                                  {0x20 | 0x40, "heat"},
                                  {0x80, "a brake on its power"},
                                  {0x10, "the clock of the slowest in its group"}};
    std::string words;
    for (auto const& one : reasons)
        if ((bits & one.bits) != 0)
            words += (words.empty() ? "" : " and ") + std::string{one.words};
    if (words.empty() && (bits & slowdown) != 0)
        words = "its hardware";
    return words;
}

}  // namespace component_benchmark
