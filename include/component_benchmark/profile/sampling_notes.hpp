// sampling -> PROFILE -> latency: why a median is not known well, in a sentence
#pragma once

#include <component_benchmark/core/by_call.hpp>
#include <component_benchmark/core/sample_groups.hpp>
#include <component_benchmark/core/statistics.hpp>
#include <component_benchmark/core/text.hpp>
#include <component_benchmark/profile/sampling.hpp>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace component_benchmark::detail {

[[nodiscard]] inline std::string joined_words(std::string all, std::string const& more) {
    return all.empty() || more.empty() ? all + more : all + "; " + more;
}

/// "samples in 3 groups, 8.0 ms apart", or nothing where they lie around one value.
template<class Samples>
[[nodiscard]] std::string groups_in_words(Samples const& samples) {
    constexpr std::size_t most = 5;
    auto const centres = groups_of(samples);
    if (centres.size() < 2)
        return {};
    auto const step = centres[1] - centres[0];
    bool even = true;
    std::string around;
    for (std::size_t index = 0; index < centres.size(); ++index) {
        even = even &&
               (index == 0 || std::abs(centres[index] - centres[index - 1] - step) < 0.2 * step);
        if (index < most)
            around += (index == 0 ? "" : ", ") + text::number(centres[index], 2);
    }
    return "samples in " + text::plural(centres.size(), "group") +
           (even ? ", " + text::number(step, 2) + " ms apart"
                 : " around " + around + (centres.size() > most ? ", ... ms" : " ms"));
}

/// A change of the median, or of a clock, while samples were taken; or nothing.
template<class Samples>
[[nodiscard]] std::string changes_in_words(Samples const& samples, sampled_call const& of) {
    constexpr double slight_pct = 2.0;
    constexpr double slight_mhz = 0.05;
    std::string words;
    if (auto const drift = drift_percent(samples); drift && std::abs(*drift) > slight_pct)
        words = "the second half " + text::number(std::abs(*drift), 2) + " % " +
                (*drift > 0.0 ? "slower" : "faster") + " than the first";
    auto const clock = [&](char const* whose, double from, double to) {
        if (from > 0.0 && to > 0.0 && std::abs(to - from) > slight_mhz * from)
            words =
                joined_words(words, std::string{whose} + " clock went from " + text::number(from) +
                                        " to " + text::number(to) + " MHz");
    };
    clock("the core's", of.before.clock_mhz, of.after.clock_mhz);
    clock("the device's", of.device_before.clock_mhz, of.device_after.clock_mhz);
    if (auto const why = held_back_in_words(of.device_before.held_back | of.device_after.held_back);
        !why.empty())
        words = joined_words(words, "the device was held back by " + why);
    return words;
}

/// What of a time autocast's casts of weights are, unless it is next to nothing.
template<class Samples, class Call>
[[nodiscard]] std::string casts_in_words(Samples const& samples, Call const& of) {
    constexpr double slight = 0.01;
    auto const whole = median(samples);
    if (&samples == &of.backward || !(of.casts_ms > slight * whole))
        return {};
    return text::number(of.casts_ms, 2) + " ms of it (" +
           text::percentage(100.0 * of.casts_ms / whole) + " %) casts weights for autocast";
}

/// Work that a device did on other streams than the captured one, and that is part of the time.
template<class Call>
[[nodiscard]] std::string elsewhere_in_words(Call const& of) {
    return of.elsewhere_ms > 0.0 ? "up to " + text::number(of.elsewhere_ms, 2) +
                                       " ms of it on other streams than that of its call"
                                 : std::string{};
}

/// What ended the sampling, if not that the median was known.
template<class Call>
[[nodiscard]] std::string end_in_words(Call const& of, bool time_is_shared) {
    if (of.ended == sampling_end::interrupted)
        return ", when the run was interrupted";
    if (of.ended == sampling_end::out_of_time)
        return time_is_shared ? ", when its share of the run's time was spent"
                              : ", when its time was spent";
    return {};
}

/// What there is to know of the median of one of the three sets of samples of a call: often
/// nothing. `target` 0: all samples were wanted, however well it is known.
template<class Call>
[[nodiscard]] std::string note_on(std::vector<double> const& samples, Call const& of, double target,
                                  bool time_is_shared) {
    auto noise = joined_words(joined_words(casts_in_words(samples, of), elsewhere_in_words(of)),
                              groups_in_words(samples));
    noise = joined_words(noise, changes_in_words(samples, of));
    if (samples.empty() || target <= 0.0 || is_known_within(target, samples))
        return noise;
    auto const off = median_error_percent(samples);
    auto const taken = saturating_difference(of.after.taken_away, of.before.taken_away);
    if (taken > 0)
        noise = joined_words(noise, "the core was taken away " +
                                        text::plural(static_cast<std::size_t>(taken), "time"));
    auto const known = samples.size() < fewest_for_interval
                           ? std::string{"6 are needed to tell"}
                           : (off ? "\u00b1" + text::number(*off, 2) + " %" : "");
    return std::string{not_within} + text::shortest(target) + " % after " +
           text::plural(samples.size(), "sample") + end_in_words(of, time_is_shared) + ": " +
           joined_words(known, noise);
}

}  // namespace component_benchmark::detail
