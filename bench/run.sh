#!/usr/bin/env bash
# Builds and runs all benches and writes one table of ratios, with what they ran on, to build/bench/results.md.
# Compare only within one run: every number is taken in turns with what it is compared to.
# COMPONENT_BENCHMARK_FULL_PYTHON names a Python that can import torch; with it, what people use there is measured too.
set -euo pipefail
# shellcheck source=tools/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../tools/common.sh"
cd "$root"

tools/setup.sh packages tests
libtorch=$(tools/setup.sh libtorch)
build=build/bench
use_ccache
say "building the benches in $build"
configure "$build" -D CMAKE_BUILD_TYPE=Release -D COMPONENT_BENCHMARK_LIBTORCH_ROOT="$libtorch" \
    -D COMPONENT_BENCHMARK_TESTS=OFF -D COMPONENT_BENCHMARK_EXAMPLES=OFF || fail "CMake cannot configure $build."
cmake --build "$build" --target benches --parallel "$(build_jobs)" >&2 || fail "the benches do not build."

libtorch_version() {
    cat "$libtorch"/include/torch/headeronly/version.h "$libtorch"/include/torch/csrc/api/include/torch/version.h 2> /dev/null |
        grep -oE 'define TORCH_VERSION_(MAJOR|MINOR|PATCH) [0-9]+' | awk '{ print $3 }' | head -n 3 | paste -sd .
}

results=$build/results.md
{
    echo "$(grep -m 1 'model name' /proc/cpuinfo | cut -d: -f2 | sed 's/^ *//'), $(nproc) cores, load $(cut -d' ' -f1 /proc/loadavg)," \
        "$(g++ --version | head -n 1), LibTorch $(libtorch_version)"
    echo
    echo '| what | measured | goal | reached |'
    echo '| --- | --- | --- | --- |'
    OMP_NUM_THREADS=1 "$build/bench_overhead_hooks"
    OMP_NUM_THREADS=1 "$build/bench_overhead_flops"
    OMP_NUM_THREADS=1 "$build/bench_overhead_profile"
    "$build/bench_scale_components"
    python3 bench/compile_time/umbrella.py g++ "$libtorch"
    if has clang++; then python3 bench/compile_time/umbrella.py clang++ "$libtorch" 3; fi
} | tee "$results"
say "the table is in $results"
