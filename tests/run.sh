#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Every test of br2pgo, from a bare clone on Debian 12 or Ubuntu, as root or with sudo:
# installs the packages that are missing, builds and tests with all warnings as errors, then builds
# again with the address and undefined behaviour sanitizers and tests that.
#
# usage: tests/run.sh [--no-install]
set -euo pipefail
cd "$(dirname "$0")/.."

say() {
    echo "== $*"
}

jobs=$(nproc)
started=$SECONDS
failed=()
counts=()

# preset, ctest arguments...: configure, build, test.
check() {
    local preset=$1 dir=build/$1 options=() log skipped
    shift
    if [ "$preset" = asan ] && [ -z "${CC-}" ] && command -v clang-19 >/dev/null &&
        [ -e "$(clang-19 -print-file-name="libclang_rt.asan-$(uname -m).a")" ]; then
        # The second build goes to the second compiler, so that both see all of the code.
        dir=build/asan-clang
        options=(-DCMAKE_C_COMPILER=clang-19)
    fi
    say "$preset: configure and build in $dir"
    if ! cmake --preset "$preset" -B "$dir" "${options[@]}" >/dev/null ||
        ! cmake --build "$dir" -- -j "$jobs"; then
        failed+=("$preset build")
        return
    fi
    say "$preset: tests"
    log=$dir/ctest.log
    ctest --test-dir "$dir" --output-on-failure -j "$jobs" "$@" </dev/null 2>&1 | tee "$log" ||
        failed+=("$preset tests")
    skipped=$(sed -n 's/.*Test *#[0-9]*: \([^ ]*\) .*Skipped.*/\1/p' "$log" | sort -u | tr '\n' ' ')
    counts+=("$preset: $(grep -E '^[0-9]+% tests passed' "$log" || echo 'no tests ran')${skipped:+; skipped: $skipped}")
}

main() {
    if [ "${1-}" != --no-install ]; then
        say "packages"
        bash scripts/install-packages.sh test
    fi
    check dev
    check asan -L 'unit|golden|cli|e2e|fault'
    say "summary after $((SECONDS - started)) s"
    for line in "${counts[@]}"; do
        say "$line"
    done
    if [ ${#failed[@]} != 0 ]; then
        say "FAILED: $(printf '%s; ' "${failed[@]}")"
        exit 1
    fi
    say "all tests passed"
}

main "$@"
