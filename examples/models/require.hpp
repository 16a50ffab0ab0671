// everywhere in the example models: bad input becomes one sentence
#pragma once

#include <component_benchmark/core/text.hpp>

#include <cstddef>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace models {

/// A text from outside, as a sentence may hold it: short, and nothing that a terminal obeys.
[[nodiscard]] inline std::string shown(std::string_view text, std::size_t longest = 60) {
    namespace text_of = component_benchmark::text;
    auto const enough = 8 * longest;  // bytes; most of a huge text is never looked at
    return text_of::cut_end(text_of::printable(text.substr(0, enough)), longest);
}

/// Names as text, written only if somebody prints them.
struct listed {
    std::vector<std::string> const& names;

    friend std::ostream& operator<<(std::ostream& out, listed const& list) {
        if (list.names.empty())
            return out << "none";
        constexpr std::size_t most = 30;
        for (std::size_t index = 0; index < list.names.size() && index < most; ++index)
            out << (index == 0 ? "" : ", ") << shown(list.names[index]);
        if (list.names.size() > most)
            out << " and " << list.names.size() - most << " more";
        return out;
    }
};

/// Throws `std::invalid_argument` with the parts joined to a sentence. The parts are printed only
/// then, so a check that passes costs its condition.
template<class... Parts>
void require(bool condition, Parts const&... parts) {
    if (condition) [[likely]]
        return;
    std::ostringstream sentence;
    (sentence << ... << parts);
    throw std::invalid_argument{sentence.str()};
}

}  // namespace models
