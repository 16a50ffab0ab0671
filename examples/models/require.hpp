// everywhere in the example models: bad input becomes one sentence
#pragma once

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
        char const* separator = "";
        for (auto const& name : list.names) {
            out << separator << name;
            separator = ", ";
        }
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
