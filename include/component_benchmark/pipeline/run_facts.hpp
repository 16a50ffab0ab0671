// PIPELINE -> result: what a report says of the run as a whole
#pragma once

#include <component_benchmark/core/environment.hpp>
#include <component_benchmark/core/filter.hpp>
#include <component_benchmark/core/options.hpp>
#include <component_benchmark/core/run_notes.hpp>
#include <component_benchmark/core/text.hpp>
#include <component_benchmark/result/document.hpp>
#include <component_benchmark/version.hpp>

#include <cstdio>
#include <ctime>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

namespace component_benchmark::detail {

[[nodiscard]] inline std::string utc_now() {
    auto const now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    char text[32];
    return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

/// The command that started this process, its arguments separated by spaces; Linux only.
[[nodiscard]] inline std::string command_line() {
    std::string text;
    if (auto* const file = std::fopen("/proc/self/cmdline", "r")) {
        for (int letter = std::fgetc(file); letter != EOF; letter = std::fgetc(file))
            text += letter == 0 ? ' ' : static_cast<char>(letter);
        std::fclose(file);
    }
    if (!text.empty() && text.back() == ' ')
        text.pop_back();
    return text;
}

[[nodiscard]] inline std::string compiler_name() {
#if defined(__clang__)
    return "clang " __clang_version__;
#else
    return "g++ " __VERSION__;
#endif
}

template<class Options>
[[nodiscard]] run_facts facts_of_run(environment around, Options const& wishes) {
    run_facts facts;
    facts.created = utc_now();
    facts.library = COMPONENT_BENCHMARK_VERSION;
    facts.libtorch = std::move(around.libtorch);
    facts.compiler = compiler_name();
#ifdef NDEBUG
    facts.build_type = "release (NDEBUG)";
#else
    facts.build_type = "debug (assertions on)";
#endif
    facts.command = command_line();
    facts.device = std::move(around.device);
    facts.device_kind = std::move(around.device_kind);
    facts.threads = around.threads;
    facts.step = around.step;
    facts.gradients = std::move(around.gradients);
    facts.warnings = std::move(around.warnings);
    auto const unlimited = wishes.depth == (std::numeric_limits<std::size_t>::max)();
    facts.options = {{"depth", unlimited ? "all" : std::to_string(wishes.depth)},
                     {"copy_arguments", wishes.copy_arguments ? "true" : "false"}};
    if (wishes.reuse_identical)
        facts.options.emplace_back("reuse_identical", "true");
    if (wishes.memory == memory_mode::level_by_level)
        facts.options.emplace_back("memory", "level by level");
    if (wishes.time_budget_s > 0.0)
        facts.options.emplace_back("time_budget_s", text::shortest(wishes.time_budget_s));
    if (!wishes.include.empty())
        facts.options.emplace_back("include", filters::text_of(wishes.include));
    if (!wishes.exclude.empty())
        facts.options.emplace_back("exclude", filters::text_of(wishes.exclude));
    return facts;
}

template<class Preprocessors>
void name_preprocessors(run_facts& facts, Preprocessors const& all) {
    std::apply([&](auto const&... one) { (facts.preprocessors.emplace_back(one.name), ...); }, all);
}

/// What sinks write, by the path that they have.
template<class Sinks>
void name_sinks(run_facts& facts, Sinks const& all) {
    [[maybe_unused]] auto const name = [&](auto const& sink) {
        if constexpr (requires { std::string{sink.path}; })
            if (!sink.path.empty())
                facts.options.emplace_back(sink.name, sink.path);
    };
    std::apply([&](auto const&... one) { (name(one), ...); }, all);
}

/// What the profilers said.
inline void take_notes(run_facts& facts, run_notes notes) {
    facts.conventions = std::move(notes.conventions);
    facts.peaks = std::move(notes.peaks);
    facts.warnings.insert(facts.warnings.end(), notes.warnings.begin(), notes.warnings.end());
}

}  // namespace component_benchmark::detail
