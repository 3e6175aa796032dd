#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Every benchmark, one after the other: makes a program, records it, and measures br2pgo on that recording beside the
# peers that are installed (peers.py), in cases that can be slow (cases.py), and reading and counting alone (count).
#
# usage: tests/bench/run.sh [--build DIR] [--rounds N] [--sizes 13M,130M,1370M] [--scratch DIR]
#   --build    where br2pgo was built with its tests (build/dev)
#   --rounds   how often each command runs, in turn (5)
#   --sizes    of the recordings for the comparison
#   --scratch  folder for recordings, several GB ($TMPDIR)
# On a machine that does other things, compare times of processors, not those on the clock.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$here/../../build/dev rounds=5 sizes=13M,130M,1370M scratch=${TMPDIR:-/tmp}

while [ $# -gt 0 ]; do
    case $1 in
    --build) build=$2 ;;
    --rounds) rounds=$2 ;;
    --sizes) sizes=$2 ;;
    --scratch) scratch=$2 ;;
    *)
        sed -n 's/^# \{0,1\}//; 6,10p' "$0"
        exit 2
        ;;
    esac
    shift 2
done
build=$(cd "$build" && pwd)
folder=$(mktemp -d "$scratch/br2pgo-bench-XXXXXX")
trap 'rm -rf "$folder"' EXIT

# LLVM's profile needs clang's debug information to compare with the peers'; GCC's will do where there is no clang.
compiler=$(command -v clang-19 || command -v clang || command -v gcc)
python3 "$here/make_program.py" 1000 > "$folder/program.c"
"$compiler" -O1 -g -Wl,--emit-relocs "$folder/program.c" -o "$folder/program"
"$build/bin/br2pgo" record -q --emulate -o "$folder/perf.data" -- "$folder/program" 450000

echo "## Reading and counting"
python3 "$here/make_large.py" "$folder/perf.data" "${sizes##*,}" "$folder/large.data" > "$folder/log"
"$build/tools/count" --rounds "$rounds" "$folder/large.data"
"$build/tools/count" --rounds "$rounds" --threads 2 "$folder/large.data"
rm "$folder/large.data"

if [ -x "$build/tools/pt_trace" ]; then
    printf '\n## Intel PT\n'
    "$build/bin/br2pgo" record -q --emulate --period 1 --depth 8 -o "$folder/run.data" -- "$folder/program" 30000
    mkdir "$folder/trace"
    "$build/tools/pt_encode" "$folder/run.data" "$folder/trace" | "$build/tools/mkperf" -o "$folder/traced.data"
    "$build/tools/pt_trace" --rounds "$rounds" "$folder/traced.data"
    rm -r "$folder/run.data" "$folder/trace"
fi

printf '\n## Cases\n\n'
python3 "$here/cases.py" --build "$build" --recording "$folder/perf.data" --binary "$folder/program" \
    --rounds "$rounds" --scratch "$folder"

printf '\n## Beside the peers\n\n'
python3 "$here/peers.py" --br2pgo "$build/bin/br2pgo" --recording "$folder/perf.data" --binary "$folder/program" \
    --sizes "$sizes" --rounds "$rounds" --scratch "$folder"
