# The two targets users link.
include(ComponentBenchmarkInstrument)

add_library(component_benchmark INTERFACE)
add_library(component_benchmark::component_benchmark ALIAS component_benchmark)
target_compile_features(component_benchmark INTERFACE cxx_std_20)
target_include_directories(
    component_benchmark INTERFACE "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
                                  "$<INSTALL_INTERFACE:include>")
target_compile_definitions(component_benchmark
                           INTERFACE COMPONENT_BENCHMARK_ENABLED=$<BOOL:${COMPONENT_BENCHMARK_ENABLED}>)
# fmt header-only: LibTorch puts its own, newer fmt on the include path, and a compiled older one must not meet it.
target_link_libraries(component_benchmark INTERFACE Boost::headers fmt::fmt-header-only)

if(COMPONENT_BENCHMARK_WITH_LIBTORCH)
    include(ComponentBenchmarkLibTorch)
    add_library(component_benchmark_torch INTERFACE)
    add_library(component_benchmark::torch ALIAS component_benchmark_torch)
    set_target_properties(component_benchmark_torch PROPERTIES EXPORT_NAME torch)
    target_link_libraries(component_benchmark_torch INTERFACE component_benchmark libtorch::cpu ${CMAKE_DL_LIBS})

    # The forwards of torch::nn are interposed once a program: in its executable, which the dynamic linker asks first.
    # A second copy in a shared library of the same program would record every call twice.
    set(interpose include/component_benchmark/hook/interpose.cpp)
    if(COMPONENT_BENCHMARK_ENABLED AND EXISTS "${PROJECT_SOURCE_DIR}/${interpose}")
        set(is_program "$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>")
        target_sources(
            component_benchmark_torch
            INTERFACE "$<BUILD_INTERFACE:$<${is_program}:${PROJECT_SOURCE_DIR}/${interpose}>>"
                      "$<INSTALL_INTERFACE:$<${is_program}:$<INSTALL_PREFIX>/${interpose}>>")
    endif()
endif()
