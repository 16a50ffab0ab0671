#include "support/catch2.hpp"
#include <component_benchmark/core/filter.hpp>
#include <component_benchmark/core/options.hpp>

#include <string>

namespace cb = component_benchmark;
namespace filters = component_benchmark::filters;

TEST_CASE("a path fits a pattern", "[filter]") {
    struct line {
        char const* pattern;
        char const* path;
        bool fits;
    };
    auto const [pattern, path, fits] = GENERATE(values<line>({
        {"over_arch", "over_arch", true},
        {"over_arch", "over_arch.model", false},
        {"over_arch", "over_arc", false},
        {"over_arch", "Over_arch", false},
        // a star stays within a name
        {"*", "a", true},
        {"*", "a.b", false},
        {"a.*", "a.b", true},
        {"a.*", "a", false},
        {"a.*", "a.b.c", false},
        {"a.*.c", "a.b.c", true},
        {"*.dropout", "block.dropout", true},
        {"*.dropout", "dropout", false},
        {"*.dropout", "a.block.dropout", false},
        {"layer*", "layer", true},
        {"layer*", "layer12", true},
        {"*ayer*2", "layer1.2", false},
        {"a*b*c", "aXbbc", true},
        {"a*b*c", "aXc", false},
        // two stars go over dots
        {"**", "a.b.c", true},
        {"a**", "a", true},
        {"a**", "ab.c", true},
        {"a.**", "a.b.c", true},
        {"a.**", "a", false},
        {"a.**", "ab.c", false},
        {"**c", "a.bc", true},
        {"***", "a.b", true},
        // with a dot behind they may stand for no name
        {"**.dropout", "dropout", true},
        {"**.dropout", "a.b.dropout", true},
        {"**.dropout", "my_dropout", false},
        {"**.dropout", "a.my_dropout", false},
        {"a.**.c", "a.c", true},
        {"a.**.c", "a.b.b.c", true},
        {"a.**.c", "a.bc", false},
        {"a**.c", "a.c", true},
        {"a**.c", "ac", false},
        {"**.**.a", "a", true},
        // one character
        {"layers.?", "layers.1", true},
        {"layers.?", "layers.12", false},
        {"a?b", "a.b", false},
        {"?", "", false},
        {"?", "\u00e9", true},
        {"??", "\u00e9", false},
        {"?\u00e9*?", "x\u00e9\u4e2d", true},
        {"*?", "\u4e2d", true},
        // the root
        {"", "", true},
        {"", "a", false},
        {"*", "", false},
        {"**", "", true},
        {".", "", false},
        {"a", "", false},
        // nothing else is special
        {"a+", "aa", false},
        {"[ab]", "a", false},
        {"[ab]", "[ab]", true},
        {"a\\*", "a*", false},
        {"a..b", "a.b", false},
    }));
    INFO("'" << pattern << "' and '" << path << "'");
    CHECK(filters::fits_path(pattern, path) == fits);
}

TEST_CASE("a type is one text, dots or not", "[filter]") {
    CHECK(filters::fits_glob("*Norm*", "BatchNorm1d", '\0'));
    CHECK_FALSE(filters::fits_glob("*Norm", "BatchNorm1d", '\0'));
    CHECK(filters::fits_glob("Scale<*>", "Scale<1.5>", '\0'));
    CHECK(filters::fits_glob("Scale<1?5>", "Scale<1.5>", '\0'));
}

TEST_CASE("no pattern takes long", "[filter]") {
    // Tried one way after the other, this takes longer than the universe is old.
    std::string pattern;
    for (int i = 0; i < 50; ++i)
        pattern += i % 2 == 0 ? "**a" : "*a";
    std::string const text(500, 'a');
    CHECK(filters::fits_path(pattern, text));
    CHECK_FALSE(filters::fits_path(pattern + "b", text));
    CHECK_FALSE(filters::fits_path("**a**a**a**b", text));
}

namespace {

cb::node row(std::string path, std::string type, std::size_t depth, std::int64_t calls) {
    cb::node made;
    made.path = std::move(path);
    made.type = std::move(type);
    made.depth = depth;
    made.calls = calls;
    return made;
}

bool fits(cb::filter const& one, cb::node const& facts, std::int64_t parameters) {
    return filters::fits_model(one, facts, parameters) && filters::fits_calls(one, facts);
}

}  // namespace

TEST_CASE("all that a filter gives must hold, the rest does not matter", "[filter]") {
    auto const linear = row("arch.up", "Linear", 2, 3);
    CHECK(fits({}, linear, 40));
    CHECK(fits({.path = "arch.*"}, linear, 40));
    CHECK(fits({.type = "Lin*"}, linear, 40));
    CHECK_FALSE(fits({.path = "arch.*", .type = "ReLU"}, linear, 40));
    CHECK_FALSE(fits({.path = "*", .type = "Linear"}, linear, 40));
    CHECK(fits({.min_depth = 2, .max_depth = 2}, linear, 40));
    CHECK_FALSE(fits({.min_depth = 3}, linear, 40));
    CHECK_FALSE(fits({.max_depth = 1}, linear, 40));
    CHECK(fits({.min_calls = 3, .max_calls = 3}, linear, 40));
    CHECK_FALSE(fits({.min_calls = 4}, linear, 40));
    CHECK_FALSE(fits({.max_calls = 2}, linear, 40));
    CHECK(fits({.min_parameters = 40, .max_parameters = 40}, linear, 40));
    CHECK_FALSE(fits({.min_parameters = 41}, linear, 40));
    CHECK_FALSE(fits({.max_parameters = 39}, linear, 40));
    CHECK_FALSE(fits({.type = ""}, linear, 40));
    CHECK(fits({.path = "", .max_depth = 0}, row("", "Net", 0, 1), 0));
}

TEST_CASE("calls and parameters are asked for only where they are given", "[filter]") {
    CHECK_FALSE(filters::asks_for_calls({.path = "a", .min_depth = 1}));
    CHECK(filters::asks_for_calls({.min_calls = 1}));
    CHECK(filters::asks_for_calls({.max_calls = 0}));
    CHECK_FALSE(filters::asks_for_parameters({.min_calls = 1}));
    CHECK(filters::asks_for_parameters({.min_parameters = 1}));
    CHECK(filters::asks_for_parameters({.max_parameters = 0}));
}

TEST_CASE("filters are written as they are given", "[filter]") {
    CHECK(filters::text_of(cb::filter{}).empty());
    CHECK(filters::text_of(cb::filter{.path = ""}) == "path=\"\"");
    cb::options const wishes{.depth = 3,
                             .include = {{.path = "a.**", .min_depth = 1, .max_depth = 2},
                                         {.type = "Linear", .min_calls = 2, .max_calls = 9}},
                             .exclude = {{.min_parameters = 1, .max_parameters = 10}}};
    CHECK(filters::text_of(wishes.include) ==
          "path=\"a.**\" min_depth=1 max_depth=2; type=\"Linear\" min_calls=2 max_calls=9");
    CHECK(filters::text_of(wishes.exclude) == "min_parameters=1 max_parameters=10");
    CHECK(filters::text_of(cb::options{}.include).empty());
}

TEST_CASE("a filter that cannot be meant is refused", "[filter]") {
    using many = std::vector<cb::filter>;
    CHECK_NOTHROW(filters::check(many{}, "include"));
    CHECK_NOTHROW(filters::check(many{{.path = "a"}, {.max_calls = 0}}, "include"));
    CHECK_THROWS_WITH(filters::check(many{{.path = "a"}, {}}, "exclude"),
                      "component_benchmark: a filter in options.exclude is empty, so that it fits "
                      "every component: give "
                      "it a path, a type or a bound, or leave it out");
    CHECK_THROWS_AS(filters::check(many{{.path = "**"}}, "include"), cb::error);
    CHECK_THROWS_WITH(filters::check(many{{.min_depth = 3, .max_depth = 1}}, "include"),
                      "component_benchmark: the include filter min_depth=3 max_depth=1 can fit "
                      "nothing: a minimum is "
                      "greater than its maximum");
    CHECK_THROWS_AS(filters::check(many{{.min_calls = 3, .max_calls = 1}}, "include"), cb::error);
    CHECK_THROWS_AS(filters::check(many{{.min_parameters = 3, .max_parameters = 1}}, "include"),
                    cb::error);
    for (auto const& below_zero :
         many{{.min_depth = -1}, {.max_depth = -1}, {.min_calls = -5}, {.max_parameters = -1}})
        CHECK_THROWS_WITH(filters::check(many{below_zero}, "exclude"),
                          Catch::Matchers::ContainsSubstring("has a bound below zero"));
    CHECK_THROWS_WITH(filters::check(many{{.path = "**."}}, "include"),
                      "component_benchmark: the include filter path=\"**.\" can fit nothing: no "
                      "path ends in '.'");
}
