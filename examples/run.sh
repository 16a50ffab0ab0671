#!/usr/bin/env bash
# The main job, from nothing: installs what is missing, builds deepfm, trains it on MovieLens-100K and profiles one batch
# in the middle of the training. Its files lie in build/demo/ afterwards. Arguments are handed on to deepfm.
set -euo pipefail
# shellcheck source=tools/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../tools/common.sh"
cd "$root"

build=build/demo-build
demo=build/demo

run_demo() {
    "$build/deepfm" \
        --data build/data/ml-100k \
        --profile-step 200 \
        --threads 1 \
        --json "$demo/report.json" \
        "$@"
}

tools/setup.sh packages
libtorch=$(tools/setup.sh libtorch)
tools/setup.sh movielens > /dev/null

[[ -e examples/deepfm.cpp ]] || fail "missing: examples/deepfm.cpp."
say "building deepfm in $build"
use_ccache
configure "$build" -D CMAKE_BUILD_TYPE=Release -D COMPONENT_BENCHMARK_LIBTORCH_ROOT="$libtorch" \
    -D COMPONENT_BENCHMARK_TESTS=OFF -D COMPONENT_BENCHMARK_BENCH=OFF ||
    fail "CMake cannot configure $build; the last lines above say what is missing."
cmake --build "$build" --target deepfm --parallel "$(build_jobs)" >&2 || fail "deepfm does not build."

say "running deepfm, files in $demo"
mkdir -p "$demo"
run_demo "$@"
