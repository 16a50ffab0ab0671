#!/usr/bin/env bash
# Takes the library into a program that is not ours, in one of the ways that users have:
#   ways.sh <way> <cmake> <generator> <make program> <compiler> <LibTorch> <build folder>
# Ways: subdirectory, fetch_content, build_tree, installed and installed_elsewhere (in folders of other names; without
# torch), resume (component_benchmark::resume, and components that cannot be had), installed_torch, plain (only the include folder and interpose.cpp, no CMake), with_find_torch (the project has
# called find_package(Torch) itself).
set -euo pipefail
# shellcheck source=tests/package/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
way=$1 cmake=$2 generator=$3 make_program=$4 compiler=$5 libtorch=$6 build=$7

# The library's own build folder; it comes anew, so that nothing stale is found.
configure_library() {
    rm -rf "$build/library" "$build/prefix"
    configure_project "$project" "$build/library" -D COMPONENT_BENCHMARK_TESTS=OFF -D COMPONENT_BENCHMARK_EXAMPLES=OFF \
        -D COMPONENT_BENCHMARK_BENCH=OFF "$@"
}

refuses_to_instrument() {
    local said
    if said=$(configure_project "$project/tests/package/consumer" "$build/instrumented" "$@" -D CONSUMER_INSTRUMENTS=ON 2>&1); then
        echo "component_benchmark_instrument() is reserved, and was taken in silence"
        return 1
    fi
    [[ $said == *"this name is reserved"* ]] || { echo "$said"; return 1; }
}

# What a CPU build of LibTorch gives a project that calls find_package(Torch), in two targets: LibTorch's own
# TorchConfig.cmake is asked, too, but that of a CUDA build stops where no CUDA toolkit is.
write_torch_config() {
    mkdir -p "$1"
    cat > "$1/TorchConfig.cmake" << CONFIG
foreach(name IN ITEMS c10 torch_cpu)
    add_library(\${name} SHARED IMPORTED)
    set_target_properties(\${name} PROPERTIES IMPORTED_LOCATION_RELEASE "$libtorch/lib/lib\${name}.so")
endforeach()
CONFIG
}

# finds_torch_in <folder of TorchConfig.cmake>: the project's LibTorch is ours; 77 where find_package(Torch) itself fails.
finds_torch_in() {
    rm -rf "$build/consumer"
    if ! configure_project "$project/tests/package/consumer" "$build/consumer" -D CONSUMER_WAY=add_subdirectory \
        -D COMPONENT_BENCHMARK_SOURCE="$project" -D CONSUMER_FINDS_TORCH=ON -D Torch_DIR="$1" > "$build/said" 2>&1; then
        cat "$build/said"
        ! grep -q "Found Torch" "$build/said" || return 1
        return 77
    fi
    grep "LibTorch .* at $libtorch" "$build/said"
}

# A folder that CMake takes for LibTorch: for what is told of a program before it is compiled.
write_stand_in_for_libtorch() {
    mkdir -p "$1/include/torch/csrc/api/include/torch" "$1/include/torch/headeronly" "$1/lib"
    touch "$1/include/torch/csrc/api/include/torch/torch.h" "$1/lib/libc10.so" "$1/lib/libtorch_cpu.so"
    printf '#define TORCH_VERSION_%s\n' "MAJOR 2" "MINOR 11" "PATCH 0" > "$1/include/torch/headeronly/version.h"
}

# asks <what must be said, lines> <CMake arguments>...: the components that a program finds, and what it is told.
asks() {
    local wanted=$1 said
    shift
    rm -rf "$build/asks"
    said=$(env -u Torch_DIR -u COMPONENT_BENCHMARK_LIBTORCH_ROOT PATH="$build/programs:$PATH" "$cmake" \
        -S "$project/tests/package/consumer" -B "$build/asks" -G "$generator" -D CMAKE_MAKE_PROGRAM="$make_program" \
        -D CMAKE_CXX_COMPILER="$compiler" "$@" 2>&1 | tr '\n' ' ' | tr -s ' ') || true
    while read -r line; do
        [[ $line != "not: "* || $said != *"${line#not: }"* ]] && [[ $line == "not: "* || $said == *"$line"* ]] && continue
        echo "cmake $* must say '$line', and says: $said"
        return 1
    done <<< "$wanted"
}

case $way in
    subdirectory)
        build_consumer "$build" -D CONSUMER_WAY=add_subdirectory -D COMPONENT_BENCHMARK_SOURCE="$project" \
            -D COMPONENT_BENCHMARK_WITH_LIBTORCH=OFF
        ;;
    fetch_content)
        [[ -e $project/.git ]] || skip "not a clone"
        rm -rf "$build"
        build_consumer "$build" -D CONSUMER_WAY=FetchContent -D COMPONENT_BENCHMARK_SOURCE="$project" \
            -D COMPONENT_BENCHMARK_WITH_LIBTORCH=OFF
        ;;
    build_tree)
        # Where the headers are to be installed changes nothing in the build tree, of interpose.cpp neither.
        write_stand_in_for_libtorch "$build/libtorch"
        for include in include inc/luded /some/where/else; do
            configure_library -D COMPONENT_BENCHMARK_WITH_LIBTORCH=OFF -D CMAKE_INSTALL_INCLUDEDIR="$include"
            configure_project "$project/tests/package/consumer" "$build/with_torch" -D CONSUMER_TORCH=ON \
                -D component_benchmark_DIR="$build/library" -D COMPONENT_BENCHMARK_LIBTORCH_ROOT="$build/libtorch"
        done
        build_consumer "$build/consumer" -D component_benchmark_DIR="$build/library"
        ;;
    installed)
        configure_library -D COMPONENT_BENCHMARK_WITH_LIBTORCH=OFF
        "$cmake" --install "$build/library" --prefix "$build/prefix"
        build_consumer "$build/consumer" -D CMAKE_PREFIX_PATH="$build/prefix"
        refuses_to_instrument -D CMAKE_PREFIX_PATH="$build/prefix"
        ;;
    installed_elsewhere)
        # By a name below the prefix, which may be moved, and by a path of its own, which may not be in the sources.
        elsewhere=$(mktemp -d)
        trap 'rm -rf "$elsewhere"' EXIT
        for include in inc/luded "$elsewhere/headers"; do
            rm -rf "$build/moved"
            configure_library -D COMPONENT_BENCHMARK_WITH_LIBTORCH=OFF -D CMAKE_INSTALL_INCLUDEDIR="$include" \
                -D CMAKE_INSTALL_DATADIR=data -D CMAKE_INSTALL_LIBDIR=lib/of/mine
            "$cmake" --install "$build/library" --prefix "$build/prefix"
            mv "$build/prefix" "$build/moved"
            rm -rf "$build/consumer"
            build_consumer "$build/consumer" -D component_benchmark_DIR="$build/moved/data/cmake/component_benchmark"
        done
        ;;
    resume)
        configure_library -D COMPONENT_BENCHMARK_WITH_LIBTORCH=OFF
        "$cmake" --install "$build/library" --prefix "$build/prefix"
        build_consumer "$build/consumer" -D CMAKE_PREFIX_PATH="$build/prefix" -D CONSUMER_RESUMES=ON
        # Neither nlohmann_json nor a LibTorch: the Pythons on PATH have none.
        mkdir -p "$build/programs"
        for name in python python3; do ln -sf "$(command -v false)" "$build/programs/$name"; done
        installed=(-D component_benchmark_DIR="$build/prefix/share/cmake/component_benchmark")
        subdirectory=(-D CONSUMER_ASKS=no -D CONSUMER_WAY=add_subdirectory -D COMPONENT_BENCHMARK_SOURCE="$project"
            -D COMPONENT_BENCHMARK_WITH_LIBTORCH=OFF)
        without=(-D CMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON)
        needs="needs nlohmann_json for component_benchmark::resume, version 3.9 or newer, and CMake"
        asks $'found: 1\nhas resume\nnot: has torch' "${installed[@]}" -D CONSUMER_ASKS=QUIET
        asks "has resume" "${subdirectory[@]}"
        asks "$needs does not find it" "${subdirectory[@]}" "${without[@]}"
        asks $'found: 1\nnot: has resume\nnot: says resume\nnot: There is no' "${installed[@]}" "${without[@]}" -D CONSUMER_ASKS="QUIET;OPTIONAL_COMPONENTS;resume"
        asks $'found: 1\nnot: has resume\n'"$needs does not find it" "${installed[@]}" "${without[@]}" \
            -D CONSUMER_ASKS="OPTIONAL_COMPONENTS;resume"
        asks $'found: 0\nnot: has resume\nnot: says resume\nnot: There is no' "${installed[@]}" "${without[@]}" -D CONSUMER_ASKS="QUIET;COMPONENTS;resume"
        asks "$needs does not find it" "${installed[@]}" "${without[@]}" -D CONSUMER_ASKS="REQUIRED;COMPONENTS;resume"
        asks $'found: 1\nnot: has torch\nnot: says torch' "${installed[@]}" -D COMPONENT_BENCHMARK_VENV=OFF \
            -D CONSUMER_ASKS="QUIET;OPTIONAL_COMPONENTS;torch"
        asks "or newer is not found: set Torch_DIR" "${installed[@]}" -D COMPONENT_BENCHMARK_VENV=OFF \
            -D CONSUMER_ASKS="REQUIRED;COMPONENTS;torch"
        mkdir -p "$build/old"
        touch "$build/old/nlohmann_jsonConfig.cmake"
        echo "set(PACKAGE_VERSION 3.8.0)" > "$build/old/nlohmann_jsonConfigVersion.cmake"
        asks "$needs finds version 3.8.0" "${subdirectory[@]}" -D nlohmann_json_DIR="$build/old"
        ;;
    installed_torch)
        configure_library -D COMPONENT_BENCHMARK_WITH_LIBTORCH=OFF  # a package is made without one
        "$cmake" --install "$build/library" --prefix "$build/prefix"
        build_consumer "$build/consumer" -D CMAKE_PREFIX_PATH="$build/prefix" -D CONSUMER_TORCH=ON \
            -D COMPONENT_BENCHMARK_LIBTORCH_ROOT="$libtorch"
        ;;
    with_find_torch)
        write_torch_config "$build/torch"
        finds_torch_in "$build/torch" || exit 1
        finds_torch_in "$libtorch/share/cmake/Torch" || [[ $? -eq 77 ]]
        ;;
    plain)
        mkdir -p "$build"
        "$compiler" -std=c++20 -O1 -DCOMPONENT_BENCHMARK_ENABLED=1 -DFMT_HEADER_ONLY=1 -I "$project/include" \
            -isystem "$libtorch/include" -isystem "$libtorch/include/torch/csrc/api/include" \
            "$project/tests/package/consumer/with_torch.cpp" "$project/include/component_benchmark/hook/interpose.cpp" \
            -L "$libtorch/lib" -ltorch_cpu -lc10 -Wl,-rpath,"$libtorch/lib" -ldl -pthread -o "$build/consumer"
        "$build/consumer"
        ;;
    *)
        echo "no way '$way'"
        exit 1
        ;;
esac
