#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A function that the compiler split into a hot and a cold part is one function: the jump to its cold
# part is no call of itself, and the cold part is nobody's entry.
set -euo pipefail

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

cat >parted.c <<'SOURCE'
#include <stdio.h>
__attribute__((noinline, cold)) void unlikely_work(int i)
{
    fprintf(stderr, "%d\n", i);
}
__attribute__((noinline)) int parted(int i)
{
    if (__builtin_expect(i % 4 == 0, 0)) {
        unlikely_work(i);
        return i * 3;
    }
    return i + 1;
}
int main(void)
{
    int sum = 0;
    for (int i = 0; i < 500; i++) {
        sum += parted(i);
    }
    return sum == 0;
}
SOURCE
build() {
    gcc -O2 -gdwarf-5 -freorder-blocks-and-partition "$@"
}
build -S parted.c -o parted.s
build parted.s -o parted
symbols=$(nm parted)
if ! grep -q 'parted\.cold' <<<"$symbols"; then
    echo "this gcc makes no cold part"
    exit 77
fi
"$TOOLS/record_steps" --period 7 -o perf.data ./parted 2>log || { cat log; exit 1; }

check() {
    "$BR2PGO" perf.data -b "$1" -o "$1.textprof"
    local profile
    profile=$(sed -n '/^parted:/,/^[^ ]/p' "$1.textprof")
    echo "$profile"
    grep -q 'unlikely_work:' <<<"$profile" || { echo "the call in the cold part is missing"; exit 1; }
    if [[ ${profile#*$'\n'} == *' parted:'* ]]; then
        echo "the jump to the cold part counts as a call"
        exit 1
    fi
    if grep -q 'cold' "$1.textprof"; then
        echo "the cold part has a profile of its own"
        exit 1
    fi
}
check parted

# The same code, but the debug information lists the cold part first, as some of clang's does.
python3 - <<'SCRIPT'
import re
text = open("parted.s").read()
part = r"(\t\.byte\t0x7\n\t\.quad\t\.L\w+\n\t\.uleb128 \.L\w+-\.L\w+\n)"
text, count = re.subn(part + part, r"\2\1", text, count=1)
assert count == 1, "no list of a hot and a cold part"
open("swapped.s", "w").write(text)
SCRIPT
build swapped.s -o swapped
"$TOOLS/record_steps" --period 7 -o perf.data ./swapped 2>log || { cat log; exit 1; }
check swapped
sed 's/\.type\tparted\.cold, @function//' swapped.s >untyped.s
build untyped.s -o untyped
"$TOOLS/record_steps" --period 7 -o perf.data ./untyped 2>log || { cat log; exit 1; }
check untyped
