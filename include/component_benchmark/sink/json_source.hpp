// file -> json_source -> read_journal: JSON whose errors say the file, the line and the key
#pragma once

#include <component_benchmark/core/error.hpp>
#include <component_benchmark/core/text.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace component_benchmark::detail {

/// Reads members of objects, each with the kind of value that is expected there. Throws `error`.
class json_source {
public:
    using json = nlohmann::json;

    explicit json_source(std::string path) : path_{std::move(path)} {}

    std::size_t line = 0;

    [[nodiscard]] std::string const& path() const noexcept { return path_; }

    [[noreturn]] void refuse(std::string const& what) const {
        throw error{"cannot read '" + text::printable(path_) + "', line " + std::to_string(line) +
                    ": " + what};
    }

    /// A member, or null where it is missing or null.
    [[nodiscard]] static json const* find(json const& in, std::string const& key) {
        auto const found = in.find(key);
        return found == in.end() || found->is_null() ? nullptr : &*found;
    }

    [[nodiscard]] json const& at(json const& in, std::string const& key) const {
        auto const found = in.find(key);
        if (found == in.end())
            refuse("'" + text::printable(key) + "' is missing");
        return *found;
    }

    [[nodiscard]] json const& object(json const& in, std::string const& key) const {
        auto const& found = at(in, key);
        if (!found.is_object())
            refuse_kind(found, key, "an object");
        return found;
    }

    [[nodiscard]] json const& list(json const& in, std::string const& key) const {
        auto const& found = at(in, key);
        if (!found.is_array())
            refuse_kind(found, key, "a list");
        return found;
    }

    [[nodiscard]] json const& list(json const& in, std::string const& key, std::size_t size) const {
        auto const& found = list(in, key);
        if (found.size() != size)
            refuse("'" + text::printable(key) + "' has " + std::to_string(found.size()) +
                   " entries, and expected are " + std::to_string(size));
        return found;
    }

    [[nodiscard]] std::string words(json const& found, std::string const& key) const {
        if (!found.is_string())
            refuse_kind(found, key, "a text");
        return found.get<std::string>();
    }

    [[nodiscard]] double number(json const& found, std::string const& key) const {
        if (!found.is_number())
            refuse_kind(found, key, "a number");
        return found.get<double>();
    }

    [[nodiscard]] bool flag(json const& found, std::string const& key) const {
        if (!found.is_boolean())
            refuse_kind(found, key, "true or false");
        return found.get<bool>();
    }

    [[nodiscard]] std::int64_t integer(json const& found, std::string const& key,
                                       std::int64_t least, std::int64_t most = largest) const {
        auto const fits = found.is_number_integer() &&
                          (!found.is_number_unsigned() ||
                           found.get<std::uint64_t>() <= static_cast<std::uint64_t>(largest));
        auto const value = fits ? found.get<std::int64_t>() : 0;
        if (!fits || value < least || value > most)
            refuse_kind(found, key, "a whole number in its range");
        return value;
    }

    /// One of the positions before `end`.
    [[nodiscard]] std::size_t index(json const& found, std::string const& key,
                                    std::size_t end) const {
        return static_cast<std::size_t>(integer(found, key, 0, static_cast<std::int64_t>(end) - 1));
    }

private:
    static constexpr auto largest = (std::numeric_limits<std::int64_t>::max)();

    [[noreturn]] void refuse_kind(json const& found, std::string const& key,
                                  char const* expected) const {
        constexpr std::size_t most_quoted = 60;
        auto const shown = found.is_array() ? "a list"  // perhaps one that is too deep to print
                           : found.is_object()
                               ? "an object"
                               : found.dump(-1, ' ', false, json::error_handler_t::replace);
        refuse("'" + text::printable(key) + "' is " +
               text::cut_end(text::printable(shown), most_quoted) + ", and expected is " +
               expected);
    }

    std::string path_;
};

}  // namespace component_benchmark::detail
