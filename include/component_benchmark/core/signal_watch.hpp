// everywhere: counts a signal while somebody asks for it, and leaves its handling as it was
#pragma once

#include <atomic>
#include <mutex>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

namespace component_benchmark::detail {

/// What a process has once for each signal that is watched, however many libraries it is made of.
template<int Number>
struct [[gnu::visibility("default")]] signal_state {
    static_assert(std::atomic<unsigned>::is_always_lock_free, "a signal handler may not wait");

    inline static std::mutex mutex;  ///< of what follows, but for `times`
    inline static int watches = 0;
    inline static bool installed = false;
    inline static struct ::sigaction before {};
    inline static std::atomic<unsigned> times{0};

    static void note(int) noexcept {
        times.fetch_add(1, std::memory_order_relaxed);
    }
};

/// Whatever the flags say: the kernel knows a default and an ignored signal by the address alone.
[[nodiscard]] inline bool is_handled_by(struct ::sigaction const& action,
                                        void (*handler)(int)) noexcept {
    return action.sa_handler == handler;
}

/// While one lives, the signal is counted, and nothing else happens. The first sets the handler,
/// the last puts back what was there before.
template<int Number>
class signal_watch {
    using state = signal_state<Number>;

public:
    enum class second { is_counted, acts };  ///< acts: does what it does by default
    enum class ignored { is_counted, stays_ignored };

    /// What becomes of a second signal, and of a signal that the process ignores.
    signal_watch(second next, ignored otherwise) : once_{next == second::acts} {
        std::lock_guard<std::mutex> const lock{state::mutex};
        if (state::watches++ != 0)
            return;
        ::sigaction(Number, nullptr, &state::before);
        state::installed =
            otherwise == ignored::is_counted || !is_handled_by(state::before, SIG_IGN);
        state::times = 0;
        if (!state::installed)
            return;
        struct ::sigaction mine {};
        mine.sa_handler = &state::note;
        mine.sa_flags = SA_RESTART;
        if (once_)
            mine.sa_flags |= static_cast<int>(SA_RESETHAND);
        ::sigemptyset(&mine.sa_mask);
        ::sigaction(Number, &mine, nullptr);
    }
    signal_watch(signal_watch const&) = delete;
    signal_watch& operator=(signal_watch const&) = delete;
    ~signal_watch() { static_cast<void>(end()); }

    /// How often the signal came since the first of the watches that live.
    [[nodiscard]] static unsigned times() noexcept {
        return state::times.load(std::memory_order_relaxed);
    }

    /// Ends the watch; says how often the signal came when it was the last.
    unsigned end() noexcept {
        if (ended_)
            return 0;
        ended_ = true;
        std::lock_guard<std::mutex> const lock{state::mutex};
        if (--state::watches != 0)
            return 0;
        struct ::sigaction now {};
        ::sigaction(Number, nullptr, &now);
        // a handler that the program has set meanwhile stays
        auto const spent = once_ && times() != 0 && is_handled_by(now, SIG_DFL);
        if (state::installed && (spent || is_handled_by(now, &state::note)))
            ::sigaction(Number, &state::before, nullptr);
        return state::times.exchange(0);
    }

private:
    bool once_;
    bool ended_ = false;
};

/// Sends the signal to this thread, or, where it is blocked here, to the process.
inline void raise_again(int number) noexcept {
    ::sigset_t blocked;
    ::sigemptyset(&blocked);
    ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    if (::sigismember(&blocked, number) == 1)
        ::kill(::getpid(), number);
    else
        ::raise(number);
}

}  // namespace component_benchmark::detail
