#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# From a program to its profile and back to the compiler, on a machine with Debian 12 or Ubuntu, as root or with sudo:
# installs the packages that are missing, builds br2pgo, compiles the small program beside this script, records its
# branches, makes a profile of them, and compiles the program again with it. Tried on x86-64.
#
# usage: examples/quickstart/run.sh [--no-install]
# Everything it makes lies in build/quickstart.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
out=build/quickstart
work=$out/work
program=examples/quickstart
flags=(-O2 -g -fdebug-info-for-profiling)
rounds=200

say() {
    echo
    echo "== $*"
}

# Shows a command, then runs it.
run() {
    echo "\$ $*"
    "$@"
}

stop() {
    echo "quickstart: error: $1" >&2
    echo "quickstart: hint: $2" >&2
    exit 1
}

find_clang() {
    local name
    for name in clang-19 clang clang-22 clang-21 clang-20 clang-18 clang-17 clang-16 clang-15 clang-14; do
        if command -v "$name" >/dev/null; then
            echo "$name"
            return
        fi
    done
    stop "there is no clang" "install one: apt-get install clang-19"
}

build() {
    # Without the tests, so that what only they need is not asked for. The second time this takes a second.
    if ! { cmake -S . -B "$out" -G Ninja -DBR2PGO_TESTS=OFF && cmake --build "$out"; } >"$work/build.log" 2>&1; then
        tail -n 30 "$work/build.log" >&2
        stop "br2pgo does not build" "the whole log is $work/build.log"
    fi
    echo "$out/bin/br2pgo: $("$out/bin/br2pgo" --version)"
}

# Program, recording, and the exact count of every branch in RECORDING.csv.
record() {
    run br2pgo record --emulate --exact "$2.csv" -o "$2" -- "$1" "$rounds"
}

# Program, exact counts: taken branches within the program, by kind.
taken() {
    awk -F, -v image="${1##*/}" '$1 == image && $5 != "fallthrough" { all += $6; kind[$5] += $6 }
        END { printf "%d taken branches (%d conditional, %d indirect calls)\n", all, kind["cond"], kind["icall"] }' "$2"
}

# Program: seconds it takes without being recorded, the best of three.
seconds() {
    local TIMEFORMAT=%U
    for _ in 1 2 3; do { time "$1" 20000 >/dev/null; } 2>&1; done | sort -n | head -n 1
}

main() {
    local clang before after
    mkdir -p "$work"
    if [ "${1-}" != --no-install ]; then
        say "Packages"
        bash scripts/install-packages.sh run
    fi

    say "Building br2pgo in $out"
    build
    PATH=$root/$out/bin:$PATH

    clang=$(find_clang)
    say "Compiling the program, with the line information that a profile needs"
    run "$clang" "${flags[@]}" "$program"/*.c -o "$work/words"

    say "Recording its branches"
    echo "# This machine may have no branch hardware, so it is emulated. Where there is, leave out --emulate, and let"
    echo "# the program run for longer."
    record "$work/words" "$work/perf.data"

    say "What is in the recording"
    run br2pgo inspect "$work/perf.data"

    say "The main job: from the recording to a profile"
    run br2pgo "$work/perf.data" -o "$work/words.prof" -o "$work/words.textprof" -v
    echo "# The same profile as text begins:"
    head -n 8 "$work/words.textprof"

    say "Compiling the program with its profile"
    run "$clang" "${flags[@]}" -fprofile-sample-use="$work/words.prof" "$program"/*.c -o "$work/words-pgo"
    "$clang" "${flags[@]}" -fprofile-sample-use="$work/words.prof" -S -emit-llvm "$program/count.c" -o "$work/count.ll"
    echo "# What clang now knows of count.c: $(grep -c 'branch_weights' "$work/count.ll") lists of branch weights, e.g."
    grep -m 2 'branch_weights' "$work/count.ll"

    say "Counting the branches of the new program"
    record "$work/words-pgo" "$work/again.data"
    before=$(taken "$work/words" "$work/perf.data.csv")
    after=$(taken "$work/words-pgo" "$work/again.data.csv")
    echo "without profile: $before"
    echo "with profile:    $after"
    echo "20000 rounds take $(seconds "$work/words") s without, $(seconds "$work/words-pgo") s with profile, not emulated"
    [ "${after%% *}" -lt "${before%% *}" ] || stop "the profile did not lower them" "please report this"
}

main "$@"
