// sink -> output_file -> disk: a whole file or none, and a sentence when it cannot be written
#pragma once

#include <component_benchmark/sink/temporary_file.hpp>

#include <charconv>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace component_benchmark {

namespace detail {

/// Where a path leads once links are followed.
struct output_target {
    std::string shown;     ///< as the user wrote it
    std::string path;      ///< what is opened or replaced
    std::string folder;    ///< where a temporary file goes
    int descriptor = -1;   ///< already open in this process: /dev/stdout and its like
    bool replaced = true;  ///< false for devices and pipes, which are written into
    bool exists = false;
    ::mode_t mode = 0;
};

/// The number behind /dev/stdout, /dev/fd/7 and their like; -1 for other paths. Opening those
/// again would give a file a second position, and two writers that overwrite each other.
[[nodiscard]] inline int open_descriptor(std::string_view path) {
    if (path == "/dev/stdout")
        return STDOUT_FILENO;
    if (path == "/dev/stderr")
        return STDERR_FILENO;
    for (std::string_view const prefix : {"/dev/fd/", "/proc/self/fd/"})
        if (path.substr(0, prefix.size()) == prefix) {
            auto const digits = path.substr(prefix.size());
            int number = -1;
            auto const end = std::from_chars(digits.data(), digits.data() + digits.size(), number);
            return end.ptr == digits.data() + digits.size() ? number : -1;
        }
    return -1;
}

/// A link that leads nowhere yet names the file to make.
[[nodiscard]] inline std::string follow_links(std::string path) {
    char target[PATH_MAX];
    for (int links = 0; links < 40; ++links) {
        auto const length = ::readlink(path.c_str(), target, sizeof target);
        if (length < 0)
            break;
        std::string_view const next{target, static_cast<std::size_t>(length)};
        auto const slash = next.empty() || next[0] == '/' ? std::string::npos : path.rfind('/');
        path = path.substr(0, slash == std::string::npos ? 0 : slash + 1).append(next);
    }
    return path;
}

inline void check_folder(output_target const& target) {
    struct stat facts {};
    if (::stat(target.folder.c_str(), &facts) != 0) {
        if (errno == ENOENT)
            cannot_write(target.shown, "the folder '" + target.folder + "' does not exist");
        cannot_write(target.shown, "the folder '" + target.folder + "' cannot be used", errno);
    }
    if (!S_ISDIR(facts.st_mode))
        cannot_write(target.shown, "'" + target.folder + "' is not a folder");
}

[[nodiscard]] inline output_target resolve(std::string const& path) {
    if (path.empty())
        cannot_write(path, "the file name is empty");
    if (path.find('\0') != std::string::npos)
        cannot_write(path, "a file name cannot contain a null character");
    output_target target;
    target.shown = target.path = path;
    target.descriptor = open_descriptor(path);
    if (target.descriptor >= 0)
        return target;
    struct stat facts {};
    target.exists = ::stat(path.c_str(), &facts) == 0;
    if (!target.exists && errno == ENAMETOOLONG)  // that of the temporary file is short
        cannot_write(path, "it cannot be looked up", errno);
    if (target.exists && S_ISDIR(facts.st_mode))
        cannot_write(path, "it is a folder");
    if (target.exists && ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0)
        cannot_write(path, "writing is not allowed", errno);
    target.replaced = !target.exists || S_ISREG(facts.st_mode);
    target.mode = facts.st_mode & 07777;
    if (target.exists) {
        std::unique_ptr<char, void (*)(void*)> const real{::realpath(path.c_str(), nullptr),
                                                          std::free};
        if (real != nullptr)
            target.path = real.get();
    } else {
        target.path = follow_links(path);
        if (target.path.back() == '/')
            cannot_write(path, "it names a folder, not a file");
    }
    auto const slash = target.path.rfind('/');
    target.folder = slash == std::string::npos ? "." : target.path.substr(0, slash);
    if (target.folder.empty())
        target.folder = "/";
    if (target.replaced)
        check_folder(target);
    return target;
}

inline void write_into(output_target const& target, std::string_view content) {
    if (target.descriptor >= 0)
        std::fflush(nullptr);
    int const descriptor = target.descriptor >= 0
                               ? ::fcntl(target.descriptor, F_DUPFD_CLOEXEC, 0)
                               : ::open(target.path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor < 0)
        cannot_write(target.shown, "opening failed", errno);
    open_file file{descriptor, target.shown};
    file.write(content);
    file.close();
}

}  // namespace detail

/// Throws `error` with the reason if a file cannot be written there; leaves nothing behind.
inline void check_writable(std::string const& path) {
    auto const target = detail::resolve(path);
    if (target.descriptor >= 0 && ::fcntl(target.descriptor, F_GETFD) < 0)
        detail::cannot_write(path, "it is not open", errno);
    if (target.descriptor >= 0 || !target.replaced)
        return;
    detail::temporary_name name{target.folder};
    detail::open_file{name.create(path), path}.close();
}

/// Writes the whole file, or throws `error` and leaves what was there before as it was. The
/// content goes to a temporary file beside it first; links, permissions and devices are kept.
inline void write_file(std::string const& path, std::string_view content) {
    auto const target = detail::resolve(path);
    if (target.descriptor >= 0 || !target.replaced)
        return detail::write_into(target, content);
    detail::temporary_name name{target.folder};
    detail::open_file file{name.create(path), path};
    if (target.exists)
        file.set_mode(target.mode);
    file.write(content);
    file.flush();
    file.close();
    name.rename_to(target.path, path);
}

}  // namespace component_benchmark
