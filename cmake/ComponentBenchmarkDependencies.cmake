# component_benchmark_require(): find_package that fails with one sentence.
# Also included by the installed package, so it knows nothing of the source tree.
include_guard(DIRECTORY)

# component_benchmark_require(<package> <minimum> <what it is> <Debian package> [<first major version that is too new>])
# The version is not find_package's to check: a package that calls itself compatible with its own major version only
# (fmt, Catch2) refuses a newer one that would do.
macro(component_benchmark_require package minimum what debian_package)
    find_package(${package} QUIET)
    component_benchmark_missing("${package}" "${minimum}" "${what}" "${debian_package}" "${ARGN}"
                                component_benchmark_sentence)
    if(component_benchmark_sentence)
        message(FATAL_ERROR "${component_benchmark_sentence}")
    endif()
endmacro()

# What component_benchmark::resume needs. Nobody else does, so it is looked for and not asked for: <out> is "", or what is
# missing.
macro(component_benchmark_look_for_json out)
    find_package(nlohmann_json QUIET)
    component_benchmark_missing(nlohmann_json 3.9 "nlohmann_json for component_benchmark::resume" nlohmann-json3-dev ""
                                ${out})
endmacro()

# A sentence, or "" where what find_package found will do.
function(component_benchmark_missing package minimum what debian_package too_new out)
    set(${out} "" PARENT_SCOPE)
    set(wish "${minimum} or newer")
    if(too_new)
        math(EXPR newest "${too_new} - 1")
        set(wish "${minimum} to ${newest}")
    endif()
    set(needs "Component Benchmark needs ${what}, version ${wish}")
    if(NOT ${package}_FOUND)
        set(${out} "${needs}, and CMake does not find it (Debian: ${debian_package})." PARENT_SCOPE)
        return()
    endif()
    set(version "${${package}_VERSION}")
    if(DEFINED ${package}_VERSION_STRING)  # of Boost, the other may be written 107400
        set(version "${${package}_VERSION_STRING}")
    endif()
    # A package that is part of the project (FetchContent) need not say its version.
    if(version AND (version VERSION_LESS minimum OR (too_new AND version VERSION_GREATER_EQUAL too_new)))
        set(${out} "${needs}, and CMake finds version ${version} (${package}_DIR is \"${${package}_DIR}\")." PARENT_SCOPE)
    endif()
endfunction()

component_benchmark_require(Boost 1.74 "the Boost headers" libboost-dev)
component_benchmark_require(fmt 9 "fmt" libfmt-dev 13)
