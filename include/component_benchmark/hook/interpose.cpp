// LibTorch -> HOOK: the one translation unit of a program that holds the hooks of LibTorch's
// forwards
#include <component_benchmark/hook/interpose.hpp>
