// options -> capture: which components are measured, by what is known of them
#pragma once

#include <component_benchmark/core/error.hpp>
#include <component_benchmark/core/node.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace component_benchmark {

/// Fits the components for which all that is given holds: `cb::filter{.type = "*Norm*"}`.
struct filter {
    static constexpr std::int64_t unlimited = (std::numeric_limits<std::int64_t>::max)();

    /// Registered names joined by '.', the root's is empty. `*` stands for any text within one
    /// name, `**` for any text at all, `?` for one character; `**.` also for no name at all.
    std::string path = "**";
    std::string type = "*";  ///< as the report shows it, e.g. "Linear"; `*` and `?` as above
    std::int64_t min_depth = 0;
    std::int64_t max_depth = unlimited;
    std::int64_t min_calls = 0;
    std::int64_t max_calls = unlimited;
    std::int64_t min_parameters = 0;  ///< elements of its own and its children's
    std::int64_t max_parameters = unlimited;
};

/// What a run does with them.
namespace filters {

/// Steps through all ways to read the pattern at once, so that no pattern takes long. A `*` does
/// not go over a `separator`.
[[nodiscard]] inline bool fits_glob(std::string_view pattern, std::string_view text,
                                    char separator) {
    auto const end_of_stars = [&](std::size_t place) {
        while (place < pattern.size() && pattern[place] == '*')
            ++place;
        return place;
    };
    auto const letter_at = [&](std::size_t place) {
        return place < pattern.size() ? pattern[place] : '\0';
    };
    std::string live(pattern.size() + 1, 0);  // a flag a place of the pattern; at the first star
    live[0] = 1;
    for (std::size_t next = 0;; ++next) {
        auto const begins_name = next == 0 || text[next - 1] == separator;
        for (std::size_t place = 0; place < pattern.size(); ++place)
            if (live[place] != 0 && pattern[place] == '*') {
                auto const end = end_of_stars(place);
                live[end] = 1;
                if (end - place > 1 && letter_at(end) == separator && begins_name &&
                    (place == 0 || pattern[place - 1] == separator))
                    live[end + 1] = 1;
            }
        if (next == text.size())
            return live.back() != 0;
        auto const letter = text[next];
        auto const continues = (static_cast<unsigned char>(letter) & 0xC0U) == 0x80U;  // in UTF-8
        std::string after(live.size(), 0);
        for (std::size_t place = 0; place < live.size(); ++place) {
            if (live[place] == 0)
                continue;
            if (continues && place > 0 && pattern[place - 1] == '?')
                after[place] = 1;
            if (place == pattern.size())
                continue;
            if (pattern[place] == '*') {
                if (letter != separator || end_of_stars(place) - place > 1)
                    after[place] = 1;
            } else if (pattern[place] == '?' ? letter != separator && !continues
                                             : pattern[place] == letter) {
                after[place + 1] = 1;
            }
        }
        live.swap(after);
    }
}

/// The root has no name that a `*` could stand for.
[[nodiscard]] inline bool fits_path(std::string_view pattern, std::string_view path) {
    return !(path.empty() && pattern == "*") && fits_glob(pattern, path, '.');
}

[[nodiscard]] inline bool asks_for_calls(filter const& one) noexcept {
    return one.min_calls != 0 || one.max_calls != filter::unlimited;
}
[[nodiscard]] inline bool asks_for_parameters(filter const& one) noexcept {
    return one.min_parameters != 0 || one.max_parameters != filter::unlimited;
}

[[nodiscard]] inline bool fits_calls(filter const& one, node const& facts) noexcept {
    return facts.calls >= one.min_calls && facts.calls <= one.max_calls;
}

/// Whether all holds but what is said of calls, which are not known before the forward.
[[nodiscard]] inline bool fits_model(filter const& one, node const& facts,
                                     std::int64_t parameters) {
    auto const depth = static_cast<std::int64_t>(facts.depth);
    return depth >= one.min_depth && depth <= one.max_depth && parameters >= one.min_parameters &&
           parameters <= one.max_parameters && fits_glob(one.type, facts.type, '\0') &&
           fits_path(one.path, facts.path);
}

/// What a filter asks for, e.g. `path="over_arch.**" min_calls=2`; nothing where it fits all.
[[nodiscard]] inline std::string text_of(filter const& one) {
    std::string text;
    auto const add = [&](char const* name, std::string const& value) {
        text.append(text.empty() ? "" : " ").append(name).append("=").append(value);
    };
    auto const add_range = [&](char const* least, std::int64_t minimum, char const* most,
                               std::int64_t maximum) {
        if (minimum != 0)
            add(least, std::to_string(minimum));
        if (maximum != filter::unlimited)
            add(most, std::to_string(maximum));
    };
    if (one.path != "**")
        add("path", '"' + one.path + '"');
    if (one.type != "*")
        add("type", '"' + one.type + '"');
    add_range("min_depth", one.min_depth, "max_depth", one.max_depth);
    add_range("min_calls", one.min_calls, "max_calls", one.max_calls);
    add_range("min_parameters", one.min_parameters, "max_parameters", one.max_parameters);
    return text;
}

/// A template, as what follows: a file that runs no pipeline does not pay for it.
template<class Filter>
[[nodiscard]] std::string text_of(std::vector<Filter> const& all) {
    std::string text;
    for (auto const& one : all)
        text.append(text.empty() ? "" : "; ").append(text_of(one));
    return text;
}

/// Refuses filters that cannot be meant; `list` is the name of the option that holds them.
template<class Filter>
void check(std::vector<Filter> const& all, std::string const& list) {
    for (auto const& one : all) {
        auto const text = text_of(one);
        if (text.empty())
            throw error{"a filter in options." + list +
                        " is empty, so that it fits every component: give it a path, a type or a "
                        "bound, or leave it out"};
        if (one.min_depth < 0 || one.max_depth < 0 || one.min_calls < 0 || one.max_calls < 0 ||
            one.min_parameters < 0 || one.max_parameters < 0)
            throw error{"the " + list + " filter " + text + " has a bound below zero"};
        if (one.path.ends_with('.'))
            throw error{"the " + list + " filter " + text +
                        " can fit nothing: no path ends in '.'"};
        if (one.min_depth > one.max_depth || one.min_calls > one.max_calls ||
            one.min_parameters > one.max_parameters)
            throw error{"the " + list + " filter " + text +
                        " can fit nothing: a minimum is greater than its maximum"};
    }
}

}  // namespace filters
}  // namespace component_benchmark
