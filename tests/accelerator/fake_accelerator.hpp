// An accelerator that is none: its memory is the program's, its kernels are those of the CPU, and
// its time is made up. A kernel costs the program `launch_ns`, and its stream `kernel_ns`.
#pragma once

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/DeviceAccelerator.h>
#include <ATen/EmptyTensor.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/native/Resize.h>
#include <ATen/native/TensorFactories.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <torch/library.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

namespace fake_accelerator {

inline constexpr auto kind = c10::DeviceType::PrivateUse1;
inline const c10::Device device{kind, 0};

/// What the program and the device are at. The autograd engine works on a thread of the device.
class timeline {
public:
    static std::int64_t now() noexcept {
        std::lock_guard const lock{mutex};
        return program;
    }
    static void spend(std::int64_t ns) {
        std::lock_guard const lock{mutex};
        program += ns;
    }
    static void launch(std::int64_t stream, std::int64_t takes_ns = kernel_ns) {
        std::lock_guard const lock{mutex};
        program += launch_ns;
        auto& at = free_at.at(static_cast<std::size_t>(stream));
        at = (std::max)(at, program) + takes_ns;
        ++kernels;
    }
    /// When a stream will have done all it has been given.
    static std::int64_t done(std::int64_t stream) {
        std::lock_guard const lock{mutex};
        return (std::max)(program, free_at.at(static_cast<std::size_t>(stream)));
    }
    static void wait_until(std::int64_t moment) {
        std::lock_guard const lock{mutex};
        program = (std::max)(program, moment);
    }
    static void wait_for_all() {
        for (std::size_t stream = 0; stream < free_at.size(); ++stream)
            wait_until(done(static_cast<std::int64_t>(stream)));
    }

    static inline std::int64_t launch_ns = 5'000;
    static inline std::int64_t kernel_ns = 2'000;
    static inline std::int64_t kernels = 0;

private:
    static inline std::mutex mutex;
    static inline std::int64_t program = 0;
    static inline std::array<std::int64_t, 4> free_at{};
};

inline std::int64_t clock() noexcept {
    return timeline::now();
}

struct guard final : c10::impl::DeviceGuardImplInterface {
    static inline thread_local std::int64_t stream = 0;

    c10::DeviceType type() const override { return kind; }
    c10::Device exchangeDevice(c10::Device) const override { return device; }
    c10::Device getDevice() const override { return device; }
    void setDevice(c10::Device) const override {}
    void uncheckedSetDevice(c10::Device) const noexcept override {}
    c10::Stream getStream(c10::Device) const override { return of(stream); }
    c10::Stream getDefaultStream(c10::Device) const override { return of(0); }
    c10::Stream exchangeStream(c10::Stream next) const override {
        return of(std::exchange(stream, next.id()));
    }
    c10::DeviceIndex deviceCount() const noexcept override { return 1; }

    void record(void** event, c10::Stream const& on, c10::DeviceIndex const,
                c10::EventFlag const) const override {
        if (*event == nullptr)
            *event = new std::int64_t;
        *static_cast<std::int64_t*>(*event) = timeline::done(on.id());
    }
    void block(void*, c10::Stream const&) const override {}
    bool queryEvent(void* event) const override {
        return *static_cast<std::int64_t*>(event) <= timeline::now();
    }
    void synchronizeEvent(void* event) const override {
        timeline::wait_until(*static_cast<std::int64_t*>(event));
    }
    void destroyEvent(void* event, c10::DeviceIndex const) const noexcept override {
        delete static_cast<std::int64_t*>(event);
    }
    double elapsedTime(void* from, void* to, c10::DeviceIndex const) const override {
        return static_cast<double>(*static_cast<std::int64_t*>(to) -
                                   *static_cast<std::int64_t*>(from)) /
               1e6;
    }
    bool queryStream(c10::Stream const& one) const override {
        return timeline::done(one.id()) <= timeline::now();
    }
    void synchronizeStream(c10::Stream const& one) const override {
        timeline::wait_until(timeline::done(one.id()));
    }
    void synchronizeDevice(c10::DeviceIndex const) const override { timeline::wait_for_all(); }

    static c10::Stream of(std::int64_t id) {
        return c10::Stream{c10::Stream::UNSAFE, device, static_cast<c10::StreamId>(id)};
    }
};

struct allocator final : c10::Allocator {
    c10::DataPtr allocate(std::size_t bytes) override {
        void* const memory = std::malloc((std::max)(bytes, std::size_t{1}));
        return {memory, memory, &std::free, device};
    }
    c10::DeleterFnPtr raw_deleter() const override { return &std::free; }
    void copy_data(void* to, void const* from, std::size_t bytes) const override {
        std::memcpy(to, from, bytes);
    }
};

struct hooks final : at::PrivateUse1HooksInterface {
    at::Generator generator = at::make_generator<at::CPUGeneratorImpl>(1);
    bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
    bool isBuilt() const override { return true; }
    bool isAvailable() const override { return true; }
    c10::DeviceIndex deviceCount() const override { return 1; }
    c10::DeviceIndex getCurrentDevice() const override { return 0; }
    at::Generator const& getDefaultGenerator(c10::DeviceIndex) const override { return generator; }
};

inline at::Tensor empty(c10::IntArrayRef sizes, std::optional<c10::ScalarType> type,
                        std::optional<c10::Layout>, std::optional<c10::Device>, std::optional<bool>,
                        std::optional<c10::MemoryFormat> format) {
    return at::detail::empty_generic(sizes, c10::GetAllocator(kind),
                                     c10::DispatchKeySet{c10::DispatchKey::PrivateUse1},
                                     type.value_or(at::kFloat), format);
}

inline at::Tensor empty_strided(c10::IntArrayRef sizes, c10::IntArrayRef strides,
                                std::optional<c10::ScalarType> type, std::optional<c10::Layout>,
                                std::optional<c10::Device>, std::optional<bool>) {
    return at::detail::empty_strided_generic(sizes, strides, c10::GetAllocator(kind),
                                             c10::DispatchKeySet{c10::DispatchKey::PrivateUse1},
                                             type.value_or(at::kFloat));
}

/// The same memory as a tensor of the CPU.
inline at::Tensor on_cpu(at::Tensor const& tensor) {
    auto const start = static_cast<std::byte*>(tensor.storage().mutable_data()) +
                       tensor.storage_offset() * static_cast<std::int64_t>(tensor.element_size());
    return at::from_blob(start, tensor.sizes(), tensor.strides(),
                         at::TensorOptions{tensor.scalar_type()});
}

/// A kernel is at work, which copies its arguments to the CPU and back.
inline thread_local bool computes = false;

inline at::Tensor copy_from(at::Tensor const& from, at::Tensor const& to, bool) {
    if (!computes && from.device() == to.device())
        timeline::launch(guard::stream);
    else if (!computes)
        timeline::wait_for_all();
    on_cpu(to).copy_(on_cpu(from));
    return to;
}

inline at::Tensor copy_from_and_resize(at::Tensor const& from, at::Tensor const& to) {
    if (from.sizes() != to.sizes())
        to.unsafeGetTensorImpl()->set_sizes_contiguous(from.sizes());
    if (auto* const storage = to.storage().unsafeGetStorageImpl();
        storage->nbytes() < from.nbytes()) {
        storage->set_data_ptr_noswap(
            c10::GetAllocator(to.device().type())->allocate(from.nbytes()));
        storage->set_nbytes(from.nbytes());
    }
    on_cpu(to).copy_(on_cpu(from));
    return to;
}

/// A large one takes a millisecond and is not computed: it is there to keep the device busy.
inline at::Tensor& product(at::Tensor const& left, at::Tensor const& right, at::Tensor& out) {
    auto const is_large = left.numel() >= 1'000'000;
    timeline::launch(guard::stream, is_large ? 1'000'000 : timeline::kernel_ns);
    if (!is_large)
        on_cpu(out).copy_(at::mm(on_cpu(left), on_cpu(right)));
    return out;
}

inline void fallback(c10::OperatorHandle const& op, torch::jit::Stack* stack) {
    timeline::launch(guard::stream);
    if (op.schema().name() == "aten::_local_scalar_dense")
        timeline::wait_for_all();
    auto const outer = std::exchange(computes, true);
    at::native::cpu_fallback(op, stack);
    computes = outer;
}

/// Once, before anything is run backward.
inline void install() {
    static guard the_guard;
    static allocator the_allocator;
    static hooks the_hooks;
    static c10::impl::DeviceGuardImplRegistrar const registered{kind, &the_guard};
    static bool const once = [] {
        c10::register_privateuse1_backend("fake");
        c10::SetAllocator(kind, &the_allocator);
        at::RegisterPrivateUse1HooksInterface(&the_hooks);
        return true;
    }();
    static_cast<void>(once);
}

}  // namespace fake_accelerator

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
    library.impl("empty.memory_format", fake_accelerator::empty);
    library.impl("empty_strided", fake_accelerator::empty_strided);
    library.impl("_copy_from", fake_accelerator::copy_from);
    library.impl("_copy_from_and_resize", fake_accelerator::copy_from_and_resize);
    library.impl("as_strided", at::native::as_strided_tensorimpl);
    library.impl("view", at::native::view);
    library.impl("mm.out", fake_accelerator::product);
}
TORCH_LIBRARY_IMPL(_, PrivateUse1, library) {
    library.fallback(torch::CppFunction::makeFromBoxedFunction<&fake_accelerator::fallback>());
}
