#include "support/catch2.hpp"
#include <component_benchmark/core/text.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace text = component_benchmark::text;

static_assert(text::display_width("abc") == 3);
static_assert(text::display_width("\u6DF1\u5EA6") == 4);
static_assert(text::display_width("e\u0301") == 1);
static_assert(text::first_line("  one \r\ntwo") == "one");
static_assert(text::first_line(" \n ").empty());
static_assert(text::first_code_point("\xED\xA0\x80").valid == false);
static_assert(text::first_code_point("\xF4\x8F\xBF\xBF").value == 0x10FFFF);

TEST_CASE("numbers have four significant digits") {
    CHECK(text::number(1.2344) == "1.234");
    CHECK(text::number(12.344) == "12.34");
    CHECK(text::number(0.5) == "0.5000");
    CHECK(text::number(9.9996) == "10.00");
    CHECK(text::number(999.96) == "1,000");
    CHECK(text::number(-12345.6) == "-12,346");
    CHECK(text::number(0.0001234) == "0.0001234");
    CHECK(text::number(0.00001234) == "1.234e-05");
    CHECK(text::number(1e15) == "1.000e+15");
    CHECK(text::number(45.321, 3) == "45.3");
    CHECK(text::number(0.0) == "0");
    CHECK(text::number(-0.0) == "0");
}

TEST_CASE("what is not finite is a dash, never a number") {
    CHECK(text::number(std::nan("")) == "\u2013");
    CHECK(text::number(std::numeric_limits<double>::infinity()) == "\u2013");
    CHECK(text::percentage(std::nan("")) == "\u2013");
}

TEST_CASE("the extremes of double are printed") {
    CHECK(text::number(std::numeric_limits<double>::max()) == "1.798e+308");
    CHECK(text::number(std::numeric_limits<double>::denorm_min()) == "4.941e-324");
    CHECK(text::percentage(1e300) == "1.000e+300");
}

TEST_CASE("counts are exact up to ten digits") {
    CHECK(text::whole(0) == "0");
    CHECK(text::whole(999) == "999");
    CHECK(text::whole(-1000) == "-1,000");
    CHECK(text::whole(9'999'999'999) == "9,999,999,999");
    CHECK(text::whole(12'345'678'901) == "12.35 G");
    CHECK(text::whole(-1'107'427'456'000) == "-1.107 T");
    CHECK(text::whole(999'960'000'000) == "1.000 T");
    CHECK(text::whole(std::numeric_limits<std::int64_t>::max()) == "9.223 E");
    CHECK(text::whole(std::numeric_limits<std::int64_t>::min()) == "-9.223 E");
    CHECK(text::plural(1, "row") == "1 row");
    CHECK(text::plural(1200, "row") == "1,200 rows");
}

TEST_CASE("a small share is not rounded to zero") {
    CHECK(text::percentage(34.54) == "34.5");
    CHECK(text::percentage(100.0) == "100.0");
    CHECK(text::percentage(0.01) == "<0.1");
    CHECK(text::percentage(-0.01) == ">-0.1");
    CHECK(text::percentage(0.0) == "0");
}

TEST_CASE("a text for the terminal has no control characters") {
    CHECK(text::printable("two\nlines\tand \x1b[31mred\x7f") ==
          "two lines and \uFFFD[31mred\uFFFD");
    CHECK(text::printable(std::string{"nul\0", 4}) == "nul\uFFFD");
    CHECK(text::printable("C1 \u009B31m") == "C1 \uFFFD31m");
    CHECK(text::printable("\u202Eltr\u2066\u200B\uFEFF\u2028") ==
          "\uFFFDltr\uFFFD\uFFFD\uFFFD\uFFFD");
    CHECK(text::printable("caf\u00E9 \u6DF1 \U0001F525") == "caf\u00E9 \u6DF1 \U0001F525");
}

TEST_CASE("wrong UTF-8 becomes one replacement for each longest wrong piece") {
    CHECK(text::printable("a\xFF\xFE") == "a\uFFFD\uFFFD");
    CHECK(text::printable("\xC3(") == "\uFFFD(");
    CHECK(text::printable("\xE2\x82") == "\uFFFD");
    CHECK(text::printable("\xE2\x82x") == "\uFFFDx");
    CHECK(text::printable("\xC0\x80") == "\uFFFD\uFFFD");                      // overlong
    CHECK(text::printable("\xED\xA0\x80") == "\uFFFD\uFFFD\uFFFD");            // surrogate
    CHECK(text::printable("\xF4\x90\x80\x80") == "\uFFFD\uFFFD\uFFFD\uFFFD");  // too high
    CHECK(text::printable("\xF0\x9F\x94") == "\uFFFD");
}

TEST_CASE("a long text loses its middle or its end") {
    CHECK(text::cut_middle("embedding_bag", 13) == "embedding_bag");
    CHECK(text::cut_middle("embedding_bag", 9) == "embe\u2026_bag");
    CHECK(text::cut_middle("embedding_bag", 2) == "e\u2026");
    CHECK(text::cut_middle("embedding_bag", 1) == "\u2026");
    CHECK(text::cut_middle("embedding_bag", 0).empty());
    CHECK(text::cut_end("embedding_bag", 5) == "embe\u2026");
    CHECK(text::cut_middle("", 0).empty());
}

TEST_CASE("a cut text never takes more columns than it may") {
    std::string const names[] = {"\u6DF1\u5EA6\u5B66\u4E60\u6A21\u578B",
                                 "a\u6DF1b\u5EA6c\u5B66",
                                 "e\u0301e\u0301e\u0301e\u0301e\u0301\u0301",
                                 "\U0001F525x\U0001F525x\U0001F525",
                                 "\u0301\u0301\u0301",
                                 std::string(40, 'x')};
    for (auto const& name : names)
        for (std::size_t width = 0; width < 20; ++width) {
            CHECK(text::display_width(text::cut_middle(name, width)) <= width);
            CHECK(text::display_width(text::cut_end(name, width)) <= width);
            CHECK(text::printable(text::cut_middle(name, width)) == text::cut_middle(name, width));
        }
}

TEST_CASE("a text is broken between words, and a word that is too long is cut") {
    CHECK(text::wrapped("", 10).empty());
    CHECK(text::wrapped("Latency backward ms", 8) ==
          std::vector<std::string>{"Latency", "backward", "ms"});
    CHECK(text::wrapped("a b  c", 3) == std::vector<std::string>{"a b", "c"});
    CHECK(text::wrapped("a_word_that_is_long", 7) == std::vector<std::string>{"a_w\u2026ong"});
}

TEST_CASE("the shortest text of a number is the number", "[text]") {
    CHECK(text::shortest(1.0) == "1");
    CHECK(text::shortest(0.5) == "0.5");
    CHECK(text::shortest(-1e300) == "-1e+300");
}
