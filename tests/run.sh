#!/usr/bin/env bash
# Builds and runs the tests, from nothing: installs what is missing, then one configuration after the other, each in its
# own folder of build/tests/.
#   tests/run.sh            what every change must pass: g++ Release with everything, clang++ Debug, g++ with sanitizers
#   tests/run.sh --all      also both compilers x Debug and Release x on and off, the hidden test cases, and coverage
#   tests/run.sh --approve  writes the golden files and the numbers of instantiations anew; look at what git shows
set -euo pipefail
# shellcheck source=tools/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../tools/common.sh"
cd "$root"

# Files of torch_tests that also run under the sanitizers, as folder/name.cpp.
sanitized_torch_files=(capture/arguments.cpp)

passed=0
failed=0
broken=()
skipped=()

# Counts what ctest says in its closing line, where a skipped test counts as passed; not here. A configuration that does
# not build is one failure.
count() {
    local line skips
    mapfile -t skips < <(sed -n 's/^[[:space:]]*[0-9]* - \(.*\) (Skipped)$/\1/p' "$1")
    skipped+=("${skips[@]}")
    line=$(grep -E '^[0-9]+% tests passed, [0-9]+ tests failed out of [0-9]+' "$1" | tail -n 1)
    if [[ $line =~ passed,\ ([0-9]+)\ tests\ failed\ out\ of\ ([0-9]+) ]]; then
        failed=$((failed + BASH_REMATCH[1]))
        passed=$((passed + BASH_REMATCH[2] - BASH_REMATCH[1] - ${#skips[@]}))
    fi
}

note_broken() {
    failed=$((failed + 1))
    broken+=("$1")
    say "$1"
}

# build_configuration <name> <CMake arguments>...
build_configuration() {
    local name=$1 folder=build/tests/$1
    shift
    say "$name: building"
    if ! configure "$folder" -D COMPONENT_BENCHMARK_LIBTORCH_ROOT="$libtorch" \
        -D COMPONENT_BENCHMARK_MOVIELENS="$movielens" -D COMPONENT_BENCHMARK_FBGEMM="$fbgemm" \
        -D COMPONENT_BENCHMARK_TEST_ALL="$all" -D COMPONENT_BENCHMARK_GATE_MEMORY="$root/build/tests/gates" "$@"; then
        note_broken "$name: CMake cannot configure it"
        return 1
    fi
    if ! cmake --build "$folder" --parallel "$jobs"; then
        note_broken "$name: does not build"
        return 1
    fi
}

# test_configuration <name> <CMake arguments>...; the entries that $without matches are not run
without='^$'
test_configuration() {
    local name=$1 log=build/tests/$1/ctest.log started=$SECONDS
    build_configuration "$@" || return 0
    say "$name: testing"
    if ! ctest --test-dir "build/tests/$name" --output-on-failure --no-tests=error --exclude-regex "$without" \
        --parallel "$jobs" 2>&1 | tee "$log"; then
        broken+=("$name: tests failed")
    fi
    count "$log"
    say "$name: $((SECONDS - started)) s"
}

# Off: hooks and pipelines are gone, so there is nothing to run; every example must still build.
build_off() {
    if build_configuration "$@" -D COMPONENT_BENCHMARK_ENABLED=OFF -D COMPONENT_BENCHMARK_TESTS=OFF; then
        passed=$((passed + 1))
    fi
}

gcc=(-D CMAKE_CXX_COMPILER=g++)
clang=(-D CMAKE_CXX_COMPILER=clang++)
debug=(-D CMAKE_BUILD_TYPE=Debug)
# Optimised as little as shows what NDEBUG changes: -O3 doubles the time and adds false warnings of g++ 12.
release=(-D CMAKE_BUILD_TYPE=Release -D CMAKE_CXX_FLAGS_RELEASE="-O1 -DNDEBUG")
tests_only=(-D COMPONENT_BENCHMARK_EXAMPLES=OFF -D COMPONENT_BENCHMARK_BENCH=OFF)
sanitizers='-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer'

sanitized=(-D CMAKE_CXX_FLAGS="$sanitizers" "${tests_only[@]}")
if [[ ${#sanitized_torch_files[@]} -eq 0 ]]; then
    sanitized+=(-D COMPONENT_BENCHMARK_WITH_LIBTORCH=OFF)
else
    sanitized+=(-D COMPONENT_BENCHMARK_TORCH_TEST_FILES="$(IFS=';' && echo "${sanitized_torch_files[*]}")")
fi

run_landing_tier() {
    test_configuration gcc-release "${gcc[@]}" "${release[@]}"
    # The models' own tests are the same with both compilers, and take long to build; what the gates that compile find
    # has so far been the same, too. --all runs them with both.
    local repeated='^$'
    [[ $all == ON ]] ||
        repeated='^(shared_libraries|gates[.]can_fail|layering[.]headers|disabled[.](examples|object_identity[.]deepfm))'
    without=$repeated test_configuration clang-debug "${clang[@]}" "${debug[@]}" "${tests_only[@]}" \
        -D COMPONENT_BENCHMARK_TORCH_TEST_FILES_LEFT_OUT="examples/gpt.cpp;examples/dlrm.cpp"
    test_configuration gcc-sanitized "${gcc[@]}" "${debug[@]}" "${sanitized[@]}"
}

# The share of include/ that the tests run.
measure_coverage() {
    local folder=build/tests/gcc-coverage
    find "$folder" -name '*.gcda' -delete 2> /dev/null || true
    build_configuration gcc-coverage "${gcc[@]}" "${debug[@]}" -D CMAKE_CXX_FLAGS=--coverage "${tests_only[@]}" || return 0
    ctest --test-dir "$folder" --no-tests=error -R '^(unit_tests|torch_tests)' > "$folder/ctest.log" 2>&1 ||
        note_broken "gcc-coverage: tests failed, see $folder/ctest.log"
    if python3 tests/coverage/coverage.py "$folder"; then
        passed=$((passed + 1))
    else
        note_broken "coverage: below its goal"
    fi
}

# Goldens and counts are the same in every configuration, but for the compiler that counts.
approve() {
    build_configuration gcc-release "${gcc[@]}" "${release[@]}"
    build_configuration clang-debug "${clang[@]}" "${debug[@]}" "${tests_only[@]}"
    export COMPONENT_BENCHMARK_APPROVE=1
    ctest --test-dir build/tests/gcc-release --output-on-failure -R '^(unit_tests|torch_tests)'
    ctest --test-dir build/tests/clang-debug --output-on-failure -R '^instantiations'
    git status --short tests
    exit 0
}

run_all_tier() {
    test_configuration gcc-debug "${gcc[@]}" "${debug[@]}"
    test_configuration clang-release "${clang[@]}" "${release[@]}"
    build_off gcc-release-off "${gcc[@]}" "${release[@]}"
    build_off gcc-debug-off "${gcc[@]}" "${debug[@]}"
    build_off clang-release-off "${clang[@]}" "${release[@]}"
    build_off clang-debug-off "${clang[@]}" "${debug[@]}"
    measure_coverage
}

all=OFF
tier=run_landing_tier
case ${1:-} in
    "") ;;
    --all) all=ON ;;
    --approve) tier=approve ;;
    -h | --help) sed -n '2,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    *) fail "unknown argument $1; see tests/run.sh --help." ;;
esac

tools/setup.sh packages tests
libtorch=$(tools/setup.sh libtorch)
movielens=$(tools/setup.sh movielens)
fbgemm=$(tools/setup.sh fbgemm)
jobs=$(build_jobs)
use_ccache

$tier
if [[ $all == ON ]]; then run_all_tier; fi

for name in "${skipped[@]}"; do say "skipped: $name"; done
for line in "${broken[@]}"; do say "$line"; done
echo "$passed passed, $failed failed"
[[ ${#broken[@]} -eq 0 && $failed -eq 0 ]]
