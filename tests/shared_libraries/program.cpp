// Profiles a model that is put together from modules of two shared libraries. Prints what is wrong.
//   program              it is linked with the libraries
//   program not_seen     the same, and without the hooks of LibTorch's forwards
//   program FILE FILE    it loads the libraries
#include "side.hpp"
#include <component_benchmark/component_benchmark.hpp>

#include <cstdio>
#include <dlfcn.h>
#include <string>
#include <vector>

namespace cb = component_benchmark;

namespace {

side side_of(char const* name) {
    side found{};
    reinterpret_cast<void (*)(side&)>(dlsym(RTLD_DEFAULT, name))(found);
    return found;
}

struct model : torch::nn::Module {
    side left = side_of("left_side");
    side right = side_of("right_side");
    std::shared_ptr<torch::nn::Module> one = register_module("left", left.make());
    std::shared_ptr<torch::nn::Module> other = register_module("right", right.make());
    at::Tensor forward(at::Tensor const& x) {
        CB_FORWARD(x);
        return right.forward(*other, left.forward(*one, x));
    }
};

int problems = 0;

void check(bool right, std::string const& what) {
    if (right)
        return;
    ++problems;
    std::printf("%s\n", what.c_str());
}

// One recorder and one run for all.
void check_shared(side const& library) {
    check(library.recorder_place() == &cb::hook::current, "a library has a recorder of its own");
    auto const why = library.begin_run();
    check(why.find("is running on this thread") != std::string::npos,
          "a library begins a run while the program has one: " + why);
}

void check_calls(auto const& report, bool seen) {
    std::vector<std::string> paths{"",      "left",        "left.first",  "left.double",
                                   "right", "right.first", "right.double"};
    if (seen)
        for (auto const* side : {"left", "right"})
            for (auto const* below : {".norm", ".first.linear"})
                paths.push_back(side + std::string{below});
    for (auto const& path : paths) {
        auto const row = report[path];
        check(row.calls() == 1 && row.state() == cb::status::ok,
              "'" + path + "' has " + std::to_string(row.calls()) + " calls, and is " +
                  std::string{cb::name_of(row.state())} + ": " + row.reason());
        check(row.template get<cb::latency>().latency_bwd_ms.has_value(),
              "'" + path + "' has no backward");
    }
    auto const& document = report.document();
    for (auto const& call : document.calls)
        if (document.nodes[call.row].depth > 0)
            check(call.parent_call >= 0, document.nodes[call.row].path + " has no parent call");
    check(document.facts.unchanged.verified, "the model is not verified");
}

void check_warnings(std::vector<std::string> const& warnings, bool seen) {
    auto const expected = seen ? 0U : 1U;
    check(warnings.size() == expected, std::to_string(warnings.size()) + " warnings");
    for (auto const& warning : warnings)
        check(!seen && warning.find("LibTorch are not seen") != std::string::npos, warning);
}

}  // namespace

int main(int count, char** arguments) {
    auto const seen = count != 2;
    for (int number = 1; number < count && seen; ++number)
        if (dlopen(arguments[number], RTLD_NOW | RTLD_GLOBAL) == nullptr)
            check(false, dlerror());
    model whole;
    auto const x = at::rand({3, 4});
    {
        auto const captured = cb::provide(whole, x).capture({});
        check_shared(whole.left);
        check_shared(whole.right);
    }
    auto pipeline = cb::pipeline{
        cb::preprocessors{}, cb::profilers{cb::latency{.warmup = 1, .samples = 2}}, cb::sinks{}};
    auto const report =
        pipeline.run(cb::provide(whole, x).loss([](at::Tensor const& y) { return y.sum(); }));
    check_calls(report, seen);
    check_warnings(report.document().facts.warnings, seen);
    return problems == 0 ? 0 : 1;
}
