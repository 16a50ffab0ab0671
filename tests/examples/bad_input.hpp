// tests of the examples: what is said about bad input, and files to be bad with
#pragma once

#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>

namespace test_support {

/// What `action` complains of, or nothing.
template<class Action>
[[nodiscard]] std::string complaint_of(Action action) {
    try {
        static_cast<void>(action());
    } catch (std::invalid_argument const& error) {
        return error.what();
    }
    return "";
}

/// A folder of this test's own, removed at its end.
class temporary_folder {
public:
    temporary_folder()
        : path_{std::filesystem::temp_directory_path() /
                ("component_benchmark_" + std::to_string(std::random_device{}()))} {
        std::filesystem::create_directories(path_);
    }
    temporary_folder(temporary_folder const&) = delete;
    temporary_folder& operator=(temporary_folder const&) = delete;
    ~temporary_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    [[nodiscard]] std::filesystem::path const& path() const { return path_; }

    std::filesystem::path write(std::string const& name, std::string_view text) const {
        std::ofstream{path_ / name, std::ios::binary} << text;
        return path_ / name;
    }

    /// A message without the folder's path.
    [[nodiscard]] std::string shortened(std::string message) const {
        auto const prefix = path_.string() + "/";
        for (auto at = message.find(prefix); at != std::string::npos; at = message.find(prefix))
            message.erase(at, prefix.size());
        return message;
    }

private:
    std::filesystem::path path_;
};

}  // namespace test_support
