// atomic files -> [FEATURES] -> data set: columns of words as numbers
#pragma once

#include "atomic_file.hpp"

#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace models {

/// Numbers the words of a column in the order in which they are first met.
class vocabulary {
public:
    [[nodiscard]] std::size_t size() const { return id_of_.size(); }

    /// The number of a word; a new word gets the next one.
    std::size_t add(std::string_view word) {
        return id_of_.try_emplace(std::string{word}, size()).first->second;
    }

    /// The number of a word that must be known.
    [[nodiscard]] std::size_t known(atomic_file const& file, std::size_t row, std::size_t column,
                                    std::string const& expected) const {
        auto const found = id_of_.find(std::string{file.token(row, column)});
        if (found == id_of_.end())
            file.fail(row, column, expected);
        return found->second;
    }

private:
    std::unordered_map<std::string, std::size_t> id_of_;
};

/// Refuses a row whose fields in some columns are those of an earlier row.
class once_each {
public:
    once_each(atomic_file const& file, std::initializer_list<std::size_t> columns)
        : file_{file}, columns_{columns} {}

    void check(std::size_t row) {
        std::string key;
        for (auto const column : columns_)
            key.append(file_.token(row, column)).push_back('\t');
        auto const [first, is_new] = first_row_.try_emplace(std::move(key), row);
        if (!is_new)
            file_.fail(row, columns_.back(),
                       "no second row like line " + std::to_string(file_.line_of(first->second)));
    }

private:
    atomic_file const& file_;
    std::vector<std::size_t> columns_;
    std::unordered_map<std::string, std::size_t> first_row_;
};

/// Mean 0 and variance 1; a missing number becomes the mean. Only inputs go through here, no
/// labels, so statistics over all rows tell a model nothing of the held-out ones.
[[nodiscard]] inline std::vector<float> standardised(
    std::vector<std::optional<double>> const& all) {
    double count = 0;
    double sum = 0;
    for (auto const& value : all)
        if (value) {
            ++count;
            sum += *value;
        }
    auto const mean = count > 0 ? sum / count : 0;
    double squares = 0;
    for (auto const& value : all)
        squares += value ? (*value - mean) * (*value - mean) : 0;
    auto const deviation = squares > 0 ? std::sqrt(squares / count) : 1;
    std::vector<float> scaled;
    for (auto const& value : all)
        scaled.push_back(value ? static_cast<float>((*value - mean) / deviation) : 0.0F);
    return scaled;
}

/// A feature with one id for each user or item.
struct single_feature {
    std::string name;
    std::size_t rows = 0;  ///< different ids
    std::vector<std::size_t> id_of;
};

/// A feature with any number of ids for each item.
struct jagged_feature {
    std::size_t rows = 0;  ///< different ids
    std::vector<std::size_t> ids;
    std::vector<std::size_t> begin_of{0};

    [[nodiscard]] std::size_t count(std::size_t item) const {
        return begin_of[item + 1] - begin_of[item];
    }
};

/// The ids of a whole column; `shorten` makes each field the word that counts.
template<class Shorten>
[[nodiscard]] single_feature make_feature(atomic_file const& file, std::string name,
                                          std::size_t column, Shorten shorten) {
    vocabulary words;
    single_feature feature{std::move(name), 0, {}};
    for (std::size_t row = 0; row < file.rows(); ++row)
        feature.id_of.push_back(words.add(shorten(file.token(row, column))));
    feature.rows = words.size();
    return feature;
}

[[nodiscard]] inline single_feature make_feature(atomic_file const& file, std::string name,
                                                 std::size_t column) {
    return make_feature(file, std::move(name), column, [](std::string_view word) { return word; });
}

/// Numbers the rows by a column whose fields must be different.
[[nodiscard]] inline vocabulary make_ids(atomic_file const& file, std::size_t column) {
    vocabulary ids;
    once_each seen{file, {column}};
    for (std::size_t row = 0; row < file.rows(); ++row) {
        seen.check(row);
        ids.add(file.token(row, column));
    }
    return ids;
}

}  // namespace models
