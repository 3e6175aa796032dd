#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""llvm-bolt takes the fdata files and finds no function stale, also where the recording has records
that cannot be; it saves at least the branches that it saves with perf2bolt's file, and what it makes
of a program runs. Where perf2bolt is too, the files are the same but for what is listed here."""
import collections
import os
import platform
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

SOURCE = os.path.join(os.environ["SOURCE_DIR"], "examples", "quickstart")
DATA = os.environ.get("BR2PGO_DATA", "")
BIN = os.environ.get("LLVM_BIN") or "/usr/lib/llvm-19/bin"
BOLT, PERF2BOLT, CLANG = (os.path.join(BIN, name) for name in ("llvm-bolt", "perf2bolt", "clang"))
EMULATED = ["lua-clang", "lua-gcc", "speedtest1-clang"]
# A BOLT that reads traces: its version and its perf2bolt.
NEWER = next(((version, path) for version in range(30, 20, -1)
              for path in [f"/usr/lib/llvm-{version}/bin/perf2bolt"] if os.path.exists(path)), None)
BLOCKS = ["-reorder-blocks=ext-tsp", "-dyno-stats"]
LAYOUT = ["-reorder-functions=hfsort", "-split-functions"]
# BOLT 19 cannot write functions with computed goto, and says so at the very end.
CANNOT_WRITE = "unable to get new address corresponding to input address"

# A program for Lua: tables, strings, closures, metatables, errors.
LUA = """local t = {} for i = 1, 20000 do t[i] = (i * 7919) % 1009 end table.sort(t)
local s = 0 for i, v in ipairs(t) do s = (s * 31 + v) % 1000003 end
local m = setmetatable({}, {__index = function(_, k) return k * 2 end})
local ok = pcall(function() error("x") end)
print(s, m[21], ok, #string.gsub(string.rep("ab", 500), "a", "xy"))"""

# Jump tables, a part that is split off, recursion whose returns go to the start of a block.
SWITCHES = """
#include <stdio.h>
__attribute__((cold,noinline)) void rare(int *x) { *x += 7; }
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
int main(void) {
  int acc = 1; long sum = 0;
  for (int i = 0; i < 5000; i++) sum += turn((i * 7 + (i >> 3)) % 11, &acc);
  printf("%ld %d %d\\n", sum, acc, recurse(12));
  return 0;
}
"""
BUILDS = [["cc", "-O0"], ["cc", "-Os", "-no-pie"], ["cc", "-O2", "-fcf-protection=full"],
          [CLANG, "-O2"], [CLANG, "-Os", "-no-pie"]]

problems = []


def expect(good, what):
    if not good:
        problems.append(what)
        print(f"WRONG: {what}")


def run(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)


def convert(recording, binary, output, *options):
    result = run(os.environ["BR2PGO"], recording, "-b", binary, "-o", output, *options)
    expect(result.returncode == 0, f"{recording}: exit {result.returncode}: {result.stdout}")
    return result.stdout


def read_fdata(path):
    """{(source, target): (mispredicted, count)} with a side as (name, offset)."""
    records = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            fields = line.split()
            source, target = (fields[1], int(fields[2], 16)), (fields[4], int(fields[5], 16))
            records[source, target] = (int(fields[6]), int(fields[7]))
    return records


def optimise(binary, fdata, output="bolted", layout=tuple(LAYOUT)):
    """Share of taken branches that llvm-bolt saves; it must trust every function's profile."""
    result = run(BOLT, binary, f"-data={fdata}", "-o", output, "-v=2", "-report-stale", *BLOCKS,
                 *layout)
    found = re.findall(r"(\d+) : taken branches", result.stdout)
    expect((result.returncode == 0 or CANNOT_WRITE in result.stdout) and len(found) == 2,
           f"llvm-bolt {fdata}: exit {result.returncode}: {result.stdout[-2000:]}")
    bad = [line for line in result.stdout.splitlines()
           if re.search("possibly stale|branches match only|invalid profile data|malformed", line)]
    expect(not bad, f"llvm-bolt {fdata}: {bad}")
    if len(found) != 2 or int(found[0]) == 0:
        return 0
    return 1 - int(found[1]) / int(found[0])


def make_reference(recording, binary, output):
    """perf2bolt's file; False where there is no perf2bolt or perf."""
    if not os.path.exists(PERF2BOLT) or not shutil.which("perf"):
        return False
    result = run(PERF2BOLT, binary, "-p", recording, "-o", output)
    expect(result.returncode == 0, f"perf2bolt: {result.stdout[-500:]}")
    return result.returncode == 0


def classify(key, reference):
    """Why a record is in one file only, or has another count."""
    source, target = key
    if source == target:
        return "from an instruction to itself, which is no loop: left out"
    if source[0] == target[0] == "recurse":
        return "run behind a recursive return: counted for its call's block too"
    if (source, source) in reference:
        return "run behind such a record: left out"
    return "not explained"


def known_differences(name):
    """Those of a recording of $BR2PGO_DATA: {reason: (records, samples)}."""
    known = {}
    with open(os.path.join(os.environ["SOURCE_DIR"], "tests", "data", "bolt_differences.txt"),
              encoding="utf-8") as file:
        for line in file:
            if line.split(" ", 1)[0] == name:
                _, records, samples, reason = line.rstrip("\n").split(" ", 3)
                known[reason] = (int(records), int(samples))
    return known


def compare(name, ours, reference, known=None):
    """All differences to perf2bolt's file in a table; those without a reason are wrong, and where it is
    known how many there are, another number of them."""
    differences = collections.Counter()
    samples = collections.Counter()
    for key in sorted(set(ours) | set(reference)):
        if ours.get(key) != reference.get(key):
            reason = classify(key, reference)
            differences[reason] += 1
            samples[reason] += abs(ours.get(key, (0, 0))[1] - reference.get(key, (0, 0))[1])
            expect(reason != "not explained",
                   f"{name}: {key}: {ours.get(key)}, perf2bolt {reference.get(key)}")
    print(f"{name}: {len(ours)} records, perf2bolt {len(reference)}")
    found = {reason: (count, samples[reason]) for reason, count in differences.items()}
    expect(known is None or found == known, f"{name}: differences {found}, not {known}")
    for reason, count in differences.items():
        print(f"    {count:5} records {samples[reason]:8} samples  {reason}")


def aggregate(perf2bolt, preaggregated, binary):
    """What a perf2bolt makes of pre-aggregated addresses."""
    result = run(perf2bolt, binary, "--pa", "-p", preaggregated, "-o", "aggregated.fdata")
    mismatching = re.search(r"traces mismatching[^:]*: (\d+)", result.stdout)
    expect(result.returncode == 0 and mismatching and int(mismatching.group(1)) == 0,
           f"{perf2bolt} {preaggregated}: {result.stdout[-500:]}")
    return read_fdata("aggregated.fdata")


def check_preaggregated(name, recording, binary):
    """perf2bolt makes the same fdata of the addresses."""
    convert(recording, binary, "x.preagg")
    expect(aggregate(PERF2BOLT, "x.preagg", binary) == read_fdata(f"{name}.fdata"),
           f"{name}: perf2bolt --pa makes another file")


def check_traces(name, recording, binary):
    """A BOLT that reads traces makes the same of them as of branches and runs apart. It knows where a
    recursive return comes from, and does not count that run for its call's block."""
    if NEWER is None:
        print("no BOLT from version 21 on: traces are not read by one")
        return
    version, perf2bolt = NEWER
    convert(recording, binary, "apart.preagg")
    convert(recording, binary, "traces.preagg", "--bolt-version", str(version))
    apart, traces = (aggregate(perf2bolt, file, binary) for file in ("apart.preagg", "traces.preagg"))
    wrong = {key for key in set(apart) | set(traces) if apart.get(key) != traces.get(key)
             and not key[0][0] == key[1][0] == "recurse"}
    kinds = collections.Counter(line[0] for line in open("traces.preagg", encoding="utf-8"))
    expect(not wrong and kinds["T"] and kinds["R"] and sum(m for m, _ in traces.values())
           == sum(m for m, _ in apart.values()), f"{name}: traces: {kinds}, differ in {wrong}")
    print(f"{name}: perf2bolt {version} reads {kinds['T']} traces, {kinds['R']} behind returns, as"
          f" {len(traces)} records")


def check_emulated(name):
    recording, binary = (os.path.join(DATA, "emulated", name + end) for end in (".perf.data", ""))
    convert(recording, binary, f"{name}.fdata")
    saved = optimise(binary, f"{name}.fdata")
    theirs = 0.0
    if make_reference(recording, binary, f"{name}.reference"):
        compare(name, read_fdata(f"{name}.fdata"), read_fdata(f"{name}.reference"),
                known_differences(name))
        theirs = optimise(binary, f"{name}.reference")
        check_preaggregated(name, recording, binary)
    check_traces(name, recording, binary)
    expect(saved > 0.5 and saved >= theirs - 1e-9,
           f"{name}: {saved:.4f} of the taken branches saved, with perf2bolt's file {theirs:.4f}")
    print(f"{name}: llvm-bolt saves {saved:.2%} of the taken branches, perf2bolt: {theirs:.2%}")


def check_bolted(name):
    """What llvm-bolt makes of the recorded program does the same. It cannot write Lua's interpreter loop,
    which has computed goto."""
    binary = os.path.join(DATA, "emulated", name)
    lua = name.startswith("lua")
    result = run(BOLT, binary, f"-data={name}.fdata", "-o", "program.bolted", "-reorder-blocks=ext-tsp",
                 *LAYOUT, *(["-skip-funcs=luaV_execute/1"] if lua else []))
    expect(result.returncode == 0, f"llvm-bolt {name}: {result.stdout[-500:]}")
    words = ["-e", LUA] if lua else ["--size", "1", "--verify", ":memory:"]
    said = [[line for line in run(program, *words).stdout.splitlines()
             if lua or line.startswith("Verification Hash")]
            for program in (binary, "./program.bolted")]
    expect(len(said[0]) == 1 and said[0] == said[1], f"{name}: prints {said[0]}, bolted {said[1]}")
    print(f"{name}, bolted: prints {said[1]}")


def check_propeller():
    binary = os.path.join(DATA, "autofdo", "propeller_sample_1.bin")
    words = convert(binary.replace(".bin", ".perfdata1"), binary, "p.fdata")
    records = read_fdata("p.fdata")
    expect(len(records) > 10 and records[("main", 0x47), ("compute_flag", 0)][1] == 15815,
           f"propeller_sample_1: {records}")
    expect("no relocations" in words, f"propeller_sample_1: {words}")
    saved = optimise(binary, "p.fdata", layout=())
    print(f"propeller_sample_1: {len(records)} records, {saved:.2%} of the taken branches saved")


def check_plain_mappings():
    """A recording of a processor from before MMAP2 records, which perf2bolt refuses."""
    binary = os.path.join(DATA, "autofdo", "test.binary")
    convert(os.path.join(DATA, "autofdo", "test.lbr"), binary, "t.fdata")
    saved = optimise(binary, "t.fdata", layout=())
    expect(saved > 0.2, f"test.lbr: {saved:.2%} of the taken branches saved")
    print(f"test.lbr: {saved:.2%} of the taken branches saved")


# How a recording is spoilt: a history, newest first, of [from, to, flags]; changed in place.

def shift_some(history, chance):
    """1 in 7000 records is some bytes off at one end."""
    for record in history:
        if chance.randrange(7000) == 0:
            record[chance.randrange(2)] += chance.choice([-5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 7])


def double_newest(history, chance):
    """The newest record is there twice in one of eight histories."""
    if chance.randrange(8) == 0:
        history.insert(0, list(history[0]))
        history.pop()


def interrupt(history, chance):
    """An interrupt behind a branch, in one of twenty histories."""
    if chance.randrange(20) == 0:
        at = chance.randrange(1, len(history) - 2)
        back = history[at][1]
        history[at:at] = [[0xffffffff81000100, back, 0], [back, 0xffffffff81000040, 0]]
        del history[-2:]


FIXED = [(1 << 16, 8), (1 << 0, 8), (1 << 1, 8), (1 << 2, 8), (1 << 3, 8), (1 << 6, 8), (1 << 9, 8),
         (1 << 7, 8), (1 << 8, 8)]  # fields of a sample before the branch stack: bit, size


def spoil(path, output, *changes):
    """Rewrites a little-endian perf.data file of one event with the changes made to every branch
    stack."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    attributes, = struct.unpack_from("<Q", data, 24)
    at, size = struct.unpack_from("<QQ", data, 40)
    sample_type, = struct.unpack_from("<Q", data, attributes + 24)
    skip = 8 + sum(size for bit, size in FIXED if sample_type & bit)
    chance = random.Random(7)
    end = at + size
    while at < end:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        if kind == 9:
            count, = struct.unpack_from("<Q", data, at + skip)
            start = at + skip + 8
            history = [list(struct.unpack_from("<QQQ", data, start + 24 * i)) for i in range(count)]
            for change in changes:
                change(history, chance)
            for i, record in enumerate(history):
                struct.pack_into("<QQQ", data, start + 24 * i, *record)
        at += length
    with open(output, "wb") as file:
        file.write(data)


def total(fdata):
    return sum(count for _, count in read_fdata(fdata).values())


def check_spoilt(name):
    """Spoilt recordings lose what is spoilt and no more."""
    recording, binary = (os.path.join(DATA, "emulated", name + end) for end in (".perf.data", ""))
    clean = total(f"{name}.fdata")
    for what, changes in (("shifted", [shift_some]), ("doubled", [double_newest]),
                          ("interrupted", [interrupt]),
                          ("all three", [shift_some, double_newest, interrupt])):
        spoil(recording, "spoilt.data", *changes)
        convert("spoilt.data", binary, "spoilt.fdata")
        optimise(binary, "spoilt.fdata")
        kept = total("spoilt.fdata") / clean
        expect(0.99 <= kept <= 1.01, f"{name}, {what}: {kept:.4f} of the samples kept")
        print(f"{name}, {what}: {kept:.2%} of the samples kept, no function stale", end="")
        if make_reference("spoilt.data", binary, "spoilt.reference"):
            words = run(BOLT, binary, "-data=spoilt.reference", "-o", "bolted", *BLOCKS).stdout
            found = re.search(r"samples in the binary \(([\d.]+)%\)", words)
            stale = float(found.group(1)) if found else 0
            expect(stale > 25 or what != "shifted",
                   f"{name}: only {stale} % of the samples are stale with perf2bolt's file")
            print(f"; with perf2bolt's file {stale} % of the samples", end="")
        print()


def check_quickstart():
    """A program of one's own, from its compilation to its bolted form; False where it cannot be
    recorded."""
    files = [os.path.join(SOURCE, name) for name in ("words.c", "count.c", "filter.c")]
    result = run(CLANG, "-O2", "-Wl,--emit-relocs", *files, "-o", "words")
    expect(result.returncode == 0, f"clang: {result.stdout}")
    result = run(os.path.join(os.environ["TOOLS"], "record_steps"), "--period", "101", "-o",
                 "perf.data", "./words")
    if "under ptrace" in result.stdout:
        print("no ptrace here: the quickstart's program is not recorded")
        return False
    convert("perf.data", "words", "words.fdata")
    saved = optimise("words", "words.fdata", "words.bolted")
    expect(saved > 0.2, f"words: only {saved:.2%} of the taken branches saved")
    before, after = run("./words"), run("./words.bolted")
    expect(before.returncode == 0 and before.stdout == after.stdout,
           f"words prints '{before.stdout[:200]}', bolted: '{after.stdout[:200]}'")
    print(f"words: llvm-bolt saves {saved:.2%} of the taken branches, the program prints the same")
    if make_reference("perf.data", "words", "words.reference"):
        compare("words", read_fdata("words.fdata"), read_fdata("words.reference"))
    check_traces("words", "perf.data", "words")
    check_refused()
    check_switches()
    check_landing_pads()
    return True


def shift_many(history, chance):
    """1 in 100 records is some bytes off, or has an end that another one has."""
    for record in history:
        dice = chance.randrange(400)
        if dice < 4:
            record[dice & 1] += chance.choice([-16, -7, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 7, 16])
        elif dice < 8:
            record[dice & 1] = chance.choice(history)[dice >> 1 & 1]


def check_switches():
    """Jump tables as several compilers make them, from sound recordings and bad ones."""
    with open("switches.c", "w", encoding="utf-8") as file:
        file.write(SWITCHES)
    for build in BUILDS:
        result = run(*build, "-Wl,--emit-relocs", "switches.c", "-o", "switches")
        expect(result.returncode == 0, f"{build}: {result.stdout}")
        run(os.path.join(os.environ["TOOLS"], "record_steps"), "--period", "53", "-o",
            "switches.data", "./switches")
        convert("switches.data", "switches", "switches.fdata")
        optimise("switches", "switches.fdata", "switches.bolted")
        expect(run("./switches").stdout == run("./switches.bolted").stdout, f"{build}: output")
        if make_reference("switches.data", "switches", "switches.reference"):
            compare(" ".join(map(os.path.basename, build)), read_fdata("switches.fdata"),
                    read_fdata("switches.reference"))
        check_traces("switches", "switches.data", "switches")
        spoil("switches.data", "spoilt.data", shift_many)
        convert("spoilt.data", "switches", "spoilt.fdata")
        optimise("switches", "spoilt.fdata")


def check_landing_pads():
    """C++ exceptions: the unwinder enters functions where execution also falls in, and returns to."""
    source = os.path.join(os.environ["SOURCE_DIR"], "tests", "data", "pads.cc")
    for compiler in ("g++", CLANG + "++"):
        if not shutil.which(compiler):
            print(f"no {compiler}: no landing pads of its")
            continue
        # What jumps back from a part that was split off is not known unless it was seen.
        result = run(compiler, "-O2", "-fno-reorder-blocks-and-partition" if compiler == "g++" else "-O2",
                     "-Wl,--emit-relocs", source, "-o", "pads")
        expect(result.returncode == 0, f"{compiler}: {result.stdout}")
        run(os.path.join(os.environ["TOOLS"], "record_steps"), "--period", "53", "-o", "pads.data", "./pads")
        convert("pads.data", "pads", "pads.fdata")
        ours = read_fdata("pads.fdata")
        expect(ours.get((("swallow", 8), ("swallow", 0xb)), (0, 0))[1] > 10
               and (("resume", 3), ("resume", 8)) not in ours, f"{compiler}: landing pads: {ours}")
        optimise("pads", "pads.fdata", "pads.bolted", layout=())
        expect(run("./pads").stdout == run("./pads.bolted").stdout, f"{compiler}: output of pads")
        if make_reference("pads.data", "pads", "pads.reference"):
            compare(f"pads, {os.path.basename(compiler)}", ours, read_fdata("pads.reference"))


def check_aarch64():
    """Why jump tables of AArch64 are not looked for: llvm-bolt gives up functions that have one."""
    source = os.path.join(os.environ["SOURCE_DIR"], "tests", "data", "switch_aarch64.c")
    result = run(CLANG, "--target=aarch64-linux-gnu", "-nostdlib", "-static", "-fuse-ld=lld", "-O2",
                 "-Wl,--emit-relocs", source, "-o", "aarch64")
    if result.returncode != 0:
        print(f"no jump table of AArch64: {result.stdout[-200:]}")
        return
    newer = [] if NEWER is None else [NEWER[1].replace("perf2bolt", "llvm-bolt")]
    for bolt in [BOLT, *newer]:
        words = run(bolt, "aarch64", "-o", "bolted", "-lite=0", "-v=1", "-print-cfg").stdout
        simple = dict(re.findall(r'^Binary Function "(\w+)" after building cfg.*?IsSimple +: (\d)', words,
                                 re.M | re.S))
        expect(simple.get("turn") == "0" and simple.get("f1") == "1",
               f"{bolt}, AArch64: {simple}: {words[-300:]}")
    print("AArch64: llvm-bolt gives up a function with a jump table")


def check_refused():
    """What llvm-bolt cannot use is refused, or said."""
    result = run(os.environ["BR2PGO"], "perf.data", "-b", "words.bolted", "--ignore-build-id", "-o",
                 "x.fdata")
    expect(result.returncode == 1 and "was rewritten by llvm-bolt" in result.stdout
           and not os.path.exists("x.fdata"),
           f"a bolted program: exit {result.returncode}: {result.stdout}")
    run("strip", "-o", "words.stripped", "words")
    result = run(os.environ["BR2PGO"], "perf.data", "-b", "words.stripped", "-o", "x.fdata")
    expect(result.returncode == 3 and "has no symbol table" in result.stdout
           and not os.path.exists("x.fdata"),
           f"a stripped program: exit {result.returncode}: {result.stdout}")


def main():
    if not all(map(os.path.exists, (BOLT, CLANG))) or platform.machine() != "x86_64":
        print(f"skipped: needs llvm-bolt and clang in '{BIN}' and an x86-64 processor")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            recorded = check_quickstart()
            check_aarch64()
            if DATA and os.path.exists(os.path.join(DATA, "emulated")):
                for name in EMULATED:
                    check_emulated(name)
                    check_bolted(name)
                    check_spoilt(name)
                check_propeller()
                check_plain_mappings()
            elif not recorded:
                return 77
        finally:
            os.chdir("/")
    print(f"{len(problems)} wrong")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
