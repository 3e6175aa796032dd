#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program that llvm-bolt rewrote, and recorded again, gives the profile that the program before
it gives: llvm-bolt counts the same for each edge and call of each function, and finds none stale."""
import collections
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile

BIN = os.environ.get("LLVM_BIN") or "/usr/lib/llvm-19/bin"
BOLT, PERF2BOLT, CLANG = (os.path.join(BIN, name) for name in ("llvm-bolt", "perf2bolt", "clang"))
RECORD = os.path.join(os.environ["TOOLS"], "record_steps")
BR2PGO = os.environ["BR2PGO"]
LAYOUT = ["-reorder-blocks=ext-tsp", "-reorder-functions=hfsort", "-split-functions",
          "-split-all-cold"]

# A history of so many branches is taken at every one: each branch counts DEPTH times, each run once
# less, but for those at the ends of the program.
DEPTH = 128

MAIN = r"""
#include <stdio.h>
#include <stdlib.h>
int other(int);
int twins(int);
int more_twins(int);
__attribute__((cold, noinline)) void rare(int *x) { *x += 7; }
static __attribute__((noinline)) int helper(int x) { return x & 1 ? x * 3 : x - 1; }
__attribute__((noinline)) int turn(int op, int *acc) {
  switch (op) {
  case 0: *acc += 1; break;
  case 1: rare(acc); *acc ^= 3; break;
  case 2: *acc *= 3; break;
  case 3: *acc -= 5; break;
  case 4: *acc ^= 0x55; break;
  case 5: rare(acc); rare(acc); *acc |= 1; break;
  case 6: *acc += 9; break;
  case 7: *acc <<= 1; break;
  case 8: rare(acc); return -1;
  default: *acc = ~*acc;
  }
  return *acc & 0xff;
}
__attribute__((noinline)) int recurse(int n) {
  if (n <= 0) return 1;
  int a = recurse(n - 1);
  do { a = a * 3 + 1; } while (a & 4);
  return a + recurse(n - 2);
}
__attribute__((noinline)) int tail(int n) {
  if (n > 240) return other(n);
  for (int i = 0; i < (n & 7); i++) n += helper(i);
  return n;
}
__attribute__((noinline)) int fixed(int n) {
  int sum = 0;
  for (int i = 0; i < n % 5; i++) sum += i & 1 ? helper(i) : other(i);
  return sum;
}
int main(void) {
  int acc = 1;
  long sum = 0;
  for (int i = 0; i < 300; i++) {
    sum += turn((i * 7 + (i >> 3)) % 11, &acc) + tail(i) + fixed(i) + twins(i) + more_twins(i);
    if (i == 290) for (int j = 0; j < 3; j++) sum += atoi("3");
  }
  printf("%ld %d %d\n", sum, acc, recurse(10));
  return 0;
}
"""
OTHER = r"""
static __attribute__((noinline)) int helper(int x) { return x & 2 ? x * 5 : x - 2; }
int other(int x) { int s = 0; for (int i = 0; i < 3; i++) s += helper(x + i); return s; }
"""
# Twice, in files of one name: then nobody can tell whose `same` it was.
TWIN = r"""
static __attribute__((noinline)) int same(int x) {
  do { x += 2; } while (x %% %d);
  return x;
}
int %s(int x) { return same(x) + 1; }
"""

problems = []


def expect(good, what):
    if not good:
        problems.append(what)
        print(f"WRONG: {what}")


def run(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)


def need(*words):
    """Runs what must work; its output."""
    result = run(*words)
    if result.returncode != 0:
        sys.exit(f"{' '.join(words)}: exit {result.returncode}: {result.stdout[-2000:]}")
    return result.stdout


def write(path, text):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def build(compiler):
    write("main.c", MAIN)
    write("other.c", OTHER)
    write("a/twin.c", TWIN % (5, "twins"))
    write("b/twin.c", TWIN % (7, "more_twins"))
    need(*compiler, "-g", "-Wl,--emit-relocs", "main.c", "other.c", "a/twin.c", "b/twin.c", "-o",
         "app")


def record(program, output):
    need(RECORD, "--period", "1", "--depth", str(DEPTH), "-o", output, f"./{program}")


def convert(recording, binary, output):
    result = run(BR2PGO, recording, "-b", binary, "-o", output, "-v")
    expect(result.returncode == 0, f"{binary}: exit {result.returncode}: {result.stdout}")
    return result.stdout


def read_counts(fdata, layout=tuple(LAYOUT)):
    """What llvm-bolt makes of the profile for the program that it read first: (function, block,
    next block) and (function, block, callee) -> count. It must trust every function's profile."""
    words = need(BOLT, "app", f"-data={fdata}", "-o", "again", "-w", "counts.yaml", "-v=2",
                 "-report-stale", *layout)
    bad = [line for line in words.splitlines()
           if re.search("possibly stale|branches match only|invalid profile data|malformed", line)]
    expect(not bad, f"llvm-bolt {fdata}: {bad}")
    with open("counts.yaml", encoding="utf-8") as file:
        text = file.read().split("\nfunctions:")[1]
    names = {}
    for name, number in re.findall(r"- name: +(\S+)\n +fid: +(\d+)", text):
        names[number] = name.strip("'\"")
    counts = collections.Counter()
    for function in re.split(r"\n  - name: +", text)[1:]:
        name = function.split()[0].strip("'\"")
        counts[name, "entry", ""] += int(re.search(r"\n +exec: +(\d+)", function).group(1))
        for block in re.split(r"\n +- bid: +", function)[1:]:
            start = block.split()[0]
            for target, count in re.findall(r"bid: (\d+), cnt: (\d+)", block):
                counts[name, start, target] += int(count)
            for callee, count in re.findall(r"fid: (\d+), (?:disc: \d+, )?cnt: (\d+)", block):
                counts[name, start, "call " + names.get(callee, "?")] += int(count)
    return counts


def compare(what, ours, wanted):
    """Counts in executions; runs at the ends of the program may lack some. Functions without a
    profile have no name in BOLT's file."""
    seen = 0
    for key in sorted(set(ours) | set(wanted)):
        a, b = ours[key] / DEPTH, wanted[key] / DEPTH
        if key[0].startswith("same") or key[2] == "call ?" or key[2].startswith("call same"):
            continue
        seen += 1
        expect(abs(a - b) <= 2 + 0.01 * max(a, b),
               f"{what}: {key}: {a:.1f} executions, {b:.1f} before")
    print(f"{what}: {seen} counts of edges, calls and entries are the same")
    expect(seen > 60, f"{what}: only {seen} counts")


def check_peer():
    """What perf2bolt makes of it, if there is one; it reads 32 branches at most."""
    if not os.path.exists(PERF2BOLT) or not shutil.which("perf"):
        return
    need(RECORD, "--period", "31", "-o", "peer.data", "./app.bolted")
    convert("peer.data", "app.bolted", "ours.fdata")
    words = run(PERF2BOLT, "app.bolted", "-p", "peer.data", "-o", "peer.fdata").stdout
    lost = re.search(r"out of range traces[^:]*: (.*)", words)
    totals = []
    for path in ("ours.fdata", "peer.fdata"):
        with open(path, encoding="utf-8") as file:
            totals.append(sum(int(line.split()[-1]) for line in file if line[0] in "01"))
    print(f"    sampled: {totals[0]} executions, perf2bolt {totals[1]}, which leaves out "
          f"{lost.group(1) if lost else '?'} of the runs as out of range")


def check_profiles(updated):
    """Source profiles are of the code that ran: there must be lines for it."""
    result = run(BR2PGO, "bolted.data", "-b", "app.bolted", "-o", "app.prof")
    if updated:
        expect(result.returncode == 0, f"app.prof: exit {result.returncode}: {result.stdout}")
        words = run(BR2PGO, "show", "app.prof").stdout
        for function in ("main", "turn", "helper", "recurse", "fixed"):
            expect(re.search(rf"^{function}:[1-9]", words, re.M), f"app.prof has no {function}")
    else:
        expect(result.returncode == 3 and "without its line table" in result.stdout
               and "-update-debug-sections" in result.stdout,
               f"no line table: exit {result.returncode}: {result.stdout}")


def check(compiler, updated):
    build(compiler)
    record("app", "app.data")
    convert("app.data", "app", "app.fdata")
    options = ["-update-debug-sections"] if updated else []
    need(BOLT, "app", "-data=app.fdata", "-o", "app.bolted", "-enable-bat", "-skip-funcs=fixed",
         *LAYOUT, *options)
    record("app.bolted", "bolted.data")
    words = convert("bolted.data", "app.bolted", "bolted.fdata")
    expect("name is not unique" in words, f"both `same` are kept: {words}")
    with open("bolted.fdata", encoding="utf-8") as file:
        lines = file.read().splitlines()
    expect(lines[0] == "boltedcollection", f"begins with {lines[0]}")
    expect(not any("same" in line for line in lines), "a function `same` has a profile")
    what = " ".join([os.path.basename(compiler[0]), *compiler[1:]])
    compare(what, read_counts("bolted.fdata"), read_counts("app.fdata"))
    expect(run("./app").stdout == run("./again").stdout, f"{what}: bolted again, it prints other")
    check_profiles(updated)
    check_peer()


def check_refused():
    """Without the table, or without symbols, or for addresses of the program before."""
    for output, message, hint in (("x.preagg", "holds addresses", "write an fdata file"),):
        result = run(BR2PGO, "bolted.data", "-b", "app.bolted", "-o", output)
        expect(result.returncode == 1 and message in result.stdout and hint in result.stdout
               and not os.path.exists(output), f"{output}: {result.returncode}: {result.stdout}")
    need("objcopy", "--remove-section=.note.bolt_bat", "app.bolted", "untold")
    need("strip", "--keep-section=.note.bolt_bat", "-o", "stripped", "app.bolted")
    for binary, status, message, hint in (
            ("untold", 1, "has no table", "-enable-bat"),
            ("stripped", 3, "has no symbol table", "before strip")):
        result = run(BR2PGO, "bolted.data", "-b", binary, "-o", "x.fdata")
        expect(result.returncode == status and message in result.stdout and hint in result.stdout
               and not os.path.exists("x.fdata"), f"{binary}: {result.returncode}: {result.stdout}")


def check_unmoved():
    """Without relocations llvm-bolt leaves functions where they are, and changes what is in them."""
    need(CLANG, "-O2", "main.c", "other.c", "a/twin.c", "b/twin.c", "-o", "app")
    record("app", "app.data")
    convert("app.data", "app", "app.fdata")
    need(BOLT, "app", "-data=app.fdata", "-o", "app.bolted", "-enable-bat",
         "-reorder-blocks=ext-tsp", "-split-functions")
    record("app.bolted", "bolted.data")
    convert("bolted.data", "app.bolted", "bolted.fdata")
    compare("without relocations", read_counts("bolted.fdata", []), read_counts("app.fdata", []))


def main():
    if not all(map(os.path.exists, (BOLT, CLANG))) or platform.machine() != "x86_64":
        print("no clang and llvm-bolt, or another machine than x86-64")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write("main.c", "int main(void) { return 0; }\n")
        need(CLANG, "main.c", "-o", "app")
        if "under ptrace" in run(RECORD, "-o", "perf.data", "./app").stdout:
            print("no ptrace here: nothing is recorded")
            sys.exit(77)
        check([CLANG, "-O2", "-no-pie"], True)
        check(["cc", "-O2"], False)
        check_refused()
        check(["cc", "-Os", "-no-pie"], True)
        check([CLANG, "-O0"], False) # jumps to jumps, which come to one address
        check_unmoved()
        os.chdir("/")
    sys.exit(1 if problems else 0)


main()
