// Too little memory is a row, and the next component finds what there is.
#include "support/catch2.hpp"
#include "support/fake_system.hpp"
#include "support/quick.hpp"
#include <component_benchmark/component_benchmark.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <cstdio>
#include <new>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace cb = component_benchmark;
namespace nn = torch::nn;
using at::Tensor;
using Catch::Contains;

namespace {

constexpr std::int64_t megabyte = 1 << 20;

/// Needs a lot more when it runs alone.
struct HungryImpl : nn::Module {
    explicit HungryImpl(std::int64_t bytes) : bytes_{bytes} {}
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        auto const more = runs_++ == 0 ? std::int64_t{8} : bytes_;
        if (more < 0)
            throw std::bad_alloc{};
        return x + at::zeros({more / 8}, at::kDouble).sum().to(at::kFloat);
    }
    std::int64_t bytes_;
    int runs_ = 0;
};
TORCH_MODULE(Hungry);

struct ModelImpl : nn::Module {
    explicit ModelImpl(std::int64_t bytes) : hungry{register_module("hungry", Hungry(bytes))} {}
    Tensor forward(Tensor const& x) {
        CB_FORWARD(x);
        return after(hungry(before(x)));
    }
    nn::Linear before = register_module("before", nn::Linear(8, 8));
    Hungry hungry;
    nn::Linear after = register_module("after", nn::Linear(8, 8));
};
TORCH_MODULE(Model);

bool fails_only_where_hungry(std::string const& why, std::int64_t bytes) {
    Model model{bytes};
    auto const x = at::rand({4, 8});
    auto const report = quick().run(cb::provide(model, x));
    auto const measured = [&](char const* path) {
        return report[path].get<cb::latency>().latency_ms.has_value();
    };
    auto const reason = report["hungry"].reason();
    if (report["hungry"].state() == cb::status::failed && reason.find(why) != std::string::npos &&
        report[""].state() == cb::status::failed && measured("before") && measured("after"))
        return true;
    std::printf("%s\n", cb::to_table(report.document()).c_str());
    return false;
}

/// Runs `test` in a process of its own, whose address space may grow by 400 MB more.
template<class Test>
bool in_little_memory(Test test) {
    auto const child = fork();
    if (child == 0) {
        std::FILE* const file = std::fopen("/proc/self/statm", "r");
        unsigned long pages = 0;
        if (file == nullptr || std::fscanf(file, "%lu", &pages) != 1)
            _exit(2);
        std::fclose(file);
        auto const limit = pages * static_cast<unsigned long>(sysconf(_SC_PAGESIZE)) +
                           400UL * static_cast<unsigned long>(megabyte);
        rlimit const wanted{limit, limit};
        if (setrlimit(RLIMIT_AS, &wanted) != 0)
            _exit(3);
        auto const passed = test();
        std::fflush(stdout);
        _exit(passed ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

TEST_CASE("a component that runs out of memory is a row, the others go on", "[memory]") {
    auto const threads = at::get_num_threads();
    at::set_num_threads(1);
    CHECK(in_little_memory(
        [] { return fails_only_where_hungry("out of memory: ", 4000 * megabyte); }));
    CHECK(in_little_memory([] { return fails_only_where_hungry("out of memory (std::bad", -1); }));
    at::set_num_threads(threads);
}

namespace {

struct seen_component {
    std::string why;
    std::string why_no_backward;
};

/// What a guard in a system with so many kilobytes to spare says of the root.
template<class Holder>
seen_component look(Holder& model, Tensor const& x, std::int64_t kilobytes) {
    cb::test::fake_system const system;
    system.file("proc/meminfo", "MemAvailable: " + std::to_string(kilobytes) + " kB\n");
    auto captured = cb::provide(model, x).capture({});
    seen_component seen;
    captured->for_each([&](std::size_t row, auto& one) {
        if (row != 0)
            return;
        cb::capture::memory_guard<cb::capture::component> const guard{system.folder.path()};
        seen.why = guard.check(one);
        auto replay = one.calls().front().replay();
        replay.prepare();
        replay.forward();
        static_cast<void>(replay.prepare_backward());
        seen.why_no_backward = replay.why_no_backward();
    });
    return seen;
}

}  // namespace

TEST_CASE("what needs more memory than there is, is not run", "[memory]") {
    nn::Linear model{1000, 500};           // gradients of 2 MB
    auto const x = at::rand({200, 1000});  // results of 0.4 MB
    CHECK(look(model, x, 100000).why.empty());
    CHECK(look(model, x, 100000).why_no_backward.empty());
    auto const no_backward = look(model, x, 1000);
    CHECK(no_backward.why.empty());
    CHECK_THAT(no_backward.why_no_backward,
               Contains("its backward is not run: results and gradients take 2.402 MB and 1.024 "
                        "MB are to spare: out of memory"));
    CHECK_THAT(
        look(model, x, 300).why,
        Contains("it is not run: results take 0.4") ||
            Contains("it is not run: its results take 0.4000 MB and 0.3072 MB are to spare"));
    CHECK(look(model, x, 0).why.empty());  // the system does not say
    {
        c10::NoGradGuard const no_grad;
        CHECK(look(model, x, 1000).why_no_backward == "no output requires a gradient");
    }
    nn::Flatten view;
    CHECK(look(view, x, 300).why.empty());  // its result is a view
    nn::Embedding dense{nn::EmbeddingOptions(1000, 500)};
    nn::Embedding sparse{nn::EmbeddingOptions(1000, 500).sparse(true)};
    auto const ids = at::arange(10);
    CHECK_FALSE(look(dense, ids, 1000).why_no_backward.empty());
    CHECK(look(sparse, ids, 1000).why_no_backward.empty());
}

namespace {

int probes = 0;

}  // namespace

TEST_CASE("when a device is lost, the rest of the rows say so", "[memory]") {
    auto const usual = cb::capture::device_probe;
    probes = 0;
    cb::capture::device_probe = [](c10::Device) noexcept { return ++probes < 2; };
    Model model{-1};
    auto const x = at::rand({4, 8});
    auto const report = quick().run(cb::provide(model, x));
    cb::capture::device_probe = usual;
    CHECK(probes == 2);  // the root failed, then `hungry`
    CHECK(report["before"].get<cb::latency>().latency_ms.has_value());
    CHECK_THAT(report["hungry"].reason(), Contains("out of memory"));
    CHECK_THAT(report["after"].reason(), Contains("device lost: out of memory"));
    CHECK(report["after"].state() == cb::status::failed);
    CHECK_FALSE(report["after"].get<cb::latency>().latency_ms.has_value());
    CHECK(report.document().facts.unchanged.verified);
}

TEST_CASE("a model on the stack is looked at like any other", "[memory]") {
    struct on_stack : nn::Module {
        Tensor forward(Tensor const& x) {
            CB_FORWARD(x);
            return first(x).sum();
        }
        nn::Linear first = register_module("first", nn::Linear(8, 8));
    };
    on_stack model;
    auto const x = at::rand({4, 8});
    auto const report = quick({.reuse_identical = true}).run(cb::provide(model, x));
    CHECK(report[""].get<cb::latency>().latency_bwd_ms.has_value());
}
