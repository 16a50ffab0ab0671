// disk -> [ATOMIC FILE] -> data set: RecBole's tab-separated tables with a header of name:type
#pragma once

#include "input_file.hpp"
#include "require.hpp"
#include "shown.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace models {

/// A whole table in memory, as text. What is wrong with it is one sentence that names file, line
/// (counted from 1, the header's), column and what was expected.
class atomic_file {
public:
    [[nodiscard]] static atomic_file read(std::filesystem::path const& file) {
        return atomic_file{file};
    }

    // The fields point into the text.
    atomic_file(atomic_file const&) = delete;
    atomic_file(atomic_file&&) noexcept = default;
    atomic_file& operator=(atomic_file const&) = delete;
    atomic_file& operator=(atomic_file&&) noexcept = default;
    ~atomic_file() = default;

    /// The path, for messages.
    [[nodiscard]] std::string const& file() const { return file_; }

    /// Rows without the header.
    [[nodiscard]] std::size_t rows() const { return fields_.size() / names_.size(); }

    /// Index of the column with this name and type: token, token_seq, float or float_seq.
    [[nodiscard]] std::size_t column(std::string_view name, std::string_view type) const {
        auto const found = std::find(names_.begin(), names_.end(), name);
        require(found != names_.end(), file_, ", line 1: expected a column ", name, ":", type,
                ", given ", listed{names_});
        auto const index = static_cast<std::size_t>(found - names_.begin());
        require(types_[index] == type, place(1, index), ": expected ", name, ":", type, ", given ",
                name, ":", types_[index]);
        return index;
    }

    /// A field as it stands in the file.
    [[nodiscard]] std::string_view token(std::size_t row, std::size_t column) const {
        return fields_[row * names_.size() + column];
    }

    [[nodiscard]] double number(std::size_t row, std::size_t column) const {
        auto const text = token(row, column);
        double value = 0;
        auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
            fail(row, column, "a number");
        return value;
    }

    /// The words of a token_seq, which are separated by spaces.
    [[nodiscard]] std::vector<std::string_view> words(std::size_t row, std::size_t column) const {
        std::vector<std::string_view> words;
        for (auto const word : split(token(row, column), ' '))
            if (!word.empty())
                words.push_back(word);
        return words;
    }

    /// Says that a field is not what it should be.
    [[noreturn]] void fail(std::size_t row, std::size_t column, std::string const& expected) const {
        throw std::invalid_argument{place(line_of(row), column) + ": expected " + expected +
                                    ", given \"" + shown(token(row, column)) + "\""};
    }

    [[nodiscard]] static std::size_t line_of(std::size_t row) { return row + 2; }

private:
    explicit atomic_file(std::filesystem::path const& file) : file_{file.string()} {
        auto stream = open_input(file, "file");
        text_.assign(std::istreambuf_iterator<char>{stream}, {});
        require(!stream.bad(), file_, ": expected a readable file, given an error while reading");
        check_encoding({text_.data(), text_.size()});
        auto lines = split({text_.data(), text_.size()}, '\n');
        require(!text_.empty(), file_, ", line 1: expected a header of name:type, given an empty ",
                "file");
        require(lines.back().empty(), file_, ", line ", lines.size(),
                ": expected a line break at its end, given the end of the file, which may be cut ",
                "off");
        lines.pop_back();
        read_header(without_return(lines.front()));
        fields_.reserve((lines.size() - 1) * names_.size());
        for (std::size_t line = 1; line < lines.size(); ++line)
            read_row(line + 1, without_return(lines[line]));
    }

    // Editors write marks of an encoding that nobody sees, and they would be part of a name.
    void check_encoding(std::string_view text) const {
        auto const begins = [text](std::string_view mark) {
            return text.substr(0, mark.size()) == mark;
        };
        require(!begins("\xEF\xBB\xBF"), file_, ", line 1: expected a header of name:type, given ",
                "a UTF-8 byte order mark (BOM) before it; save the file without one");
        require(!begins("\xFF\xFE") && !begins("\xFE\xFF"), file_,
                ", line 1: expected a header of name:type in UTF-8, given UTF-16");
    }

    void read_header(std::string_view line) {
        for (auto const field : split(line, '\t')) {
            auto const index = names_.size();
            auto const colon = std::min(field.rfind(':'), field.size());
            names_.emplace_back(field.substr(0, colon));
            types_.emplace_back(field.substr(std::min(colon + 1, field.size())));
            constexpr std::string_view known[] = {"token", "token_seq", "float", "float_seq"};
            require(!names_.back().empty() && std::find(std::begin(known), std::end(known),
                                                        types_.back()) != std::end(known),
                    place(1, index), ": expected name:type with the type token, token_seq, float ",
                    "or float_seq, given \"", shown(field), "\"");
            auto const first = std::find(names_.begin(), names_.end(), names_.back());
            require(first == std::prev(names_.end()), place(1, index),
                    ": expected different names, given ", shown(names_.back()), " in column ",
                    first - names_.begin() + 1, " too");
        }
    }

    void read_row(std::size_t line, std::string_view text) {
        auto const row = split(text, '\t');
        if (row.size() < names_.size())
            require(false, place(line, row.size()), ": expected ", names_.size(),
                    " fields in the line, given ", row.size());
        require(row.size() == names_.size(), file_, ", line ", line, ", column ", names_.size() + 1,
                ": expected ", names_.size(), " fields in the line, given ", row.size());
        fields_.insert(fields_.end(), row.begin(), row.end());
    }

    [[nodiscard]] std::string place(std::size_t line, std::size_t column) const {
        return file_ + ", line " + std::to_string(line) + ", column " + std::to_string(column + 1) +
               " (" + shown(names_[column]) + ")";
    }

    [[nodiscard]] static std::string_view without_return(std::string_view line) {
        return !line.empty() && line.back() == '\r' ? line.substr(0, line.size() - 1) : line;
    }

    [[nodiscard]] static std::vector<std::string_view> split(std::string_view text,
                                                             char separator) {
        std::vector<std::string_view> parts;
        for (;;) {
            auto const end = text.find(separator);
            parts.push_back(text.substr(0, end));
            if (end == std::string_view::npos)
                return parts;
            text.remove_prefix(end + 1);
        }
    }

    std::string file_;
    std::vector<char> text_;
    std::vector<std::string> names_;
    std::vector<std::string> types_;
    std::vector<std::string_view> fields_;
};

}  // namespace models
