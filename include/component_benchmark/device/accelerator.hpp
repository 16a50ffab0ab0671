// driver -> DEVICE: name, units and clocks of an accelerator
// The driver is asked, not the runtime: no header and no library of a vendor is needed to build,
// and a machine without a driver simply has none.
#pragma once

#include <component_benchmark/device/derived.hpp>

#include <array>
#include <cstdint>
#include <dlfcn.h>
#include <optional>

namespace component_benchmark {

/// The functions of a driver that are used here; CUDA's and HIP's look the same. Each returns
/// 0 when it could do what it was asked. Tests give their own.
struct accelerator_driver {
    using init_function = int (*)(unsigned flags);
    using device_function = int (*)(int* device, int index);
    using name_function = int (*)(char* name, int length, int device);
    using attribute_function = int (*)(int* value, int attribute, int device);
    using bus_function = int (*)(char* bus, int length, int device);

    init_function init = nullptr;
    device_function device_at = nullptr;
    name_function name = nullptr;
    attribute_function attribute = nullptr;  ///< null: only the name is known
    bus_function bus = nullptr;              ///< where the device is, as NVML counts

    explicit operator bool() const noexcept {
        return init != nullptr && device_at != nullptr && name != nullptr;
    }

    /// That of NVIDIA, libcuda. It stays loaded: unloading a driver in use is no good.
    [[nodiscard]] static accelerator_driver cuda() noexcept {
        accelerator_driver found;
        auto* const library = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
        load(library, "cuInit", found.init);
        load(library, "cuDeviceGet", found.device_at);
        load(library, "cuDeviceGetName", found.name);
        load(library, "cuDeviceGetAttribute", found.attribute);
        load(library, "cuDeviceGetPCIBusId", found.bus);
        return found;
    }

    /// That of AMD, as its LibTorch has loaded it. Its attributes have other numbers; no formula
    /// needs them.
    [[nodiscard]] static accelerator_driver hip() noexcept {
        accelerator_driver found;
        void* library = nullptr;
        for (char const* file : {"libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6"})
            if (library == nullptr)
                library = ::dlopen(file, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
        load(library, "hipInit", found.init);
        load(library, "hipDeviceGet", found.device_at);
        load(library, "hipDeviceGetName", found.name);
        return found;
    }

private:
    template<class Function>
    static void load(void* library, char const* name, Function& into) noexcept {
        if (library != nullptr)
            into = reinterpret_cast<Function>(::dlsym(library, name));
    }
};

/// What a driver says of the device with that number, counted as the program counts (the driver
/// knows CUDA_VISIBLE_DEVICES); nothing where there is no driver or no such device.
[[nodiscard]] inline std::optional<accelerator_facts> facts_of(accelerator_driver const& driver,
                                                               int index) noexcept {
    try {
        int device = 0;
        std::array<char, 256> name{};
        if (!driver || driver.init(0) != 0 || driver.device_at(&device, index) != 0 ||
            driver.name(name.data(), static_cast<int>(name.size()) - 1, device) != 0)
            return std::nullopt;
        // The numbers of CUdevice_attribute, which have not changed since they were given.
        auto const attribute = [&](int number) {
            int value = 0;
            auto const known =
                driver.attribute != nullptr && driver.attribute(&value, number, device) == 0;
            return known ? value : 0;
        };
        return accelerator_facts{.name = name.data(),
                                 .major = attribute(75),
                                 .minor = attribute(76),
                                 .multiprocessors = attribute(16),
                                 .clock_khz = attribute(13),
                                 .memory_clock_khz = attribute(36),
                                 .memory_bus_bits = attribute(37)};
    } catch (...) {  // out of memory for a name
        return std::nullopt;
    }
}

}  // namespace component_benchmark
