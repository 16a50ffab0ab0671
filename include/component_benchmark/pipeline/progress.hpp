// PIPELINE -> terminal: how far a long run is, on one line that goes away again
#pragma once

#include <component_benchmark/core/clock.hpp>
#include <component_benchmark/core/terminal.hpp>
#include <component_benchmark/core/text.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace component_benchmark::detail {

/// "component_benchmark: 12/55 components, inter_arch.over_arch" in at most `width` columns.
[[nodiscard]] inline std::string progress_text(std::size_t number, std::size_t all,
                                               std::string_view name, std::size_t width) {
    auto const before = "component_benchmark: " + std::to_string(number) + "/" +
                        std::to_string(all) + " components, ";
    constexpr std::size_t least = 8;
    auto const room = width - (std::min)(width, before.size());
    return text::cut_end(before + text::cut_middle(text::printable(name), (std::max)(least, room)),
                         width);
}

/// Says on a terminal which component is being measured, once that has taken a second and at
/// most ten times a second. Anywhere else it says nothing.
class progress {
public:
    explicit progress(std::FILE* out = stderr)
        : progress{out, obeys_control_sequences(out), &terminal_width, &steady_nanoseconds} {}

    progress(std::FILE* out, bool is_terminal, int (*width)(std::FILE*), clock_function clock)
        : out_{is_terminal ? out : nullptr},
          width_{width},
          clock_{clock},
          next_{is_terminal ? clock() + patience_ns : 0} {}

    progress(progress const&) = delete;
    progress& operator=(progress const&) = delete;
    ~progress() { clear(); }

    /// The `number`-th of `all` components is about to be measured.
    void show(std::size_t number, std::size_t all, std::string_view name) {
        if (out_ == nullptr)
            return;
        auto const now = clock_();
        if (now < next_)
            return;
        next_ = now + pause_ns;
        shown_ = true;
        auto const columns = width_(out_);
        // The last column stays free: some terminals go to the next line when it is written.
        auto const width = static_cast<std::size_t>(columns > 1 ? columns - 1 : 79);
        print("\r" + progress_text(number, all, name, width) + "\x1b[K");
    }

    /// Takes the line away, before something else is printed.
    void clear() {
        if (shown_)
            print("\r\x1b[K");
        shown_ = false;
    }

private:
    static constexpr std::int64_t patience_ns = 1'000'000'000;
    static constexpr std::int64_t pause_ns = 100'000'000;

    void print(std::string const& what) {
        std::fwrite(what.data(), 1, what.size(), out_);
        std::fflush(out_);
    }

    std::FILE* out_;  ///< null: says nothing
    int (*width_)(std::FILE*);
    clock_function clock_;
    std::int64_t next_;  ///< not before this time
    bool shown_ = false;
};

}  // namespace component_benchmark::detail
