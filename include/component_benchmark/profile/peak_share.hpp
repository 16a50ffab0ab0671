// device, flops -> PEAK SHARE -> mfu, roofline: the time that a device needs at best
#pragma once

#include <component_benchmark/core/environment.hpp>
#include <component_benchmark/core/options.hpp>
#include <component_benchmark/core/peaks.hpp>
#include <component_benchmark/core/run_notes.hpp>
#include <component_benchmark/profile/flop_amounts.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace component_benchmark {

/// Peaks of the run's device, asked for when they are needed and kept. `Device::peaks(device,
/// wanted, overrides)` gives them.
template<class Device>
class peaks_in_use {
public:
    void begin(options const& wishes, environment const& around) {
        device_ = around.device;
        overrides_ = wishes.peaks;
        wanted_ = {{}, false};
        known_ = {};
    }

    /// With a peak for each format that the amounts have and, if wanted, that of the memory, as far
    /// as they are known.
    [[nodiscard]] device_peaks const& for_work(flop_amounts const& amounts, bool bandwidth) {
        bool more = !known_ || (bandwidth && !wanted_.bandwidth);
        wanted_.bandwidth = wanted_.bandwidth || bandwidth;
        for (std::size_t index = 0; index < number_formats; ++index) {
            auto const format = static_cast<number_format>(index);
            if (amounts.by_format[index] == 0.0 || wanted_.has(format))
                continue;
            wanted_.formats.push_back(format);
            more = true;
        }
        if (more)
            known_ = Device::peaks(device_, wanted_, overrides_);
        return *known_;
    }

    void tell(run_notes& notes) const {
        if (known_)
            notes.peaks.add(*known_);
    }

private:
    std::string device_;
    peak_overrides overrides_;
    wanted_peaks wanted_;
    std::optional<device_peaks> known_;
};

/// What a user reads where `what` ("memory bandwidth") of a device is missing.
[[nodiscard]] inline std::string not_known(std::string const& what, device_peaks const& peaks) {
    return "no " + what + " is known for '" + peaks.shown_name() + "': give it by options::peaks";
}

/// A time, or why it is not known.
struct best_time {
    std::optional<double> ms;
    std::string why;
};

/// sum over formats of FLOPs / peak: what the multiplications take at best.
[[nodiscard]] inline best_time best_time_of(flop_amounts const& amounts,
                                            device_peaks const& peaks) {
    if (amounts.by_format[flop_amounts::other] > 0.0)
        return {{}, "no peak is known for integers and other formats without multiply units"};
    double ms = 0.0;
    for (std::size_t index = 0; index < number_formats; ++index) {
        if (amounts.by_format[index] == 0.0)
            continue;
        auto const format = static_cast<number_format>(index);
        auto const peak = peaks.of(format);
        if (!peak)
            return {{}, not_known("peak of " + std::string{name_of(format)}, peaks)};
        ms += amounts.by_format[index] / (peak->tflops * 1e9);
    }
    return {ms, {}};
}

}  // namespace component_benchmark
