// LibTorch -> HOOK -> capture: LibTorch's own forwards, seen without an edit
// The exported members are defined here again, weakly; the dynamic linker prefers the program's
// definition to libtorch's, and each passes on to the real one. Include it in one translation unit
// (the CMake target `component_benchmark::torch` does it for you). ELF and a shared LibTorch only.
#pragma once

#include <component_benchmark/config.hpp>

#if COMPONENT_BENCHMARK_ENABLED

#    include <component_benchmark/core/error.hpp>
#    include <component_benchmark/hook/record.hpp>

#    include <torch/nn.h>

#    include <bit>
#    include <cstddef>
#    include <dlfcn.h>

namespace component_benchmark::hook {

/// The real function as the dynamic linker gives it: a member function takes `this` first.
template<class Result, class... Declared>
struct libtorch_function {
    Result (*address)(void*, Declared...);
    void* object = nullptr;

    Result operator()(torch::nn::Module&, Declared... values) const {
        return address(object, static_cast<Declared&&>(values)...);
    }
};

/// The definition of `symbol` that comes after ours in the order of the dynamic linker.
inline void* next_symbol(char const* symbol) {
    auto* const next = dlsym(RTLD_NEXT, symbol);
    if (next == nullptr)
        throw error{std::string{"no definition of "} + symbol +
                    " comes after the hook; link the program with a shared LibTorch"};
    return next;
}

/// The same by the name under which ours is known.
inline void* next_definition(void* ours) {
    Dl_info found{};
    if (dladdr(ours, &found) == 0 || found.dli_sname == nullptr)
        throw error{
            "a hooked forward has no dynamic symbol; link the program with a shared LibTorch"};
    return next_symbol(found.dli_sname);
}

template<class Class, class Result, class... Declared>
[[nodiscard]] libtorch_function<Result, Declared...> real_function(
    Result (Class::*ours)(Declared...)) {
    struct member_pointer {  // Itanium C++ ABI
        void* address;
        std::ptrdiff_t adjustment;
    };
    static_assert(sizeof(ours) == sizeof(member_pointer));
    auto* const next = next_definition(std::bit_cast<member_pointer>(ours).address);
    return {reinterpret_cast<Result (*)(void*, Declared...)>(next)};
}

/// Typed by the signature only: the 109 forwards have 13.
template<class Result, class... Declared>
[[gnu::noinline, gnu::cold]] Result record_libtorch(libtorch_function<Result, Declared...> real,
                                                    torch::nn::Module& module,
                                                    std::type_info const& declared_in,
                                                    std::type_identity_t<Declared>... values) {
    auto& listener = *current;
    // A module of LibTorch does not call itself: this is the base of a user's class, or a second
    // hook of the same forward in another shared library, and the call is open already.
    if (listener.innermost().module == &module)
        return real(module, static_cast<Declared&&>(values)...);
    return hook::record(listener, callee{&module, &declared_in}, nullptr, module, real,
                        signature<Declared...>{}, values...);
}

}  // namespace component_benchmark::hook

// The body of `Result Class::Method(Types...)`; the rest are the parameters, forwarded.
#    define COMPONENT_BENCHMARK_DETAIL_INTERPOSE(Class, Method, Result, Types, ...) \
        static auto const real = ::component_benchmark::hook::real_function(        \
            static_cast<Result(Class::*) Types>(&Class::Method));                   \
        if (::component_benchmark::hook::listener(*this) == nullptr) [[likely]]     \
            return real.address(this, __VA_ARGS__);                                 \
        auto mine = real;                                                           \
        mine.object = this;                                                         \
        return ::component_benchmark::hook::record_libtorch(mine, *this, typeid(Class), __VA_ARGS__)

#    include <component_benchmark/hook/libtorch_forwards.hpp>
#    include <component_benchmark/hook/libtorch_norms.hpp>

#endif
