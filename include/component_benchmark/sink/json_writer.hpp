// result -> json_writer -> json, html, journal: text that is safe in a file and in a page
#pragma once

#include <component_benchmark/core/utf8.hpp>

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace component_benchmark {

/// Appends `text` as a JSON string that is also safe inside a `<script>` element.
inline void append_json_string(std::string& out, std::string_view text) {
    auto const escaped = [&out](char32_t value) {
        constexpr char digits[] = "0123456789abcdef";
        out += "\\u";
        for (unsigned shift = 16; shift != 0;)
            out += digits[(value >> (shift -= 4)) & 0xFU];
    };
    out += '"';
    while (!text.empty()) {
        auto const next = text::first_code_point(text);
        switch (next.value) {
            case U'"':
                out += "\\\"";
                break;
            case U'\\':
                out += "\\\\";
                break;
            case U'\n':
                out += "\\n";
                break;
            case U'\t':
                out += "\\t";
                break;
            case U'<':
            case U'>':
            case U'&':
            case 0x7F:
            case 0x2028:
            case 0x2029:
                escaped(next.value);
                break;
            default:
                if (next.value < 0x20)
                    escaped(next.value);
                else if (next.valid)
                    out += text.substr(0, next.length);
                else
                    out += "\uFFFD";
        }
        text.remove_prefix(next.length);
    }
    out += '"';
}

/// Writes JSON piece by piece into a string. Integers are exact, floats have six significant
/// digits, what is not finite is null. The outer `open_levels` levels have a line an entry.
class json_writer {
public:
    /// `depth` is the level at which the text will stand, when it becomes part of another one.
    explicit json_writer(std::size_t open_levels = 2, std::size_t depth = 0)
        : open_levels_{open_levels}, depth_{depth} {}

    json_writer& begin_object() { return begin('{', '}'); }
    json_writer& begin_array() { return begin('[', ']'); }

    /// Closes the innermost object or array.
    json_writer& end() {
        auto const closing = closings_.back();
        auto const entries = entries_.back();
        closings_.pop_back();
        entries_.pop_back();
        if (entries != 0 && level() < open_levels_)
            new_line();
        out_ += closing;
        return *this;
    }

    json_writer& key(std::string_view name) {
        separate();
        append_json_string(out_, name);
        out_ += ": ";
        after_key_ = true;
        return *this;
    }

    json_writer& value(std::string_view text) {
        separate();
        append_json_string(out_, text);
        return *this;
    }
    json_writer& value(char const* text) { return value(std::string_view{text}); }
    json_writer& value(std::int64_t number) {
        char buffer[24];
        return raw({buffer, std::to_chars(buffer, buffer + sizeof buffer, number).ptr});
    }
    json_writer& value(std::size_t number) { return value(static_cast<std::int64_t>(number)); }
    json_writer& value(int number) { return value(static_cast<std::int64_t>(number)); }
    json_writer& value(bool yes) { return raw(yes ? "true" : "false"); }
    json_writer& null() { return raw("null"); }

    json_writer& value(double number) {
        if (!std::isfinite(number))
            return null();
        char buffer[32];
        number = number == 0.0 ? 0.0 : number;  // no "-0"
        auto const end =
            std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::general, 6);
        return raw({buffer, end.ptr});
    }

    /// A key with its value, or with an array of the values of a range.
    template<class Value>
    json_writer& entry(std::string_view name, Value const& content) {
        return key(name).value(content);
    }
    template<class Range>
    json_writer& list(std::string_view name, Range const& range) {
        key(name).begin_array();
        for (auto const& content : range)
            value(content);
        return end();
    }

    /// A value that is JSON already.
    json_writer& raw(std::string_view json) {
        separate();
        out_ += json;
        return *this;
    }

    /// The text so far; the writer is empty afterwards.
    [[nodiscard]] std::string take() { return std::exchange(out_, {}); }

private:
    json_writer& begin(char open, char close) {
        separate();
        out_ += open;
        closings_ += close;
        entries_.push_back(0);
        return *this;
    }

    void separate() {
        if (std::exchange(after_key_, false) || entries_.empty())
            return;
        bool const open = level() <= open_levels_;
        if (entries_.back()++ != 0)
            out_ += open ? "," : ", ";
        if (open)
            new_line();
    }

    [[nodiscard]] std::size_t level() const noexcept { return depth_ + entries_.size(); }

    void new_line() { out_.append(1, '\n').append(level() * 2, ' '); }

    std::string out_;
    std::string closings_;              // of the open brackets
    std::vector<std::size_t> entries_;  // of each so far
    std::size_t open_levels_;
    std::size_t depth_;
    bool after_key_ = false;
};

}  // namespace component_benchmark
