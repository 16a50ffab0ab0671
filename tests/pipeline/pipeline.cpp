#include "support/catch2.hpp"
#include "support/fake_model.hpp"
#include <component_benchmark/pipeline/pipeline.hpp>
#include <component_benchmark/profile/latency.hpp>
#include <component_benchmark/profile/model_size.hpp>
#include <component_benchmark/sink/summary.hpp>

namespace cb = component_benchmark;

namespace {

using list = std::vector<std::string>;

struct half_latency {
    static constexpr char const* name = "half_latency";
    using needs = cb::needs<cb::latency>;
    struct result {
        BOOST_HANA_DEFINE_STRUCT(result, (cb::metric<cb::milliseconds>, half_ms));
    };
    template<class Component>
    result profile(Component&, cb::latency::result const& latency) {
        return {cb::metric<cb::milliseconds>{latency.latency_ms.value() / 2, cb::origin::derived}};
    }
};

struct thrower {
    static constexpr char const* name = "thrower";
    struct result {
        BOOST_HANA_DEFINE_STRUCT(result, (cb::metric<cb::count>, things));
    };
    std::string bad_path;
    template<class Component>
    result profile(Component& one) {
        if (one.path() == bad_path)
            throw 42;
        return {7};
    }
};

struct same_metric : thrower {
    static constexpr char const* name = "same_metric";
};

struct reserved {
    static constexpr char const* name = "reserved";
    struct result {
        BOOST_HANA_DEFINE_STRUCT(result, (cb::metric<cb::count>, parent));
    };
    template<class Component>
    result profile(Component&) {
        return {1};
    }
};

struct keeper {
    static constexpr char const* name = "keeper";
    cb::document* kept;
    void write(cb::document const& report) { *kept = report; }
};

struct broken_sink {
    static constexpr char const* name = "broken";
    void write(cb::document const&) { throw std::runtime_error{"the disk is full"}; }
};

struct early_sink {
    static constexpr char const* name = "early";
    void check() { throw cb::error{"the folder 'x' does not exist"}; }
    void write(cb::document const&) {}
};

struct noting {
    static constexpr char const* name = "noting";
    list* log;
    std::string label;
    struct guard {
        list* log;
        std::string label;
        ~guard() { log->push_back("undo " + label); }
    };
    template<class Component>
    guard apply(Component& one) {
        log->push_back("apply " + label + " to '" + one.path() + "'");
        return {log, label};
    }
};

struct refusing {
    static constexpr char const* name = "refusing";
    template<class Component>
    int apply(Component& one) {
        if (one.path() == "a")
            throw std::runtime_error{"no batch dimension"};
        return 0;
    }
};

cb::latency fast() {
    return {.warmup = 1, .samples = 3, .clock = &fake::clock, .processor = &fake::clock};
}

fake::provider two_children() {
    fake::provider provider;
    provider.captured.add(cb::node::none, "", 1, 10'000'000);
    provider.captured.add(0, "a", 2, 3'000'000);
    provider.captured.add(0, "b", 1, 1'000'000);
    return provider;
}

}  // namespace

TEST_CASE("measures each component and gives typed access", "[pipeline]") {
    auto provider = two_children();
    cb::pipeline pipeline{cb::preprocessors{}, cb::profilers{cb::model_size{}, fast()},
                          cb::sinks{}};
    auto const report = pipeline.run(provider);
    auto const root = report[""].get<cb::latency>();
    CHECK(root.latency_ms.value() == 10.0);
    CHECK(root.latency_bwd_ms.value() == 2.0);
    CHECK(root.latency_fwd_bwd_ms.value() == 12.0);
    CHECK(root.total_ms.value() == 10.0);
    CHECK(root.total_ms.from() == cb::origin::derived);
    CHECK(root.samples.value() == 3);
    auto const a = report["a"].get<cb::latency>();
    CHECK(a.total_ms.value() == 6.0);
    CHECK(a.cpu_time_total_ms.value() == 6.0);  // the clock of the test counts both
    CHECK(a.cpu_time_total_ms.from() == cb::origin::derived);
    CHECK(report["a"].get<cb::model_size>().params.value() == 10);
    CHECK(report["a"].calls() == 2);
    CHECK(report["a"]["latency_ms"].number() == 3.0);
}

TEST_CASE("self time is the total less the children's, signed", "[pipeline]") {
    auto provider = two_children();
    cb::pipeline pipeline{cb::preprocessors{}, cb::profilers{fast()}, cb::sinks{}};
    CHECK(pipeline.run(provider)[""].get<cb::latency>().self_ms.value() == 3.0);

    provider.captured.components[1].groups[0].source.forward_ns = 6'000'000;
    auto const self = pipeline.run(provider)[""].get<cb::latency>().self_ms;
    CHECK(self.value() == -3.0);
    CHECK(self.why() == "isolated children exceed their parent");
}

TEST_CASE("a profiler gets the results it needs", "[pipeline]") {
    auto provider = two_children();
    cb::pipeline pipeline{cb::preprocessors{}, cb::profilers{fast(), half_latency{}}, cb::sinks{}};
    auto const half = pipeline.run(provider)["b"].get<half_latency>().half_ms;
    CHECK(half.value() == 0.5);
    CHECK(half.from() == cb::origin::derived);
}

TEST_CASE("a profiler that throws loses only its own numbers of that row", "[pipeline]") {
    auto provider = two_children();
    cb::pipeline pipeline{cb::preprocessors{}, cb::profilers{thrower{"a"}, fast()}, cb::sinks{}};
    auto const report = pipeline.run(provider);
    auto const lost = report["a"].get<thrower>().things;
    CHECK_FALSE(lost.has_value());
    CHECK(lost.why() == "something that is not a std::exception was thrown");
    CHECK_THROWS_WITH(lost.value(), Catch::Matchers::ContainsSubstring("unavailable"));
    CHECK(report["b"].get<thrower>().things.value() == 7);
    CHECK(report["a"].get<cb::latency>().latency_ms.value() == 3.0);
    CHECK(report["a"].reason() ==
          "thrower failed: something that is not a std::exception was thrown");
    CHECK_THAT(cb::to_summary(report.document()),
               Catch::Matchers::ContainsSubstring("1 partly measured, first: a: thrower failed"));
}

TEST_CASE("a parent that failed is estimated from its children", "[pipeline]") {
    auto provider = two_children();
    provider.captured.fail(0, "out of memory");
    cb::pipeline pipeline{cb::preprocessors{}, cb::profilers{fast()}, cb::sinks{}};
    auto const report = pipeline.run(provider);
    auto const root = report[""].get<cb::latency>();
    CHECK(root.latency_ms.value() == 7.0);  // 2 x 3 + 1 x 1
    CHECK(root.latency_ms.from() == cb::origin::estimated);
    CHECK(root.total_ms.value() == 7.0);
    CHECK(root.self_ms.value() == 0.0);
    CHECK(report[""].state() == cb::status::failed);
    CHECK(report[""].reason() == "out of memory");
}

TEST_CASE("an estimate without all children is a lower bound", "[pipeline]") {
    auto provider = two_children();
    provider.captured.fail(0, "out of memory");
    provider.captured.fail(2, "threw");
    cb::pipeline pipeline{cb::preprocessors{}, cb::profilers{fast()}, cb::sinks{}};
    auto const root = pipeline.run(provider)[""].get<cb::latency>().latency_ms;
    CHECK(root.value() == 6.0);
    CHECK(root.why() == "lower bound: a part has no value");
}

TEST_CASE("a container that is never called is estimated, a leaf is not", "[pipeline]") {
    fake::provider provider;
    provider.captured.add(cb::node::none, "", 1, 10'000'000);
    provider.captured.add(0, "list", 0);
    provider.captured.add(1, "x", 2, 1'000'000);
    provider.captured.add(0, "unused", 0);
    cb::pipeline pipeline{cb::preprocessors{}, cb::profilers{fast()}, cb::sinks{}};
    auto const report = pipeline.run(provider);
    CHECK(report["list"].state() == cb::status::estimated);
    CHECK(report["list"].get<cb::latency>().total_ms.value() == 2.0);
    CHECK(report["list"].get<cb::latency>().cpu_time_total_ms.value() == 2.0);
    CHECK(report["list"].get<cb::latency>().cpu_time_total_ms.from() == cb::origin::estimated);
    CHECK(report["unused"].state() == cb::status::not_called);
    CHECK_FALSE(report["unused"].get<cb::latency>().latency_ms.has_value());
    CHECK(report[""].get<cb::latency>().self_ms.value() == 8.0);
}

TEST_CASE("calls are listed one by one, with samples", "[pipeline]") {
    auto provider = two_children();
    cb::pipeline pipeline{cb::preprocessors{}, cb::profilers{fast()}, cb::sinks{}};
    auto const report = pipeline.run(provider);
    auto const& document = report.document();
    REQUIRE(document.calls.size() == 4);
    auto const* latency = document.find("latency_ms");
    REQUIRE(latency != nullptr);
    REQUIRE(latency->calls.size() == 4);
    CHECK(latency->calls[1].number() == 3.0);
    CHECK(latency->calls[2].number() == 3.0);
    REQUIRE_FALSE(document.samples.empty());
    CHECK(document.samples[0].values == std::vector<double>{10.0, 10.0, 10.0});
}

TEST_CASE("preprocessors apply in order and are undone in reverse", "[pipeline]") {
    list log;
    fake::provider provider;
    provider.captured.add(cb::node::none, "");
    cb::pipeline pipeline{cb::preprocessors{noting{&log, "first"}, noting{&log, "second"}},
                          cb::profilers{fast()}, cb::sinks{}};
    auto const report = pipeline.run(provider);
    CHECK(log == list{"apply first to ''", "apply second to ''", "undo second", "undo first"});
    CHECK(report.document().facts.preprocessors == list{"noting", "noting"});
}

TEST_CASE("a preprocessor that throws costs one component", "[pipeline]") {
    auto provider = two_children();
    cb::pipeline pipeline{cb::preprocessors{refusing{}}, cb::profilers{fast()}, cb::sinks{}};
    auto const report = pipeline.run(provider);
    auto const lost = report["a"].get<cb::latency>().latency_ms;
    CHECK_FALSE(lost.has_value());
    CHECK(lost.why() == "the preprocessor 'refusing' failed: no batch dimension");
    CHECK(report["a"].state() == cb::status::failed);
    CHECK(report["a"].reason() == "the preprocessor 'refusing' failed: no batch dimension");
    CHECK(report["b"].get<cb::latency>().latency_ms.has_value());
    CHECK(report["b"].state() == cb::status::ok);
}

TEST_CASE("every sink gets the report, also when one fails", "[pipeline]") {
    auto provider = two_children();
    cb::document kept;
    cb::pipeline pipeline{cb::preprocessors{}, cb::profilers{fast()},
                          cb::sinks{broken_sink{}, keeper{&kept}}};
    auto const report = pipeline.run(provider);
    CHECK(kept.nodes.size() == 3);
    CHECK(kept.facts.libtorch == "fake 1.0");
    REQUIRE(report.failures().size() == 1);
    CHECK(report.failures()[0] == "the sink 'broken' failed: the disk is full");
}

TEST_CASE("an output that cannot be written stops the run before it begins", "[pipeline]") {
    auto provider = two_children();
    bool put_back = false;
    provider.captured.was_put_back = &put_back;
    cb::pipeline pipeline{cb::preprocessors{}, cb::profilers{fast()}, cb::sinks{early_sink{}}};
    CHECK_THROWS_WITH(pipeline.run(provider), "component_benchmark: the folder 'x' does not exist");
    CHECK_THROWS_AS(pipeline.check(), cb::error);
    CHECK_FALSE(put_back);
}

namespace {
struct asking {
    static constexpr char const* name = "asking";
    bool const* put_back;
    bool* was_back;
    void write(cb::document const&) { *was_back = *put_back; }
};
}  // namespace

TEST_CASE("the model is put back before sinks see the report", "[pipeline]") {
    auto provider = two_children();
    bool put_back = false;
    bool was_back = false;
    provider.captured.was_put_back = &put_back;
    cb::pipeline pipeline{cb::preprocessors{}, cb::profilers{fast()},
                          cb::sinks{asking{&put_back, &was_back}}};
    auto const report = pipeline.run(provider);
    CHECK(was_back);
    CHECK(report.document().facts.unchanged.verified);
}

TEST_CASE("two metrics of one name, or of a reserved one, are refused by name", "[pipeline]") {
    auto provider = two_children();
    cb::pipeline twice{cb::preprocessors{}, cb::profilers{thrower{}, same_metric{}}, cb::sinks{}};
    CHECK_THROWS_WITH(twice.run(provider), Catch::Matchers::ContainsSubstring("'things'"));
    cb::pipeline taken{cb::preprocessors{}, cb::profilers{reserved{}}, cb::sinks{}};
    CHECK_THROWS_WITH(taken.run(provider), Catch::Matchers::ContainsSubstring("'parent'"));
}

TEST_CASE("a path that is not in the report is answered with what is", "[pipeline]") {
    auto provider = two_children();
    provider.captured.add(2, "inner");
    cb::pipeline pipeline{cb::preprocessors{}, cb::profilers{fast()}, cb::sinks{}};
    auto const report = pipeline.run(provider);
    CHECK_THROWS_WITH(report["b.outer"],
                      "component_benchmark: the report has no component 'b.outer'; 'b' has inner");
    CHECK_THROWS_WITH(report["c"],
                      "component_benchmark: the report has no component 'c'; the root has a, b");
    CHECK_THROWS_WITH(report[""]["mfu_pct"],
                      "component_benchmark: the report has no metric 'mfu_pct'");
}

TEST_CASE("an alias answers for the row it stands for", "[pipeline]") {
    auto provider = two_children();
    auto const alias = provider.captured.add(0, "again", 0);
    provider.captured.rows[alias].alias_of = 1;
    cb::pipeline pipeline{cb::preprocessors{}, cb::profilers{fast()}, cb::sinks{}};
    auto const report = pipeline.run(provider);
    CHECK(report["again"].get<cb::latency>().latency_ms.value() == 3.0);
    CHECK(report[""].get<cb::latency>().self_ms.value() == 3.0);
}

TEST_CASE("a shared module's time is its caller's, call by call", "[pipeline]") {
    fake::provider provider;
    auto& model = provider.captured;
    model.add(cb::node::none, "", 1, 10'000'000);
    model.add(0, "a", 1, 4'000'000);
    model.add(1, "shared", 2, 3'000'000);  // registered below a, called once by a and once by b
    model.add(0, "b", 1, 5'000'000);
    model.all_calls[3].parent_call = 4;
    cb::pipeline pipeline{cb::preprocessors{}, cb::profilers{fast()}, cb::sinks{}};
    auto const report = pipeline.run(provider);
    CHECK(report["a"].get<cb::latency>().self_ms.value() == 1.0);
    CHECK(report["b"].get<cb::latency>().self_ms.value() == 2.0);
    CHECK(report[""].get<cb::latency>().self_ms.value() == 1.0);
    CHECK(report["a.shared"].get<cb::latency>().total_ms.value() == 6.0);
}

TEST_CASE("a call within a call of the same module is part of it", "[pipeline]") {
    fake::provider provider;
    auto& model = provider.captured;
    model.add(cb::node::none, "", 1, 10'000'000);
    model.add(0, "tree", 3, 4'000'000);
    model.all_calls[2].parent_call = 1;
    model.all_calls[3].parent_call = 2;
    cb::pipeline pipeline{cb::preprocessors{}, cb::profilers{fast()}, cb::sinks{}};
    auto const report = pipeline.run(provider);
    CHECK(report["tree"].get<cb::latency>().total_ms.value() == 4.0);
    CHECK(report[""].get<cb::latency>().self_ms.value() == 6.0);
}

TEST_CASE("a container is the sum of its children's outer calls", "[pipeline]") {
    fake::provider provider;
    auto& model = provider.captured;
    model.add(cb::node::none, "", 1, 10'000'000);
    model.add(0, "list", 0);
    model.add(1, "tree", 3, 4'000'000);
    model.add(1, "leaf", 2, 1'000'000);
    model.all_calls[2].parent_call = 1;
    model.all_calls[3].parent_call = 2;
    cb::pipeline pipeline{cb::preprocessors{}, cb::profilers{fast()}, cb::sinks{}};
    auto const report = pipeline.run(provider);
    CHECK(report["list"].get<cb::latency>().total_ms.value() == 6.0);
    CHECK(report["list"].get<cb::latency>().self_ms.value() == 0.0);
}

TEST_CASE("the own time of a component that is left out is its caller's", "[pipeline]") {
    fake::provider provider;
    auto& model = provider.captured;
    model.add(cb::node::none, "", 1, 10'000'000);
    model.add(0, "left_out", 2, 4'000'000);
    model.add(1, "part", 2, 3'000'000);  // called once by each call of left_out
    model.all_calls[4].parent_call = 2;
    model.rows[1].state = cb::status::filtered;
    cb::pipeline pipeline{cb::preprocessors{}, cb::profilers{fast()}, cb::sinks{}};
    auto const report = pipeline.run(provider);
    auto const self = report[""].get<cb::latency>().self_ms;
    CHECK(self.value() == 4.0);
    CHECK(self.why() == "the time of a part without a value is in it");
    CHECK_FALSE(report["left_out"].get<cb::latency>().total_ms.has_value());
    CHECK(report["left_out.part"].get<cb::latency>().self_ms.value() == 6.0);

    model.fail(0, "it threw");
    auto const estimate = pipeline.run(provider)[""].get<cb::latency>().latency_ms;
    CHECK(estimate.value() == 6.0);
    CHECK(estimate.why() == "lower bound: a part has no value");
}

TEST_CASE("a filter that cannot be meant is refused before the run", "[pipeline]") {
    cb::pipeline pipeline{cb::preprocessors{}, cb::profilers{}, cb::sinks{},
                          cb::options{.exclude = {{}}}};
    CHECK_THROWS_AS(pipeline.check(), cb::error);
}

TEST_CASE("a peak that cannot be meant is refused before the run, by its name", "[pipeline]") {
    cb::pipeline pipeline{
        cb::preprocessors{}, cb::profilers{}, cb::sinks{},
        cb::options{.peaks = {.tflops = {{"fp32", 67}, {"bf16", 0}}, .bandwidth_gbps = 3350}}};
    CHECK_THROWS_WITH(pipeline.check(),
                      "component_benchmark: the peak of bf16 must be a positive number of TFLOP/s; "
                      "it is 0");
}

TEST_CASE("calls that cannot be made again make the total a lower bound", "[pipeline]") {
    fake::provider provider;
    auto& model = provider.captured;
    model.add(cb::node::none, "", 1, 10'000'000);
    model.add(0, "a", 3, 2'000'000);
    model.components[1].groups[0].numbers = {1};
    cb::pipeline pipeline{cb::preprocessors{}, cb::profilers{fast()}, cb::sinks{}};
    auto const total = pipeline.run(provider)["a"].get<cb::latency>().total_ms;
    CHECK(total.value() == 2.0);
    CHECK(total.why() == "lower bound: not all of its calls have a value");
}

TEST_CASE("a part that needs no backward leaves its parent's estimate whole", "[pipeline]") {
    fake::provider provider;
    auto& model = provider.captured;
    model.add(cb::node::none, "", 1, 10'000'000);
    model.add(0, "flat", 1, 1'000'000, 0);
    model.add(0, "linear", 1, 1'000'000, 3'000'000);
    model.fail(0, "out of memory");
    cb::pipeline pipeline{cb::preprocessors{}, cb::profilers{fast()}, cb::sinks{}};
    auto const backward = pipeline.run(provider)[""].get<cb::latency>().latency_bwd_ms;
    CHECK(backward.value() == 3.0);
    CHECK(backward.why() == "estimated from its children");
}

TEST_CASE("a pipeline may run again", "[pipeline]") {
    auto provider = two_children();
    cb::pipeline pipeline{cb::preprocessors{}, cb::profilers{fast()}, cb::sinks{}};
    auto const first = pipeline.run(provider);
    auto const second = pipeline.run(provider);
    CHECK(first.document().columns.size() == second.document().columns.size());
    CHECK(first["a"].get<cb::latency>().total_ms.value() ==
          second["a"].get<cb::latency>().total_ms.value());
}
