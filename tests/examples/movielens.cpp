// tests: MovieLens is read as it is, bad files are refused by place, and the trainer learns
#include "models/movielens.hpp"

#include "bad_input.hpp"
#include "models/score.hpp"
#include "models/trainer.hpp"
#include "support/catch2.hpp"

#include <torch/torch.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

using test_support::complaint_of;
using test_support::temporary_folder;

namespace {

std::string const users =
    "user_id:token\tage:token\tgender:token\toccupation:token\tzip_code:token\n"
    "u1\t20\tM\tstudent\t12345\n"
    "u2\t40\tF\twriter\tV3N4P\n";
std::string const items =
    "item_id:token\tmovie_title:token_seq\trelease_year:token\tclass:token_seq\n"
    "i1\tToy Story\t1990\tComedy Drama\n"
    "i2\tHeat\t2000\tDrama\n"
    "i3\tLost\tunknown\t\n";
std::string const ratings =
    "user_id:token\titem_id:token\trating:float\ttimestamp:float\n"
    "u2\ti1\t4\t100\n"
    "u1\ti3\t3.5\t300\n";

temporary_folder const& write(temporary_folder const& folder, std::string const& user,
                              std::string const& item, std::string const& rating) {
    folder.write("ml-100k.user", user);
    folder.write("ml-100k.item", item);
    folder.write("ml-100k.inter", rating);
    return folder;
}

std::string complaint(std::string const& user, std::string const& item, std::string const& rating) {
    temporary_folder const folder;
    write(folder, user, item, rating);
    return folder.shortened(
        complaint_of([&] { return models::movielens::load(folder.path()).size(); }));
}

std::string with(std::string text, std::string const& from, std::string const& to) {
    return text.replace(text.find(from), from.size(), to);
}

// Who likes what is decided by a user's and an item's number, so there is something to learn.
models::movielens made_up(std::size_t people, std::size_t films) {
    auto user = users.substr(0, users.find('\n') + 1);
    auto item = items.substr(0, items.find('\n') + 1);
    auto rating = ratings.substr(0, ratings.find('\n') + 1);
    for (std::size_t person = 0; person < people; ++person)
        user += "u" + std::to_string(person) + "\t" + std::to_string(20 + person) + "\tM\tnone\t" +
                std::to_string(person) + "\n";
    for (std::size_t film = 0; film < films; ++film)
        item += "i" + std::to_string(film) + "\tA film\t" + std::to_string(1950 + film) +
                (film % 2 == 0 ? "\tDrama\n" : "\tDrama Comedy\n");
    for (std::size_t person = 0; person < people; ++person)
        for (std::size_t film = 0; film < films; ++film)
            rating += "u" + std::to_string(person) + "\ti" + std::to_string(film) +
                      ((person + film) % 3 == 0 ? "\t5\t" : "\t2\t") +
                      std::to_string(person * films + film) + "\n";
    temporary_folder const folder;
    write(folder, user, item, rating);
    return models::movielens::load(folder.path());
}

models::trainer_options small() {
    models::trainer_options options;
    options.embedding_dim = 4;
    options.hidden_layer_size = 8;
    options.deep_fm_dimension = 8;
    options.batch_size = 64;
    options.epochs = 20;
    options.learning_rate = 0.02;
    return options;
}

double brute_force_auc(std::vector<float> const& scores, std::vector<float> const& labels) {
    double pairs = 0;
    double won = 0;
    for (std::size_t yes = 0; yes < scores.size(); ++yes)
        for (std::size_t no = 0; no < scores.size(); ++no)
            if (labels[yes] > labels[no]) {
                ++pairs;
                won += scores[yes] > scores[no] ? 1 : scores[yes] == scores[no] ? 0.5 : 0;
            }
    return won / pairs;
}

std::vector<torch::Tensor> weights_after(models::trainer trainer,
                                         models::trainer::step_observer const& on_step) {
    static_cast<void>(trainer.train(on_step));
    return trainer.model()->parameters();
}

}  // namespace

TEST_CASE("MovieLens becomes dense numbers, jagged ids and labels", "[examples]") {
    // With CRLF, as some tools write it, and without.
    for (std::string const end : {"\r\n", "\n"}) {
        temporary_folder const folder;
        auto crlf = ratings;
        for (auto at = crlf.find('\n'); at != std::string::npos;
             at = crlf.find('\n', at + end.size()))
            crlf.replace(at, 1, end);
        write(folder, users, items, crlf);
        auto const data = models::movielens::load(folder.path());
        REQUIRE(data.size() == 2);
        CHECK(data.users() == 2);
        CHECK(data.items() == 3);
        std::vector<std::size_t> const both{0, 1};
        auto const batch = data.make(both);
        CHECK(torch::equal(batch.labels, torch::tensor({{1.0F}, {0.0F}})));
        // Mean 0 and deviation 1 over users, films with a year, and ratings.
        CHECK(
            torch::equal(batch.dense, torch::tensor({{1.0F, -1.0F, -1.0F}, {-1.0F, 0.0F, 1.0F}})));
        CHECK(batch.sparse.keys() == std::vector<std::string>{"user", "age", "gender", "occupation",
                                                              "zip", "item", "release_year",
                                                              "genre"});
        CHECK(torch::equal(batch.sparse["user"].values(), torch::tensor({1, 0}, torch::kLong)));
        CHECK(torch::equal(batch.sparse["item"].values(), torch::tensor({0, 2}, torch::kLong)));
        CHECK(torch::equal(batch.sparse["genre"].values(), torch::tensor({0, 1}, torch::kLong)));
        CHECK(torch::equal(batch.sparse["genre"].lengths(), torch::tensor({2, 0}, torch::kLong)));
        std::vector<std::size_t> const beyond{2};
        CHECK(complaint_of([&] { return data.make(beyond).labels; }) ==
              "MovieLens: expected ratings from 0 to 1, given 2");
    }
}

TEST_CASE("a malformed table is refused by file, line and column", "[examples]") {
    CHECK(complaint(users, items, ratings).empty());
    CHECK(complaint(users, items, with(ratings, "3.5", "many")) ==
          "ml-100k.inter, line 3, column 3 (rating): expected a number, given \"many\"");
    CHECK(complaint(users, items, with(ratings, "300", "")) ==
          "ml-100k.inter, line 3, column 4 (timestamp): expected a number, given \"\"");
    CHECK(complaint(users, items, with(ratings, "u2", "u9")) ==
          "ml-100k.inter, line 2, column 1 (user_id): expected a user of the .user file, given "
          "\"u9\"");
    CHECK(complaint(users, items, with(ratings, "i3", "i9")) ==
          "ml-100k.inter, line 3, column 2 (item_id): expected an item of the .item file, given "
          "\"i9\"");
    CHECK(complaint(users, items, with(ratings, "\t3.5", "")) ==
          "ml-100k.inter, line 3, column 4 (timestamp): expected 4 fields in the line, given 3");
    CHECK(complaint(users, items, with(ratings, "3.5", "3\t5")) ==
          "ml-100k.inter, line 3, column 5: expected 4 fields in the line, given 5");
    CHECK(complaint(users, items, with(ratings, "rating:float", "stars:float")) ==
          "ml-100k.inter, line 1: expected a column rating:float, given user_id, item_id, stars, "
          "timestamp");
    CHECK(complaint(users, items, with(ratings, "rating:float", "rating:token")) ==
          "ml-100k.inter, line 1, column 3 (rating): expected rating:float, given rating:token");
    CHECK(complaint(users, items, with(ratings, "rating:float", "rating:int")) ==
          "ml-100k.inter, line 1, column 3 (rating): expected name:type with the type token, "
          "token_seq, float or float_seq, given \"rating:int\"");
    CHECK(complaint(users, items, with(ratings, "timestamp", "rating")) ==
          "ml-100k.inter, line 1, column 4 (rating): expected different names, given rating in "
          "column 3 too");
    CHECK(complaint(with(users, "40", "forty"), items, ratings) ==
          "ml-100k.user, line 3, column 2 (age): expected a number, given \"forty\"");
    CHECK(complaint(with(users, "u2", "u1"), items, ratings) ==
          "ml-100k.user, line 3, column 1 (user_id): expected no second row like line 2, given "
          "\"u1\"");
    CHECK(complaint(users, items, ratings + "u2\ti1\t1\t400\n") ==
          "ml-100k.inter, line 4, column 2 (item_id): expected no second row like line 2, given "
          "\"i1\"");
    CHECK(complaint(users, "", ratings) ==
          "ml-100k.item, line 1: expected a header of name:type, given an empty file");
    CHECK(complaint(users, items, ratings.substr(0, ratings.find('\n') + 1)) ==
          "ml-100k.inter, line 2: expected a rating, given none");
    CHECK(complaint(users, items, ratings.substr(0, ratings.size() - 2)) ==
          "ml-100k.inter, line 3: expected a line break at its end, given the end of the file, "
          "which may be cut off");
    CHECK(complaint(users, items, with(ratings, "3.5", "5")) ==
          "ml-100k.inter, column 3 (rating): expected ratings of 4 and more and lower ones, given "
          "only the former");
    temporary_folder const empty;
    CHECK(empty.shortened(complaint_of([&] {
        return models::movielens::load(empty.path()).size();
    })) == "ml-100k.user: expected a readable file, given none");
}

TEST_CASE("what is said of a file that is no text can be printed", "[examples]") {
    CHECK(complaint("\xEF\xBB\xBF" + users, items, ratings) ==
          "ml-100k.user, line 1: expected a header of name:type, given a UTF-8 byte order mark "
          "(BOM) before it; save the file without one");
    for (std::string const mark : {"\xFF\xFE", "\xFE\xFF"})
        CHECK(complaint(mark + users, items, ratings) ==
              "ml-100k.user, line 1: expected a header of name:type in UTF-8, given UTF-16");
    CHECK(complaint(std::string("\x7F"
                                "ELF\x00\x1B[2J\xFF",
                                10) +
                        "\n",
                    items, ratings) ==
          "ml-100k.user, line 1, column 1 (\uFFFDELF\uFFFD\uFFFD[2J\uFFFD): expected name:type "
          "with the type token, token_seq, float or float_seq, given "
          "\"\uFFFDELF\uFFFD\uFFFD[2J\uFFFD\"");
    CHECK(complaint(users, items, with(ratings, "3.5", std::string("3\0\x1B[31m5", 8))) ==
          "ml-100k.inter, line 3, column 3 (rating): expected a number, given "
          "\"3\uFFFD\uFFFD[31m5\"");
    CHECK(complaint(users, items, with(ratings, "3.5", std::string(100'000, '5') + "x")) ==
          "ml-100k.inter, line 3, column 3 (rating): expected a number, given \"" +
              std::string(59, '5') + "\u2026\"");
    temporary_folder const folder;
    std::filesystem::create_directory(folder.path() / "ml-100k.user");
    CHECK(folder.shortened(complaint_of([&] {
        return models::movielens::load(folder.path()).size();
    })) == "ml-100k.user: expected a readable file, given a directory");
}

TEST_CASE("AUC is the share of pairs in the right order", "[examples]") {
    std::mt19937 random{7};
    for (unsigned levels : {2U, 5U, 1'000U}) {
        std::vector<float> scores;
        std::vector<float> labels;
        for (int row = 0; row < 200; ++row) {
            scores.push_back(static_cast<float>(random() % levels));
            labels.push_back(static_cast<float>(random() % 3 == 0));
        }
        CHECK(std::abs(models::area_under_curve(scores, labels) - brute_force_auc(scores, labels)) <
              1e-12);
    }
    std::vector<float> const alike{1, 1};
    CHECK(complaint_of([&] { return models::area_under_curve(alike, alike); }) ==
          "AUC: expected labels of both kinds, given 2 positive and 0 negative");
    std::vector<float> const certain{1, 0};
    CHECK(models::log_loss(certain, certain) < 1e-6);
    std::vector<float> const even{0.5F, 0.5F};
    CHECK(std::abs(models::log_loss(even, certain) - std::log(2.0)) < 1e-6);
}

TEST_CASE("the trainer learns what can be learned", "[examples]") {
    models::trainer trainer{made_up(30, 30), small()};
    auto const before = trainer.evaluate();
    std::size_t epochs = 0;
    auto const after = trainer.train(
        {}, [&](std::size_t epoch, models::score const&) { CHECK(epoch == epochs++); });
    CHECK(epochs == 20);
    CHECK(after.log_loss < 0.5 * before.log_loss);
    CHECK(after.auc > 0.9);
}

TEST_CASE("an observer sees each step before it is made", "[examples]") {
    auto options = small();
    options.max_steps = 5;
    models::trainer trainer{made_up(30, 30), options};
    CHECK(trainer.steps() == 5);
    std::size_t seen = 0;
    static_cast<void>(
        trainer.train([&](std::size_t step, models::SimpleDeepFMNN& model,
                          models::batch const& batch, models::trainer::loss_function const& loss) {
            CHECK(step == seen++);
            CHECK(batch.labels.sizes() == at::IntArrayRef{64, 1});
            auto const output = model(batch.dense, batch.sparse);
            CHECK(torch::equal(loss(output), torch::binary_cross_entropy(output, batch.labels)));
            CHECK(model->parameters().front().grad().defined() == (step > 0));
        }));
    CHECK(seen == 5);
}

TEST_CASE("training depends on the seed and on nothing else", "[examples]") {
    auto const threads = at::get_num_threads();
    at::set_num_threads(1);
    auto options = small();
    options.max_steps = 50;
    auto const data = made_up(30, 30);
    auto const plain = weights_after(models::trainer{data, options}, {});
    // Whoever looks in between may draw from torch's generator.
    auto const watched =
        weights_after(models::trainer{data, options}, [](auto&&...) { torch::rand({3}); });
    options.seed = 2;
    auto const other = weights_after(models::trainer{data, options}, {});
    at::set_num_threads(threads);
    for (std::size_t index = 0; index < plain.size(); ++index)
        CHECK(torch::equal(plain[index], watched[index]));
    CHECK_FALSE(torch::equal(plain.front(), other.front()));
}

TEST_CASE("on the real MovieLens-100K the held-out AUC is at least 0.77", "[examples]") {
    std::filesystem::path const folder{COMPONENT_BENCHMARK_TEST_MOVIELENS};
    if (!std::filesystem::exists(folder)) {
        WARN("skipped: MovieLens-100K is not in " << folder.string());
        return;
    }
    models::trainer trainer{models::movielens::load(folder)};
    CHECK(trainer.data().size() == 100'000);
    CHECK(trainer.data().users() == 943);
    CHECK(trainer.data().items() == 1'682);
    CHECK(trainer.train().auc >= 0.77);
}
