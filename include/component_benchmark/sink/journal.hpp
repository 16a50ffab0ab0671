// result -> journal -> run.journal: each component as soon as it is finished, so that a killed run
// can go on
#pragma once

#include <component_benchmark/result/document.hpp>
#include <component_benchmark/sink/journal_lines.hpp>
#include <component_benchmark/sink/output_file.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace component_benchmark {

namespace detail {

/// What a journal knows of the run that goes on.
struct journal_state {
    std::vector<std::size_t> calls = {};   ///< numbers of calls, those of a row beside each other
    std::vector<std::size_t> starts = {};  ///< where in `calls` those of a row begin, and the end
    std::size_t last_row = 0;              ///< that was told of last
    std::size_t first_sample = 0;          ///< of that row, among the samples of the report
    std::size_t end_of_samples = 0;

    [[nodiscard]] std::vector<std::size_t> of(std::size_t row) const {
        auto const at = [this](std::size_t index) {
            return calls.begin() + static_cast<std::ptrdiff_t>(starts[index]);
        };
        return {at(row), at(row + 1)};
    }
};

template<class State>
void sort_calls(State& state, a_document auto const& report) {
    state.starts.assign(report.nodes.size() + 1, 0);
    for (auto const& one : report.calls)
        ++state.starts[one.row + 1];
    for (std::size_t row = 0; row < report.nodes.size(); ++row)
        state.starts[row + 1] += state.starts[row];
    auto next = state.starts;
    state.calls.resize(report.calls.size());
    for (std::size_t number = 0; number < report.calls.size(); ++number)
        state.calls[next[report.calls[number].row]++] = number;
}

/// Refuses a file that holds something else. (A template, as what follows: a file that runs no
/// pipeline does not pay for it.)
template<class Path>
void check_is_a_journal(Path const& path) {
    int const descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        cannot_write(path, "it is not known to be a journal: opening failed", errno);
    open_file file{descriptor, path};
    char beginning[journal_beginning.size()];
    auto const length = ::read(descriptor, beginning, sizeof beginning);
    if (length < 0)
        cannot_write(path, "it is not known to be a journal: reading failed", errno);
    if (!begins_a_journal({beginning, static_cast<std::size_t>(length)}))
        cannot_write(path, "there is a file that is not a journal, and it is not overwritten");
}

/// Adds lines in one piece; nothing of what stands there already is lost when that fails.
template<class Path>
void append_to_journal(Path const& path, std::string_view lines, bool sync) {
    auto const target = resolve(path);
    if (target.descriptor >= 0 || !target.replaced)
        return write_into(target, lines);
    int const descriptor = ::open(target.path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    if (descriptor < 0)
        cannot_write(path, "opening failed", errno);
    open_file file{descriptor, path};
    file.write(lines);
    if (sync)
        file.flush();
    file.close();
}

}  // namespace detail

/// The sink that writes a line for each component as it is finished. A run that is killed loses the
/// component that is being measured; `options::resume` goes on with the rest. An empty path writes
/// nothing. A journal that is there is replaced when a run begins, by one with the components that
/// the run takes over; a file of another kind is not.
struct journal {
    std::string path;
    bool sync = false;  ///< wait for the disk after each line: it survives a power cut, too
    detail::journal_state state_ = {};

    static constexpr char const* name = "journal";

    /// Throws `error` when `path` cannot be written or is no journal, before anything is measured.
    void check() const {
        if (path.empty())
            return;
        check_writable(path);
        auto const target = detail::resolve(path);
        if (target.exists && target.replaced && target.descriptor < 0)
            detail::check_is_a_journal(path);
    }

    void begin(a_document auto const& report) {
        if (path.empty())
            return;
        detail::sort_calls(state_, report);
        auto lines = detail::journal_head(report);
        std::size_t first_sample = 0;
        for (std::size_t row = 0; row < report.nodes.size(); ++row) {
            if (!report.nodes[row].resumed)
                continue;
            auto const calls = state_.of(row);
            lines += detail::journal_line(report, row, calls, first_sample);
            first_sample = detail::end_of_samples(report, calls, first_sample);
        }
        state_.last_row = report.nodes.size();
        state_.end_of_samples = first_sample;
        write_file(path, lines);
    }

    void component_done(a_document auto const& report, std::size_t row) {
        if (path.empty())
            return;
        if (row != state_.last_row)  // not a row of which there is more to say
            state_.first_sample = state_.end_of_samples;
        state_.last_row = row;
        state_.end_of_samples = report.samples.size();
        auto const line = detail::journal_line(report, row, state_.of(row), state_.first_sample);
        detail::append_to_journal(path, line, sync);
    }

    /// Nothing is left to be written. The file stays.
    void write(a_document auto const&) const noexcept {}
};

}  // namespace component_benchmark
