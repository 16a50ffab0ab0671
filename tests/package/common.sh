# Sourced: building and running the consumer, with the cmake, generator, make_program and compiler of the script.
# shellcheck shell=bash disable=SC2154

project=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

skip() {
    echo "skipped: $*"
    exit 77
}

# build_consumer <folder> <CMake arguments>...
build_consumer() {
    local folder=$1
    shift
    "$cmake" -S "$project/tests/package/consumer" -B "$folder" -G "$generator" -D CMAKE_MAKE_PROGRAM="$make_program" \
        -D CMAKE_CXX_COMPILER="$compiler" "$@"
    "$cmake" --build "$folder"
    "$folder/consumer"
}
