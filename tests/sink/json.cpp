#include "support/catch2.hpp"
#include "support/golden.hpp"
#include "support/sample_document.hpp"
#include "support/temporary_folder.hpp"
#include <component_benchmark/sink/json.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>

namespace cb = component_benchmark;
using parsed = nlohmann::json;

namespace {

std::string string_at(parsed const& report, parsed const& index) {
    return report["strings"].at(index.get<std::size_t>()).get<std::string>();
}

/// Every array of a table has a value a row, and texts point into the string table.
void check_table(parsed const& report, std::string const& table, std::size_t rows,
                 std::initializer_list<char const*> texts) {
    for (auto const& [key, values] : report[table].items()) {
        INFO(table << " " << key);
        CHECK(values.size() == rows);
        auto const is_why = key.size() > 4 && key.substr(key.size() - 4) == ":why";
        auto const is_text = std::find(texts.begin(), texts.end(), key) != texts.end();
        for (auto const& value : values)
            if ((is_why || is_text) && !value.is_null())
                CHECK(value.get<std::size_t>() < report["strings"].size());
    }
}

/// What a reader of the schema may rely on.
void check_schema(parsed const& report) {
    CHECK(report["schema"] == "component-benchmark/report");
    CHECK(report["version"] == 1);
    auto const& nodes = report["nodes"];
    auto const rows = nodes["name"].size();
    check_table(report, "nodes", rows,
                {"name", "type", "status", "reason", "in_shapes", "out_shapes", "dtypes"});
    check_table(report, "calls", report["calls"]["node"].size(),
                {"in_shapes", "out_shapes", "dtypes"});
    for (std::size_t i = 0; i < rows; ++i) {
        CHECK(nodes["parent"][i].get<std::int64_t>() < static_cast<std::int64_t>(i));
        CHECK(nodes["end"][i].get<std::size_t>() > i);
        CHECK(nodes["end"][i].get<std::size_t>() <= rows);
        if (!nodes["alias_of"][i].is_null())
            CHECK(nodes["alias_of"][i].get<std::size_t>() < rows);
    }
    for (auto const& row : report["calls"]["node"])
        CHECK(row.get<std::size_t>() < rows);
    for (auto const& column : report["columns"]) {
        auto const id = column["id"].get<std::string>();
        REQUIRE(nodes.contains(id));
        INFO(id);
        for (std::size_t i = 0; i < rows; ++i) {
            auto const from = nodes.contains(id + ":from") ? nodes[id + ":from"][i] : parsed{0};
            CHECK(nodes[id][i].is_null() == (from == 4));
        }
    }
    for (auto const& [id, samples] : report["samples"].items()) {
        CHECK(samples["call"].size() == samples["start"].size());
        for (auto const& start : samples["start"])
            CHECK(start.get<std::size_t>() <= samples["values"].size());
        for (auto const& call : samples["call"])
            CHECK(call.get<std::size_t>() < report["calls"]["node"].size());
    }
}

}  // namespace

TEST_CASE("the JSON report is what it was") {
    cb::test::check_golden("report.json", cb::to_json(cb::test::sample_document()));
}

TEST_CASE("the JSON report can be read back") {
    auto const document = cb::test::sample_document();
    auto const report = parsed::parse(cb::to_json(document));
    check_schema(report);
    for (std::size_t i = 0; i < document.nodes.size(); ++i) {
        CHECK(string_at(report, report["nodes"]["name"][i]) == document.nodes[i].name);
        CHECK(string_at(report, report["nodes"]["status"][i]) ==
              cb::name_of(document.nodes[i].state));
    }
    CHECK(report["nodes"]["params"][0] == 145'666);
    CHECK(report["nodes"]["latency_ms"][0] == Approx(0.41234));
    CHECK(report["nodes"]["total_ms:from"][0] == 1);
    CHECK(report["meta"]["unchanged"]["verified"] == true);
    CHECK(report["meta"]["options"]["json"] == "report.json");
    CHECK(report["samples"]["latency_ms"]["start"] == parsed{0, 3});
}

TEST_CASE("an empty report is valid") {
    auto const report = parsed::parse(cb::to_json({}));
    check_schema(report);
    CHECK(report["strings"].empty());
}

TEST_CASE("hostile names neither break the JSON nor a page around it") {
    auto const json = cb::to_json(cb::test::hostile_document());
    check_schema(parsed::parse(json));
    CHECK(json.find_first_of("<>&\x1b\x07\x7f") == std::string::npos);
    CHECK(json.find("\u2028") == std::string::npos);
}

TEST_CASE("ten thousand rows are written") {
    auto const report = parsed::parse(cb::to_json(cb::test::large_document(10'000)));
    CHECK(report["nodes"]["end"][0] == 10'000);
    CHECK(report["nodes"]["self_ms"].size() == 10'000);
}

TEST_CASE("a number that is not known is null and says why") {
    auto document = cb::test::large_document(5);
    document.columns.resize(1);
    auto& cells = document.columns[0].cells;
    cells[1] = {{}, cb::origin::unavailable, "out of memory"};
    cells[2] = {};
    cells[3] = {std::nan(""), cb::origin::measured, {}};
    cells.pop_back();  // a profiler that gave too few
    auto const report = parsed::parse(cb::to_json(document));
    auto const& nodes = report["nodes"];
    CHECK(nodes["latency_ms"] == parsed::parse("[0.001, null, null, null, null]"));
    CHECK(nodes["latency_ms:from"] == parsed::parse("[0, 4, 4, 4, 4]"));
    CHECK(string_at(report, nodes["latency_ms:why"][1]) == "out of memory");
    CHECK(nodes["latency_ms:why"][2].is_null());
    CHECK(string_at(report, nodes["latency_ms:why"][3]) == "not a finite number");
}

TEST_CASE("a number that is not finite is null and says so") {
    auto document = cb::test::large_document(4);
    document.columns.resize(1);
    auto const infinity = std::numeric_limits<double>::infinity();
    auto& column = document.columns[0];
    column.cells[1] = {infinity, cb::origin::measured, "a remark"};
    column.cells[2] = {-infinity, cb::origin::estimated, {}};
    column.cells[3] = {std::nan(""), cb::origin::measured, {}};
    for (bool const integer : {false, true}) {
        column.integer = integer;
        auto const report = parsed::parse(cb::to_json(document));
        check_schema(report);
        for (std::size_t row = 1; row < 4; ++row) {
            CHECK(report["nodes"]["latency_ms"][row].is_null());
            CHECK(report["nodes"].at("latency_ms:from")[row] == 4);
            CHECK(string_at(report, report["nodes"].at("latency_ms:why")[row]) ==
                  "not a finite number");
        }
    }
}

TEST_CASE("an alias has no numbers and says whose they are") {
    auto document = cb::test::large_document(4);
    document.nodes[2].alias_of = 1;
    document.nodes[3].alias_of = 0;
    for (auto& column : document.columns)
        column.cells[2] = column.cells[3] = {};
    auto const report = parsed::parse(cb::to_json(document));
    check_schema(report);
    auto const& nodes = report["nodes"];
    CHECK(nodes["alias_of"] == parsed::parse("[null, null, 1, 0]"));
    CHECK(nodes.at("latency_ms:from") == parsed::parse("[0, 0, 4, 4]"));
    CHECK(string_at(report, nodes.at("latency_ms:why")[2]) == "alias of layer_1");
    CHECK(string_at(report, nodes.at("latency_ms:why")[3]) == "alias of Stack");
}

TEST_CASE("a column of whole numbers is written without digits that were never there") {
    auto document = cb::test::large_document(3);
    document.columns = {{"flops",
                         "FLOPs",
                         "",
                         cb::unit_kind::count,
                         cb::better::none,
                         cb::aggregate::sum,
                         true,
                         "flops",
                         {},
                         {}}};
    document.columns[0].cells = {{std::int64_t{9'007'199'254'740'993}, cb::origin::measured, {}},
                                 {1107427456.0, cb::origin::measured, {}},
                                 {1e300, cb::origin::measured, {}}};
    auto const json = cb::to_json(document);
    CHECK(json.find("\"flops\": [9007199254740993, 1107427456, 1e+300]") != std::string::npos);
}

TEST_CASE("a column that the tables have themselves stands there once") {
    auto document = cb::test::large_document(2);
    document.columns.resize(1);
    document.columns[0].id = "calls";
    auto const json = cb::to_json(document);
    CHECK(json.find("\"calls\": [1, 1]") != std::string::npos);
    CHECK(json.find("\"calls\": [0.001") == std::string::npos);
    check_schema(parsed::parse(json));
}

TEST_CASE("the JSON sink writes its file, or says early why it cannot") {
    cb::test::temporary_folder const folder;
    cb::json const sink{folder / "report.json"};
    sink.check();
    CHECK(folder.entries() == 0);
    auto const document = cb::test::sample_document();
    sink.write(document);
    CHECK(cb::test::read_file(sink.path) == cb::to_json(document));
    CHECK_THROWS_AS((cb::json{folder / "missing/report.json"}.check()), cb::error);
}
