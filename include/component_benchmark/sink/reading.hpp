// document -> READING -> table: how the numbers are to be read, in a line or two
#pragma once

#include <component_benchmark/core/peaks.hpp>
#include <component_benchmark/core/text.hpp>
#include <component_benchmark/result/document.hpp>

#include <cstddef>
#include <string>

namespace component_benchmark::detail {

/// "peaks of Xeon: fp32 0.09 TFLOP/s (measured), 12 GB/s (measured); measured with 1 thread", or
/// nothing where no peak was asked for.
[[nodiscard]] inline std::string peaks_text(device_peaks const& peaks) {
    std::string list;
    auto const add = [&list](std::string const& peak, peak_source source) {
        list += (list.empty() ? "" : ", ") + peak + " (" + std::string{name_of(source)} + ")";
    };
    for (std::size_t index = 0; index < number_formats; ++index)
        if (auto const& peak = peaks.compute[index])
            add(std::string{name_of(static_cast<number_format>(index))} + " " +
                    text::number(peak->tflops) + " TFLOP/s",
                peak->source);
    if (peaks.bandwidth)
        add(text::number(peaks.bandwidth->gbps) + " GB/s", peaks.bandwidth->source);
    auto const note = peaks.note.empty() ? "" : "; " + text::printable(peaks.note);
    if (list.empty())
        return peaks.note.empty() ? "" : text::printable(peaks.note);
    return "peaks of " + text::printable(peaks.shown_name()) + ": " + list + note;
}

/// Conventions and peaks, each a sentence; empty where no number needs any.
[[nodiscard]] std::string reading_of(a_document auto const& report) {
    std::string line;
    for (auto const& [name, value] : report.facts.conventions) {
        if (name == "causal_attention" && value == "dense")
            continue;  // as everybody does
        if (name == "flops_per_multiply_add")
            line += " (" + text::printable(value) + " for a multiply-add)";
        else
            line +=
                (line.empty() ? "" : "; ") + text::printable(name) + ": " + text::printable(value);
    }
    auto const peaks = peaks_text(report.facts.peaks);
    return peaks.empty() ? line : line + (line.empty() ? "" : "; ") + peaks;
}

}  // namespace component_benchmark::detail
