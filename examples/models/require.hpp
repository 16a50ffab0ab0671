// everywhere in the example models: bad input becomes one sentence
#pragma once

#include <cstddef>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace models {

/// Names as text, written only if somebody prints them.
struct listed {
    std::vector<std::string> const& names;

    friend std::ostream& operator<<(std::ostream& out, listed const& list) {
        if (list.names.empty())
            return out << "none";
        constexpr std::size_t most = 30;
        for (std::size_t index = 0; index < list.names.size() && index < most; ++index)
            out << (index == 0 ? "" : ", ") << list.names[index];
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
