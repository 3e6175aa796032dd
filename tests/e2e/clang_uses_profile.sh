#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# clang takes the profile of the quickstart's program in every LLVM format, without a word about it, and the same way
# in each; and the program built with it takes fewer branches. The profiles of the recordings in $BR2PGO_DATA, whose
# sources are not here, are at least what llvm-profdata and clang read.
set -euo pipefail

clang=$LLVM_BIN/clang
profdata=$LLVM_BIN/llvm-profdata
if [ ! -x "$clang" ] || [ "$(uname -m)" != x86_64 ]; then
    echo "skipped: needs clang in '$LLVM_BIN' and an x86-64 processor"
    exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
cp "$SOURCE_DIR"/examples/quickstart/*.[ch] .
flags=(-O2 -g -fdebug-info-for-profiling -Wall -Wextra -Werror)

fail() {
    echo "clang_uses_profile: $*"
    exit 1
}

# program, recording: also the exact counts in RECORDING.csv.
record() {
    if ! "$TOOLS/record_steps" --period 101 --truth "$2.csv" -o "$2" "$1" >"$1.out" 2>record.log; then
        cat record.log
        if grep -q 'under ptrace' record.log; then
            echo "skipped: no ptrace here"
            exit 77
        fi
        fail "cannot record $1"
    fi
}

# options of clang...: compiles; any word from it is a failure.
quiet_clang() {
    local words
    words=$("$clang" "${flags[@]}" "$@" 2>&1) || fail "clang $*: $words"
    [ -z "$words" ] || fail "clang $* says: $words"
}

# name, profile: the IR of count.c with it, in NAME.ll.
to_ir() {
    quiet_clang -fprofile-sample-use="$2" -S -emit-llvm count.c -o "$1.ll"
}

# The count of taken branches within the program.
taken() {
    awk -F, 'NR > 1 && $5 != "fallthrough" { all += $6 } END { print all }' "$1.csv"
}

make_profiles() {
    "$BR2PGO" perf.data -q -o text.textprof -o binary.binprof -f llvm-binary -o binary2.prof \
        -f llvm-extbinary -o extbinary.prof
    cmp binary.binprof binary2.prof || fail "llvm-binary depends on how it is asked for"
    "$BR2PGO" perf.data -q --compress -o compressed.prof
    "$BR2PGO" perf.data -q --md5 -o md5.prof
    "$BR2PGO" perf.data -q --md5 --compress --symbol-list -o all.prof
}

check_ir() {
    local profile name entries weights
    quiet_clang -S -emit-llvm count.c -o none.ll
    ! grep -q 'function_entry_count' none.ll || fail "entry counts without a profile"
    to_ir text text.textprof
    entries=$(grep -c '"function_entry_count", i64 [1-9]' text.ll || true)
    weights=$(grep -c '"branch_weights"' text.ll || true)
    echo "count.c: $entries entry counts, $weights lists of branch weights ($(grep -c '"branch_weights"' none.ll || true) without)"
    [ "$entries" -ge 1 ] || fail "no entry counts"
    [ "$weights" -ge 10 ] || fail "branch weights: $weights"
    # All that is hot ends up in words_count(): hash() in add() in take_word(), which was called indirectly.
    ! grep -Eq '(call|define) .*@(hash|add|take_word|take_space)\(' text.ll || fail "not all hot functions were inlined"
    grep -Eq 'call .*@(hash|add)\(|define .*@take_word' none.ll || fail "they are even without a profile: a useless test"
    for profile in binary.binprof extbinary.prof compressed.prof md5.prof; do
        name=${profile%.*}
        to_ir "$name" "$profile"
        cmp text.ll "$name.ll" || fail "$profile gives other code than the text"
        echo "$profile: the same code"
    done
    # With the symbol list clang takes functions without samples for cold: another code, but no word.
    to_ir all all.prof
}

check_run() {
    local before after
    quiet_clang -fprofile-sample-use=extbinary.prof ./*.c -o words-pgo
    record ./words-pgo again.data
    cmp words.out words-pgo.out || fail "the program does something else"
    before=$(taken perf.data)
    after=$(taken again.data)
    echo "taken branches: $before, with the profile $after"
    [ $((after * 100)) -le $((before * 85)) ] || fail "the taken branches do not fall by 15 %"
}

# The recordings of $BR2PGO_DATA: an empty file compiled with them.
check_data() {
    local name profile
    echo 'int empty;' >empty.c
    for name in lua-clang speedtest1-clang; do
        "$BR2PGO" "$BR2PGO_DATA/emulated/$name.perf.data" -b "$BR2PGO_DATA/emulated/$name" -q \
            -o "$name.textprof" -o "$name.prof" -f llvm-binary -o "$name.binprof"
        for profile in "$name.textprof" "$name.prof" "$name.binprof"; do
            quiet_clang -fprofile-sample-use="$profile" -c empty.c -o empty.o
            "$profdata" merge --sample --text "$profile" -o merged.textprof || fail "llvm-profdata merge $profile"
            "$profdata" show --sample "$profile" >shown.txt || fail "llvm-profdata show $profile"
            [ "$(grep -c '^Function:' shown.txt)" -ge 50 ] || fail "$profile: too few functions"
            cmp merged.textprof "$name.textprof" || fail "$profile: llvm-profdata reads something else"
        done
        echo "$name: $(grep -c '^Function:' shown.txt) functions, read by llvm-profdata and clang"
    done
}

quiet_clang ./*.c -o words
record ./words perf.data
make_profiles
check_ir
check_run
if [ -n "${BR2PGO_DATA-}" ]; then
    check_data
fi
