// device -> profile -> result: what a device could do at best, so that a number can be a share of
// it
#pragma once

#include <component_benchmark/core/number_format.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace component_benchmark {

/// Where a peak comes from: the vendor's figure (dense), a formula over clocks and units, a
/// measurement in this process, or the user.
enum class peak_source { datasheet, derived, measured, user };

[[nodiscard]] constexpr std::string_view name_of(peak_source source) noexcept {
    constexpr std::array<std::string_view, 4> names{"datasheet", "derived", "measured", "user"};
    return names[static_cast<std::size_t>(source)];
}

/// TFLOP/s, dense: without the factor two of structured sparsity.
struct compute_peak {
    double tflops = 0.0;
    peak_source source = peak_source::datasheet;
};

/// GB/s to and from the device's memory; 1 GB = 1,000,000,000 bytes.
struct bandwidth_peak {
    double gbps = 0.0;
    peak_source source = peak_source::datasheet;
};

/// The peaks of one device. One that is not known is absent, never a default.
struct device_peaks {
    std::string name;  ///< as its driver or the operating system says it
    std::string kind;  ///< "cpu", "cuda", ...
    std::array<std::optional<compute_peak>, number_formats> compute = {};  ///< by number_format
    std::optional<bandwidth_peak> bandwidth = {};
    std::string note = {};  ///< how it was measured, or why a peak is not known; often empty

    /// The peak for operators that multiply in that format. Where a device has no TF32 units, what
    /// is asked to run in TF32 runs in FP32, so that one's peak is given; there is no other
    /// stand-in.
    [[nodiscard]] std::optional<compute_peak> of(number_format format) const {
        auto const& own = compute[static_cast<std::size_t>(format)];
        return own || format != number_format::tf32 ? own : of(number_format::fp32);
    }

    void set(number_format format, compute_peak peak) {
        compute[static_cast<std::size_t>(format)] = peak;
    }

    /// What people call it.
    [[nodiscard]] std::string const& shown_name() const noexcept {
        return name.empty() ? kind : name;
    }

    /// Takes over what another one knows.
    void add(device_peaks const& more) {
        name = more.name.empty() ? name : more.name;
        kind = more.kind.empty() ? kind : more.kind;
        for (std::size_t index = 0; index < number_formats; ++index)
            if (more.compute[index])
                compute[index] = more.compute[index];
        if (more.bandwidth)
            bandwidth = more.bandwidth;
        for (std::string_view rest = more.note; !rest.empty();) {
            remark(rest.substr(0, rest.find("; ")));
            rest.remove_prefix((std::min)(rest.size(), rest.substr(0, rest.find("; ")).size() + 2));
        }
    }

    /// Adds a sentence to the note, once.
    void remark(std::string_view sentence) {
        if (note.find(sentence) == std::string::npos)
            note.append(note.empty() || sentence.empty() ? "" : "; ").append(sentence);
    }
};

/// Which peaks somebody will ask for. What is measured costs time and is measured only if wanted.
struct wanted_peaks {
    std::vector<number_format> formats = {};
    bool bandwidth = true;

    [[nodiscard]] bool has(number_format format) const {
        return std::find(formats.begin(), formats.end(), format) != formats.end();
    }
};

}  // namespace component_benchmark
