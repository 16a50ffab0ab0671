// Hooks and providers are for modules of torch.
// HOOK_OUTSIDE_A_MODULE
//     CB_FORWARD and CB_CALL belong into member functions of a class derived from torch::nn::Module
// PROVIDE_OF_NO_MODULE
//     provide(model, arguments...) needs a torch::nn::Module, a module holder or a shared_ptr to a
// STATE_THAT_IS_SHARED
//     CB_STATE names a member that is pointer-like, cannot be copied, or is of a class
// COMPONENTS_THAT_ARE_NONE
//     CB_COMPONENTS takes members that are modules, or holders
#include <component_benchmark/hook/forward.hpp>
#include <component_benchmark/provider/provide.hpp>

#include <memory>

namespace cb = component_benchmark;

#ifdef HOOK_OUTSIDE_A_MODULE
struct layer {
#else
struct layer : torch::nn::Module {
#endif
    at::Tensor forward(at::Tensor const& input) {
        CB_FORWARD(input);
        return input;
    }
};

struct counting_layer : torch::nn::Module {
#ifdef STATE_THAT_IS_SHARED
    std::shared_ptr<int> counter;
#else
    int counter = 0;
#endif
    CB_STATE(counter);
    at::Tensor forward(at::Tensor const& input) {
        CB_FORWARD(input);
        return input;
    }
};

struct real_layer : torch::nn::Module {
#ifdef COMPONENTS_THAT_ARE_NONE
    int part = 0;
#else
    std::shared_ptr<counting_layer> part;
#endif
    CB_COMPONENTS(part);
    at::Tensor forward(at::Tensor const& input) {
        return input;
    }
};

void profile(at::Tensor const& input) {
#ifdef PROVIDE_OF_NO_MODULE
    int model = 0;
#else
    auto model = std::make_shared<real_layer>();
#endif
    static_cast<void>(cb::provide(model, input).capture({}));
}
