// provider -> every metric -> table, files: the pipeline of programs that profile a model in one
// shape
#pragma once

#include "command_line.hpp"
#include "show_report.hpp"
#include <component_benchmark/component_benchmark.hpp>
#include <component_benchmark/resume.hpp>

#include <string>
#include <utility>

/// What an earlier run has left in the journal, if that is to be gone on with.
[[nodiscard]] inline auto recorded(command_line::journal_options const& journal) {
    using run = decltype(component_benchmark::read_journal(journal.path));
    return journal.resume ? component_benchmark::read_journal(journal.path) : run{nullptr};
}

/// Profiles with all that is measured by the component, and prints the table. False when a file
/// could not be written. An empty path writes no file.
template<class Provider>
[[nodiscard]] bool profile_everything(Provider&& provider, std::string const& json,
                                      command_line::journal_options const& journal) {
    namespace cb = component_benchmark;
    auto pipeline =
        cb::pipeline{cb::preprocessors{},
                     cb::profilers{cb::model_size{}, cb::latency{}, cb::flops{}, cb::throughput{},
                                   cb::mfu{}, cb::bandwidth{}, cb::roofline{}},
                     cb::sinks{cb::json{json}, cb::journal{journal.path}},
                     cb::options{.resume = recorded(journal)}};
    return show_report(pipeline.run(std::forward<Provider>(provider)));
}
