#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The quickstart works from a bare copy of the sources, leaves everything it makes in build/, and the second time
# builds nothing.
set -euo pipefail

if [ -n "${SANITIZE-}" ]; then
    echo "skipped: the quickstart makes its own build"
    exit 77
fi
if [ "$(uname -m)" != x86_64 ]; then
    echo "skipped: the quickstart is tried on x86-64"
    exit 77
fi
for tool in ninja cmake awk cc qemu-x86_64; do
    command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
command -v clang-19 >/dev/null || command -v clang >/dev/null || { echo "skipped: no clang"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
    cat "$scratch/log"
    echo "quickstart: $*"
    exit 1
}

cd "$SOURCE_DIR"
tar -c --exclude=./build --exclude='./build-*' --exclude=./.git . | tar -x -C "$scratch"
cd "$scratch"
find . -path ./build -prune -o -type f -print | sort >before
for round in first second; do
    SECONDS=0
    examples/quickstart/run.sh --no-install >log 2>&1 </dev/null || fail "exit $?"
    echo "the $round time: $SECONDS s"
    grep -q "^without profile: [0-9]* taken branches" log || fail "it does not say what it began with"
    grep -q "^with profile: *[0-9]* taken branches" log || fail "it does not say what it came to"
    grep -q "lists of branch weights, e.g." log || fail "it does not show that clang uses the profile"
done
grep -q 'Building C' build/quickstart/work/build.log && fail "the second time it built again"
find . -path ./build -prune -o -type f -print | grep -v '^./\(log\|before\|after\)$' | sort >after
sed -i '/^.\/\(log\|before\)$/d' before
diff before after || fail "files appeared outside of build/"
grep -A1 '^without profile' log
