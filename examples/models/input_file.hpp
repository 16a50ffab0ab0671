// disk -> [INPUT FILE] -> tables, tensors: opening a file, and why that cannot be done
#pragma once

#include "require.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <ios>
#include <string>
#include <system_error>

namespace models {

/// What the system says of an error, as part of a sentence: "permission denied".
[[nodiscard]] inline std::string reason_of(int code) {
    auto reason = std::generic_category().message(code);
    if (!reason.empty() && reason[0] >= 'A' && reason[0] <= 'Z')
        reason[0] = static_cast<char>(reason[0] - 'A' + 'a');
    return reason;
}

/// Opens `file`, which is to be a `kind`, e.g. "file" or "manifest".
[[nodiscard]] inline std::ifstream open_input(std::filesystem::path const& file, char const* kind,
                                              std::ios::openmode mode = {}) {
    std::error_code ignored;
    require(!std::filesystem::is_directory(file, ignored), file.string(), ": expected a readable ",
            kind, ", given a directory");
    errno = 0;
    std::ifstream stream{file, std::ios::binary | mode};
    if (!stream.good())
        require(false, file.string(), ": expected a readable ", kind, ", given ",
                errno == ENOENT ? "none" : "an error: " + reason_of(errno));
    return stream;
}

}  // namespace models
