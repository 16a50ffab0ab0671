#include "support/catch2.hpp"
#include "support/fake_model.hpp"
#include "support/golden.hpp"
#include "support/signal_handler.hpp"
#include "support/temporary_folder.hpp"
#include <component_benchmark/pipeline/pipeline.hpp>
#include <component_benchmark/profile/latency.hpp>
#include <component_benchmark/profile/model_size.hpp>
#include <component_benchmark/resume.hpp>
#include <component_benchmark/sink/journal.hpp>
#include <component_benchmark/sink/json.hpp>
#include <component_benchmark/sink/summary.hpp>

#include <cstddef>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace cb = component_benchmark;
using Catch::Matchers::ContainsSubstring;
using cb::test::read_file;

namespace {

using list = std::vector<std::string>;

cb::latency fast() {
    return {.warmup = 1, .samples = 3, .clock = &fake::clock, .processor = &fake::clock};
}

/// A root with the children a (called twice), b, and a list of c and d; counts what is replayed.
struct counted_model {
    fake::provider provider;
    std::vector<int> replays = std::vector<int>(6);

    counted_model() {
        auto& model = provider.captured;
        model.add(cb::node::none, "", 1, 10'000'000);
        model.add(0, "a", 2, 3'000'000);
        model.add(0, "b", 1, 1'000'000, 0);
        model.add(0, "list", 0);
        model.add(3, "c", 1, 2'000'000);
        model.add(3, "d", 1, 1'500'000);
        for (std::size_t row = 0; row < replays.size(); ++row)
            for (auto& group : model.components[row].groups)
                group.source.prepared = &replays[row];
    }
};

template<class... Profiler>
auto pipeline_of(std::string const& path, cb::options wishes, Profiler... profiler) {
    return cb::pipeline{cb::preprocessors{}, cb::profilers{std::move(profiler)...},
                        cb::sinks{cb::journal{path}}, std::move(wishes)};
}

auto plain(std::string const& path, cb::options wishes = {}) {
    return pipeline_of(path, std::move(wishes), fast(), cb::model_size{});
}

cb::options from(std::string const& path) {
    return {.resume = cb::read_journal(path)};
}

std::vector<std::string> lines_of(std::string const& path) {
    std::ifstream file{path};
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);)
        lines.push_back(line);
    return lines;
}

/// The journal of a run that was killed after `components` of them.
void cut(std::string const& path, std::size_t components, std::string const& torn = {}) {
    auto const lines = lines_of(path);
    std::ofstream file{path, std::ios::binary};
    for (std::size_t line = 0; line <= components; ++line)
        file << lines.at(line) << '\n';
    file << torn;
}

void check_equal(cb::document const& now, cb::document const& then) {
    REQUIRE(now.nodes.size() == then.nodes.size());
    for (std::size_t row = 0; row < now.nodes.size(); ++row) {
        INFO(now.nodes[row].path);
        CHECK(now.nodes[row].state == then.nodes[row].state);
        CHECK(now.nodes[row].reason == then.nodes[row].reason);
        for (std::size_t index = 0; index < now.columns.size(); ++index) {
            INFO(now.columns[index].id);
            CHECK(now.columns[index].cells[row].value == then.columns[index].cells[row].value);
            CHECK(now.columns[index].cells[row].from == then.columns[index].cells[row].from);
            CHECK(now.columns[index].cells[row].why == then.columns[index].cells[row].why);
        }
    }
    for (std::size_t index = 0; index < now.columns.size(); ++index) {
        REQUIRE(now.columns[index].calls.size() == then.columns[index].calls.size());
        for (std::size_t call = 0; call < now.columns[index].calls.size(); ++call)
            CHECK(now.columns[index].calls[call].value == then.columns[index].calls[call].value);
    }
    CHECK(now.samples.size() == then.samples.size());
}

std::string const of_another_run = "', which is of another run: ";

}  // namespace

TEST_CASE("what a killed run has finished is taken over and not measured again", "[resume]") {
    cb::test::temporary_folder const folder;
    auto const path = folder / "run.journal";
    counted_model whole;
    auto const undisturbed = plain(path).run(whole.provider).document();
    REQUIRE(lines_of(path).size() == 7);
    for (std::size_t const done : {0U, 1U, 3U, 4U, 6U}) {
        INFO(done);
        static_cast<void>(plain(path).run(counted_model{}.provider));
        cut(path, done, R"({"path": "li)");
        counted_model model;
        auto const report = plain(path, from(path)).run(model.provider).document();
        check_equal(report, undisturbed);
        for (std::size_t row = 0; row < model.replays.size(); ++row) {
            CHECK((model.replays[row] == 0) == (row < done || row == 3));
            CHECK(report.nodes[row].resumed == (row < done));
        }
        CHECK(report.facts.complete);
        CHECK(report.facts.options.end()[-2] ==
              std::pair<std::string, std::string>{
                  "resume", std::to_string(done) + " of 6 components from " + path});
        CHECK(lines_of(path).size() == 7);  // the torn line is gone
        CHECK(cb::read_journal(path)->finished == std::vector<bool>(6, true));
    }
}

TEST_CASE("a report says what of it an earlier run has measured", "[resume]") {
    cb::test::temporary_folder const folder;
    auto const path = folder / "run.journal";
    auto const first = plain(path).run(counted_model{}.provider).document();
    CHECK_THAT(cb::to_json(first), !ContainsSubstring("resume"));
    CHECK_THAT(cb::to_summary(first), !ContainsSubstring("resumed"));
    cut(path, 2);
    auto const report = plain(path, from(path)).run(counted_model{}.provider).document();
    CHECK_THAT(cb::to_summary(report), ContainsSubstring("Fake: 6 components (2 resumed)"));
    CHECK_THAT(cb::to_json(report), ContainsSubstring("\"resumed\": [1, 1, 0, 0, 0, 0]"));
    CHECK_THAT(cb::to_json(report), ContainsSubstring("\"resume\": \"2 of 6 components from "));
}

TEST_CASE("a run may go on in another journal, and once more", "[resume]") {
    cb::test::temporary_folder const folder;
    auto const first = folder / "first.journal";
    auto const second = folder / "second.journal";
    auto const undisturbed = plain(first).run(counted_model{}.provider).document();
    cut(first, 2);
    static_cast<void>(plain(second, from(first)).run(counted_model{}.provider));
    CHECK(lines_of(first).size() == 3);
    REQUIRE(lines_of(second).size() == 7);
    cut(second, 5);
    counted_model model;
    check_equal(plain(second, from(second)).run(model.provider).document(), undisturbed);
    CHECK(model.replays == std::vector<int>{0, 0, 0, 0, 0, 4});
}

TEST_CASE("a journal that is not there, or is torn in its first line, has nothing", "[resume]") {
    cb::test::temporary_folder const folder;
    auto const path = folder / "run.journal";
    auto const run = [&] {
        return plain(path, from(path)).run(counted_model{}.provider).document();
    };
    auto const first = run();
    REQUIRE(first.facts.warnings.size() == 1);
    CHECK(first.facts.warnings[0] == "nothing is resumed: '" + path + "' does not exist");
    std::ofstream{path} << R"({"schema": "component-benchmark/jou)";
    CHECK(run().facts.warnings[0] == "nothing is resumed: '" + path + "' has no whole line");
    CHECK(run().facts.warnings.empty());
}

TEST_CASE("a component that failed is measured again, one that cannot be replayed is not",
          "[resume]") {
    cb::test::temporary_folder const folder;
    auto const path = folder / "run.journal";
    counted_model model;
    model.provider.captured.fail(1, "out of memory");
    model.provider.captured.fail(2, "argument 1 is a raw pointer");
    model.provider.captured.rows[2].state = cb::status::opaque;
    auto const first = plain(path).run(model.provider).document();
    CHECK(first.nodes[1].state == cb::status::failed);
    counted_model now;
    now.provider.captured.fail(2, "another reason");
    now.provider.captured.rows[2].state = cb::status::opaque;
    auto const second = plain(path, from(path)).run(now.provider).document();
    CHECK(now.replays == std::vector<int>{0, 4, 0, 0, 0, 0});
    CHECK(second.nodes[1].state == cb::status::ok);
    CHECK(second.nodes[1].reason.empty());
    CHECK(second.nodes[2].state == cb::status::opaque);
    CHECK(second.nodes[2].reason == "argument 1 is a raw pointer");
    CHECK(second.nodes[3].state == cb::status::estimated);
}

TEST_CASE("parameters may have other values after a restart", "[resume]") {
    cb::test::temporary_folder const folder;
    auto const path = folder / "run.journal";
    static_cast<void>(plain(path).run(counted_model{}.provider));
    cut(path, 2);
    counted_model model;
    for (auto& one : model.provider.captured.components)
        one.groups = one.groups.empty()
                         ? one.groups
                         : std::vector{fake::group(7'000'000, 1, one.groups[0].numbers)};
    auto const report = plain(path, from(path)).run(model.provider);
    CHECK(report["a"].get<cb::latency>().latency_ms.value() == 3.0);
    CHECK(report["b"].get<cb::latency>().latency_ms.value() == 7.0);
}

TEST_CASE("a journal of another run is refused, and stays", "[resume]") {
    cb::test::temporary_folder const folder;
    auto const path = folder / "run.journal";
    static_cast<void>(plain(path).run(counted_model{}.provider));
    auto const kept = read_file(path);
    auto const refused = [&](std::string const& sentence,
                             std::function<void(fake::model&)> const& change,
                             cb::options wishes = {}) {
        INFO(sentence);
        counted_model model;
        change(model.provider.captured);
        wishes.resume = cb::read_journal(path);
        auto pipeline = plain(path, wishes);
        CHECK_THROWS_WITH(
            pipeline.run(model.provider),
            "component_benchmark: cannot resume from '" + path + of_another_run + sentence);
        CHECK(model.replays == std::vector<int>(6));
        CHECK(read_file(path) == kept);
    };
    auto const same = [](fake::model&) {};
    refused("the type of the root is 'Fake' there and 'Other' here",
            [](fake::model& model) { model.rows[0].type = "Other"; });
    refused("the type of 'list.c' is 'Fake' there and 'Other' here",
            [](fake::model& model) { model.rows[4].type = "Other"; });
    refused("component 3 is 'b' there and 'e' here",
            [](fake::model& model) { model.rows[2].path = "e"; });
    refused("component 7 is nothing there and 'e' here",
            [](fake::model& model) { model.add(0, "e"); });
    refused("component 6 is 'list.d' there and nothing here", [](fake::model& model) {
        model.rows.pop_back();
        model.all_calls.pop_back();
    });
    refused("the number of calls of 'a' is '2' there and '3' here",
            [](fake::model& model) { model.rows[1].calls = 3; });
    refused("the shape of the inputs of 'b' is nothing there and '[3]' here",
            [](fake::model& model) { model.rows[2].in_shapes = "[3]"; });
    refused("the shape of the inputs of call 3, of 'a' is '[1]' there and '[2]' here",
            [](fake::model& model) { model.all_calls[2].in_shapes = "[2]"; });
    refused("the kind of numbers of call 4, of 'b' is 'float32 -> float32' there and 'int64' here",
            [](fake::model& model) { model.all_calls[3].dtypes = "int64"; });
    refused("what stands for an alias of 'b' is nothing there and 'a' here",
            [](fake::model& model) { model.rows[2].alias_of = 1; });
    refused("the option 'depth' is 'all' there and '1' here", same, {.depth = 1});
    refused("the option 'include' is nothing there and 'path=\"a\"' here", same,
            {.include = {{.path = "a"}}});
    refused("the option 'memory' is nothing there and 'level by level' here", same,
            {.memory = cb::memory_mode::level_by_level});
}

namespace {

struct other_place : fake::model {
    component_benchmark::environment around;
    [[nodiscard]] component_benchmark::environment environment() const { return around; }
};

struct elsewhere {
    other_place captured;
    [[nodiscard]] std::unique_ptr<other_place> capture(cb::options const&) {
        return std::make_unique<other_place>(captured);
    }
};

struct nothing_done {
    static constexpr char const* name = "nothing_done";
    template<class Component>
    int apply(Component&) {
        return 0;
    }
};

struct counting {
    static constexpr char const* name = "counting";
    char const* convention = "whole";
    struct result {
        BOOST_HANA_DEFINE_STRUCT(result, (cb::metric<cb::count>, things));
    };
    template<class Component>
    result profile(Component&) {
        return {1};
    }
    void tell(cb::run_notes& notes) const { notes.conventions.emplace_back("things", convention); }
};

}  // namespace

TEST_CASE("a run in another place, by other plugins or conventions is another run", "[resume]") {
    cb::test::temporary_folder const folder;
    auto const path = folder / "run.journal";
    static_cast<void>(pipeline_of(path, {}, counting{}).run(counted_model{}.provider));
    auto const sentence = [&](auto pipeline,
                              cb::environment around = {"fake 1.0", "fake", 1, "ones", {}}) {
        counted_model const model;
        elsewhere provider{{model.provider.captured, std::move(around)}};
        try {
            static_cast<void>(pipeline.run(provider));
        } catch (cb::error const& refused) {
            std::string const text = refused.what();
            return text.substr(text.find(of_another_run) + of_another_run.size());
        }
        return std::string{"resumed"};
    };
    auto const same = [&] { return pipeline_of(path, from(path), counting{}); };
    CHECK(sentence(same()) == "resumed");
    CHECK(sentence(same(), {"fake 1.1", "fake", 1, "ones", {}}) ==
          "the version of LibTorch is 'fake 1.0' there and 'fake 1.1' here");
    CHECK(sentence(same(), {"fake 1.0", "cuda:0", 1, "ones", {}}) ==
          "the device is 'fake' there and 'cuda:0' here");
    CHECK(sentence(same(), {"fake 1.0", "fake", 2, "ones", {}}) ==
          "the number of threads is '1' there and '2' here");
    CHECK(sentence(same(), {"fake 1.0", "fake", 1, "captured", {}}) ==
          "what gradients are is 'ones' there and 'captured' here");
    CHECK(sentence(pipeline_of(path, from(path), counting{.convention = "half"})) ==
          "the convention 'things' is 'whole' there and 'half' here");
    CHECK(sentence(pipeline_of(path, from(path), counting{}, cb::model_size{})) ==
          "metric 2 is nothing there and 'params by model_size' here");
    CHECK(sentence(pipeline_of(path, from(path), cb::model_size{}, counting{})) ==
          "metric 1 is 'things by counting' there and 'params by model_size' here");
    CHECK(sentence(cb::pipeline{cb::preprocessors{nothing_done{}}, cb::profilers{counting{}},
                                cb::sinks{}, from(path)}) ==
          "the list of preprocessors is nothing there and 'nothing_done' here");
    auto lines = read_file(path);
    lines.replace(lines.find("\"library\": \""), 12, "\"library\": \"9.");
    std::ofstream{path, std::ios::binary} << lines;
    CHECK_THAT(sentence(same()), ContainsSubstring("the version of the library is '9."));
}

namespace {

/// A provider that is asked only for what is not known.
struct skipping_model : fake::model {
    std::vector<bool> skipped;
    std::vector<std::size_t>* handed_out = nullptr;
    void skip(std::vector<bool> known) { skipped = std::move(known); }
    template<class Visit>
    void for_each(Visit&& visit) {
        for (std::size_t row = 0; row < rows.size(); ++row)
            if (!skipped[row]) {
                handed_out->push_back(row);
                visit(row, components[row]);
                if (row == 1)
                    rows[row].reason = "found out later";
            }
    }
};

struct skipping {
    skipping_model captured;
    [[nodiscard]] std::unique_ptr<skipping_model> capture(cb::options const&) {
        return std::make_unique<skipping_model>(captured);
    }
};

struct follower {
    static constexpr char const* name = "follower";
    list* log;
    std::size_t fails_at = 99;

    void begin(cb::document const& report) {
        log->push_back("begin " + std::to_string(report.nodes.size()) + " nodes, " +
                       std::to_string(report.calls.size()) + " calls, " +
                       std::to_string(report.columns.size()) + " columns");
        if (fails_at == 98)
            throw std::runtime_error{"cannot begin"};
    }
    void component_done(cb::document const& report, std::size_t row) {
        log->push_back(report.nodes[row].path + ": " +
                       std::to_string(report.find("latency_ms")->cells[row].number()).substr(0, 3) +
                       " " + std::string{cb::name_of(report.nodes[row].state)});
        if (row == fails_at)
            throw std::runtime_error{"the pipe is closed"};
    }
    void write(cb::document const&) { log->push_back("written"); }
};

}  // namespace

namespace {

std::string const begun =
    "begin 6 nodes, 6 calls, " + std::to_string(cb::columns_of<cb::latency>().size()) + " columns";

}  // namespace

TEST_CASE("a provider that can leave rows out is told which are known", "[resume]") {
    cb::test::temporary_folder const folder;
    auto const path = folder / "run.journal";
    std::vector<std::size_t> handed_out;
    counted_model const model;
    skipping provider{{model.provider.captured, {}, &handed_out}};
    static_cast<void>(plain(path).run(provider));
    CHECK(handed_out == std::vector<std::size_t>{0, 1, 2, 3, 4, 5});
    cut(path, 4);
    handed_out.clear();
    static_cast<void>(plain(path, from(path)).run(provider));
    CHECK(handed_out == std::vector<std::size_t>{3, 4, 5});
}

TEST_CASE("what a capture finds out afterwards is in the journal, too", "[resume]") {
    cb::test::temporary_folder const folder;
    auto const path = folder / "run.journal";
    std::vector<std::size_t> handed_out;
    counted_model const model;
    skipping provider{{model.provider.captured, {}, &handed_out}};
    auto const report = plain(path).run(provider).document();
    CHECK(report.nodes[1].reason == "found out later");
    auto const found = cb::read_journal(path);
    CHECK(lines_of(path).size() == 8);
    CHECK(found->report.nodes[1].reason == "found out later");
    CHECK(found->report.samples.size() == report.samples.size());
}

TEST_CASE("a sink may follow a run component by component", "[resume]") {
    list log;
    counted_model model;
    model.provider.captured.fail(2, "out of memory");
    cb::pipeline pipeline{cb::preprocessors{}, cb::profilers{fast()}, cb::sinks{follower{&log}}};
    CHECK(pipeline.run(model.provider).failures().empty());
    CHECK(log == list{begun, ": 10. ok", "a: 3.0 ok", "b: 0.0 failed", "list: 0.0 not_called",
                      "list.c: 2.0 ok", "list.d: 1.5 ok", "written"});
}

TEST_CASE("a sink that fails on the way is told of no further component, and the run goes on",
          "[resume]") {
    list log;
    list other;
    cb::pipeline pipeline{cb::preprocessors{}, cb::profilers{fast()},
                          cb::sinks{follower{&log, 1}, follower{&other}}};
    for (int run = 0; run < 2; ++run) {
        log.clear();
        other.clear();
        auto const report = pipeline.run(counted_model{}.provider);
        CHECK(report.failures() == list{"the sink 'follower' failed: the pipe is closed"});
        CHECK(log == list{begun, ": 10. ok", "a: 3.0 ok", "written"});
        CHECK(other.size() == 8);
    }
    log.clear();
    cb::pipeline second{cb::preprocessors{}, cb::profilers{fast()}, cb::sinks{follower{&log, 98}}};
    CHECK(second.run(counted_model{}.provider).failures() ==
          list{"the sink 'follower' failed: cannot begin"});
    CHECK(log == list{begun, "written"});
}

TEST_CASE("a full disk is a sentence, not the end of a run", "[resume]") {
    auto const report = plain("/dev/full").run(counted_model{}.provider);
    REQUIRE(report.failures().size() == 1);
    CHECK(
        report.failures()[0] ==
        "the sink 'journal' failed: component_benchmark: cannot write '/dev/full': writing failed: "
        "No space left on device");
    CHECK(report["list.d"].get<cb::latency>().latency_ms.value() == 1.5);
}

TEST_CASE("a disk that is full later keeps what is whole", "[resume]") {
    cb::test::temporary_folder const folder;
    auto const path = folder / "run.journal";
    auto const undisturbed = plain(path).run(counted_model{}.provider).document();
    auto const lines = lines_of(path);
    auto const child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {  // whose files end in the middle of the third component's line
        ::signal(SIGXFSZ, SIG_IGN);
        ::close(STDERR_FILENO);
        auto const size = lines[0].size() + lines[1].size() + lines[2].size() + 20;
        ::rlimit const limit{size, size};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        auto const report = plain(path).run(counted_model{}.provider);
        auto const said = report.failures().size() == 1 &&
                          report.failures()[0].find("File too large") != std::string::npos;
        ::_exit(said ? 0 : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    counted_model model;
    check_equal(plain(path, from(path)).run(model.provider).document(), undisturbed);
    CHECK(model.replays == std::vector<int>{0, 0, 4, 0, 4, 4});
}

TEST_CASE("after Ctrl-C a run goes on where it was", "[resume]") {
    cb::test::signal_handler const own{SIGINT, +[](int) {}};
    cb::test::temporary_folder const folder;
    auto const path = folder / "run.journal";
    auto const undisturbed = plain(path).run(counted_model{}.provider).document();
    counted_model model;
    model.provider.captured.components[2].groups[0].source.during_forward = [] { ::raise(SIGINT); };
    auto const cut_off = plain(path).run(model.provider).document();
    CHECK_FALSE(cut_off.facts.complete);
    CHECK(cb::read_journal(path)->finished ==
          std::vector<bool>{true, true, false, false, false, false});
    counted_model now;
    check_equal(plain(path, from(path)).run(now.provider).document(), undisturbed);
    CHECK(now.replays == std::vector<int>{0, 0, 4, 0, 4, 4});
    // and what was taken over counts as seen where the run is cut again
    static_cast<void>(plain(path).run(counted_model{}.provider));
    cut(path, 1);
    auto const again = plain(path, from(path)).run(model.provider).document();
    CHECK(again.nodes[0].state == cb::status::ok);
    CHECK(again.find("latency_ms")->cells[0].number() == 10.0);
    CHECK(again.nodes[4].reason == cb::run_was_interrupted);
}
