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
gcc -O2 -g -freorder-blocks-and-partition parted.c -o parted
symbols=$(nm parted)
if ! grep -q 'parted\.cold' <<<"$symbols"; then
    echo "this gcc makes no cold part"
    exit 77
fi
"$TOOLS/record_steps" --period 7 -o perf.data ./parted 2>log || { cat log; exit 1; }
"$BR2PGO" perf.data -b parted -o parted.textprof

profile=$(sed -n '/^parted:/,/^[^ ]/p' parted.textprof)
echo "$profile"
grep -q 'unlikely_work:' <<<"$profile" || { echo "the call in the cold part is missing"; exit 1; }
if [[ ${profile#*$'\n'} == *' parted:'* ]]; then
    echo "the jump to the cold part counts as a call"
    exit 1
fi
if grep -q 'cold' parted.textprof; then
    echo "the cold part has a profile of its own"
    exit 1
fi
