// tests: the handling of a signal for the time of a test
#pragma once

#include <signal.h>

namespace component_benchmark::test {

/// Sets a handler, SIG_DFL or SIG_IGN; afterwards the handling is as it was.
class signal_handler {
public:
    signal_handler(int number, void (*handler)(int)) : number_{number} {
        struct ::sigaction action {};
        action.sa_handler = handler;
        ::sigemptyset(&action.sa_mask);
        ::sigaction(number_, &action, &before_);
    }
    signal_handler(signal_handler const&) = delete;
    signal_handler& operator=(signal_handler const&) = delete;
    ~signal_handler() { ::sigaction(number_, &before_, nullptr); }

    /// What handles the signal now.
    [[nodiscard]] static auto current(int number) {
        struct ::sigaction action {};
        ::sigaction(number, nullptr, &action);
        return action.sa_handler;
    }

private:
    int number_;
    struct ::sigaction before_ {};
};

}  // namespace component_benchmark::test
