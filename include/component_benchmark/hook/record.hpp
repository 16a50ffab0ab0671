// user's program -> HOOK -> capture: the one primitive, "module M was called with these arguments"
#pragma once

#include <component_benchmark/core/error.hpp>
#include <component_benchmark/hook/state.hpp>
#include <component_benchmark/hook/stored_call.hpp>
#include <component_benchmark/mode_sentinel.hpp>

#include <c10/util/FunctionRef.h>
#include <torch/nn/module.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace component_benchmark::hook {

/// Who is called: the most derived object, and the class whose function it is; or a region in its
/// forward.
struct callee {
    torch::nn::Module* module;
    std::type_info const* declared_in;
    char const* region = nullptr;
};

/// Listens to calls of modules. Capture implements it; hooks know nothing else of capture.
class recorder {
public:
    using maker = c10::function_ref<std::unique_ptr<stored_call>()>;
    using results = c10::function_ref<void(tensor_visitor)>;

    recorder() = default;
    recorder(recorder const&) = delete;
    recorder& operator=(recorder const&) = delete;

    /// The innermost call that has begun and not ended; its module is null when there is none.
    [[nodiscard]] virtual callee innermost() const noexcept = 0;

    /// A call begins. `make` stores it and may throw or give null, which means `why_not`. `state`
    /// copies the members that the class declares; null when it declares none.
    virtual void begin(callee who, maker make, std::string (*why_not)(),
                       state_maker state) noexcept = 0;
    virtual void succeed(results each) noexcept = 0;
    virtual void fail() noexcept = 0;

    /// A module is called on another thread, whose calls are not recorded. One at a time.
    virtual void missed(torch::nn::Module const& module) noexcept = 0;

    /// Set by `record` for the function that it enters again, cleared by that function.
    void const* entering = nullptr;

    /// The innermost call is a normalisation layer whose operator has not run yet.
    bool open_norm = false;

protected:
    ~recorder() = default;
};

// Default visibility: with -fvisibility=hidden there would be one for each shared library.
[[gnu::visibility("default")]] inline constinit thread_local recorder* current = nullptr;

/// The recorder of the thread that captures, seen by all threads.
[[gnu::visibility("default")]] inline constinit std::atomic<recorder*> capturing = nullptr;

/// Held while `capturing` ends and while another thread tells it of a call.
[[nodiscard, gnu::visibility("default")]] inline std::mutex& capturing_mutex() {
    static std::mutex one;
    return one;
}

[[gnu::noinline, gnu::cold]] inline recorder* listener_or_miss(torch::nn::Module const& module) {
    if (current != nullptr)
        return current;
    std::lock_guard const lock{capturing_mutex()};
    if (auto* const other = capturing.load())
        other->missed(module);
    return nullptr;
}

/// Who records a call of `self` on this thread, or null: at any time but while a profile captures
/// this is one branch.
template<class Self>
[[nodiscard]] recorder* listener(Self const& self) {
    static_assert(std::is_base_of_v<torch::nn::Module, Self>,
                  "component_benchmark: CB_FORWARD and CB_CALL belong into member functions of a "
                  "class derived from torch::nn::Module");
    if (capturing.load(std::memory_order_relaxed) == nullptr) [[likely]]
        return nullptr;
    if constexpr (std::is_base_of_v<torch::nn::Module, Self>)
        return listener_or_miss(self);
    else
        return nullptr;
}

/// Lets a recorder listen on this thread while it lives.
class listening {
public:
    explicit listening(recorder& mine) {
        if (current != nullptr)
            throw error{
                "a profile is capturing on this thread already; run one pipeline at a time"};
        current = &mine;
        capturing = &mine;
    }
    listening(listening const&) = delete;
    listening& operator=(listening const&) = delete;
    ~listening() {
        std::lock_guard const lock{capturing_mutex()};
        current = nullptr;
        capturing = nullptr;
    }
};

template<class Self>
[[nodiscard]] callee callee_of(Self& self) noexcept {
    using module_class = std::remove_cv_t<Self>;
    return {const_cast<module_class*>(&self), &typeid(module_class)};
}

template<class Again>
inline constexpr char call_site{};

/// False when the function is entered by `record`, or is `Base::forward` called by the
/// `Derived::forward` of the same object, which is a part of that call.
template<class Self, class Again>
[[nodiscard]] bool is_new_call(recorder& listener, Self& self, Again const&) noexcept {
    if (listener.entering == &call_site<Again>) {
        listener.entering = nullptr;
        return false;
    }
    auto const who = callee_of(self);
    auto const open = listener.innermost();
    return open.module != who.module || open.region != nullptr ||
           *open.declared_in == *who.declared_in;
}

/// Ends a call on every way out of it.
class open_call {
public:
    explicit open_call(recorder& listener) noexcept : listener_{&listener} {}
    open_call(open_call const&) = delete;
    open_call& operator=(open_call const&) = delete;
    ~open_call() {
        if (listener_ == nullptr)
            return;
        listener_->entering = nullptr;  // it threw before it was entered
        listener_->fail();
    }
    void succeed(recorder::results each) noexcept {
        std::exchange(listener_, nullptr)->succeed(each);
    }

private:
    recorder* listener_;
};

/// Runs the call that has begun and tells `listener` how it ended.
template<class... Declared, class Self, class Run, class... Values>
auto run_begun(recorder& listener, Self& self, Run& run, Values&... values)
    -> decltype(run(self, static_cast<Declared&&>(values)...)) {
    using result_type = decltype(run(self, static_cast<Declared&&>(values)...));
    open_call open{listener};
    if constexpr (std::is_void_v<result_type>) {
        run(self, static_cast<Declared&&>(values)...);
        open.succeed([](tensor_visitor) {});
    } else if constexpr (std::is_reference_v<result_type>) {
        auto&& result = run(self, static_cast<Declared&&>(values)...);
        using value = std::remove_cvref_t<result_type>;
        if constexpr (std::is_copy_constructible_v<value>) {
            open.succeed([&](tensor_visitor visit) {
                auto seen = std::as_const(result);
                hook::each_tensor(seen, visit);
            });
        } else {
            open.succeed([](tensor_visitor) {});
        }
        return static_cast<result_type>(result);
    } else {
        std::remove_cv_t<result_type> result = run(self, static_cast<Declared&&>(values)...);
        open.succeed([&](tensor_visitor visit) { hook::each_tensor(result, visit); });
        return result;
    }
}

/// Makes the call and tells `listener` of it. Arguments and result pass through untouched.
template<class Self, class Run, class... Declared, class... Values>
[[gnu::noinline, gnu::cold]] auto record(recorder& listener, callee who, void const* entering,
                                         Self& self, Run run, signature<Declared...>,
                                         Values&... values)
    -> decltype(run(self, static_cast<Declared&&>(values)...)) {
    using result_type = decltype(run(self, static_cast<Declared&&>(values)...));
    listener.begin(
        who, [&] { return hook::store<result_type, Declared...>(self, run, values...); },
        &hook::why_not_stored<Declared...>, state_access::maker<Self>());
    listener.entering = entering;
    return hook::run_begun<Declared...>(listener, self, run, values...);
}

/// `record` for the macros: the function that holds the macro is entered again.
template<class Self, class Again, class... Declared, class... Values>
auto record(recorder& listener, Self& self, Again again, signature<Declared...> declared,
            Values&... values) -> decltype(again(self, static_cast<Declared&&>(values)...)) {
    return hook::record(listener, callee_of(self), &call_site<Again>, self, again, declared,
                        values...);
}

}  // namespace component_benchmark::hook
