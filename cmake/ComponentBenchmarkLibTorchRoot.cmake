# component_benchmark_find_libtorch_root(<variable>): the LibTorch folder, the one with include/ and lib/, or "".
# The first of: what find_package(Torch) gave this project, with which COMPONENT_BENCHMARK_LIBTORCH_ROOT must agree; that;
# Torch_DIR, CMAKE_PREFIX_PATH (CMake variable, then environment), what this build folder found before, a Python on PATH
# that has torch, the Python environment that tools/setup.sh makes in the build folder.
#
# As a script it prints the folder, so that the shell scripts and the build agree:
#   cmake -D COMPONENT_BENCHMARK_VENV=OFF -P cmake/ComponentBenchmarkLibTorchRoot.cmake
include_guard(DIRECTORY)
set(COMPONENT_BENCHMARK_LIBTORCH_MINIMUM 2.6)
string(CONCAT COMPONENT_BENCHMARK_LIBTORCH_MISSING
              "LibTorch ${COMPONENT_BENCHMARK_LIBTORCH_MINIMUM} or newer is not found: set Torch_DIR or CMAKE_PREFIX_PATH, "
              "put a Python that has torch on PATH, or run tools/setup.sh libtorch.")

# 2.9 moved the version into another header.
function(component_benchmark_libtorch_version root out)
    set(${out} "" PARENT_SCOPE)
    foreach(header IN ITEMS torch/headeronly/version.h torch/csrc/api/include/torch/version.h)
        if(EXISTS "${root}/include/${header}")
            file(STRINGS "${root}/include/${header}" lines REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) +[0-9]")
            string(REGEX MATCHALL "[0-9]+" numbers "${lines}")
            if(numbers)
                list(JOIN numbers "." version)
                set(${out} "${version}" PARENT_SCOPE)
                return()
            endif()
        endif()
    endforeach()
endfunction()

function(component_benchmark_is_libtorch folder out)
    set(${out} FALSE PARENT_SCOPE)
    if(EXISTS "${folder}/include/torch/csrc/api/include/torch/torch.h" AND EXISTS "${folder}/lib")
        component_benchmark_libtorch_version("${folder}" version)
        if(version VERSION_GREATER_EQUAL COMPONENT_BENCHMARK_LIBTORCH_MINIMUM)
            set(${out} TRUE PARENT_SCOPE)
        else()
            message(STATUS "LibTorch ${version} at ${folder} is passed over: older than "
                           "${COMPONENT_BENCHMARK_LIBTORCH_MINIMUM}")
        endif()
    endif()
endfunction()

# Torch_DIR and prefix paths may name the folder itself or <folder>/share/cmake/Torch.
function(component_benchmark_libtorch_from_paths out)
    set(${out} "" PARENT_SCOPE)
    foreach(path IN LISTS ARGN)
        foreach(up IN ITEMS "" "/.." "/../.." "/../../..")
            component_benchmark_is_libtorch("${path}${up}" found)
            if(found)
                file(REAL_PATH "${path}${up}" root EXPAND_TILDE)
                set(${out} "${root}" PARENT_SCOPE)
                return()
            endif()
        endforeach()
    endforeach()
endfunction()

# Asks without importing torch: that would need every library the wheel was built for.
function(component_benchmark_libtorch_of_python out)
    set(${out} "" PARENT_SCOPE)
    foreach(name IN ITEMS python3 python)
        find_program(python_program NAMES ${name} NO_CACHE)
        if(python_program)
            execute_process(
                COMMAND
                    "${python_program}" -c
                    "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '')"
                OUTPUT_VARIABLE folder
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
            if(folder)
                component_benchmark_is_libtorch("${folder}" found)
                if(found)
                    set(${out} "${folder}" PARENT_SCOPE)
                    return()
                endif()
            endif()
        endif()
        unset(python_program)
    endforeach()
endfunction()

# A project that has called find_package(Torch) has its LibTorch; a second one in the same program would not do.
function(component_benchmark_libtorch_of_project out)
    set(${out} "" PARENT_SCOPE)
    if(NOT CMAKE_SCRIPT_MODE_FILE AND TARGET torch_cpu)
        foreach(property IN ITEMS IMPORTED_LOCATION_RELEASE IMPORTED_LOCATION)
            get_target_property(library torch_cpu ${property})
            if(library)
                cmake_path(GET library PARENT_PATH folder)
                component_benchmark_libtorch_from_paths(root "${folder}/..")
                set(${out} "${root}" PARENT_SCOPE)
                return()
            endif()
        endforeach()
    endif()
endfunction()

# What was asked for by name, of CMake or in the environment, is used or refused, never replaced in silence.
function(component_benchmark_libtorch_asked_for name out)
    set(${out} "" PARENT_SCOPE)
    set(asked "${${name}}")
    if(NOT asked)
        set(asked "$ENV{${name}}")
    endif()
    if(asked)
        component_benchmark_libtorch_from_paths(root "${asked}")
        if(NOT root)
            message(FATAL_ERROR "${name} is ${asked}, and that is no LibTorch "
                                "${COMPONENT_BENCHMARK_LIBTORCH_MINIMUM} or newer (include/ and lib/ are looked for).")
        endif()
        set(${out} "${root}" PARENT_SCOPE)
    endif()
endfunction()

function(component_benchmark_find_libtorch_root out)
    component_benchmark_libtorch_of_project(of_project)
    component_benchmark_libtorch_asked_for(COMPONENT_BENCHMARK_LIBTORCH_ROOT root)
    if(root AND of_project AND NOT root STREQUAL of_project)
        message(FATAL_ERROR "COMPONENT_BENCHMARK_LIBTORCH_ROOT is ${root}, and this project has found the LibTorch at "
                            "${of_project}: a program can have only one, so name the same or none.")
    endif()
    if(of_project)
        set(root "${of_project}")
    elseif(NOT root)
        component_benchmark_libtorch_asked_for(Torch_DIR root)
    endif()
    if(root)
        set(${out} "${root}" PARENT_SCOPE)
        return()
    endif()

    string(REPLACE ":" ";" prefixes "$ENV{CMAKE_PREFIX_PATH}")
    component_benchmark_libtorch_from_paths(root ${CMAKE_PREFIX_PATH} ${prefixes})
    if(NOT root)
        component_benchmark_libtorch_from_paths(root ${COMPONENT_BENCHMARK_LIBTORCH_REMEMBERED})
    endif()
    if(NOT root)
        component_benchmark_libtorch_of_python(root)
    endif()
    if(NOT root AND NOT (DEFINED COMPONENT_BENCHMARK_VENV AND NOT COMPONENT_BENCHMARK_VENV))
        file(GLOB venvs "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../build/venv/lib/python3*/site-packages/torch")
        component_benchmark_libtorch_from_paths(root ${venvs})
    endif()
    set(${out} "${root}" PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE AND CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
    component_benchmark_find_libtorch_root(root)
    execute_process(COMMAND "${CMAKE_COMMAND}" -E echo "${root}")
endif()
