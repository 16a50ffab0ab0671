// everywhere in the loaders: a text from outside, as a sentence may hold it
#pragma once

#include <component_benchmark/core/text.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace models {

/// Short, and nothing that a terminal obeys.
[[nodiscard]] inline std::string shown(std::string_view text, std::size_t longest = 60) {
    namespace text_of = component_benchmark::text;
    auto const enough = 8 * longest;  // bytes; most of a huge text is never looked at
    return text_of::cut_end(text_of::printable(text.substr(0, enough)), longest);
}

}  // namespace models
