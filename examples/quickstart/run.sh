#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# From a program to its profile and back to the compiler, on any x86-64 machine with Debian 12 or Ubuntu, as root or
# with sudo: installs the packages that are missing, builds br2pgo, compiles the small program beside this script,
# records its branches, makes a profile of them, and compiles the program again with it.
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
    cc -std=c17 -D_GNU_SOURCE -O2 tests/tools/record_steps.c -o "$out/bin/record_steps"
    echo "$out/bin/br2pgo: $("$out/bin/br2pgo" --version)"
}

record() {
    "$out/bin/record_steps" --period 101 --truth "$2.csv" -o "$2" "$1" ||
        stop "the program could not be recorded" \
            "it is single-stepped with ptrace, which some containers forbid: docker run --cap-add=SYS_PTRACE"
}

# Taken branches within the program, by kind, from the exact counts.
taken() {
    awk -F, 'NR > 1 && $5 != "fallthrough" { all += $6; kind[$5] += $6 }
        END { printf "%d taken branches (%d conditional, %d indirect calls)\n", all, kind["cond"], kind["icall"] }' "$1"
}

main() {
    local clang before after
    if [ "$(uname -m)" != x86_64 ]; then
        stop "the program is recorded by single-stepping it, which is made for x86-64 only" \
            "with branch hardware: perf record -b ./program, then br2pgo perf.data -o program.prof"
    fi
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
    echo "# This machine may have no branch hardware, so the program is single-stepped into the same kind of file."
    echo "# Where there is: perf record -b -o $work/perf.data $work/words"
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
    before=$(taken "$work/perf.data.csv")
    after=$(taken "$work/again.data.csv")
    echo "without profile: $before"
    echo "with profile:    $after"
    [ "${after%% *}" -lt "${before%% *}" ] || stop "the profile did not lower them" "please report this"
}

main "$@"
