#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Edge tables of recordings made here are close to the exact counts of the same run, and give every
edge the kind it has; perf, perf2bolt and llvm-profgen read the recordings too. The emulator counts the same run as the
processor's single steps do."""
import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SOURCE_DIR"], "tests", "tools"))
import score_edges  # noqa: E402  pylint: disable=wrong-import-position

SOURCE = os.path.join(os.environ["SOURCE_DIR"], "examples", "quickstart")
FILES = [os.path.join(SOURCE, name) for name in ("words.c", "count.c", "filter.c")]
BIN = os.environ.get("LLVM_BIN", "")

# Compiler, flags, samples' period, depth.
BUILDS = [
    ("gcc", ["-O2", "-g"], 101, 32),
    ("gcc", ["-O0", "-g", "-no-pie", "-static"], 53, 16),
    ("gcc", ["-O2", "-g", "-fcf-protection=full", "-Wl,-z,now"], 19, 8),
    ("clang", ["-O2", "-g", "-fdebug-info-for-profiling"], 101, 32),
    ("clang", ["-O1", "-no-pie", "-fno-inline"], 97, 64),
]

# What sampling costs, with some room: the oldest record of a history counts although no run before
# it does, which makes short histories see branches taken too often.
LIMITS = {"edge_overlap": (0.95, 1), "cond_error": (0, 0.016), "cond_coverage": (0.99, 1),
          "mispredict_error": (0, 0.01), "wrong_edges": (0, 0)}


class Skip(Exception):
    pass


def run(*words, **options):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False, **options)


def find(name):
    path = os.path.join(BIN, name)
    return path if os.path.exists(path) else shutil.which(name)


def record(program, period, depth):
    recorder = os.path.join(os.environ["TOOLS"], "record_steps")
    result = run(recorder, "--period", str(period), "--depth", str(depth), "--truth", "truth.csv",
                 "-o", "perf.data", program, env={"LC_ALL": "C"})
    if "under ptrace" in result.stderr:
        raise Skip("no ptrace here")
    found = re.search(r"(\d+) taken branches, (\d+) samples", result.stderr)
    if result.returncode != 0 or not found:
        raise AssertionError(f"record_steps: {result.stderr}")
    return int(found.group(1)), int(found.group(2))


def check_edges(what):
    result = run(os.environ["BR2PGO"], "perf.data", "-q", "-o", "ours.edges.csv")
    if result.returncode != 0 or result.stderr:
        return [f"br2pgo: exit {result.returncode}: {result.stderr}"]
    truth, ours = score_edges.read("truth.csv"), score_edges.read("ours.edges.csv")
    figures = score_edges.score(truth, ours)
    print(what + ": " + ", ".join(f"{k} {v:.4f}" for k, v in figures.items()))
    problems = [f"{k} is {figures[k]:.4f}, not from {low} to {high}"
                for k, (low, high) in LIMITS.items() if not low <= figures[k] <= high]
    problems += [f"{a:#x} -> {b:#x} is a {kind}, not a {truth.kinds[a, b]}"
                 for (a, b), kind in ours.kinds.items()
                 if (a, b) in truth.kinds and truth.kinds[a, b] != kind]
    return problems


def rows_inside(path, image):
    """{(from, to, kind): count} of the rows that lead from the image to itself, and were taken."""
    with open(path, newline="", encoding="utf-8") as file:
        return {(row["from"], row["to"], row["kind"]): int(row["count"]) for row in csv.DictReader(file)
                if row["image"] == image and row["from"] and row["to"] and row["count"] != "0"}


def check_emulator(program):
    """Another way to the same counts, of which each could be wrong in its own way."""
    if not shutil.which("qemu-x86_64"):
        print("no qemu-x86_64: the emulator's counts are not compared")
        return []
    result = run(os.environ["BR2PGO"], "record", "--emulate", "-q", "--exact", "emulated.csv", "-o", "emulated.data",
                 program, env={"LC_ALL": "C", "PATH": os.environ["PATH"]})
    if not os.path.exists("emulated.csv"):
        return [f"br2pgo record: exit {result.returncode}: {result.stderr}"]
    image = os.path.basename(program)
    truth, ours = rows_inside("truth.csv", image), rows_inside("emulated.csv", image)
    os.remove("emulated.csv")
    print(f"the emulator counts {len(ours)} edges, single steps {len(truth)}")
    if len(truth) < 50:
        return [f"only {len(truth)} edges were stepped through"]
    return [f"{edge}: {ours.get(edge)} in the emulator, {truth.get(edge)} by single steps"
            for edge in sorted(set(truth) | set(ours)) if truth.get(edge) != ours.get(edge)]


def check_perf(samples, depth):
    """perf script sees as many samples, and histories as deep."""
    if not shutil.which("perf"):
        return []
    result = run("perf", "script", "-i", "perf.data", "-F", "ip,brstack")
    stacks = [line.split()[1:] for line in result.stdout.splitlines() if line.strip()]
    deepest = max(map(len, stacks), default=0)
    if result.returncode != 0 or len(stacks) != samples or deepest != depth:
        return [f"perf script: {len(stacks)} samples up to {deepest} deep: {result.stderr[:300]}"]
    return []


def check_others(program, clang):
    """perf2bolt finds nothing to object to, llvm-profgen makes a profile."""
    problems = []
    if find("perf2bolt") and shutil.which("perf"):
        result = run(find("perf2bolt"), "-p", "perf.data", "-o", "other.fdata", program)
        if "mismatching disassembled function contents: 0 (0.0%)" not in result.stdout + result.stderr:
            problems.append(f"perf2bolt: {result.stdout[-600:]} {result.stderr[-600:]}")
    if clang and find("llvm-profgen") and shutil.which("perf"):
        result = run(find("llvm-profgen"), "--perfdata=perf.data", "--binary=" + program,
                     "--output=other.textprof", "--format=text")
        if result.returncode != 0 or not os.path.getsize("other.textprof"):
            problems.append(f"llvm-profgen: exit {result.returncode}: {result.stderr[-600:]}")
    return problems


def check_build(number, compiler, flags, period, depth):
    path = find(compiler)
    what = f"{compiler} {' '.join(flags)}"
    if path is None:
        print(f"no {compiler}: not compared")
        return []
    program = f"./program{number}"
    subprocess.run([path, *flags, "-o", program, *FILES], check=True)
    branches, samples = record(program, period, depth)
    problems = check_edges(what)
    if not 0.9 < samples * period / branches < 1.1:
        problems.append(f"{samples} samples of {branches} branches, one in {period}")
    problems += check_perf(samples, depth)
    if "-static" not in flags:  # the C library in it does what the processor is best at
        problems += check_emulator(program)
        problems += check_others(program, "-fdebug-info-for-profiling" in flags)
    return [f"{what}: {problem}" for problem in problems]


def main():
    if os.uname().machine != "x86_64":
        print("record_steps is for x86-64 only")
        return 77
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for number, build in enumerate(BUILDS):
                problems += check_build(number, *build)
        except Skip as skip:
            print(f"skipped: {skip}")
            return 77
        finally:
            os.chdir("/")
    for problem in problems[:20]:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
