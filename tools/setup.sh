#!/usr/bin/env bash
# Makes one thing that a build needs, and only if it is missing. examples/run.sh and tests/run.sh call it.
#   tools/setup.sh packages [tests]   compiler, CMake, Ninja, headers, Python; for the tests also Catch2 and clang
#   tools/setup.sh libtorch           LibTorch; prints its folder
#   tools/setup.sh movielens          MovieLens-100K; prints its folder
#   tools/setup.sh fbgemm             FBGEMM's operators, for the tests; prints their folder
set -euo pipefail
shopt -s inherit_errexit
# shellcheck source=tools/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

build=$root/build
venv=$build/venv
data=$build/data/ml-100k
fbgemm=$build/fbgemm

# --- packages of the distribution ---------------------------------------------------------------

# <package> <program it brings>
programs='g++ g++
cmake cmake
ninja-build ninja'
test_programs='clang clang++'

# <package> <header it brings> [header another version brings]
headers='libboost-dev boost/hana/tuple.hpp
libfmt-dev fmt/format.h
nlohmann-json3-dev nlohmann/json.hpp
libprotozero-dev protozero/pbf_writer.hpp
libcli11-dev CLI/CLI.hpp'
test_headers='catch2 catch2/catch_all.hpp catch2/catch.hpp'

missing_programs() {
    local package program
    while read -r package program; do
        has "$program" || echo "$package"
    done
}

# Asks the compiler, so a library that was installed by hand counts. Without one, everything is missing.
missing_headers() {
    if ! has g++; then
        cut -d ' ' -f 1
        return 0
    fi
    local package header other
    while read -r package header other; do
        printf '#if !__has_include(<%s>) && !__has_include(<%s>)\n%s\n#endif\n' "$header" "${other:-$header}" "$package"
    done | g++ -E -P -x c++ -
}

# Wheels of the pinned LibTorch exist for these versions.
is_fit_python() {
    "$1" -c 'import sys, venv, ensurepip; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' 2> /dev/null
}

fit_python() {
    local python
    for python in python3 /usr/bin/python3; do
        if is_fit_python "$python"; then
            echo "$python"
            return 0
        fi
    done
    return 1
}

missing_packages() {
    missing_programs <<< "$programs"
    missing_headers <<< "$headers"
    if [[ ${1:-} == tests ]]; then
        missing_programs <<< "$test_programs"
        missing_headers <<< "$test_headers"
    fi
    fit_python > /dev/null || echo python3 python3-venv
}

install_packages() {
    local as_root=()
    has apt-get || fail "missing: $*. This is no Debian; install what these Debian packages hold, then start again."
    if [[ $(id -u) -ne 0 ]]; then
        has sudo || fail "missing: $*. Neither root nor sudo; let root run: apt-get install $*"
        as_root=(sudo)
    fi
    say "installing $*"
    retry "apt-get update" "${as_root[@]}" apt-get -qq update >&2 ||
        fail "missing: $*, and apt-get update fails (no network?)."
    retry "apt-get install" "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get -qq -y --no-install-recommends install "$@" > "$build/apt.log" 2>&1 || {
        tail -n 5 "$build/apt.log" >&2
        fail "missing: $*, and apt-get install fails (see build/apt.log)."
    }
}

setup_packages() {
    local missing
    missing=$(missing_packages "${1:-}")
    [[ -n $missing ]] || return 0
    # shellcheck disable=SC2086 # one word a package
    install_packages $missing
    missing=$(missing_packages "${1:-}")
    [[ -z $missing ]] ||
        fail "still missing after the installation: ${missing//$'\n'/ } (Python must be 3.10 to 3.13, with venv)."
}

# --- LibTorch -----------------------------------------------------------------------------------

make_venv() {
    local python
    "$venv/bin/python" -m pip --version > /dev/null 2>&1 && return 0
    python=$(fit_python) || fail "missing: a Python of 3.10 to 3.13 with venv (Debian: python3-venv)."
    say "making a Python environment in build/venv"
    "$python" -m venv "$venv" || fail "missing: a working Python venv; '$python -m venv' fails."
}

pip() { "$venv/bin/python" -m pip --disable-pip-version-check --retries 2 --quiet "$@" >&2; }

has_gpu() {
    [[ -e /dev/nvidia0 ]] || { has nvidia-smi && nvidia-smi -L 2> /dev/null | grep -q '^GPU'; }
}

# A pip that was killed may leave a package that looks installed: every file must be there in its size.
installed_whole() {
    "$venv/bin/python" - torch nvidia-cuda-runtime nvidia-cuda-cupti << 'PYTHON'
import importlib.metadata, os, sys
for name in sys.argv[1:]:
    for file in importlib.metadata.distribution(name).files:
        if file.size is not None and os.path.getsize(file.locate()) != file.size:
            sys.exit(1)
PYTHON
}

install_wheels() {
    local requirements=$root/tools/libtorch-requirements.txt
    local pinned=(install --no-deps --only-binary :all: --require-hashes -r "$requirements")
    [[ $(uname -m) == x86_64 ]] ||
        fail "missing: LibTorch. The pinned wheel is for x86-64; set Torch_DIR to a LibTorch of your own."
    make_venv
    say "fetching LibTorch into build/venv ($1)"
    retry "pip install torch" pip "${pinned[@]}" ||
        fail "missing: LibTorch, and pip cannot fetch it (no network?). Torch_DIR can name one of your own."
    if ! installed_whole 2> /dev/null; then
        say "build/venv holds a half-finished torch: installing it again"
        retry "pip install torch" pip "${pinned[@]}" --force-reinstall ||
            fail "missing: LibTorch; build/venv is half-finished and pip cannot complete it."
    fi
    if [[ $1 == full* ]]; then
        retry "pip install torch's dependencies" pip install torch==2.11.0 ||
            fail "missing: torch's CUDA libraries, and pip cannot fetch them (no network?)."
    fi
}

setup_libtorch() {
    local folder kind stamp
    folder=$(cmake -D COMPONENT_BENCHMARK_VENV=OFF -P "$root/cmake/ComponentBenchmarkLibTorchRoot.cmake" | tail -n 1) ||
        exit 1
    if [[ -n $folder ]]; then
        echo "$folder"
        return 0
    fi

    kind="lean: no GPU here, 0.55 GB"
    if has_gpu; then kind="full: for the GPU, 2.9 GB"; fi
    # Written last and named after what was asked for: no stamp, not finished.
    stamp=$venv/.libtorch-${kind%%:*}-$(cksum < "$root/tools/libtorch-requirements.txt" | cut -d ' ' -f 1)
    if [[ ! -e $stamp ]]; then
        install_wheels "$kind"
        touch "$stamp"
    fi
    for folder in "$venv"/lib/python3*/site-packages/torch; do
        [[ -e $folder/lib/libtorch_cpu.so ]] || fail "missing: $folder/lib/libtorch_cpu.so; remove build/venv and start again."
        echo "$folder"
    done
}

# --- MovieLens-100K -----------------------------------------------------------------------------

has_movielens() { [[ -s $data/ml-100k.inter && -s $data/ml-100k.user && -s $data/ml-100k.item ]]; }

setup_movielens() {
    local wheels=$build/data/wheel
    if ! has_movielens; then
        make_venv
        say "fetching MovieLens-100K into build/data"
        mkdir -p "$wheels"
        retry "pip download recbole" pip download --no-deps --only-binary :all: --require-hashes \
            -r "$root/tools/movielens-requirements.txt" -d "$wheels" ||
            fail "missing: MovieLens-100K, and pip cannot fetch the wheel that holds it (no network?)."
        unpack_movielens "$wheels"/recbole-*.whl
        has_movielens || fail "missing: the files of MovieLens-100K in $wheels."
    fi
    echo "$data"
}

# Unpacked beside its place and renamed: half an unpacking is never taken for the data.
unpack_movielens() {
    rm -rf "$data" "$data.part"
    mkdir -p "$data.part"
    "$venv/bin/python" - "$1" "$data.part" << 'PYTHON'
import pathlib, sys, zipfile
wheel, folder = zipfile.ZipFile(sys.argv[1]), pathlib.Path(sys.argv[2])
for name in ("ml-100k.inter", "ml-100k.user", "ml-100k.item"):
    (folder / name).write_bytes(wheel.read(f"recbole/dataset_example/ml-100k/{name}"))
PYTHON
    mv "$data.part" "$data"
}

# --- FBGEMM -------------------------------------------------------------------------------------

setup_fbgemm() {
    local requirements=$root/tools/fbgemm-requirements.txt wheels=$build/data/wheel stamp
    # Written last and named after what was asked for: no stamp, not finished.
    stamp=$fbgemm/.$(cksum < "$requirements" | cut -d ' ' -f 1)
    # There is none for other machines; the tests say that they are skipped.
    if [[ ! -e $stamp && $(uname -m) == x86_64 ]]; then
        make_venv
        say "fetching FBGEMM's operators into build/fbgemm (6 MB)"
        mkdir -p "$wheels"
        retry "pip download fbgemm-gpu-cpu" pip download --no-deps --only-binary :all: --require-hashes \
            --python-version 3.11 --implementation cp --abi cp311 --platform manylinux_2_28_x86_64 \
            -r "$requirements" -d "$wheels" ||
            fail "missing: FBGEMM's operators, and pip cannot fetch the wheel that holds them (no network?)."
        unpack_fbgemm "$wheels"/fbgemm_gpu_cpu-*.whl
        touch "$stamp"
    fi
    echo "$fbgemm"
}

unpack_fbgemm() {
    rm -rf "$fbgemm"
    mkdir -p "$fbgemm"
    "$venv/bin/python" - "$1" "$fbgemm" << 'PYTHON'
import pathlib, sys, zipfile
wheel, folder = zipfile.ZipFile(sys.argv[1]), pathlib.Path(sys.argv[2])
for name in wheel.namelist():
    if name.startswith("fbgemm_gpu/") and name.endswith(".so"):
        (folder / pathlib.PurePosixPath(name).name).write_bytes(wheel.read(name))
PYTHON
}

# ------------------------------------------------------------------------------------------------

mkdir -p "$build"
# Two runs at once must not install into the same environment.
if has flock; then
    exec 9> "$build/setup.lock"
    flock 9
fi
case ${1:-} in
    packages) setup_packages "${2:-}" ;;
    libtorch) setup_libtorch ;;
    movielens) setup_movielens ;;
    fbgemm) setup_fbgemm ;;
    *) sed -n '2,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2 ;;
esac
