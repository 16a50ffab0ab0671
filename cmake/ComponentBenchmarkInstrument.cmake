# component_benchmark_instrument(<target>): reserved. It is to add hooks to a target's own modules without an edit; until
# then their classes take one line each.
include_guard(GLOBAL)

function(component_benchmark_instrument target)
    message(FATAL_ERROR "component_benchmark_instrument(${target}): this name is reserved and does nothing yet. Link "
                        "component_benchmark::torch, and write CB_FORWARD(arguments...); as the first line of the "
                        "forward of each module class.")
endfunction()
