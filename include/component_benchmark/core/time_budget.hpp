// options -> PIPELINE -> profile: the time of a whole run, shared out by need
#pragma once

#include <component_benchmark/core/clock.hpp>
#include <component_benchmark/core/error.hpp>
#include <component_benchmark/core/statistics.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace component_benchmark {

/// Each component may take an equal part of what is left when its turn comes, so what one does not
/// need is there for all that follow; within a component those that measure share likewise. It is
/// asked, and stops nobody.
class time_budget {
public:
    /// Without end.
    time_budget() = default;

    /// Begins now. 0 seconds, or infinitely many, are without end.
    time_budget(double seconds, clock_function clock) : clock_{clock}, begin_{clock()} {
        if (seconds > 0.0)
            seconds_ = seconds;
    }

    static constexpr double unlimited = std::numeric_limits<double>::infinity();

    /// Somebody will ask for a turn in every component.
    void join() noexcept { ++members_; }

    /// So many components are to come.
    void expect(std::size_t components) noexcept { components_ = components; }

    /// The next component begins.
    void next_component() {
        auto const to_come = (std::max)(components_, std::size_t{1});
        components_ = to_come - 1;
        turns_ = members_;
        end_of_component_ = passed() + left() / static_cast<double>(to_come);
    }

    /// The seconds that one who joined may take for this component, from now on.
    [[nodiscard]] double turn() {
        auto const sharers = (std::max)(turns_, std::size_t{1});
        turns_ = sharers - 1;
        return (std::max)(0.0, end_of_component_ - passed()) / static_cast<double>(sharers);
    }

    /// Seconds of the run that are left.
    [[nodiscard]] double left() const { return (std::max)(0.0, seconds_ - passed()); }

private:
    // A clock that goes back has not moved.
    [[nodiscard]] double passed() const {
        auto const since =
            clock_ != nullptr ? saturating_difference(clock_(), begin_) : std::int64_t{0};
        return static_cast<double>((std::max)(std::int64_t{0}, since)) / 1e9;
    }

    double seconds_ = unlimited;
    clock_function clock_ = nullptr;
    std::int64_t begin_ = 0;
    std::size_t members_ = 0;
    std::size_t components_ = 0;
    std::size_t turns_ = 0;
    double end_of_component_ = unlimited;
};

/// Throws `error` when `seconds` is no time; `name` is what the user wrote it to.
inline void check_seconds(double seconds, char const* name) {
    if (!(seconds >= 0.0))  // nor NaN
        throw error{std::string{name} + " is " + std::to_string(seconds) +
                    ": give seconds, 0 or more"};
}

}  // namespace component_benchmark
