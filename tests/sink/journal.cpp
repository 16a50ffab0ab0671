#include "support/catch2.hpp"
#include "support/golden.hpp"
#include "support/sample_document.hpp"
#include "support/temporary_folder.hpp"
#include <component_benchmark/resume.hpp>
#include <component_benchmark/sink/journal.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace cb = component_benchmark;
using Catch::Matchers::ContainsSubstring;
using cb::test::read_file;

namespace {

void write(std::string const& path, std::string const& content) {
    std::ofstream{path, std::ios::binary} << content;
}

/// All rows of a report, as a run would leave them, whose samples stand behind each other.
void keep(std::string const& path, cb::document const& report) {
    cb::journal sink{path};
    auto told = report;
    told.samples.clear();
    sink.begin(told);
    for (std::size_t row = 0; row < report.nodes.size(); ++row) {
        for (auto const& set : report.samples)
            if (report.calls[set.call].row == row)
                told.samples.push_back(set);
        sink.component_done(told, row);
    }
    sink.write(told);
}

/// The journal of a root with the children a and b, each with one number, and its lines.
struct small_journal {
    cb::test::temporary_folder folder;
    std::string path = folder / "run.journal";
    cb::document report;
    std::vector<std::string> lines;

    small_journal() {
        cb::test::document_builder make;
        make.report.columns.push_back(cb::test::sample_columns()[0]);
        make.report.columns.push_back(cb::test::sample_columns()[4]);
        auto const root = make.add(-1, "", "Root");
        make.shapes(root, "[1]", "[1]");
        for (auto const* name : {"a", "b"}) {
            auto const row = make.add(root, name, "Leaf");
            make.shapes(row, "[1]", "[1]");
            make.set(row, "latency_ms", 0.5);
            make.set(row, "params", std::int64_t{7});
        }
        make.report.columns[0].calls.resize(3);
        make.report.columns[0].calls[1] = {0.5, cb::origin::measured, {}};
        make.report.samples.push_back({"latency_ms", 1, {0.5, 0.25}});
        report = std::move(make.report);
        keep(path, report);
        std::ifstream file{path};
        for (std::string line; std::getline(file, line);)
            lines.push_back(line);
    }

    void with_lines(std::vector<std::string> const& all, std::string const& rest = {}) const {
        std::string content;
        for (auto const& line : all)
            content += line + "\n";
        write(path, content + rest);
    }

    /// In line `number`, `what` becomes `other`.
    void change(std::size_t number, std::string const& what, std::string const& other) const {
        auto changed = lines;
        auto& line = changed[number - 1];
        REQUIRE(line.find(what) != std::string::npos);
        line.replace(line.find(what), what.size(), other);
        with_lines(changed);
    }

    [[nodiscard]] std::string refusal() const {
        try {
            static_cast<void>(cb::read_journal(path));
        } catch (cb::error const& refused) {
            std::string text = refused.what();
            auto const at = text.find(path);
            return at == std::string::npos ? text : text.replace(at, path.size(), "J");
        }
        return "nothing was refused";
    }
};

std::string const cannot = "component_benchmark: cannot read 'J', line ";

}  // namespace

TEST_CASE("a journal is a line for the run and one for each component", "[journal]") {
    cb::test::temporary_folder const folder;
    auto const path = folder / "run.journal";
    keep(path, cb::test::sample_document());
    cb::test::check_golden("run.journal", read_file(path));
    CHECK(folder.entries() == 1);
}

TEST_CASE("what a journal has is read again with every digit", "[journal]") {
    cb::test::temporary_folder const folder;
    auto const path = folder / "run.journal";
    auto report = cb::test::sample_document();
    auto& latency = report.columns[0];
    latency.cells[1] = {0.1 + 0.2, cb::origin::derived, "odd"};
    latency.cells[2] = {1.0, cb::origin::measured, {}};
    latency.calls[1] = {1.0 / 3.0, cb::origin::measured, "so it is"};
    latency.calls[2] = {{}, cb::origin::unavailable, "no reason"};
    report.columns[4].cells[1] = {
        (std::numeric_limits<std::int64_t>::max)(), cb::origin::measured, {}};
    report.samples[1].values = {0.1 + 0.2, 1e-300, 7.0};
    keep(path, report);
    auto const found = cb::read_journal(path);
    CHECK(found->remarks.empty());
    REQUIRE(found->report.nodes.size() == report.nodes.size());
    for (std::size_t row = 0; row < report.nodes.size(); ++row) {
        INFO(report.nodes[row].path);
        auto const& now = found->report.nodes[row];
        CHECK(found->finished[row]);
        CHECK(now.path == report.nodes[row].path);
        CHECK(now.type == report.nodes[row].type);
        CHECK(now.alias_of == report.nodes[row].alias_of);
        CHECK(now.state == report.nodes[row].state);
        CHECK(now.reason == report.nodes[row].reason);
        CHECK(now.in_shapes == report.nodes[row].in_shapes);
        for (std::size_t index = 0; index < report.columns.size(); ++index) {
            auto const& then = report.columns[index].cells[row];
            auto const& cell = found->report.columns[index].cells[row];
            CHECK(cell.value == then.value);
            CHECK(cell.from == (then.has_value() ? then.from : cb::origin::unavailable));
            CHECK(cell.why == then.why);
        }
    }
    REQUIRE(found->report.columns[0].calls.size() == report.calls.size());
    for (std::size_t number = 0; number < report.calls.size(); ++number) {
        CHECK(found->report.columns[0].calls[number].value == latency.calls[number].value);
        CHECK(found->report.columns[0].calls[number].why == latency.calls[number].why);
    }
    REQUIRE(found->report.samples.size() == 2);
    CHECK(found->report.samples[1].column == "latency_ms");
    CHECK(found->report.samples[1].call == 1);
    CHECK(found->report.samples[1].values == report.samples[1].values);
    CHECK(found->report.facts.conventions == report.facts.conventions);
    CHECK(found->report.facts.options == report.facts.options);
}

TEST_CASE("what is not a finite number is no value in a journal", "[journal]") {
    small_journal const made;
    auto report = made.report;
    report.columns[0].cells[1].value = std::numeric_limits<double>::infinity();
    report.samples[0].values = {std::nan(""), 1.0};
    keep(made.path, report);
    auto const found = cb::read_journal(made.path);
    CHECK_FALSE(found->report.columns[0].cells[1].has_value());
    CHECK(found->report.columns[0].cells[1].why == "not a finite number");
    CHECK(std::isnan(found->report.samples[0].values[0]));
}

TEST_CASE("names that break out of lines come back as they were", "[journal]") {
    cb::test::temporary_folder const folder;
    auto const path = folder / "run.journal";
    auto const report = cb::test::hostile_document();
    keep(path, report);
    auto const found = cb::read_journal(path);
    REQUIRE(found->report.nodes.size() == report.nodes.size());
    for (std::size_t row = 0; row < report.nodes.size(); ++row) {
        CHECK(found->finished[row]);
        if (report.nodes[row].name.rfind("bad utf-8", 0) != 0)
            CHECK(found->report.nodes[row].path == report.nodes[row].path);
    }
}

TEST_CASE("a line without its end does not count", "[journal]") {
    small_journal const made;
    for (std::size_t length = 0; length <= made.lines[3].size(); ++length) {
        made.with_lines({made.lines[0], made.lines[1], made.lines[2]},
                        made.lines[3].substr(0, length));
        auto const found = cb::read_journal(made.path);
        CHECK(found->remarks.empty());
        CHECK(found->finished == std::vector<bool>{true, true, false});
    }
    for (std::size_t length = 0; length <= made.lines[0].size(); length += 7) {
        write(made.path, made.lines[0].substr(0, length));
        auto const found = cb::read_journal(made.path);
        CHECK(found->finished.empty());
        REQUIRE(found->remarks.size() == 1);
        CHECK(found->remarks[0] == "nothing is resumed: '" + made.path + "' has no whole line");
    }
}

TEST_CASE("a journal that does not exist has nothing", "[journal]") {
    auto const found = cb::read_journal("/nowhere/run.journal");
    CHECK(found->finished.empty());
    REQUIRE(found->remarks.size() == 1);
    CHECK(found->remarks[0] == "nothing is resumed: '/nowhere/run.journal' does not exist");
}

TEST_CASE("a broken line is passed over and said", "[journal]") {
    small_journal const made;
    for (auto const& broken : {std::string{"not JSON"}, std::string(50, '\0'), std::string{},
                               std::string{"[1]"}, std::string(100'000, '[')}) {
        made.with_lines({made.lines[0], made.lines[1], broken, made.lines[3]});
        auto const found = cb::read_journal(made.path);
        CHECK(found->finished == std::vector<bool>{true, false, true});
        REQUIRE(found->remarks.size() == 1);
        CHECK(found->remarks[0] ==
              "line 3 of '" + made.path + "' is broken; what it had is measured again");
    }
    made.with_lines(made.lines, std::string(4096, '\0'));  // as a power cut leaves it
    CHECK(cb::read_journal(made.path)->finished == std::vector<bool>{true, true, true});
}

TEST_CASE("of two lines of one component the last counts, its samples too", "[journal]") {
    small_journal const made;
    auto again = made.lines[2];
    again.replace(again.find("\"latency_ms\": 0.5"), 17, "\"latency_ms\": 2.5");
    again.replace(again.find("[0.5, 0.25]"), 11, "[2.5]");
    made.with_lines({made.lines[0], made.lines[2], made.lines[1], again});
    auto const found = cb::read_journal(made.path);
    CHECK(found->report.columns[0].cells[1].number() == 2.5);
    REQUIRE(found->report.samples.size() == 1);
    CHECK(found->report.samples[0].values == std::vector<double>{2.5});
}

TEST_CASE("keys that nobody knows are passed over", "[journal]") {
    small_journal const made;
    auto changed = made.lines;
    for (auto& line : changed)
        line.replace(line.size() - 1, 1, ", \"later\": [{}]}");
    made.with_lines(changed);
    CHECK(cb::read_journal(made.path)->finished == std::vector<bool>{true, true, true});
}

TEST_CASE("what is no journal is refused by its name", "[journal]") {
    small_journal const made;
    write(made.path, "{\"schema\": \"component-benchmark/report\", \"version\": 1}\n");
    CHECK(made.refusal() == cannot + "1: this is no journal");
    write(made.path, std::string(20, '\0'));
    CHECK(made.refusal() == cannot + "1: this is no journal");
    write(made.path, "\n");
    CHECK(made.refusal() == cannot + "1: the first line of the journal is broken");
    write(made.path, "{\"schema\": \"component-benchmark/journal\", \n");
    CHECK(made.refusal() == cannot + "1: the first line of the journal is broken");
    made.change(1, "\"version\": 1", "\"version\": 2");
    CHECK(made.refusal() == cannot + "1: the journal has the version 2, and this library reads 1");
    CHECK_THROWS_WITH(cb::read_journal(made.folder.path()), ContainsSubstring("it is not a file"));
}

TEST_CASE("what a line may not have is refused with the line and the key", "[journal]") {
    small_journal const made;
    auto const refused = [&](std::size_t line, char const* what, char const* other,
                             std::string const& sentence) {
        INFO(other);
        made.change(line, what, other);
        CHECK(made.refusal() == cannot + std::to_string(line) + ": " + sentence);
    };
    auto const* const wrong_number = "and expected is a number";
    auto const* const wrong_index = "and expected is a whole number in its range";
    refused(3, "\"latency_ms\": 0.5", "\"latency_ms\": \"fast\"",
            std::string{"'latency_ms' is \"fast\", "} + wrong_number);
    refused(3, "\"latency_ms\": 0.5", "\"latency_ms\": [[[]]]",
            std::string{"'latency_ms' is a list, "} + wrong_number);
    refused(3, "\"latency_ms\": 0.5", "\"latency_ms\": true",
            std::string{"'latency_ms' is true, "} + wrong_number);
    refused(3, "\"latency_ms\": 0.5, ", "", "'latency_ms' is missing");
    refused(3, "\"params\": 7", "\"params\": {}",
            std::string{"'params' is an object, "} + wrong_number);
    refused(3, "\"params\": 7", "\"params\": 7, \"params:from\": 4",
            std::string{"'params:from' is 4, "} + wrong_index);
    refused(3, "\"params\": 7", "\"params\": 7, \"params:why\": 4",
            "'params:why' is 4, and expected is a text");
    refused(3, "\"params\": 7", "\"params\": 18446744073709551615",
            std::string{"'params' is 18446744073709551615, "} + wrong_index);
    refused(3, "\"path\": \"a\"", "\"path\": \"c\"", "there is no component 'c' in the first line");
    refused(3, "\"path\": \"a\"", "\"path\": null", "'path' is null, and expected is a text");
    refused(3, "\"status\": \"ok\"", "\"status\": \"fine\"", "'status' is 'fine', which is none");
    refused(3, "[0.5]", "[0.5, 0.5]", "'latency_ms' has 2 entries, and expected are 1");
    refused(3, "\"call\": 0", "\"call\": 1", std::string{"'call' is 1, "} + wrong_index);
    refused(3, "[0.5, 0.25]", "[0.5, []]", std::string{"'values' is a list, "} + wrong_number);
    refused(1, "\"parent\": [-1, 0, 0]", "\"parent\": [-1, 0, 2]",
            std::string{"'parent' is 2, "} + wrong_index);
    refused(1, "\"parent\": [-1, 0, 0]", "\"parent\": [-1, 0]",
            "'parent' has 2 entries, and expected are 3");
    refused(1, "\"node\": [0, 1, 2]", "\"node\": [0, 1, 3]",
            std::string{"'node' is 3, "} + wrong_index);
    refused(1, "\"type\": [3,", "\"type\": [99,", std::string{"'type' is 99, "} + wrong_index);
    refused(1, "\"threads\": 0", "\"threads\": -1", std::string{"'threads' is -1, "} + wrong_index);
    refused(1, "\"meta\":", "\"mata\":", "'meta' is missing");
    refused(1, "\"columns\": [", "\"columns\": [3, ", "an entry of 'columns' is not an object");
}

TEST_CASE("a journal is not begun where it cannot be", "[journal]") {
    cb::test::temporary_folder const folder;
    CHECK_THROWS_WITH(cb::journal{folder / "none/run.journal"}.check(),
                      ContainsSubstring("does not exist"));
    CHECK_THROWS_WITH(cb::journal{folder.path()}.check(), ContainsSubstring("it is a folder"));
    auto const notes = folder / "notes.txt";
    write(notes, "what I must not forget\n");
    CHECK_THROWS_WITH(cb::journal{notes}.check(),
                      "component_benchmark: cannot write '" + notes +
                          "': there is a file that is not a journal, and it is not overwritten");
    CHECK(read_file(notes) == "what I must not forget\n");
    auto const report = folder / "report.json";
    write(report, cb::to_json(cb::test::sample_document()));
    CHECK_THROWS_WITH(cb::journal{report}.check(), ContainsSubstring("not a journal"));
    CHECK(folder.entries() == 2);
    CHECK_NOTHROW(cb::journal{}.check());
}

TEST_CASE("a journal, whole or torn, and an empty file may be replaced", "[journal]") {
    small_journal const made;
    CHECK_NOTHROW(cb::journal{made.path}.check());
    write(made.path, made.lines[0].substr(0, 10));
    CHECK_NOTHROW(cb::journal{made.path}.check());
    write(made.path, "");
    CHECK_NOTHROW(cb::journal{made.path}.check());
    CHECK(read_file(made.path).empty());
}

TEST_CASE("lines are added behind those that are there, also when each waits for the disk",
          "[journal]") {
    small_journal const made;
    auto report = made.report;
    report.samples.clear();
    cb::journal sink{.path = made.path, .sync = true};
    sink.begin(report);
    CHECK(read_file(made.path) == made.lines[0] + "\n");
    sink.component_done(report, 0);
    CHECK(read_file(made.path) == made.lines[0] + "\n" + made.lines[1] + "\n");
    // what somebody takes away is not made anew without its first line
    ::unlink(made.path.c_str());
    CHECK_THROWS_WITH(sink.component_done(report, 1), ContainsSubstring("No such file"));
    CHECK(made.folder.entries() == 0);
}

TEST_CASE("a journal without a path is none", "[journal]") {
    cb::journal sink;
    auto const report = cb::test::sample_document();
    CHECK_NOTHROW(sink.begin(report));
    CHECK_NOTHROW(sink.component_done(report, 0));
}
