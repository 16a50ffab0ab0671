#include "support/catch2.hpp"
#include "support/environment_variable.hpp"
#include "support/golden.hpp"
#include "support/sample_document.hpp"
#include <component_benchmark/sink/table.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sstream>
#include <string>
#include <sys/ioctl.h>
#include <unistd.h>
#include <vector>

namespace cb = component_benchmark;
using cb::test::environment_variable;

namespace {

std::vector<std::string> lines_of(std::string const& text) {
    std::vector<std::string> lines;
    std::istringstream stream{text};
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    return lines;
}

/// The first line that contains `part`.
std::string line_with(std::string const& text, std::string const& part) {
    for (auto const& line : lines_of(text))
        if (line.find(part) != std::string::npos)
            return line;
    return {};
}

bool contains(std::string const& text, std::string const& part) {
    return text.find(part) != std::string::npos;
}

std::string without_colour(std::string text) {
    for (std::size_t start; (start = text.find("\x1b[")) != std::string::npos;)
        text.erase(start, text.find('m', start) - start + 1);
    return text;
}

/// A terminal that nobody looks at.
class pseudo_terminal {
public:
    explicit pseudo_terminal(unsigned short columns) : master_{::posix_openpt(O_RDWR | O_NOCTTY)} {
        if (master_ < 0 || ::grantpt(master_) != 0 || ::unlockpt(master_) != 0)
            return;
        ::winsize const size{24, columns, 0, 0};
        ::ioctl(master_, TIOCSWINSZ, &size);
        int const slave = ::open(::ptsname(master_), O_RDWR | O_NOCTTY);
        file_ = slave < 0 ? nullptr : ::fdopen(slave, "w");
    }
    pseudo_terminal(pseudo_terminal const&) = delete;
    pseudo_terminal& operator=(pseudo_terminal const&) = delete;
    ~pseudo_terminal() {
        if (file_ != nullptr)
            std::fclose(file_);
        ::close(master_);
    }

    [[nodiscard]] std::FILE* file() const noexcept { return file_; }

private:
    int master_;
    std::FILE* file_ = nullptr;
};

}  // namespace

TEST_CASE("the table is what it was") {
    auto const report = cb::test::sample_document();
    cb::test::check_golden("table_80.txt", cb::to_table(report, 80));
    cb::test::check_golden("table_120.txt", cb::to_table(report, 120));
}

TEST_CASE("no line is wider than the terminal") {
    for (auto const& report :
         {cb::document{}, cb::test::sample_document(), cb::test::hostile_document()})
        for (int width = 40; width <= 200; ++width)
            for (auto const& line : lines_of(cb::to_table(report, width))) {
                INFO(width << ": " << line);
                CHECK(cb::text::display_width(line) <= static_cast<std::size_t>(width));
                CHECK((line.empty() || line.back() != ' '));
            }
}

TEST_CASE("nothing of a name reaches the terminal but text") {
    auto const table = cb::to_table(cb::test::hostile_document(), 200);
    for (auto const& line : lines_of(table))
        CHECK(cb::text::printable(line) == line);
}

TEST_CASE("the total is shown where a call is repeated; elsewhere it repeats the latency") {
    auto report = cb::test::sample_document();
    CHECK_FALSE(contains(cb::to_table(report, 300), "Total"));
    report.nodes[4].calls = 2;
    CHECK(contains(cb::to_table(report, 300), "Total"));
}

TEST_CASE("every metric is in the table, or is named under it") {
    auto report = cb::test::sample_document();
    report.nodes[4].calls = 2;  // or the total is left out
    for (int width = 40; width <= 200; ++width) {
        auto table = cb::to_table(report, width);
        std::replace(table.begin(), table.end(), '\n', ' ');
        for (auto const& column : report.columns) {
            auto const label = column.label.substr(0, column.label.find(' '));
            INFO(width << " " << column.id);
            CHECK((contains(table, column.id) || contains(table, label)));
        }
    }
    CHECK_FALSE(contains(cb::to_table(report, 300), "hidden"));
    CHECK(contains(cb::to_table(report, 300), "12.35 G"));
}

TEST_CASE("the first columns stay when the terminal is narrow") {
    auto const table = cb::to_table(cb::test::sample_document(), 60);
    CHECK(contains(table, "Latency"));
    CHECK_FALSE(contains(line_with(table, "Component"), "Parameters"));
    CHECK_FALSE(contains(table, "hidden"));
    auto const below = table.find("Parameters");
    REQUIRE(below != std::string::npos);  // beside the tree once more, without the failed row
    CHECK(contains(table.substr(below), "dense_arch"));
    CHECK_FALSE(contains(table.substr(below), "3  ReLU"));
}

TEST_CASE("a long tree stands once, and names the columns that are hidden") {
    auto report = cb::test::large_document(150);
    report.facts.options = {{"json", "report.json"}};
    auto const table = cb::to_table(report, 60);
    CHECK(contains(table, "hidden, no room: "));
    CHECK(contains(table, "report.json)\n"));
    CHECK(table.find("layer_120") == table.rfind("layer_120"));
}

TEST_CASE("a row says where its numbers come from") {
    auto const table = cb::to_table(cb::test::sample_document(), 120);
    CHECK(contains(line_with(table, " dense_arch"), "~0.1602"));
    CHECK(contains(line_with(table, " model  Sequential"), "\u22650.1591"));
    CHECK(contains(line_with(table, " t2 "), "=0.03340"));
    CHECK(contains(line_with(table, " embedding_bag_collection"), "!-0.002100"));
    CHECK(contains(line_with(table, " 3  ReLU"), "failed: a leaf that requires grad"));
    CHECK(contains(line_with(table, " embedding_bags  "), "not called"));
    CHECK(contains(line_with(table, " fm  "), "opaque: argument 2 is a raw pointer"));
    CHECK(contains(line_with(table, " t4 "), "\u2192 sparse_arch."));
    CHECK(contains(table, "2 rows filtered\n"));
    CHECK(contains(table, "~ estimated from children; \u2265 lower bound; = measured on an"));
}

TEST_CASE("a row below a filtered one is named by what no row above shows") {
    auto const table = cb::to_table(cb::test::sample_document(), 120);
    CHECK(contains(table, "\n      dense_module.1  ReLU"));
}

TEST_CASE("a number that is not known is a dash") {
    auto report = cb::test::large_document(3);
    report.columns[0].cells[1] = {{}, cb::origin::unavailable, "because"};
    report.columns[2].cells[2] = {std::nan(""), cb::origin::measured, {}};
    auto const table = cb::to_table(report, 120);
    CHECK(contains(line_with(table, "layer_1"), "\u2013"));
    CHECK(contains(line_with(table, "layer_2"), "\u2013"));
    CHECK(contains(table, "\u2013 not available"));
}

TEST_CASE("a metric that nobody could measure is named with the reason") {
    auto report = cb::test::large_document(3);
    for (auto& cell : report.columns[1].cells)
        cell = {{}, cb::origin::unavailable, "the output needs no gradient\nstack"};
    auto const table = cb::to_table(report, 120);
    CHECK(contains(table, "no values: latency_bwd_ms (the output needs no gradient)\n"));
    CHECK_FALSE(contains(table, "backward"));
}

TEST_CASE("colour adds nothing but colour") {
    auto const report = cb::test::sample_document();
    auto const coloured = cb::to_table(report, 100, true);
    CHECK(contains(coloured, "\x1b[31m38.9\x1b[0m"));
    CHECK(without_colour(coloured) == cb::to_table(report, 100));
    CHECK_FALSE(contains(coloured.substr(coloured.rfind("\n\n")), "\x1b"));
}

TEST_CASE("the summary has at most ten lines") {
    for (auto const& report : {cb::document{}, cb::test::sample_document(),
                               cb::test::hostile_document(), cb::test::large_document(100)})
        for (std::size_t width : {40U, 80U, 200U})
            CHECK(lines_of(cb::to_summary(report, width)).size() <= 10);
}

TEST_CASE("the summary says what took the time, what failed and what to read") {
    auto const summary = cb::to_summary(cb::test::sample_document(), 120);
    CHECK(contains(summary, "SimpleDeepFMNN: 20 components, forward 0.4123 ms a step, backward"));
    CHECK(contains(summary, "  1. 0.1004 ms self, 24.3 %: dense_arch.model.0 (Linear)\n"));
    CHECK(contains(summary, "1 failed, first: "));
    CHECK(contains(summary, "isolated children exceed their parent in 1 row"));
    CHECK(contains(summary, "model state: unchanged, verified by value (parameters, buffers)\n"));
    CHECK(contains(summary, "read next: report.json"));
}

TEST_CASE("the summary says when the total is an estimate") {
    auto report = cb::test::large_document(3);
    report.columns[2].cells[0] = {1.5, cb::origin::estimated, {}};
    CHECK(contains(cb::to_summary(report), "forward ~1.500 ms a step"));
    report.columns[2].cells[0].why = "lower bound: layer_1 has no value";
    CHECK(contains(cb::to_summary(report), "forward \u22651.500 ms a step"));
}

TEST_CASE("a state that was not compared is never called unchanged") {
    auto report = cb::test::sample_document();
    report.facts.unchanged = {};
    CHECK(contains(cb::to_summary(report), "model state: not verified"));
    report.facts.unchanged.not_compared = {"undeclared state"};
    CHECK(contains(cb::to_summary(report),
                   "model state: not verified; not compared: undeclared state\n"));
    report.facts.unchanged = {true, {"parameters"}, {"the user's generator"}, {}};
    CHECK(contains(cb::to_summary(report),
                   "unchanged (parameters); not compared: "
                   "the user's generator\n"));
    CHECK_FALSE(contains(cb::to_summary(report), "verified"));
    report.facts.unchanged = {true, {"parameters"}, {}, {"bn.running_mean"}};
    CHECK(contains(cb::to_summary(report),
                   "1 tensor that had changed put back, then equal by value (parameters)"));
    CHECK_FALSE(contains(cb::to_summary(report), "unchanged"));
}

TEST_CASE("what was compared is not cut off at a hundred columns") {
    auto report = cb::test::sample_document();
    for (auto& column : report.columns)  // its sentence would take the second line's place
        for (auto& cell : column.cells)
            if (cell.number() < 0.0)
                cell.value = 0.0;
    std::vector<std::string> const compared{"161 parameters", "159 buffers", "3 arguments",
                                            "generators"};
    report.facts.unchanged = {true, compared, {"undeclared state"}, {"a", "b", "c"}};
    auto summary = cb::to_summary(report, 100);
    CHECK(contains(summary, "\nmodel state: 3 tensors that had changed put back, then equal by "));
    std::replace(summary.begin(), summary.end(), '\n', ' ');
    CHECK(contains(summary,
                   "by value (161 parameters, 159 buffers, 3 arguments, generators); "
                   "not compared: undeclared state read next"));
    report.facts.unchanged.not_compared.assign(100, "a tensor on another device");
    report.facts.unchanged.changed.clear();
    summary = cb::to_summary(report, 100);
    CHECK(lines_of(summary).size() <= 10);
    CHECK(contains(summary, "\u2026\nread next"));
}

TEST_CASE("an alias is not counted as a component that was not called or failed") {
    auto report = cb::test::large_document(4);
    report.nodes[1].state = cb::status::not_called;
    report.nodes[2].state = cb::status::not_called;
    report.nodes[2].alias_of = 3;
    CHECK(contains(cb::to_summary(report), "model: 3 components"));
    CHECK(contains(cb::to_summary(report), "none failed; 1 not called\n"));
    report.nodes[1].alias_of = 3;
    CHECK_FALSE(contains(cb::to_summary(report), "not called"));
    report.nodes[1].state = report.nodes[3].state = cb::status::failed;
    CHECK(contains(cb::to_summary(report), "1 failed, first: layer_3"));
}

TEST_CASE("an empty report prints") {
    auto const table = cb::to_table({}, 80);
    CHECK(contains(table, "model: 0 components"));
}

TEST_CASE("ten thousand rows print") {
    CHECK(lines_of(cb::to_table(cb::test::large_document(10'000), 120)).size() > 10'000);
}

TEST_CASE("the table goes to a file without colour, a hundred columns wide") {
    environment_variable const columns{"COLUMNS", nullptr};
    std::FILE* const file = std::tmpfile();
    REQUIRE(file != nullptr);
    auto const report = cb::test::sample_document();
    cb::table{file}.write(report);
    std::rewind(file);
    std::string text(100'000, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file));
    std::fclose(file);
    CHECK(text == cb::to_table(report, 100, false));
}

TEST_CASE("a full disk is an error of the table too") {
    std::FILE* const full = std::fopen("/dev/full", "w");
    REQUIRE(full != nullptr);
    CHECK_THROWS_WITH(cb::table{full}.write(cb::test::sample_document()),
                      "component_benchmark: cannot print the table: No space left on device");
    std::fclose(full);
}

TEST_CASE("the terminal gives the width, and colour unless it is unwanted") {
    pseudo_terminal const terminal{57};
    if (terminal.file() == nullptr)
        return;  // no pseudo terminals on this machine
    environment_variable const columns{"COLUMNS", "77"};
    environment_variable const term{"TERM", "xterm"};
    environment_variable const wish{"NO_COLOR", ""};
    using cb::detail::columns_of_terminal;
    using cb::detail::shows_colour;
    CHECK(columns_of_terminal(terminal.file()) == 57);
    CHECK(shows_colour(terminal.file(), cb::colour::automatic));
    CHECK_FALSE(shows_colour(terminal.file(), cb::colour::never));
    {
        environment_variable const no_colour{"NO_COLOR", "1"};
        CHECK_FALSE(shows_colour(terminal.file(), cb::colour::automatic));
        CHECK(shows_colour(terminal.file(), cb::colour::always));
    }
    environment_variable const dumb{"TERM", "dumb"};
    CHECK_FALSE(shows_colour(terminal.file(), cb::colour::automatic));
}

TEST_CASE("without a terminal $COLUMNS gives the width") {
    std::FILE* const file = std::tmpfile();
    REQUIRE(file != nullptr);
    using cb::detail::columns_of_terminal;
    struct {
        char const* wish;
        int columns;
    } const wishes[] = {{"77", 77},  {nullptr, 100}, {"", 100},  {"0", 100},
                        {"-5", 100}, {"7x", 100},    {"10", 40}, {"99999999999999", 100}};
    for (auto const& each : wishes) {
        environment_variable const columns{"COLUMNS", each.wish};
        CHECK(columns_of_terminal(file) == each.columns);
    }
    std::fclose(file);
}
