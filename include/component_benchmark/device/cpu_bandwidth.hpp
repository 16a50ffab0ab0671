// DEVICE -> profile: what the processor moves to and from memory at best, measured
#pragma once

#include <component_benchmark/core/memory_to_spare.hpp>
#include <component_benchmark/core/text.hpp>
#include <component_benchmark/device/cpu_compute.hpp>
#include <component_benchmark/device/machine.hpp>
#include <component_benchmark/device/quiet.hpp>

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/add.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <sys/mman.h>

namespace component_benchmark {

namespace detail {

/// Fresh memory of the system, not the allocator's, so that nobody who counts allocations sees it
/// and all of it goes back.
class pages {
public:
    explicit pages(std::int64_t bytes)
        : bytes_{static_cast<std::size_t>(bytes)},
          start_{
              ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)} {
        if (start_ != MAP_FAILED)
            ::madvise(start_, bytes_, MADV_HUGEPAGE);  // else most of the time goes into faults
    }
    pages(pages const&) = delete;
    pages& operator=(pages const&) = delete;
    ~pages() {
        if (start_ != MAP_FAILED)
            ::munmap(start_, bytes_);
    }
    explicit operator bool() const noexcept { return start_ != MAP_FAILED; }
    [[nodiscard]] char* start() const noexcept { return static_cast<char*>(start_); }

private:
    std::size_t bytes_;
    void* start_;
};

inline constexpr std::int64_t mebibyte = std::int64_t{1024} * 1024;

/// How long each of the three arrays may be: four times the last-level cache, since what fits into
/// caches does not measure memory, but no more than 512 MiB, and than a quarter of what is to spare
/// for all three. 0: too little to measure anything.
[[nodiscard]] inline std::int64_t size_of_arrays(std::int64_t cache, std::int64_t spare) {
    auto const bytes =
        (std::min)({(std::max)(4 * cache, 64 * mebibyte), 512 * mebibyte, spare / 12});
    return bytes < 8 * mebibyte ? 0 : bytes / mebibyte * mebibyte;
}

/// What must be said of arrays of that size, often nothing.
[[nodiscard]] inline std::string note_on_arrays(std::int64_t bytes, std::int64_t cache) {
    if (bytes >= 4 * cache)
        return {};
    return "the bandwidth may be that of caches in part: its arrays have " +
           text::grouped(bytes / mebibyte) + " MiB, the last-level cache has " +
           text::grouped(cache / mebibyte) + " MiB";
}

/// Three arrays, a slice of each for every thread, which touches its slices first: that decides
/// where a page lies.
template<class Pages = pages>
class basic_shared_out {
public:
    basic_shared_out(std::int64_t bytes, int threads)
        : threads_{threads},
          slice_{bytes / threads / block * block},
          arrays_{Pages{bytes}, Pages{bytes}, Pages{bytes}} {}

    explicit operator bool() const noexcept { return arrays_[0] && arrays_[1] && arrays_[2]; }

    /// Touches as much as can be touched in `budget` seconds, since fresh memory may be slow, but
    /// no less than 32 MiB of each array.
    void touch(double budget) {
        using clock = std::chrono::steady_clock;
        auto const enough = (std::min)(slice_, 32 * mebibyte / threads_);
        std::atomic<std::int64_t> least{slice_};
        on_every_thread([&](int thread) {
            auto const end = clock::now() + std::chrono::duration<double>(budget);
            std::int64_t done = 0;
            for (; done < slice_ && (done < enough || clock::now() < end); done += block)
                for (int i = 0; i < 3; ++i)
                    std::memset(at(i, thread) + done, 0, static_cast<std::size_t>(block));
            for (auto before = least.load(); done < before;)
                least.compare_exchange_weak(before, done);
        });
        used_ = least;
    }

    /// Bytes of each array that have been touched.
    [[nodiscard]] std::int64_t bytes() const noexcept { return used_ * threads_; }

    [[nodiscard]] char* start(int array) const noexcept { return at(array, 0); }

    void copy() const {
        on_every_thread([this](int thread) {
            std::memcpy(at(0, thread), at(1, thread), static_cast<std::size_t>(used_));
        });
    }

    /// a = b + 3 c
    void triad() const {
        on_every_thread([this](int thread) {
            quiet const unseen;
            auto out = tensor(0, thread);
            at::add_out(out, tensor(1, thread), tensor(2, thread), 3.0);
        });
    }

private:
    static constexpr std::int64_t block = 2 * mebibyte;

    template<class Work>
    void on_every_thread(Work const& work) const {
        at::parallel_for(0, threads_, 1, [&](std::int64_t first, std::int64_t last) {
            for (auto thread = first; thread < last; ++thread)
                work(static_cast<int>(thread));
        });
    }

    [[nodiscard]] char* at(int array, int thread) const noexcept {
        return arrays_[static_cast<std::size_t>(array)].start() + slice_ * thread;
    }

    [[nodiscard]] at::Tensor tensor(int array, int thread) const {
        return at::from_blob(at(array, thread), {used_ / static_cast<std::int64_t>(sizeof(float))},
                             at::TensorOptions{}.dtype(at::kFloat));
    }

    int threads_;
    std::int64_t slice_;
    std::int64_t used_ = 0;
    std::array<Pages, 3> arrays_;
};

using shared_out = basic_shared_out<>;

/// GB/s of the best of several copies (two streams: what is read and what is written) and triads
/// (three). That a processor may read a line before it writes it is not counted.
template<class Peak = measured_peak>
[[nodiscard]] Peak measured_gbps(std::int64_t cache, std::int64_t spare) {
    quiet const unseen;
    auto const threads = at::get_num_threads();
    auto const size = size_of_arrays(cache, spare);
    basic_shared_out<> arrays{(std::max)(size, std::int64_t{2} * threads * mebibyte), threads};
    if (size == 0 || !arrays)
        return {std::nullopt, "bandwidth is not measured: there is no memory to spare for it"};
    arrays.touch(0.3);
    auto const copy = fastest([&] { arrays.copy(); }, 0.05);
    auto const triad = fastest([&] { arrays.triad(); }, 0.05);
    auto const moved = static_cast<double>(arrays.bytes()) / 1e9;
    Peak peak{(std::max)(2.0 * moved / copy.seconds, 3.0 * moved / triad.seconds),
              note_on_arrays(arrays.bytes(), cache)};
    if (copy.disturbed || triad.disturbed)
        peak.note.append(peak.note.empty() ? "" : "; ").append(disturbed_note);
    return peak;
}

template<class Peak>
struct [[gnu::visibility("default")]] cpu_bandwidth_cache {
    inline static std::mutex mutex;
    inline static std::map<int, Peak> peaks;  ///< by threads
};

}  // namespace detail

/// GB/s to and from memory on the CPU with the threads of this moment; measured the first time
/// (about 0.5 s, up to 1.5 GiB of memory meanwhile), the same number afterwards.
template<class Peak = measured_peak>
[[nodiscard]] Peak cpu_gbps() {
    using cache = detail::cpu_bandwidth_cache<Peak>;
    std::lock_guard<std::mutex> const lock{cache::mutex};
    auto const [place, is_new] = cache::peaks.try_emplace(at::get_num_threads());
    if (is_new) {
        constexpr auto usual = 32 * detail::mebibyte;
        auto const known = machine::last_level_cache();
        place->second =
            detail::measured_gbps<Peak>(known > 0 ? known : usual, machine::memory_to_spare());
    }
    return place->second;
}

}  // namespace component_benchmark
