# Sourced: building and running the consumer, with the cmake, generator, make_program and compiler of the script.
# shellcheck shell=bash disable=SC2154

project=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

skip() {
    echo "skipped: $*"
    exit 77
}

# configure_project <source folder> <build folder> <CMake arguments>...
configure_project() {
    local source=$1 folder=$2
    shift 2
    "$cmake" -S "$source" -B "$folder" -G "$generator" -D CMAKE_MAKE_PROGRAM="$make_program" \
        -D CMAKE_CXX_COMPILER="$compiler" "$@"
}

# build_consumer <folder> <CMake arguments>...
build_consumer() {
    configure_project "$project/tests/package/consumer" "$@"
    "$cmake" --build "$1"
    "$1/consumer"
}
