// DEVICE: empties the processor's caches of what a component could find in them
#pragma once

#include <component_benchmark/device/machine.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace component_benchmark {

/// How much is written to empty caches of `cache` bytes: twice as much, since what is replaced is
/// not strictly the oldest; not more than `most`, nor a quarter of the memory that is to spare. 64
/// MB where the caches are not known.
[[nodiscard]] inline std::int64_t bytes_to_flush(std::int64_t cache, std::int64_t most,
                                                 std::int64_t spare) noexcept {
    constexpr std::int64_t where_unknown = std::int64_t{64} << 20;
    constexpr std::int64_t least = 4096;
    most = (std::min)(most, spare / 4);
    auto const wanted = cache <= 0 ? where_unknown : cache > most / 2 ? most : 2 * cache;
    return (std::max)(least, (std::min)(wanted, most));
}

/// Writes through a buffer of its own when it is called. (A template, so that a file which does not
/// use it does not pay for it.)
template<class Byte = unsigned char>
class cache_flush {
public:
    /// Allocates and writes all of it once, so that no page is missing later.
    explicit cache_flush(std::int64_t bytes)
        : bytes_{static_cast<std::size_t>((std::max)(std::int64_t{1}, bytes))},
          buffer_{std::make_unique<Byte[]>(bytes_)} {
        (*this)();
    }

    /// One write a cache line is enough to bring it in and another one out. Volatile, or the
    /// compiler leaves them out; one by one, since a large memset goes past the caches.
    void operator()() noexcept {
        constexpr std::size_t line = 64;
        Byte volatile* const at = buffer_.get();
        ++round_;
        for (std::size_t index = 0; index < bytes_; index += line)
            at[index] = round_;
    }

    [[nodiscard]] Byte const* data() const noexcept { return buffer_.get(); }
    [[nodiscard]] std::size_t size() const noexcept { return bytes_; }

private:
    std::size_t bytes_;
    std::unique_ptr<Byte[]> buffer_;
    Byte round_ = 0;
};

}  // namespace component_benchmark
