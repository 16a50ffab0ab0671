// tests: a folder of its own for each test
#pragma once

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <string>

namespace component_benchmark::test {

/// An empty folder that is removed with all that is in it.
class temporary_folder {
public:
    temporary_folder() {
        auto name =
            (std::filesystem::temp_directory_path() / "component_benchmark-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr)
            throw std::runtime_error{"no temporary folder"};
        path_ = name;
    }
    temporary_folder(temporary_folder const&) = delete;
    temporary_folder& operator=(temporary_folder const&) = delete;
    ~temporary_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    [[nodiscard]] std::string operator/(std::string const& name) const {
        return (path_ / name).string();
    }

    [[nodiscard]] std::string path() const { return path_.string(); }

    /// How many files and folders are in it.
    [[nodiscard]] std::size_t entries() const {
        return static_cast<std::size_t>(
            std::distance(std::filesystem::directory_iterator{path_}, {}));
    }

private:
    std::filesystem::path path_;
};

}  // namespace component_benchmark::test
