// The other translation unit.
#include "odr/use.hpp"
#ifdef ODR_WITH_TORCH
#    include <component_benchmark/component_benchmark.hpp>
#endif
#include <component_benchmark/fwd.hpp>

odr::sizes second_unit() {
    return odr::measure();
}
