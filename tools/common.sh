# Sourced by the scripts that people start: what they all need.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '== %s\n' "$*" >&2; }

fail() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

has() { command -v "$1" > /dev/null 2>&1; }

# retry <what it is> <command>...: networks fail; three times is no accident.
retry() {
    local what=$1 attempt
    shift
    for attempt in 1 2 3; do
        if "$@"; then return 0; fi
        say "$what: attempt $attempt of 3 failed"
        sleep $((attempt * 2))
    done
    return 1
}

# A file that includes torch.h takes up to 2 GB to compile.
build_jobs() {
    local cores memory
    cores=$(nproc 2> /dev/null || echo 2)
    memory=$(awk '/^MemAvailable:/ { print int($2 / 2097152) }' /proc/meminfo 2> /dev/null || echo 2)
    [[ $memory -ge 1 ]] || memory=1
    echo $((cores < memory ? cores : memory))
}

# ccache is used where it is installed and required nowhere. It may trust precompiled headers and clocks here: CMake
# rebuilds the former, and nothing of ours uses __DATE__. As environment variables they reach the consumers that the
# package tests build, too.
use_ccache() {
    if has ccache; then
        export CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_SLOPPINESS=pch_defines,time_macros
    fi
}

# configure <build folder> <CMake arguments>...: quiet as long as it works.
configure() {
    local folder=$1
    shift
    mkdir -p "$folder"
    if ! cmake -S "$root" -B "$folder" -G Ninja "$@" > "$folder/configure.log" 2>&1; then
        cat "$folder/configure.log" >&2
        return 1
    fi
}
