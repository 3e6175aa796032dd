#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The same recording gives the same bytes: run again, with more threads, in another language, time
# zone, folder and environment, with the files under other paths, and recorded by a machine of the
# other byte order.
set -euo pipefail

cc -dM -E -x c /dev/null | grep __x86_64__ > /dev/null || { echo "needs a compiler for x86-64"; exit 77; }
br2pgo=$(realpath "${BR2PGO:?}")
mkperf=$(realpath "${TOOLS:-$(dirname "$0")/../tools}/mkperf")
scratch=$(mktemp -d "${TMPDIR:-/tmp}/br2pgo-same-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

# Functions enough, in an order that is not that of their names or addresses, to fill hash tables.
{
    echo '#define CODE __attribute__((naked, aligned(16))) void'
    echo 'CODE _start(void) { __asm__("jmp _start"); }'
    # shellcheck disable=SC2016 # assembler, not shell
    for i in $(seq 1 200); do
        printf 'CODE f%d(void)\n{\n    __asm__("cmp $1, %%eax");\n    __asm__("je 1f");\n' \
            $((i * 37 % 211))
        printf '    __asm__("inc %%ecx");\n    __asm__("1: ret");\n}\n'
    done
} > app.c
cc -g -O1 -fcf-protection=none -fno-toplevel-reorder -nostdlib -static -no-pie \
    -Wl,-Ttext=0x401000 -Wl,-z,noseparate-code -Wl,--build-id=0x51ac app.c -o app

describe() {
    echo "endian $1"
    cat <<'EOF'
event cycles:u sample=IP,TID,TIME,BRANCH_STACK branch=USER,ANY
event again:u sample=IP,TID,TIME,BRANCH_STACK branch=USER,ANY
feature event_desc
feature cmdline perf record -b ./app
comm pid=7 exec name=app
mmap2 pid=7 addr=0x400000 len=0x8000 off=0 buildid=51ac name=/opt/app
mmap2 pid=7 addr=0x7f0000000000 len=0x8000 off=0 name=/lib/libother.so
fork pid=8 ppid=7
repeat 200
sample pid=7+i%2 : 0x40101c+i*16-4/0x401010+i*177%200*16/P/-/-/3 0x401013+i*16/0x401017+i*16/M/-/-/2 0x7f0000000010+i/0x401010+i*16/P/-/-/1
end
EOF
}
describe little | sed 's/BRANCH_STACK/BRANCH_STACK,IDENTIFIER/' > description
"$mkperf" description -o perf.data
describe big | sed 's/BRANCH_STACK/BRANCH_STACK,IDENTIFIER/' > description
"$mkperf" description -o big.data

threads=()
# All outputs and the accounts, into a folder of this name.
convert() {
    local to=$PWD/$1 data=$2 image=$3
    shift 3
    mkdir "$to"
    env "$@" "$br2pgo" "$data" -b "$image" "${threads[@]}" -v --symbol-list --compress --report "$to/report" \
        -o "$to/a.prof" -f llvm-binary -o "$to/a.bin" -f llvm-text -o "$to/a.textprof" \
        -f edges -o "$to/a.csv" -f edges-json -o "$to/a.json" 2> "$to/funnel"
    env "$@" "$br2pgo" inspect "$data" > "$to/inspect"
    env "$@" "$br2pgo" inspect --json "$data" > "$to/inspect.json"
}

failed=0
# Compares the outputs, and with "all" what was said too, with those of the first run.
compare() {
    local name
    local names="a.prof a.bin a.textprof a.csv a.json"
    [ "${2:-}" = all ] && names+=" inspect inspect.json"
    for name in $names; do
        if ! cmp "first/$name" "$1/$name"; then
            echo "$1: $name differs"
            failed=1
        fi
    done
    # Only the names of the output folders differ.
    if [ "${2:-}" = all ]; then
        for name in report funnel; do
            diff "first/$name" <(sed "s,/$1/,/first/,g" "$1/$name") || failed=1
        done
    fi
}

convert first perf.data app
for name in a.prof a.bin a.textprof a.csv a.json; do
    [ -s "first/$name" ] || { echo "first/$name is empty"; exit 1; }
done
[ "$(grep -c ^f first/a.textprof)" -ge 100 ] || { echo "few functions"; exit 1; }

convert again perf.data app
compare again all
for language in C de_DE.UTF-8 tr_TR.UTF-8 fr_FR.ISO-8859-1; do
    # Languages are skipped where they are not installed: setlocale leaves C.
    convert "in-$language" perf.data app LC_ALL="$language" LANG="$language"
    compare "in-$language" all
done
convert elsewhen perf.data app TZ=Pacific/Kiritimati
compare elsewhen all
convert bare perf.data app -i
compare bare all
convert alone perf.data app MALLOC_PERTURB_=165 HOME=/nonexistent COLUMNS=7 TERM=xterm
compare alone all

for count in 1 2 3 7; do
    threads=(-j "$count")
    convert "threads-$count" perf.data app
    compare "threads-$count" all
done
threads=()

mkdir -p other/place
cp app other/place/app
ln -s ../../perf.data other/place/link.data
convert links other/place/link.data other/place/app
compare links
(cd other/place && convert inside ../../perf.data app)
mv other/place/inside inside
compare inside
(cd / && "$br2pgo" "$scratch/perf.data" -b "$scratch/app" -o "$scratch/root.prof" --symbol-list \
    --compress)
cmp root.prof first/a.prof || failed=1

convert big big.data app
compare big
diff first/funnel <(sed 's,/big/,/first/,g' big/funnel) || failed=1

# The same two recordings in either order.
for order in "perf.data big.data" "big.data perf.data"; do
    # shellcheck disable=SC2086 # two words
    "$br2pgo" $order -b app -o "${order%% *}.edges.csv" -o "${order%% *}.prof"
done
cmp perf.data.edges.csv big.data.edges.csv || failed=1
cmp perf.data.prof big.data.prof || failed=1
exit $failed
