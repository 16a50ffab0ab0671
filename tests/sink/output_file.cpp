#include "support/catch2.hpp"
#include "support/golden.hpp"
#include "support/temporary_folder.hpp"
#include <component_benchmark/sink/output_file.hpp>

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace cb = component_benchmark;
using cb::test::read_file;
using cb::test::temporary_folder;

namespace {

/// The sentence that writing there ends with; empty when it works.
std::string refusal(std::string const& path, std::string const& content = "new") {
    try {
        cb::write_file(path, content);
    } catch (cb::error const& problem) {
        return problem.what();
    }
    return {};
}

std::string early_refusal(std::string const& path) {
    try {
        cb::check_writable(path);
    } catch (cb::error const& problem) {
        return problem.what();
    }
    return {};
}

unsigned mode_of(std::string const& path) {
    struct stat facts {};
    ::stat(path.c_str(), &facts);
    return facts.st_mode & 07777U;
}

/// Files cannot grow over `limit` bytes, as on a disk that is full.
class full_disk {
public:
    explicit full_disk(::rlim_t limit) : handler_{std::signal(SIGXFSZ, SIG_IGN)} {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        ::rlimit const now{limit, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &now);
    }
    full_disk(full_disk const&) = delete;
    full_disk& operator=(full_disk const&) = delete;
    ~full_disk() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }

private:
    ::rlimit before_{};
    void (*handler_)(int);
};

/// Nobody, when the tests run as root, who may write anywhere.
class ordinary_user {
public:
    ordinary_user() { changed_ = ::geteuid() == 0 && ::seteuid(65534) == 0; }
    ordinary_user(ordinary_user const&) = delete;
    ordinary_user& operator=(ordinary_user const&) = delete;
    ~ordinary_user() {
        if (changed_ && ::seteuid(0) != 0)
            std::abort();
    }

private:
    bool changed_;
};

}  // namespace

TEST_CASE("a file is written whole and nothing else is left") {
    temporary_folder const folder;
    auto const path = folder / "report.json";
    std::string const content(3'000'000, 'x');
    CHECK(early_refusal(path).empty());
    CHECK(folder.entries() == 0);
    CHECK(refusal(path, content).empty());
    CHECK(read_file(path) == content);
    CHECK(folder.entries() == 1);
}

TEST_CASE("a file without a folder goes into the present one") {
    temporary_folder const folder;
    auto const before = std::filesystem::current_path();
    std::filesystem::current_path(folder.path());
    CHECK(refusal("report.json").empty());
    std::filesystem::current_path(before);
    CHECK(read_file(folder / "report.json") == "new");
}

TEST_CASE("an existing file is replaced and keeps its permissions") {
    temporary_folder const folder;
    auto const path = folder / "report.json";
    cb::write_file(path, "old");
    ::chmod(path.c_str(), 0640);
    CHECK(refusal(path).empty());
    CHECK(read_file(path) == "new");
    CHECK(mode_of(path) == 0640);
}

TEST_CASE("a new file has the permissions that the umask leaves") {
    temporary_folder const folder;
    auto const before = ::umask(027);
    CHECK(refusal(folder / "report.json").empty());
    ::umask(before);
    CHECK(mode_of(folder / "report.json") == 0640);
}

TEST_CASE("a link stays a link, even one that leads nowhere yet") {
    temporary_folder const folder;
    std::filesystem::create_directory(folder / "real");
    std::filesystem::create_symlink("real/report.json", folder / "link");
    std::filesystem::create_symlink("link", folder / "link_to_link");
    for (auto const* content : {"first", "second"}) {
        CHECK(refusal(folder / "link_to_link", content).empty());
        CHECK(read_file(folder / "real/report.json") == content);
    }
    CHECK(std::filesystem::is_symlink(folder / "link"));
    CHECK(std::filesystem::is_symlink(folder / "link_to_link"));
}

TEST_CASE("the sentence names what stands in the way") {
    temporary_folder const folder;
    auto const path = folder.path();
    cb::write_file(folder / "file", "old");
    struct {
        std::string path, why;
    } const refused[] = {
        {path + "/no/report.json", "the folder '" + path + "/no' does not exist"},
        {path + "/file/report.json", "'" + path + "/file' is not a folder"},
        {path, "it is a folder"},
        {path + "/new/", "it names a folder, not a file"},
        {"", "the file name is empty"},
        {std::string{"a\0b", 3}, "a file name cannot contain a null character"},
    };
    for (auto const& each : refused) {
        auto const sentence = "component_benchmark: cannot write '" +
                              cb::text::printable(each.path) + "': " + each.why;
        CHECK(refusal(each.path) == sentence);
        CHECK(early_refusal(each.path) == sentence);
    }
    auto const long_name = folder / std::string(300, 'x');
    CHECK(early_refusal(long_name) == "component_benchmark: cannot write '" + long_name +
                                          "': it cannot be looked up: File name too long");
    CHECK(refusal(long_name) == early_refusal(long_name));
    std::filesystem::create_symlink(std::string(255, 'y'), folder / "link");
    CHECK(early_refusal(folder / "link").empty());
    std::filesystem::remove(folder / "link");
    CHECK(early_refusal(folder / std::string(255, 'x')).empty());
    CHECK(folder.entries() == 1);
    CHECK(read_file(folder / "file") == "old");
}

TEST_CASE("a folder or a file without permission is refused") {
    temporary_folder const folder;
    cb::write_file(folder / "file", "old");
    ::chmod(folder.path().c_str(), 0755);
    ::chmod((folder / "file").c_str(), 0444);
    if (::geteuid() != 0)
        ::chmod(folder.path().c_str(), 0555);
    {
        ordinary_user const nobody;
        for (auto const& sentence : {refusal(folder / "new"), early_refusal(folder / "new"),
                                     refusal(folder / "file"), early_refusal(folder / "file")}) {
            INFO(sentence);
            CHECK(sentence.find("Permission denied") != std::string::npos);
        }
    }
    ::chmod(folder.path().c_str(), 0755);
    CHECK(folder.entries() == 1);
    CHECK(read_file(folder / "file") == "old");
}

TEST_CASE("a full disk is reported, and the old file stays as it was") {
    temporary_folder const folder;
    auto const path = folder / "report.json";
    cb::write_file(path, "old");
    std::string sentence;
    {
        full_disk const limit{4096};
        sentence = refusal(path, std::string(100'000, 'x'));
    }
    CHECK(sentence ==
          "component_benchmark: cannot write '" + path + "': writing failed: File too large");
    CHECK(read_file(path) == "old");
    CHECK(folder.entries() == 1);
}

TEST_CASE("a device is written into, never replaced") {
    CHECK(refusal("/dev/full") ==
          "component_benchmark: cannot write '/dev/full': writing failed: "
          "No space left on device");
    CHECK(refusal("/dev/null").empty());
    CHECK(early_refusal("/dev/full").empty());
    CHECK(std::filesystem::is_character_file("/dev/full"));
    CHECK(std::filesystem::is_character_file("/dev/null"));
}

TEST_CASE("a pipe is written into") {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    auto const path = "/dev/fd/" + std::to_string(ends[1]);
    CHECK(early_refusal(path).empty());
    CHECK(refusal(path, "through the pipe").empty());
    ::close(ends[1]);
    char buffer[64];
    auto const length = ::read(ends[0], buffer, sizeof buffer);
    ::close(ends[0]);
    CHECK(std::string(buffer, static_cast<std::size_t>(length)) == "through the pipe");
    CHECK(refusal("/dev/fd/987").find("Bad file descriptor") != std::string::npos);
    CHECK(early_refusal("/dev/fd/987").find("Bad file descriptor") != std::string::npos);
}

TEST_CASE("a descriptor that is a file keeps what was written before and after") {
    temporary_folder const folder;
    int const descriptor = ::open((folder / "log").c_str(), O_WRONLY | O_CREAT, 0644);
    REQUIRE(::write(descriptor, "before ", 7) == 7);
    CHECK(refusal("/proc/self/fd/" + std::to_string(descriptor), "report ").empty());
    REQUIRE(::write(descriptor, "after", 5) == 5);
    ::close(descriptor);
    CHECK(read_file(folder / "log") == "before report after");
}

TEST_CASE("many writers at once leave one whole file") {
    temporary_folder const folder;
    auto const path = folder / "report.json";
    std::vector<std::thread> writers;
    for (int i = 0; i < 8; ++i)
        writers.emplace_back([&path, i] {
            for (int round = 0; round < 20; ++round)
                cb::write_file(path, std::string(10'000, static_cast<char>('a' + i)));
        });
    for (auto& writer : writers)
        writer.join();
    auto const content = read_file(path);
    CHECK(content == std::string(10'000, content[0]));
    CHECK(folder.entries() == 1);
}
