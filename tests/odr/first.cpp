// One of two translation units that include the same headers, in another order than the other.
#include <component_benchmark/fwd.hpp>
#ifdef ODR_WITH_TORCH
#    include <component_benchmark/component_benchmark.hpp>
#endif
#include "odr/use.hpp"

odr::sizes first_unit() {
    return odr::measure();
}

int main() {
    return first_unit() == second_unit() ? 0 : 1;
}
