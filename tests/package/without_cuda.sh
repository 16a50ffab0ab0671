#!/usr/bin/env bash
# Proves that no CUDA toolkit is needed. Where one is installed it is hidden: its environment variables, nvcc, and its
# headers in the compiler's default include path, where links to them make every CUDA header "work".
#   without_cuda.sh <cmake> <generator> <make program> <compiler> <LibTorch> <build folder>
set -euo pipefail
# shellcheck source=tests/package/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cmake=$1 generator=$2 make_program=$3 compiler=$4 libtorch=$5 build=$6

unset CUDA_HOME CUDA_PATH CUDA_ROOT CUDAToolkit_ROOT CUDACXX NVCC LIBRARY_PATH LD_LIBRARY_PATH
unset CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH

default_includes() {
    "$compiler" -x c++ -E -v /dev/null 2>&1 > /dev/null | sed -n '/^#include <\.\.\.>/,/^End of search list/s/^ //p'
}

# without_links_into <folder> <toolkit>: a folder of links to everything in it that does not lead into the toolkit.
without_links_into() {
    local shadow entry
    shadow=$build.include/$(echo "$1" | tr / _)
    mkdir -p "$shadow"
    for entry in "$1"/*; do
        [[ $(readlink -f "$entry") == "$2"/* ]] || ln -s "$entry" "$shadow/"
    done
    echo "$shadow"
}

# -idirafter, not -isystem: the defaults come after LibTorch's folders, as they do by themselves.
include_flags() {
    local folder header
    printf '%s' -nostdinc
    while read -r folder; do
        if [[ -e $folder/cuda_runtime_api.h ]]; then
            header=$(readlink -f "$folder/cuda_runtime_api.h")
            [[ $header != "$(readlink -f "$folder")"/* ]] || skip "CUDA is installed among the system's own headers, $folder" >&2
            folder=$(without_links_into "$folder" "$(dirname "$header")")
        fi
        printf ' -idirafter %s' "$folder"
    done < <(default_includes)
}

path_without_nvcc() {
    local folder
    echo "$PATH" | tr : '\n' | while read -r folder; do
        [[ -e $folder/nvcc ]] || printf '%s:' "$folder"
    done
}

rm -rf "$build.include"
flags=$(include_flags)
PATH=$(path_without_nvcc)
export PATH
! command -v nvcc || skip "nvcc cannot be hidden"

build_consumer "$build" -D CMAKE_CXX_FLAGS="$flags" -D CONSUMER_WAY=add_subdirectory -D COMPONENT_BENCHMARK_SOURCE="$project" \
    -D CONSUMER_TORCH=ON \
    -D CONSUMER_SEES_CUDA=OFF -D COMPONENT_BENCHMARK_LIBTORCH_ROOT="$libtorch"
