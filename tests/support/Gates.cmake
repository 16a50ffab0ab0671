# component_benchmark_gate(<name> <target> <script> <arguments>...): a ctest entry that runs a python3 script of
# tests/ which compiles by itself, with this configuration's compiler and the target's include folders.
# What has passed is remembered in COMPONENT_BENCHMARK_GATE_MEMORY; configurations may share one.
include_guard(GLOBAL)
find_program(COMPONENT_BENCHMARK_PYTHON python3)
if(NOT COMPONENT_BENCHMARK_PYTHON)
    message(FATAL_ERROR "The tests need python3, and CMake does not find it (Debian: python3).")
endif()
set(COMPONENT_BENCHMARK_GATE_MEMORY "${PROJECT_BINARY_DIR}/gates" CACHE PATH "Where gates remember what has passed")

# gate_flags, and gate_flags_torch where there is LibTorch: targets that are never built, only asked.
function(component_benchmark_gate_flags name)
    add_library(${name} OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/support/main.cpp)
    target_link_libraries(${name} PRIVATE ${ARGN})
    set(includes "$<TARGET_PROPERTY:${name},INCLUDE_DIRECTORIES>")
    set(defines "$<TARGET_PROPERTY:${name},COMPILE_DEFINITIONS>")
    file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/${name}.txt"
         CONTENT "include $<JOIN:${includes},\ninclude >\ndefine $<JOIN:${defines},\ndefine >\n")
endfunction()

component_benchmark_gate_flags(gate_flags component_benchmark::component_benchmark)
if(COMPONENT_BENCHMARK_WITH_LIBTORCH)
    component_benchmark_gate_flags(gate_flags_torch component_benchmark::torch)
endif()

function(component_benchmark_gate name target script)
    # Lists lose them on the way, and the script would take the next argument for this one.
    if("" IN_LIST ARGV)
        message(FATAL_ERROR "component_benchmark_gate(${name}): an argument is empty; give it a word that says so.")
    endif()
    add_test(NAME ${name} COMMAND ${COMPONENT_BENCHMARK_PYTHON} -B "${PROJECT_SOURCE_DIR}/tests/${script}"
                                  --compiler "${CMAKE_CXX_COMPILER}" --flags "${PROJECT_BINARY_DIR}/${target}.txt"
                                  --memory "${COMPONENT_BENCHMARK_GATE_MEMORY}" ${ARGN})
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)
endfunction()
