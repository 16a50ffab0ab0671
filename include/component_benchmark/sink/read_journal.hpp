// run.journal -> SINK -> pipeline: what a journal holds, for a run that goes on with it
#pragma once

#include <component_benchmark/core/error.hpp>
#include <component_benchmark/core/text.hpp>
#include <component_benchmark/result/recorded_run.hpp>
#include <component_benchmark/sink/journal_head.hpp>
#include <component_benchmark/sink/json_source.hpp>

#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

namespace component_benchmark {

namespace detail {

/// Reads a journal line by line. A line without its end was being written when the run ended, and
/// one that is no JSON was not written by a journal: neither counts.
class journal_reader {
public:
    using json = nlohmann::json;

    explicit journal_reader(std::string path) : from_{path} { found_.path = std::move(path); }

    [[nodiscard]] recorded_run read() {
        auto const shown = "'" + text::printable(from_.path()) + "'";
        struct stat facts {};
        if (::stat(from_.path().c_str(), &facts) != 0) {
            if (errno != ENOENT)
                cannot_read(errno);
            remark("nothing is resumed: " + shown + " does not exist");
            return std::move(found_);
        }
        if (!S_ISREG(facts.st_mode))
            throw error{"cannot read " + shown + ": it is not a file"};
        errno = 0;
        std::ifstream file{from_.path(), std::ios::binary};
        if (!file)
            cannot_read(errno);
        for (std::string line; std::getline(file, line);) {
            ++from_.line;
            read_line(line, !file.eof());
        }
        if (file.bad())
            cannot_read(errno);
        if (found_.report.nodes.empty())
            remark("nothing is resumed: " + shown + " has no whole line");
        for (auto const& sets : samples_)
            found_.report.samples.insert(found_.report.samples.end(), sets.begin(), sets.end());
        return std::move(found_);
    }

private:
    void remark(std::string sentence) { found_.remarks.push_back(std::move(sentence)); }

    [[noreturn]] void cannot_read(int code) const {
        throw error{"cannot read '" + text::printable(from_.path()) +
                    "': " + std::generic_category().message(code)};
    }

    void read_line(std::string const& line, bool is_whole) {
        if (from_.line == 1 && !begins_a_journal(line))
            from_.refuse("this is no journal");
        if (!is_whole)
            return;
        auto const parsed = json::parse(line, nullptr, false);
        if (from_.line == 1) {
            if (!parsed.is_object())
                from_.refuse("the first line of the journal is broken");
            start(parsed);
        } else if (parsed.is_object()) {
            read_row(parsed);
        } else {
            remark("line " + std::to_string(from_.line) + " of '" + text::printable(from_.path()) +
                   "' is broken; what it had is measured again");
        }
    }

    void start(json const& head) {
        auto& report = found_.report;
        report = journal_head_reader{from_}.read(head);
        found_.finished.resize(report.nodes.size());
        samples_.resize(report.nodes.size());
        calls_.resize(report.nodes.size());
        for (std::size_t row = 0; row < report.nodes.size(); ++row)
            rows_.emplace(report.nodes[row].path, row);
        for (std::size_t number = 0; number < report.calls.size(); ++number)
            calls_[report.calls[number].row].push_back(number);
        for (auto& column : report.columns)
            column.cells.resize(report.nodes.size());
    }

    /// Of several lines of one component the last counts.
    void read_row(json const& line) {
        auto const path = from_.words(from_.at(line, "path"), "path");
        auto const known = rows_.find(path);
        if (known == rows_.end())
            from_.refuse("there is no component '" + text::printable(path) + "' in the first line");
        auto const row = known->second;
        auto& facts = found_.report.nodes[row];
        facts.state = status_named(from_.words(from_.at(line, "status"), "status"));
        auto const* reason = json_source::find(line, "reason");
        facts.reason = reason == nullptr ? "" : from_.words(*reason, "reason");
        auto const& values = from_.object(line, "values");
        for (auto& column : found_.report.columns)
            column.cells[row] = read_cell(column, from_.at(values, column.id),
                                          json_source::find(values, column.id + ":from"),
                                          json_source::find(values, column.id + ":why"));
        read_calls(from_.object(line, "calls"), calls_[row]);
        read_samples(from_.list(line, "samples"), row);
        found_.finished[row] = true;
    }

    [[nodiscard]] status status_named(std::string const& name) const {
        for (auto const one : {status::ok, status::estimated, status::reused, status::failed,
                               status::not_called, status::filtered, status::opaque})
            if (name == name_of(one))
                return one;
        from_.refuse("'status' is '" + text::printable(name) + "', which is none");
    }

    [[nodiscard]] cell read_cell(column const& of, json const& value, json const* from,
                                 json const* why) const {
        cell made;
        if (!value.is_null()) {
            auto const last = static_cast<std::int64_t>(origin::unavailable) - 1;
            auto const code = from == nullptr ? 0 : from_.integer(*from, of.id + ":from", 0, last);
            made.from = static_cast<origin>(code);
            if (of.kind == unit_kind::text)
                made.value = from_.words(value, of.id);
            else if (of.integer && value.is_number_integer())
                made.value =
                    from_.integer(value, of.id, (std::numeric_limits<std::int64_t>::min)());
            else
                made.value = from_.number(value, of.id);
        }
        if (why != nullptr)
            made.why = from_.words(*why, of.id + ":why");
        return made;
    }

    void read_calls(json const& values, std::vector<std::size_t> const& calls) {
        for (auto& column : found_.report.columns) {
            if (json_source::find(values, column.id) == nullptr)
                continue;
            auto const list_of = [&](std::string const& key) {
                return json_source::find(values, key) == nullptr
                           ? nullptr
                           : &from_.list(values, key, calls.size());
            };
            auto const* all = list_of(column.id);
            auto const* origins = list_of(column.id + ":from");
            auto const* reasons = list_of(column.id + ":why");
            column.calls.resize(found_.report.calls.size());
            for (std::size_t index = 0; index < calls.size(); ++index)
                column.calls[calls[index]] = read_cell(
                    column, (*all)[index], origins == nullptr ? nullptr : &(*origins)[index],
                    reasons == nullptr ? nullptr : &(*reasons)[index]);
        }
    }

    void read_samples(json const& sets, std::size_t row) {
        samples_[row].clear();
        for (auto const& one : sets) {
            if (!one.is_object())
                from_.refuse("an entry of 'samples' is not an object");
            sample_set made;
            made.column = from_.words(from_.at(one, "metric"), "metric");
            auto const& calls = calls_[row];
            made.call = calls[from_.index(from_.at(one, "call"), "call", calls.size())];
            for (auto const& value : from_.list(one, "values"))
                made.values.push_back(value.is_null() ? std::numeric_limits<double>::quiet_NaN()
                                                      : from_.number(value, "values"));
            samples_[row].push_back(std::move(made));
        }
    }

    json_source from_;
    recorded_run found_;
    std::unordered_map<std::string, std::size_t> rows_;  // by path
    std::vector<std::vector<std::size_t>> calls_;        // of each row
    std::vector<std::vector<sample_set>> samples_;       // of each row
};

}  // namespace detail

/// What a run has measured before it ended, for `options::resume`. A journal that does not exist is
/// one of a run that measured nothing; what cannot be used is an `error` with the line.
[[nodiscard]] inline std::shared_ptr<recorded_run const> read_journal(std::string const& path) {
    return std::make_shared<recorded_run const>(detail::journal_reader{path}.read());
}

}  // namespace component_benchmark
