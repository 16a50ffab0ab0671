# component_benchmark_require(): find_package that fails with one sentence.
# Also included by the installed package, so it knows nothing of the source tree.
include_guard(DIRECTORY)

# component_benchmark_require(<package> <version> <what it is> <Debian package>)
macro(component_benchmark_require package version what debian_package)
    find_package(${package} ${version} QUIET)
    if(NOT ${package}_FOUND)
        message(FATAL_ERROR "Component Benchmark needs ${what}, ${version} or newer, and CMake does not find it "
                            "(Debian: ${debian_package}).")
    endif()
endmacro()

component_benchmark_require(Boost 1.74 "the Boost headers" libboost-dev)
component_benchmark_require(fmt 9 "fmt" libfmt-dev)
