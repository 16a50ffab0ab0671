// Each of two shared libraries: SIDE is the name of its only visible function.
#include "side.hpp"

#include <component_benchmark/capture/only_run.hpp>
#include <component_benchmark/hook/forward.hpp>

#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/linear.h>

namespace {

/// Of one name in both libraries.
struct common : torch::nn::Module {
    torch::nn::Linear linear = register_module("linear", torch::nn::Linear(4, 4));
    std::int64_t calls = 0;
    CB_STATE(calls);
    at::Tensor forward(at::Tensor const& x, std::string const& how) {
        CB_FORWARD(x, how);
        ++calls;
        return linear(x) * static_cast<double>(calls);
    }
};

struct block : torch::nn::Module {
    std::shared_ptr<common> first = register_module("first", std::make_shared<common>());
    torch::nn::BatchNorm1d norm = register_module("norm", torch::nn::BatchNorm1d(4));
    at::Tensor forward(at::Tensor const& x) {
        CB_FORWARD(x);
        return component_benchmark::region(
            "double", [](at::Tensor const& y) { return y * 2; }, norm(first->forward(x, "plain")));
    }
};

std::shared_ptr<torch::nn::Module> make() {
    return std::make_shared<block>();
}

at::Tensor call(torch::nn::Module& module, at::Tensor const& x) {
    return dynamic_cast<block&>(module).forward(x);
}

void const* recorder_place() {
    return &component_benchmark::hook::current;
}

std::string begin_run() {
    try {
        component_benchmark::capture::only_run const mine{component_benchmark::when_busy::refuse};
    } catch (component_benchmark::error const& refused) {
        return refused.what();
    }
    return "it may";
}

}  // namespace

extern "C" [[gnu::visibility("default")]] void SIDE(side& one) {
    one = {&make, &call, &recorder_place, &begin_run};
}
