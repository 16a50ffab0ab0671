// output_file -> temporary_file -> disk: what the system can refuse, each with a sentence
#pragma once

#include <component_benchmark/core/error.hpp>
#include <component_benchmark/core/text.hpp>

#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace component_benchmark::detail {

[[noreturn]] inline void cannot_write(std::string_view path, std::string_view why) {
    throw error{"cannot write '" + text::printable(path) + "': " + text::printable(why)};
}

[[noreturn]] inline void cannot_write(std::string_view path, std::string const& what, int code) {
    cannot_write(path, what + ": " + std::generic_category().message(code));
}

/// An open file that is closed on every way out.
class open_file {
public:
    open_file(int descriptor, std::string path) : descriptor_{descriptor}, path_{std::move(path)} {}
    open_file(open_file const&) = delete;
    open_file& operator=(open_file const&) = delete;
    ~open_file() {
        if (descriptor_ >= 0)
            ::close(descriptor_);
    }

    void write(std::string_view content) const {
        while (!content.empty()) {
            auto const written = ::write(descriptor_, content.data(), content.size());
            if (written < 0 && errno != EINTR)
                cannot_write(path_, "writing failed", errno);
            if (written > 0)
                content.remove_prefix(static_cast<std::size_t>(written));
        }
    }

    void set_mode(::mode_t mode) const {
        if (::fchmod(descriptor_, mode) != 0)
            cannot_write(path_, "setting its permissions failed", errno);
    }

    /// Onto the disk; some file systems cannot do that, and then need not.
    void flush() const {
        if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != ENOSYS && errno != ENOTSUP)
            cannot_write(path_, "flushing failed", errno);
    }

    void close() {
        if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR)
            cannot_write(path_, "closing failed", errno);
    }

private:
    int descriptor_;
    std::string path_;
};

/// A file name that is removed again unless it was given its final one.
class temporary_name {
public:
    explicit temporary_name(std::string folder) : folder_{std::move(folder)} {}
    temporary_name(temporary_name const&) = delete;
    temporary_name& operator=(temporary_name const&) = delete;
    ~temporary_name() {
        if (!path_.empty())
            ::unlink(path_.c_str());
    }

    /// Creates the file under a name nobody uses, and opens it.
    [[nodiscard]] int create(std::string const& target) {
        static std::atomic<unsigned> counter{0};
        for (int attempt = 0;; ++attempt) {
            auto name = folder_ + "/.component_benchmark-" + std::to_string(::getpid()) + "-" +
                        std::to_string(counter++) + ".tmp";
            int const descriptor =
                ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
            if (descriptor >= 0) {
                path_ = std::move(name);
                return descriptor;
            }
            if (errno != EEXIST || attempt == 1000)
                cannot_write(target, "no file can be made in the folder '" + folder_ + "'", errno);
        }
    }

    void rename_to(std::string const& target, std::string const& shown) {
        if (::rename(path_.c_str(), target.c_str()) != 0)
            cannot_write(shown, "renaming the finished file failed", errno);
        path_.clear();
    }

private:
    std::string folder_;
    std::string path_;
};

}  // namespace component_benchmark::detail
