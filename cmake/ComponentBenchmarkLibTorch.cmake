# libtorch::cpu and libtorch::c10, imported straight from LibTorch's folder; libtorch::cuda where it has one.
#
# Not find_package(Torch): on a CUDA build of LibTorch that fails where nvcc is missing, and where C++20 was asked for
# before it. This never enables the CUDA language and never looks for a toolkit.
include_guard(GLOBAL)
include(ComponentBenchmarkLibTorchRoot)
set(COMPONENT_BENCHMARK_LIBTORCH_ROOT "" CACHE PATH "LibTorch's folder, the one with include/ and lib/ (empty: search)")

if(NOT COMPONENT_BENCHMARK_LIBTORCH_FOUND)  # an installed package has looked for it
    component_benchmark_find_libtorch_root(COMPONENT_BENCHMARK_LIBTORCH_FOUND)
endif()
if(NOT COMPONENT_BENCHMARK_LIBTORCH_FOUND)
    message(FATAL_ERROR "${COMPONENT_BENCHMARK_LIBTORCH_MISSING}")
endif()
# CMake runs again whenever it likes, perhaps in a shell without the Torch_DIR of the first.
set(COMPONENT_BENCHMARK_LIBTORCH_REMEMBERED "${COMPONENT_BENCHMARK_LIBTORCH_FOUND}"
    CACHE INTERNAL "LibTorch's folder that was found last")
component_benchmark_libtorch_version("${COMPONENT_BENCHMARK_LIBTORCH_FOUND}" COMPONENT_BENCHMARK_LIBTORCH_VERSION)

# Imported targets' include folders are SYSTEM for whoever links them: LibTorch's warnings are not the user's.
function(component_benchmark_import_libtorch root)
    foreach(name IN ITEMS c10 torch_cpu)
        find_library(${name}_library ${name} PATHS "${root}/lib" NO_DEFAULT_PATH NO_CACHE)
        if(NOT ${name}_library)
            message(FATAL_ERROR "LibTorch at ${root} has no shared library lib${name} in lib/.")
        endif()
    endforeach()
    find_package(Threads REQUIRED)

    add_library(libtorch::c10 SHARED IMPORTED GLOBAL)
    set_target_properties(libtorch::c10 PROPERTIES IMPORTED_LOCATION "${c10_library}")

    add_library(libtorch::cpu SHARED IMPORTED GLOBAL)
    set_target_properties(libtorch::cpu PROPERTIES IMPORTED_LOCATION "${torch_cpu_library}")
    target_include_directories(libtorch::cpu INTERFACE "${root}/include" "${root}/include/torch/csrc/api/include")
    target_link_libraries(libtorch::cpu INTERFACE libtorch::c10 Threads::Threads)

    # Builds before 2.7 came with either ABI of libstdc++; a program must use LibTorch's.
    set(config "${root}/share/cmake/Torch/TorchConfig.cmake")
    if(EXISTS "${config}")
        file(STRINGS "${config}" old_abi REGEX "_GLIBCXX_USE_CXX11_ABI=0")
        if(old_abi)
            target_compile_definitions(libtorch::cpu INTERFACE _GLIBCXX_USE_CXX11_ABI=0)
        endif()
    endif()

    # It registers itself when it is loaded and nothing refers to it, so the linker would drop it.
    find_library(torch_cuda_library torch_cuda PATHS "${root}/lib" NO_DEFAULT_PATH NO_CACHE)
    if(torch_cuda_library)
        add_library(libtorch::cuda INTERFACE IMPORTED GLOBAL)
        target_link_libraries(
            libtorch::cuda INTERFACE "-Wl,--push-state,--no-as-needed,${torch_cuda_library},--pop-state" libtorch::cpu)
    endif()
endfunction()

if(NOT TARGET libtorch::cpu)
    component_benchmark_import_libtorch("${COMPONENT_BENCHMARK_LIBTORCH_FOUND}")
    message(STATUS "LibTorch ${COMPONENT_BENCHMARK_LIBTORCH_VERSION} at ${COMPONENT_BENCHMARK_LIBTORCH_FOUND}")
endif()
