// MovieLens -> [TRAINER] -> trained DeepFM: an ordinary training loop, with a place to look into it
#pragma once

#include "batch.hpp"
#include "deepfm.hpp"
#include "movielens.hpp"
#include "require.hpp"
#include "score.hpp"
#include <component_benchmark/component_benchmark.hpp>

#include <torch/nn/functional/loss.h>
#include <torch/optim/adam.h>
#include <torch/utils.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <span>
#include <utility>
#include <vector>

namespace models {

struct trainer_options {
    std::size_t epochs = 6;
    std::size_t batch_size = 512;
    std::size_t max_steps = 0;  ///< 0: as many as the epochs have
    double learning_rate = 5e-3;
    double weight_decay = 1e-5;
    std::int64_t embedding_dim = 16;
    std::int64_t hidden_layer_size = 64;
    std::int64_t deep_fm_dimension = 64;
    std::uint64_t seed = 1;
};

/// Trains a DeepFM on nine tenths of the ratings, drawn at random, and scores it on the last tenth.
/// The same seed and one thread give the same weights, bit by bit.
class trainer {
public:
    using loss_function = std::function<torch::Tensor(torch::Tensor const& output)>;
    /// Called before each step with its number (from 0), the model, and what the step will use.
    using step_observer = std::function<void(std::size_t step, SimpleDeepFMNN& model,
                                             batch const& batch, loss_function const& loss)>;
    /// Called after each epoch with its number (from 0) and the score on the held-out ratings.
    using epoch_observer = std::function<void(std::size_t epoch, score const& held_out)>;

    explicit trainer(movielens data, trainer_options options = {})
        : data_{std::move(data)}, options_{options}, order_{options.seed} {
        require(options_.batch_size > 0, "trainer: expected batches of at least 1, given 0");
        require(data_.size() >= 10, "trainer: expected at least 10 ratings, given ", data_.size());
        std::vector<std::size_t> ratings(data_.size());
        std::iota(ratings.begin(), ratings.end(), std::size_t{0});
        shuffle(ratings);
        auto const first_kept = ratings.begin() + static_cast<std::ptrdiff_t>(ratings.size() / 10);
        held_out_.assign(ratings.begin(), first_kept);
        training_.assign(first_kept, ratings.end());
        torch::manual_seed(options_.seed);
        model_ = SimpleDeepFMNN{movielens::num_dense_features,
                                EmbeddingBagCollection{data_.tables(options_.embedding_dim)},
                                options_.hidden_layer_size, options_.deep_fm_dimension};
    }

    [[nodiscard]] SimpleDeepFMNN& model() { return model_; }
    [[nodiscard]] movielens const& data() const { return data_; }

    /// Where the time of the steps goes that were made so far.
    [[nodiscard]] component_benchmark::step_ledger const& ledger() const { return ledger_; }

    /// Steps that `train` will make.
    [[nodiscard]] std::size_t steps() const {
        auto const per_epoch = (training_.size() + options_.batch_size - 1) / options_.batch_size;
        auto const all = options_.epochs * per_epoch;
        return options_.max_steps == 0 ? all : std::min(all, options_.max_steps);
    }

    /// Trains, and returns the score on the held-out ratings.
    score train(step_observer const& on_step = {}, epoch_observer const& on_epoch = {}) {
        torch::optim::Adam optimizer{
            model_->parameters(),
            torch::optim::AdamOptions{options_.learning_rate}.weight_decay(options_.weight_decay)};
        model_->train();
        auto const last = steps();
        std::size_t step = 0;
        for (std::size_t epoch = 0; step < last; ++epoch) {
            shuffle(training_);
            for (std::size_t begin = 0; begin < training_.size() && step < last;
                 begin += options_.batch_size, ++step)
                make_step(step, slice(training_, begin), optimizer, on_step);
            if (on_epoch)
                on_epoch(epoch, evaluate());
        }
        return evaluate();
    }

    /// Log loss and AUC on the held-out ratings.
    [[nodiscard]] score evaluate() {
        torch::NoGradGuard const no_grad;
        auto const was_training = model_->is_training();
        model_->eval();
        std::vector<float> probabilities;
        std::vector<float> labels;
        for (std::size_t begin = 0; begin < held_out_.size(); begin += options_.batch_size) {
            auto const batch = data_.make(slice(held_out_, begin));
            append(probabilities, model_(batch.dense, batch.sparse));
            append(labels, batch.labels);
        }
        model_->train(was_training);
        return {log_loss(probabilities, labels), area_under_curve(probabilities, labels)};
    }

private:
    void make_step(std::size_t step, std::span<std::size_t const> ratings,
                   torch::optim::Optimizer& optimizer, step_observer const& on_step) {
        auto const examples = static_cast<std::int64_t>(ratings.size());
        ledger_.step(examples, [&] { make_timed_step(step, ratings, optimizer, on_step); });
    }

    void make_timed_step(std::size_t step, std::span<std::size_t const> ratings,
                         torch::optim::Optimizer& optimizer, step_observer const& on_step) {
        auto const batch = ledger_.data([&] { return data_.make(ratings); });
        // The model's last layer is the sigmoid: its output is a probability, not a logit.
        loss_function const loss = [&](torch::Tensor const& output) {
            return torch::nn::functional::binary_cross_entropy(output, batch.labels);
        };
        if (on_step)
            ledger_.apart([&] { on_step(step, model_, batch, loss); });
        ledger_.zero_grad([&] { optimizer.zero_grad(); });
        auto const output = ledger_.forward([&] { return model_(batch.dense, batch.sparse); });
        auto const error = ledger_.loss([&] { return loss(output); });
        ledger_.backward([&] { error.backward(); });
        ledger_.optimizer([&] { optimizer.step(); });
    }

    // Not std::shuffle, whose result differs from one standard library to another; and not torch's
    // generator, so that nothing else that draws from it changes the order.
    void shuffle(std::vector<std::size_t>& ratings) {
        for (auto left = ratings.size(); left > 1; --left)
            std::swap(ratings[left - 1], ratings[order_() % left]);
    }

    [[nodiscard]] std::span<std::size_t const> slice(std::vector<std::size_t> const& ratings,
                                                     std::size_t begin) const {
        return std::span{ratings}.subspan(begin,
                                          std::min(options_.batch_size, ratings.size() - begin));
    }

    static void append(std::vector<float>& all, torch::Tensor const& tensor) {
        auto const flat = tensor.contiguous();
        auto const* const begin = flat.const_data_ptr<float>();
        all.insert(all.end(), begin, begin + flat.numel());
    }

    movielens data_;
    trainer_options options_;
    std::mt19937_64 order_;
    component_benchmark::step_ledger ledger_;
    std::vector<std::size_t> held_out_;
    std::vector<std::size_t> training_;
    SimpleDeepFMNN model_{nullptr};
};

}  // namespace models
