// probabilities + labels -> [SCORE]: how good predictions are
#pragma once

#include "require.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

namespace models {

struct score {
    double log_loss = 0;
    double auc = 0;
};

/// Mean of minus the logarithm of the probability that was given to what happened.
[[nodiscard]] inline double log_loss(std::span<float const> probabilities,
                                     std::span<float const> labels) {
    require(!labels.empty() && probabilities.size() == labels.size(),
            "log loss: expected a probability for each of at least one label, given ",
            probabilities.size(), " for ", labels.size());
    double sum = 0;
    for (std::size_t index = 0; index < labels.size(); ++index) {
        // As far from 0 and 1 as a float can say, or one saturated sigmoid makes the mean infinite.
        auto const probability = std::clamp(double{probabilities[index]}, 1e-7, 1 - 1e-7);
        sum -= std::log(labels[index] > 0.5F ? probability : 1 - probability);
    }
    return sum / static_cast<double>(labels.size());
}

/// Chance that a random positive is scored above a random negative, ties counting half: exact,
/// from the ranks.
[[nodiscard]] inline double area_under_curve(std::span<float const> scores,
                                             std::span<float const> labels) {
    require(scores.size() == labels.size(), "AUC: expected a score for each label, given ",
            scores.size(), " for ", labels.size());
    std::vector<std::size_t> order(scores.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t left, std::size_t right) { return scores[left] < scores[right]; });
    double positives = 0;
    double rank_sum = 0;
    for (std::size_t begin = 0; begin < order.size();) {
        auto end = begin;
        double positives_here = 0;
        for (; end < order.size() && scores[order[end]] == scores[order[begin]]; ++end)
            positives_here += labels[order[end]] > 0.5F ? 1 : 0;
        // Ranks count from 1; equal scores share the mean of theirs.
        rank_sum += positives_here * (static_cast<double>(begin + 1 + end) / 2);
        positives += positives_here;
        begin = end;
    }
    auto const negatives = static_cast<double>(order.size()) - positives;
    require(positives > 0 && negatives > 0, "AUC: expected labels of both kinds, given ", positives,
            " positive and ", negatives, " negative");
    return (rank_sum - positives * (positives + 1) / 2) / (positives * negatives);
}

}  // namespace models
