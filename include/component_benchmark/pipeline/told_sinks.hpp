// PIPELINE -> sink: what sinks are told, before, while and after components are measured
#pragma once

#include <component_benchmark/concepts.hpp>
#include <component_benchmark/core/failure.hpp>
#include <component_benchmark/pipeline/progress.hpp>
#include <component_benchmark/result/document.hpp>

#include <cstddef>
#include <cstdio>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace component_benchmark::detail {

/// The sinks of one run. One that fails does not take the others down, nor the user's run: what it
/// threw is said at once, and it is told of no further component. It still gets the finished
/// report.
template<class... Sink>
class told_sinks {
public:
    explicit told_sinks(std::tuple<Sink...>& sinks) : sinks_{sinks}, gone_(sizeof...(Sink)) {}

    static constexpr bool any_follows =
        ((requirement::opens<Sink> || requirement::follows<Sink>) || ...);

    void begin(document const& report) {
        each([&](auto& sink, std::size_t place) {
            if constexpr (requirement::opens<std::remove_reference_t<decltype(sink)>>)
                gone_[place] = !succeeds(sink, [&] { sink.begin(report); });
        });
    }

    void component_done(document const& report, std::size_t row, progress& line) {
        each([&](auto& sink, std::size_t place) {
            if constexpr (requirement::follows<std::remove_reference_t<decltype(sink)>>)
                if (!gone_[place])
                    gone_[place] = !succeeds(
                        sink, [&] { sink.component_done(report, row); }, &line);
        });
    }

    void write(document const& report) {
        each([&](auto& sink, std::size_t) {
            static_cast<void>(succeeds(sink, [&] { sink.write(report); }));
        });
    }

    [[nodiscard]] std::vector<std::string> take_failures() { return std::move(failures_); }

private:
    template<class Visit>
    void each(Visit visit) {
        std::apply(
            [&](auto&... sink) {
                [[maybe_unused]] std::size_t place = 0;
                (visit(sink, place++), ...);
            },
            sinks_);
    }

    template<class One, class Act>
    [[nodiscard]] bool succeeds(One& sink, Act act, progress* line = nullptr) {
        try {
            act();
            return true;
        } catch (...) {
            failures_.push_back("the sink '" + std::string{sink.name} +
                                "' failed: " + current_failure());
        }
        if (line != nullptr)
            line->clear();
        std::fprintf(stderr, "component_benchmark: %s\n", failures_.back().c_str());
        return false;
    }

    std::tuple<Sink...>& sinks_;
    std::vector<bool> gone_;
    std::vector<std::string> failures_;
};

}  // namespace component_benchmark::detail
