// raw_tensors -> [BYTE RANGES]: whose bytes of a file are whose
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <string>

namespace models {

/// Parts of a file that may not overlap, each with its owner's name.
class byte_ranges {
public:
    /// Gives the owner of an earlier part that shares bytes with this one, or null and keeps it.
    [[nodiscard]] std::string const* claim(std::int64_t begin, std::int64_t length,
                                           std::string const& owner) {
        if (length == 0)
            return nullptr;
        auto const next = parts_.lower_bound(begin);
        if (next != parts_.end() && next->first < begin + length)
            return &next->second.owner;
        if (next != parts_.begin() && std::prev(next)->second.end > begin)
            return &std::prev(next)->second.owner;
        parts_.emplace_hint(next, begin, part{begin + length, owner});
        return nullptr;
    }

private:
    struct part {
        std::int64_t end;
        std::string owner;
    };

    std::map<std::int64_t, part> parts_;  // by their begin
};

}  // namespace models
