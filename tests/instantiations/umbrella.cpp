// A file that includes everything and uses nothing.
#include <component_benchmark/component_benchmark.hpp>
