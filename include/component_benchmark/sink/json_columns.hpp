// document -> json_columns -> json_tables: rows turned into arrays, texts into numbers
#pragma once

#include <component_benchmark/result/document.hpp>
#include <component_benchmark/sink/json_writer.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <variant>
#include <vector>

namespace component_benchmark::detail {

/// Every text of the report once; the tables hold its number.
class string_table {
public:
    [[nodiscard]] std::int64_t index(std::string_view text) {
        auto const [place, is_new] = numbers_.emplace(std::string{text}, texts_.size());
        if (is_new)
            texts_.emplace_back(text);
        return static_cast<std::int64_t>(place->second);
    }

    [[nodiscard]] std::vector<std::string> const& texts() const noexcept { return texts_; }

private:
    std::unordered_map<std::string, std::size_t> numbers_;
    std::vector<std::string> texts_;
};

/// Writes tables whose rows come from a range and whose texts go into a string table.
class table_writer {
public:
    table_writer(json_writer& out, string_table& strings) : out_{out}, strings_{strings} {}

    // Functions, not lambdas of a type each: one of these for a kind of row is enough.
    template<class Row>
    using text_of = std::string_view (*)(std::type_identity_t<Row> const&);
    template<class Row>
    using number_of = std::int64_t (*)(std::type_identity_t<Row> const&);

    template<class Row>
    void texts(std::string_view key, std::vector<Row> const& rows, text_of<Row> read) {
        list(key, rows, [&](Row const& row) { out_.value(strings_.index(read(row))); });
    }
    /// Null for an empty text.
    template<class Row>
    void optional_texts(std::string_view key, std::vector<Row> const& rows, text_of<Row> read) {
        list(key, rows, [&](Row const& row) {
            auto const text = read(row);
            text.empty() ? out_.null() : out_.value(strings_.index(text));
        });
    }
    template<class Row>
    void numbers(std::string_view key, std::vector<Row> const& rows, number_of<Row> read) {
        list(key, rows, [&](Row const& row) { out_.value(read(row)); });
    }

    /// The values of a column, padded with null to `size` rows.
    void values(std::string_view key, std::vector<cell> const& cells, bool integer,
                std::size_t size) {
        out_.key(key).begin_array();
        for (std::size_t row = 0; row < size; ++row)
            row < cells.size() ? value(cells[row], integer) : void(out_.null());
        out_.end();
    }

    /// Where the values come from and what there is to know of them, unless nothing is.
    void origins(std::string const& id, std::vector<cell> const& cells) {
        bool any_origin = false;
        bool any_reason = false;
        for (auto const& one : cells) {
            any_origin = any_origin || code(one) != 0;
            any_reason = any_reason || !one.why.empty();
        }
        if (any_origin)
            numbers(id + ":from", cells, code);
        if (any_reason)
            optional_texts(id + ":why", cells,
                           [](cell const& c) -> std::string_view { return c.why; });
    }

private:
    [[nodiscard]] static std::int64_t code(cell const& c) {
        return static_cast<std::int64_t>(c.has_value() ? c.from : origin::unavailable);
    }

    template<class Row, class Write>
    void list(std::string_view key, std::vector<Row> const& rows, Write write) {
        out_.key(key).begin_array();
        for (auto const& row : rows)
            write(row);
        out_.end();
    }

    void value(cell const& c, bool integer) {
        constexpr double limit = 9.2e18;
        if (auto const* whole = std::get_if<std::int64_t>(&c.value))
            out_.value(*whole);
        else if (auto const* text = std::get_if<std::string>(&c.value))
            out_.value(strings_.index(*text));
        else if (!c.has_value())
            out_.null();
        else if (integer && std::abs(c.number()) < limit)
            out_.value(static_cast<std::int64_t>(std::llround(c.number())));
        else
            out_.value(c.number());
    }

    json_writer& out_;
    string_table& strings_;
};

}  // namespace component_benchmark::detail
