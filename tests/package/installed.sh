#!/usr/bin/env bash
# Installs the target that does not see torch and builds a program against the install tree.
#   installed.sh <cmake> <generator> <make program> <compiler> <build folder>
set -euo pipefail
# shellcheck source=tests/package/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cmake=$1 generator=$2 make_program=$3 compiler=$4 build=$5

rm -rf "$build"
"$cmake" -S "$project" -B "$build/library" -G "$generator" -D CMAKE_MAKE_PROGRAM="$make_program" \
    -D CMAKE_CXX_COMPILER="$compiler" -D COMPONENT_BENCHMARK_WITH_LIBTORCH=OFF -D COMPONENT_BENCHMARK_TESTS=OFF
"$cmake" --install "$build/library" --prefix "$build/prefix"
build_consumer "$build/consumer" -D CMAKE_PREFIX_PATH="$build/prefix"
