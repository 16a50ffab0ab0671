#include "support/catch2.hpp"
#include <component_benchmark/sink/json_writer.hpp>

#include <nlohmann/json.hpp>

#include <clocale>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <locale>
#include <string>

namespace cb = component_benchmark;

namespace {

template<class Value>
std::string written(Value const& value) {
    cb::json_writer out;
    return out.value(value).take();
}

struct decimal_comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
};

}  // namespace

TEST_CASE("integers are written exactly") {
    CHECK(written(std::numeric_limits<std::int64_t>::max()) == "9223372036854775807");
    CHECK(written(std::numeric_limits<std::int64_t>::min()) == "-9223372036854775808");
    CHECK(written(0) == "0");
    CHECK(written(std::size_t{49'616'898}) == "49616898");
}

TEST_CASE("floats have six significant digits, and what is not finite is null") {
    CHECK(written(0.1) == "0.1");
    CHECK(written(1.0 / 3.0) == "0.333333");
    CHECK(written(1234567.0) == "1.23457e+06");
    CHECK(written(-0.0) == "0");
    CHECK(written(1e-320) == "9.99989e-321");
    CHECK(written(std::nan("")) == "null");
    CHECK(written(-std::numeric_limits<double>::infinity()) == "null");
    for (double const value : {1e300, -1e-300, 123456.0, 0.000123456, 5e-324})
        CHECK(nlohmann::json::parse(written(value)).get<double>() == Approx(value).epsilon(1e-5));
}

TEST_CASE("strings are safe in a file and in a page") {
    CHECK(written("</script><!--&") == R"("\u003c/script\u003e\u003c!--\u0026")");
    CHECK(written("a\"b\\c\n\t\r\x01\x1f\x7f") == R"("a\"b\\c\n\t\u000d\u0001\u001f\u007f")");
    CHECK(written(std::string{"\0", 1}) == R"("\u0000")");
    CHECK(written("\u2028\u2029") == R"("\u2028\u2029")");
    CHECK(written("\xFF \xE2\x82") == "\"\uFFFD \uFFFD\"");
    CHECK(written("\u6DF1\U0001F525") == "\"\u6DF1\U0001F525\"");
}

TEST_CASE("every byte and every pair of bytes gives JSON that parses") {
    for (int first = 0; first < 256; ++first) {
        std::string text;
        for (int second = 0; second < 256; ++second)
            text += {static_cast<char>(first), static_cast<char>(second)};
        auto const json = written(text);
        CHECK(json.find_first_of("<>&\n") == std::string::npos);
        CHECK(nlohmann::json::accept(json));
    }
}

TEST_CASE("the outer levels have a line an entry, the inner ones are compact") {
    cb::json_writer out;
    out.begin_object().entry("a", 1).key("b").begin_object();
    out.key("c").begin_array().value(1).value(true).null().end().end();
    out.key("empty").begin_object().end().end();
    CHECK(out.take() ==
          "{\n  \"a\": 1,\n  \"b\": {\n    \"c\": [1, true, null]\n  },\n  \"empty\": {}\n}");

    cb::json_writer line{0};
    line.begin_object().entry("a", "x").list("b", std::string{"\1\2"}).end();
    CHECK(line.take() == R"({"a": "x", "b": [1, 2]})");
}

TEST_CASE("a part is written at the depth where it will stand") {
    cb::json_writer part{2, 1};
    part.begin_object().entry("b", 1).end();
    cb::json_writer whole;
    whole.begin_object().key("a").raw(part.take()).end();
    CHECK(whole.take() == "{\n  \"a\": {\n    \"b\": 1\n  }\n}");
}

TEST_CASE("a locale with a decimal comma changes nothing") {
    auto const before = std::locale::global(std::locale{std::locale{}, new decimal_comma});
    std::string const c_locale = std::setlocale(LC_ALL, nullptr);
    for (char const* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"})
        if (std::setlocale(LC_ALL, name) != nullptr)
            break;
    CHECK(written(1234.5) == "1234.5");
    CHECK(written(1234567) == "1234567");
    std::setlocale(LC_ALL, c_locale.c_str());
    std::locale::global(before);
}
