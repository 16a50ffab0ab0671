// atomic files -> [TABLES] -> MovieLens: what is known of users and of films, as numbers
#pragma once

#include "atomic_file.hpp"
#include "features.hpp"

#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

namespace models {

/// Who they are, from NAME.user.
class user_table {
public:
    explicit user_table(atomic_file const& file) {
        auto const user = file.column("user_id", "token");
        auto const age = file.column("age", "token");
        auto const gender = file.column("gender", "token");
        auto const occupation = file.column("occupation", "token");
        auto const zip = file.column("zip_code", "token");
        ids_ = make_ids(file, user);
        features_ = {make_feature(file, "user", user), make_feature(file, "age", age),
                     make_feature(file, "gender", gender),
                     make_feature(file, "occupation", occupation),
                     // The first digit of a code is a region; whole codes are nearly all different.
                     make_feature(file, "zip", zip,
                                  [](std::string_view code) { return code.substr(0, 1); })};
        std::vector<std::optional<double>> ages;
        for (std::size_t row = 0; row < file.rows(); ++row)
            ages.emplace_back(file.number(row, age));
        ages_ = standardised(ages);
    }

    [[nodiscard]] vocabulary const& ids() const { return ids_; }
    [[nodiscard]] std::vector<single_feature> const& features() const { return features_; }
    [[nodiscard]] std::vector<float> const& ages() const { return ages_; }

private:
    vocabulary ids_;
    std::vector<single_feature> features_;
    std::vector<float> ages_;
};

/// What they are, from NAME.item.
class item_table {
public:
    explicit item_table(atomic_file const& file) {
        auto const item = file.column("item_id", "token");
        auto const year = file.column("release_year", "token");
        auto const genre = file.column("class", "token_seq");
        ids_ = make_ids(file, item);
        features_ = {make_feature(file, "item", item), make_feature(file, "release_year", year)};
        vocabulary genres;
        std::vector<std::optional<double>> years;
        for (std::size_t row = 0; row < file.rows(); ++row) {
            for (auto const word : file.words(row, genre))
                genres_.ids.push_back(genres.add(word));
            genres_.begin_of.push_back(genres_.ids.size());
            years.push_back(year_of(file.token(row, year)));
        }
        genres_.rows = genres.size();
        years_ = standardised(years);
    }

    [[nodiscard]] vocabulary const& ids() const { return ids_; }
    [[nodiscard]] std::vector<single_feature> const& features() const { return features_; }
    [[nodiscard]] jagged_feature const& genres() const { return genres_; }
    [[nodiscard]] std::vector<float> const& years() const { return years_; }

private:
    // A few films have no year but a word.
    [[nodiscard]] static std::optional<double> year_of(std::string_view text) {
        int year = 0;
        auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), year);
        if (error != std::errc{} || end != text.data() + text.size())
            return std::nullopt;
        return year;
    }

    vocabulary ids_;
    std::vector<single_feature> features_;
    jagged_feature genres_;
    std::vector<float> years_;
};

}  // namespace models
