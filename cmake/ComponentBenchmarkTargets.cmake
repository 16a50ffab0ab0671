# The targets users link.
include(ComponentBenchmarkInstrument)

add_library(component_benchmark INTERFACE)
add_library(component_benchmark::component_benchmark ALIAS component_benchmark)
target_compile_features(component_benchmark INTERFACE cxx_std_20)
# Installed, the folder is what ComponentBenchmarkInstall.cmake says.
target_include_directories(component_benchmark INTERFACE "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>")
target_compile_definitions(component_benchmark
                           INTERFACE COMPONENT_BENCHMARK_ENABLED=$<BOOL:${COMPONENT_BENCHMARK_ENABLED}>)
# fmt header-only: LibTorch puts its own, newer fmt on the include path, and a compiled older one must not meet it.
target_link_libraries(component_benchmark INTERFACE Boost::headers fmt::fmt-header-only)

component_benchmark_look_for_json(json_is_missing)
if(json_is_missing)
    message(STATUS "There is no component_benchmark::resume: ${json_is_missing}")
else()
    add_library(component_benchmark_resume INTERFACE)
    add_library(component_benchmark::resume ALIAS component_benchmark_resume)
    target_link_libraries(component_benchmark_resume INTERFACE component_benchmark nlohmann_json::nlohmann_json)
endif()

if(COMPONENT_BENCHMARK_WITH_LIBTORCH)
    include(ComponentBenchmarkTorchTarget)
    add_library(component_benchmark_torch INTERFACE)
    add_library(component_benchmark::torch ALIAS component_benchmark_torch)
    component_benchmark_link_torch(component_benchmark_torch "${PROJECT_SOURCE_DIR}/include")
endif()
