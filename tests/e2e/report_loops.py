#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops of one source, as gcc and clang build it at every level: tested first or last, entered by a jump to the test at the
end, with what is between them. Each is found, in its loop, and goes round as often as the source says; one that is
tested first comes to its test once more."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

BR2PGO = os.environ["BR2PGO"]
CLANG = os.path.join(os.environ.get("LLVM_BIN") or "/usr/lib/llvm-19/bin", "clang")
# Limits that the compiler does not know, and more to do than it would unroll.
PROGRAM = r"""
volatile long sink;
int limit7 = 7, limit100 = 100, limit3 = 3;
#define OWN __attribute__((noinline))
OWN void seven(const char *p) { for (int i = 0; i < limit7; i++) sink += p[i]; }
OWN void hundred(const char *p) { int i = 0; while (i < limit100) { sink ^= p[i]; i++; } }
OWN void nested(const char *p)
{
    for (int i = 0; i < limit3; i++) {
        for (int k = 0; k < limit7; k++) sink += p[i + k];
        sink = sink * 3;
    }
}
int main(void)
{
    static char p[200];
    for (int i = 0; i < 400; i++) { seven(p); hundred(p); nested(p); }
    return 0;
}
"""
# Function, nesting: times round.
WANTED = {("seven", 1): 7, ("hundred", 1): 100, ("nested", 1): 3, ("nested", 2): 7, ("main", 1): 400}

problems = []


def expect(good, what):
    if not good:
        problems.append(what)
        print(f"WRONG: {what}")


def loops_of(program):
    subprocess.run([BR2PGO, "record", "-q", "--emulate", "--cycles", "--period", "13", "--depth", "64", "-o", "perf.data",
                    "./" + program], check=True)
    shown = subprocess.run([BR2PGO, "report", "perf.data", "-b", program, "--section", "loops,latency", "--json"],
                           stdout=subprocess.PIPE, check=True).stdout
    tables = json.loads(shown)["tables"]
    rounds = {row["header"]: row for row in tables["loop_latency"]["rows"]}
    return [(row, rounds.get(row["header"])) for row in tables["loops"]["rows"] if row["function"] in {name for name, _ in WANTED}]


def check(program):
    found = loops_of(program)
    expect(sorted((row["function"], row["depth"]) for row, _ in found) == sorted(WANTED),
           f"{program}: loops {[(row['function'], row['depth'], row['header']) for row, _ in found]}")
    tested_first = 0
    for row, latency in found:
        what = f"{program}: {row['function']} {row['header']}: {row}"
        wanted = WANTED.get((row["function"], row["depth"]), 0)
        if row["function"] != "main":  # entered once: in few samples
            expect(0.93 * wanted < row["trips_per_entry"] < 1.07 * (wanted + 1), what)
        if wanted < 20:
            expect(row["complete"] > 100 and wanted <= row["trips_least"] == row["trips_most"] <= wanted + 1, what)
            tested_first += row["trips_least"] != wanted
        if row["function"] != "main":  # a round of that has more branches than a history
            expect(latency is not None and latency["count"] > 100 and latency["least"] > 3, f"{what} {latency}")
    return tested_first


def main():
    if not shutil.which("qemu-x86_64") or os.uname().machine != "x86_64":
        print("no qemu-x86_64, or another machine")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("trips.c", "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        counts = {}
        for name, compiler in (("gcc", "gcc"), ("clang", CLANG)):
            if not shutil.which(compiler):
                print(f"no {compiler}")
                continue
            for level in ("-O0", "-O1", "-O2", "-Os"):
                subprocess.run([compiler, "-g", level, "-fno-unroll-loops", "trips.c", "-o", name + level], check=True)
                counts[name + level] = check(name + level)
        print("tested first, of 3 with known trips:", counts)
        expect(counts.get("gcc-O0", 3) == 3 and counts.get("gcc-O2", 0) == 0, f"what is tested first: {counts}")
        os.chdir("/")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
