// user's program -> PIPELINE: when a pipeline runs in a program that trains
#pragma once

#include <component_benchmark/core/error.hpp>
#include <component_benchmark/core/signal_watch.hpp>
#include <component_benchmark/core/terminal.hpp>

#include <charconv>
#include <cstdint>
#include <optional>
#include <signal.h>
#include <string>
#include <string_view>
#include <vector>

namespace component_benchmark {

/// Says at which training steps a profile is due. Ask once a step:
///
///     auto due = cb::schedule::from_environment();  // COMPONENT_BENCHMARK=step=100 ./trainer
///     for (auto const& batch : batches) {
///         train(batch);
///         if (due())
///             pipeline.run(cb::provide(model, batch));
///     }
///
/// The text is one or more of these, joined by commas; empty it means never:
///
///     off        never, whatever the program says
///     step=100   once, at step 100; the first step is 0
///     every=500  at steps 500, 1000, 1500, ...
///     signal     when SIGUSR1 came since the last question; its handler is this object's meanwhile
class schedule {
public:
    /// Throws `error` for a text that is not as above.
    explicit schedule(std::string_view text) : schedule{text, "the schedule"} {}

    /// What the variable COMPONENT_BENCHMARK says; unset or empty, `otherwise`.
    [[nodiscard]] static schedule from_environment(std::string_view otherwise = {}) {
        auto const text = detail::environment_value("COMPONENT_BENCHMARK");
        if (text.find_first_not_of(' ') == std::string_view::npos)
            return schedule{otherwise};
        return schedule{text, "the environment variable COMPONENT_BENCHMARK"};
    }

    schedule(schedule const&) = delete;
    schedule& operator=(schedule const&) = delete;

    /// Whether a profile is due at this step. Counts the steps, so ask once a step.
    [[nodiscard]] bool operator()() noexcept { return is_on_ && is_due(); }

private:
    schedule(std::string_view text, char const* source) {
        if (text.find_first_not_of(' ') == std::string_view::npos)
            return;
        bool is_off = false;
        std::size_t entries = 0;
        for (auto rest = text; entries == 0 || rest.data() != nullptr; ++entries) {
            auto const comma = rest.find(',');
            auto const entry = trimmed(rest.substr(0, comma));
            rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
            is_off = is_off || entry == "off";
            if (!read(entry))
                throw error{std::string{source} + " is '" + std::string{text} + "', and '" +
                            std::string{entry} +
                            "' is none of off, step=N, every=N (from 1 on) and signal"};
        }
        if (is_off && entries > 1)
            throw error{std::string{source} + " is '" + std::string{text} +
                        "', but 'off' stands alone"};
        is_on_ = !is_off;
    }

    [[nodiscard]] bool read(std::string_view entry) {
        if (entry == "signal" && !signal_) {
            signal_.emplace(watch::second::is_counted, watch::ignored::is_counted);
            last_signal_ = watch::times();
        }
        if (entry.substr(0, 5) == "step=")
            return add(steps_, entry.substr(5), 0);
        if (entry.substr(0, 6) == "every=")
            return add(periods_, entry.substr(6), 1);
        return entry == "signal" || entry == "off";
    }

    [[nodiscard]] static bool add(std::vector<std::int64_t>& to, std::string_view digits,
                                  std::int64_t least) {
        std::int64_t number = 0;
        auto const* const end = digits.data() + digits.size();
        auto const found = std::from_chars(digits.data(), end, number);
        if (found.ec != std::errc{} || found.ptr != end || number < least)
            return false;
        to.push_back(number);
        return true;
    }

    [[nodiscard]] static std::string_view trimmed(std::string_view text) noexcept {
        auto const first = text.find_first_not_of(' ');
        if (first == std::string_view::npos)
            return {};
        return text.substr(first, text.find_last_not_of(' ') + 1 - first);
    }

    [[nodiscard]] bool is_due() noexcept {
        auto const step = step_++;
        bool due = false;
        if (signal_) {
            auto const times = watch::times();
            due = times != last_signal_;
            last_signal_ = times;
        }
        for (auto const one : steps_)
            due = due || step == one;
        for (auto const period : periods_)
            due = due || (step != 0 && step % period == 0);
        return due;
    }

    using watch = detail::signal_watch<SIGUSR1>;

    bool is_on_ = false;
    std::int64_t step_ = 0;
    std::vector<std::int64_t> steps_;
    std::vector<std::int64_t> periods_;
    std::optional<watch> signal_;
    unsigned last_signal_ = 0;
};

}  // namespace component_benchmark
