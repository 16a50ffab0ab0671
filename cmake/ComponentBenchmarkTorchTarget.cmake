# component_benchmark_link_torch(<target> <include folder>): makes an interface target what component_benchmark::torch is,
# LibTorch and the hooks on torch::nn's own forwards. The source tree and the installed package share it, so a package
# needs no LibTorch when it is made.
include_guard(GLOBAL)
include(ComponentBenchmarkLibTorch)

function(component_benchmark_link_torch target include_folder)
    target_link_libraries(${target} INTERFACE component_benchmark::component_benchmark libtorch::cpu ${CMAKE_DL_LIBS})

    # The forwards of torch::nn are interposed once a program: in its executable, which the dynamic linker asks first.
    # A second copy in a shared library of the same program would record every call twice.
    if(COMPONENT_BENCHMARK_ENABLED)
        set(is_program "$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>")
        target_sources(${target}
                       INTERFACE "$<${is_program}:${include_folder}/component_benchmark/hook/interpose.cpp>")
    endif()
endfunction()
