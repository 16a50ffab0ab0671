#include "support/catch2.hpp"
#include <component_benchmark/pipeline/progress.hpp>

#include <cstdint>
#include <cstdio>
#include <string>

namespace cb = component_benchmark;
using cb::detail::progress;
using cb::detail::progress_text;

namespace {

std::int64_t now = 0;
std::int64_t test_clock() noexcept {
    return now;
}
int forty_columns(std::FILE*) {
    return 40;
}
int unknown_columns(std::FILE*) {
    return 0;
}

constexpr std::int64_t millisecond = 1'000'000;

/// A file that is said to be a terminal, and what was written to it since it was asked last.
class pretended_terminal {
public:
    pretended_terminal() : file_{std::tmpfile()} { REQUIRE(file_ != nullptr); }
    pretended_terminal(pretended_terminal const&) = delete;
    pretended_terminal& operator=(pretended_terminal const&) = delete;
    ~pretended_terminal() { std::fclose(file_); }

    [[nodiscard]] std::FILE* file() const noexcept { return file_; }

    std::string written() {
        std::string text;
        std::fseek(file_, read_, SEEK_SET);
        for (int letter = std::fgetc(file_); letter != EOF; letter = std::fgetc(file_))
            text += static_cast<char>(letter);
        std::fseek(file_, 0, SEEK_END);
        read_ = std::ftell(file_);
        return text;
    }

private:
    std::FILE* file_;
    long read_ = 0;
};

}  // namespace

TEST_CASE("progress is one line, after a second, ten times a second, and goes away", "[progress]") {
    pretended_terminal terminal;
    now = 5'000 * millisecond;
    {
        progress line{terminal.file(), true, &unknown_columns, &test_clock};
        line.show(1, 55, "Model");
        now += 999 * millisecond;
        line.show(2, 55, "sparse_arch");
        CHECK(terminal.written().empty());
        now += 1 * millisecond;
        line.show(12, 55, "inter_arch.over_arch");
        CHECK(terminal.written() ==
              "\rcomponent_benchmark: 12/55 components, inter_arch.over_arch\x1b[K");
        now += 99 * millisecond;
        line.show(13, 55, "a");
        CHECK(terminal.written().empty());
        now += 1 * millisecond;
        line.show(14, 55, "b");
        CHECK(terminal.written() == "\rcomponent_benchmark: 14/55 components, b\x1b[K");
        line.clear();
        CHECK(terminal.written() == "\r\x1b[K");
        line.clear();
        CHECK(terminal.written().empty());
        now += 100 * millisecond;
        line.show(15, 55, "c");
        CHECK_FALSE(terminal.written().empty());
    }
    CHECK(terminal.written() == "\r\x1b[K");
}

TEST_CASE("a short run shows no progress", "[progress]") {
    pretended_terminal terminal;
    {
        progress line{terminal.file(), true, &unknown_columns, &test_clock};
        line.show(1, 2, "Model");
        line.show(2, 2, "a");
    }
    CHECK(terminal.written().empty());
}

TEST_CASE("no progress where there is no terminal", "[progress]") {
    pretended_terminal terminal;
    {
        progress line{terminal.file(), false, &unknown_columns, &test_clock};
        now += 9'000 * millisecond;
        line.show(1, 2, "Model");
        progress asked{terminal.file()};  // finds out by itself
        asked.show(1, 2, "Model");
    }
    CHECK(terminal.written().empty());
}

TEST_CASE("progress takes one line of the terminal, whatever the names are", "[progress]") {
    CHECK(progress_text(3, 5, "inter_arch.over_arch", 50) ==
          "component_benchmark: 3/5 components, inter_\u2026r_arch");
    CHECK(progress_text(3, 5, "a\nb\x1b[2J", 79) ==
          "component_benchmark: 3/5 components, a b\uFFFD[2J");
    std::string const wide = "\u6a21\u578b\u6a21\u578b\u6a21\u578b\u6a21\u578b\u6a21\u578b";
    for (auto const* name : {"", "x", "inter_arch.over_arch", wide.c_str()})
        for (std::size_t width = 0; width < 100; ++width) {
            INFO(name << " in " << width);
            CHECK(cb::text::display_width(progress_text(123, 4567, name, width)) <= width);
        }
    pretended_terminal terminal;
    progress line{terminal.file(), true, &forty_columns, &test_clock};
    now += 2'000 * millisecond;
    line.show(3, 5, "inter_arch.over_arch");
    // the last column stays free
    CHECK(terminal.written() == "\r" + progress_text(3, 5, "inter_arch.over_arch", 39) + "\x1b[K");
}
