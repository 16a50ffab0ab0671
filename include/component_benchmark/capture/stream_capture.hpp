// pipeline -> CAPTURE: no run while a CUDA graph records what the current stream does
#pragma once

#include <component_benchmark/core/error.hpp>

#include <ATen/DeviceAccelerator.h>
#include <c10/core/Device.h>
#include <c10/core/Stream.h>

#include <dlfcn.h>

namespace component_benchmark::capture {

/// A symbol of the CUDA libraries that the program has loaded, or null. Loads none.
[[nodiscard]] inline void* loaded_cuda_symbol(char const* name) {
    auto* const cuda = dlopen("libc10_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
    auto* const found = dlsym(cuda != nullptr ? cuda : RTLD_DEFAULT, name);
    if (cuda != nullptr)
        dlclose(cuda);  // the program still holds it
    return found;
}

/// The current CUDA stream is being captured into a graph, or another one is in a way that forbids
/// to ask. Without CUDA's headers: `lookup` gives its functions by name, or null.
template<class Lookup>
[[nodiscard]] bool stream_is_capturing(Lookup lookup) {
    // c10::cuda::CUDAStream holds nothing but a c10::Stream, in which it is returned.
    using current_stream = c10::Stream (*)(c10::DeviceIndex);
    using native_stream = void* (*)(c10::Stream const*);
    using is_capturing = int (*)(void*, int*);
    auto const current =
        reinterpret_cast<current_stream>(lookup("_ZN3c104cuda20getCurrentCUDAStreamEa"));
    auto const native =
        reinterpret_cast<native_stream>(lookup("_ZNK3c104cuda10CUDAStream6streamEv"));
    auto const ask = reinterpret_cast<is_capturing>(lookup("cudaStreamIsCapturing"));
    if (current == nullptr || native == nullptr || ask == nullptr)
        return false;
    auto const stream = current(-1);          // of the current device
    int capturing = 0;                        // cudaStreamCaptureStatusNone
    constexpr int would_end_a_capture = 906;  // cudaErrorStreamCaptureImplicit
    auto const failure = ask(native(&stream), &capturing);
    return failure == would_end_a_capture || (failure == 0 && capturing != 0);
}

/// Throws `error` when `lookup` says so.
template<class Lookup>
void refuse_stream_capture(Lookup lookup) {
    if (stream_is_capturing(lookup))
        throw error{
            "the current stream is being captured into a CUDA graph, which would record the "
            "profile; run the pipeline before the capture begins or after it has ended"};
}

/// The same for this program; without a device there is nothing to ask.
inline void refuse_stream_capture() {
    if (at::accelerator::deviceCount() > 0)
        refuse_stream_capture(&loaded_cuda_symbol);
}

}  // namespace component_benchmark::capture
