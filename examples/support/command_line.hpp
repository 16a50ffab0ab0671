// every example program with options: what it accepts, and how it complains
#pragma once

#include "models/shown.hpp"
#include <component_benchmark/core/text.hpp>

#include <CLI/CLI.hpp>

#include <c10/util/Exception.h>

#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>

namespace command_line {

// More threads than these take minutes to start.
inline constexpr std::size_t most_threads = 1024;

/// What is expected of an option's value, said with what was typed.
[[nodiscard]] inline CLI::Validator whole_number(std::size_t least, std::size_t most) {
    auto const range = std::to_string(least) + " to " + std::to_string(most);
    return {[=](std::string& text) -> std::string {
                std::size_t number = 0;
                auto const* const end = text.data() + text.size();
                auto const [stop, error] = std::from_chars(text.data(), end, number);
                if (error != std::errc{} || stop != end || number < least || number > most)
                    return "expected " + range + ", given " +
                           (text.empty() ? "an empty text" : models::shown(text));
                text = std::to_string(number);  // CLI11 would read 010 as 8
                return {};
            },
            range};
}

/// Refuses an empty text where a thing is expected.
[[nodiscard]] inline CLI::Validator some(std::string const& thing) {
    return {[=](std::string& text) {
                return text.empty() ? "expected " + thing + ", given an empty text" : std::string{};
            },
            ""};
}

/// Options that every program has.
inline void add_threads(CLI::App& app, int& threads) {
    app.add_option("--threads", threads, "threads of LibTorch")
        ->transform(whole_number(1, most_threads));
}
inline void add_json(CLI::App& app, std::string& path) {
    app.add_option("--json", path, "write the report to this file")->check(some("a file"));
}

struct journal_options {
    std::string path;
    bool resume = false;
};

inline void add_journal(CLI::App& app, journal_options& to) {
    auto* const path =
        app.add_option("--journal", to.path, "keep each component here as soon as it is measured")
            ->check(some("a file"));
    app.add_flag("--resume", to.resume,
                 "with --journal: go on with what a run that was killed has left there")
        ->needs(path);
}

namespace detail {

inline void complain(CLI::App const& app, std::string_view sentence) {
    std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(),
                 component_benchmark::text::printable(sentence).c_str());
}

// What was printed is the result: a success whose output was lost is none.
[[nodiscard]] inline int finish(CLI::App const& app, int status) {
    errno = 0;
    auto const lost = std::ferror(stdout) != 0;  // then the reason is gone
    if ((std::fclose(stdout) == 0 && !lost) || status != 0)
        return status;
    complain(app, "not everything could be printed" +
                      (errno == 0 ? "" : ": " + std::generic_category().message(errno)));
    return 1;
}

}  // namespace detail

/// The body of `main`: runs `program`, which parses with `app` and returns whether all went well.
/// Whatever it throws is one sentence on the error output.
template<class Program>
[[nodiscard]] int run(CLI::App& app, Program program) {
    // Or the next file that is opened takes its place and is printed into.
    if (::fcntl(STDOUT_FILENO, F_GETFD) < 0) {
        detail::complain(app, "the standard output is closed");
        return 1;
    }
    auto status = 1;
    try {
        status = program() ? 0 : 1;
    } catch (CLI::ParseError const& error) {
        status = app.exit(error);
    } catch (c10::Error const& error) {
        detail::complain(app, error.what_without_backtrace());
    } catch (std::exception const& error) {
        detail::complain(app, error.what());
    }
    return detail::finish(app, status);
}

}  // namespace command_line
