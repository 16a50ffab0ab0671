// run.journal -> journal_head -> read_journal: its first line, which says what the run is
#pragma once

#include <component_benchmark/core/node.hpp>
#include <component_benchmark/result/document.hpp>
#include <component_benchmark/sink/journal_lines.hpp>
#include <component_benchmark/sink/json_source.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace component_benchmark::detail {

/// Reads the first line of a journal into a report without values.
class journal_head_reader {
public:
    using json = nlohmann::json;

    explicit journal_head_reader(json_source const& from) : from_{from} {}

    [[nodiscard]] document read(json const& head) {
        auto const* schema = json_source::find(head, "schema");
        if (schema == nullptr || *schema != journal_schema)
            from_.refuse("this is no journal");
        auto const version = from_.integer(from_.at(head, "version"), "version", 1);
        if (version > journal_version)
            from_.refuse("the journal has the version " + std::to_string(version) +
                         ", and this library reads " + std::to_string(journal_version));
        document report;
        read_facts(report.facts, from_.object(head, "meta"));
        read_columns(report, from_.list(head, "columns"));
        for (auto const& one : from_.list(head, "strings"))
            strings_.push_back(from_.words(one, "strings"));
        read_nodes(report, from_.object(head, "nodes"));
        read_calls(report, from_.object(head, "calls"));
        return report;
    }

private:
    [[nodiscard]] std::string words_at(json const& in, std::string const& key) const {
        return from_.words(from_.at(in, key), key);
    }

    void read_facts(run_facts& facts, json const& meta) const {
        facts.model = words_at(meta, "model");
        facts.created = words_at(meta, "created");
        facts.complete = false;
        facts.library = words_at(meta, "library");
        facts.libtorch = words_at(meta, "libtorch");
        facts.compiler = words_at(meta, "compiler");
        facts.build_type = words_at(meta, "build_type");
        auto const& device = from_.object(meta, "device");
        facts.device = words_at(device, "name");
        facts.device_kind = words_at(device, "kind");
        facts.threads =
            from_.integer(from_.at(from_.object(meta, "environment"), "threads"), "threads", 0);
        facts.options = pairs(from_.object(meta, "options"));
        for (auto const& name : from_.list(meta, "preprocessors"))
            facts.preprocessors.push_back(from_.words(name, "preprocessors"));
        auto conventions = from_.object(meta, "conventions");
        facts.gradients = words_at(conventions, "gradients");
        conventions.erase("gradients");
        facts.conventions = pairs(conventions);
    }

    [[nodiscard]] std::vector<std::pair<std::string, std::string>> pairs(json const& in) const {
        std::vector<std::pair<std::string, std::string>> found;
        for (auto const& [key, value] : in.items())
            found.emplace_back(key, from_.words(value, key));
        return found;
    }

    void read_columns(document& report, json const& columns) const {
        for (auto const& one : columns) {
            if (!one.is_object())
                from_.refuse("an entry of 'columns' is not an object");
            column made;
            made.id = words_at(one, "id");
            made.label = words_at(one, "label");
            made.unit = words_at(one, "unit");
            made.integer = from_.flag(from_.at(one, "integer"), "integer");
            made.kind = words_at(one, "kind") == name_of(unit_kind::text) ? unit_kind::text
                                                                          : unit_kind::count;
            made.profiler = words_at(one, "profiler");
            report.columns.push_back(std::move(made));
        }
    }

    [[nodiscard]] std::string string_at(json const& entry, std::string const& key) const {
        return entry.is_null() ? std::string{} : strings_[from_.index(entry, key, strings_.size())];
    }

    /// Gives each entry of a list of `size` to `use(index, entry)`.
    template<class Use>
    void each(json const& table, std::string const& key, std::size_t size, Use use) const {
        auto const& entries = from_.list(table, key, size);
        for (std::size_t index = 0; index < size; ++index)
            use(index, entries[index]);
    }

    template<class Rows>
    void read_shapes(Rows& rows, json const& table) const {
        auto const read = [&](std::string const& key, auto member) {
            each(table, key, rows.size(), [&](std::size_t index, json const& entry) {
                rows[index].*member = string_at(entry, key);
            });
        };
        using row_type = typename Rows::value_type;
        read("in_shapes", &row_type::in_shapes);
        read("out_shapes", &row_type::out_shapes);
        read("dtypes", &row_type::dtypes);
    }

    void read_nodes(document& report, json const& table) const {
        auto& nodes = report.nodes;
        nodes.resize(from_.list(table, "name").size());
        auto const size = nodes.size();
        each(table, "name", size, [&](std::size_t row, json const& entry) {
            nodes[row].name = string_at(entry, "name");
        });
        each(table, "type", size, [&](std::size_t row, json const& entry) {
            nodes[row].type = string_at(entry, "type");
        });
        each(table, "calls", size, [&](std::size_t row, json const& entry) {
            nodes[row].calls = from_.integer(entry, "calls", 0);
        });
        each(table, "alias_of", size, [&](std::size_t row, json const& entry) {
            if (!entry.is_null())
                nodes[row].alias_of =
                    static_cast<std::ptrdiff_t>(from_.index(entry, "alias_of", size));
        });
        each(table, "parent", size, [&](std::size_t row, json const& entry) {
            auto const last = static_cast<std::int64_t>(row) - 1;
            auto const parent = from_.integer(entry, "parent", row == 0 ? -1 : 0, last);
            nodes[row].parent = static_cast<std::ptrdiff_t>(parent);
            if (parent < 0)
                return;
            auto const& above = nodes[static_cast<std::size_t>(parent)];
            auto const& name = nodes[row].name;
            nodes[row].path = above.path.empty() ? name : above.path + "." + name;
        });
        read_shapes(nodes, table);
    }

    void read_calls(document& report, json const& table) const {
        auto& calls = report.calls;
        calls.resize(from_.list(table, "node").size());
        each(table, "node", calls.size(), [&](std::size_t number, json const& entry) {
            calls[number].row = from_.index(entry, "node", report.nodes.size());
        });
        read_shapes(calls, table);
    }

    json_source const& from_;
    std::vector<std::string> strings_;
};

}  // namespace component_benchmark::detail
