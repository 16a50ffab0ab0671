// A file with a user's module and no pipeline.
#include <component_benchmark/hook/forward.hpp>

struct module : torch::nn::Module {
    at::Tensor forward(at::Tensor const& x, std::vector<at::Tensor> const& more, int times) {
        CB_FORWARD(x, more, times);
        return x + more.at(0) * times;
    }
};

at::Tensor use(module& one, at::Tensor const& x) {
    return one.forward(x, {x}, 2);
}
