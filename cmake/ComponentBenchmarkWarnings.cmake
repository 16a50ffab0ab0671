# component_benchmark_warnings: what our own tests, examples and benches are compiled with. Users never see it.
add_library(component_benchmark_warnings INTERFACE)
target_compile_options(component_benchmark_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
