#!/usr/bin/env bash
# Proves that a CUDA toolkit in sight does no harm: nvcc on PATH, its headers on the include path, CUDA_HOME set.
#   with_cuda.sh <cmake> <generator> <make program> <compiler> <LibTorch> <build folder>
set -euo pipefail
# shellcheck source=tests/package/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cmake=$1 generator=$2 make_program=$3 compiler=$4 libtorch=$5 build=$6

toolkit() {
    local folder
    for folder in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda; do
        if [[ -n $folder && -e $folder/bin/nvcc && -e $folder/include/cuda_runtime_api.h ]]; then
            echo "$folder"
            return 0
        fi
    done
    return 1
}

CUDA_HOME=$(toolkit) || skip "no CUDA toolkit on this machine"
PATH=$CUDA_HOME/bin:$PATH
CPATH=$CUDA_HOME/include${CPATH:+:$CPATH}
export CUDA_HOME PATH CPATH

build_consumer "$build" -D CONSUMER_WAY=add_subdirectory -D COMPONENT_BENCHMARK_SOURCE="$project" \
    -D CONSUMER_TORCH=ON -D CONSUMER_SEES_CUDA=ON \
    -D COMPONENT_BENCHMARK_LIBTORCH_ROOT="$libtorch"
