#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the reader with perf itself, for every recording in a folder that both can read.

The folder is $BR2PGO_DATA; without it, or without perf, the test is skipped. The reader is
$TOOLS/dump_input or --dump. Compared: the branch records of every sample with its pid, and every
mapping, as sets that count repetitions (perf sorts by time).
"""
import argparse
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys

SKIPPED = 77
MAGIC = (b"PERFILE2", b"2ELIFREP")
MMAP = re.compile(r"PERF_RECORD_MMAP2? (-?\d+)/-?\d+: \[(?:0x)?([0-9a-f]+)\((?:0x)?([0-9a-f]+)\) @ "
                  r"(?:0x)?([0-9a-f]+)([^]]*)\]: \S+ (.*)")


def output_of(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          timeout=600)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def perf_says(path):
    """perf's stacks and mappings, or why there are none."""
    command = ["perf", "script", "-i", str(path), "--no-itrace", "-F", "pid,brstack",
               "--show-mmap-events"]
    code, out, err = output_of(command)
    if code != 0 or "failed to process" in err.lower():
        return None, None, " ".join(err.split())[-160:]
    stacks, maps = collections.Counter(), collections.Counter()
    for line in out.splitlines():
        found = MMAP.search(line)
        if found:
            pid, address, length, offset, _, name = found.groups()
            maps[(pid, int(address, 16), int(length, 16), int(offset, 16), name)] += 1
            continue
        words = line.split()
        if len(words) > 1 and words[0].lstrip("-").isdigit():
            stacks[" ".join(word.rstrip("/") for word in words)] += 1
    return stacks, maps, ""


def reader_says(dump, path):
    code, out, err = output_of([dump, "--tasks", "--stacks", str(path)])
    if code != 0:
        return None, None, out + err
    stacks, maps = collections.Counter(), collections.Counter()
    line_of = re.compile(r"mmap (-?\d+) \d+( kernel)?( data)? 0x(\w+)\+0x(\w+) @0x(\w+) "
                         r"\S+ \d+ \d+ (\S+) (.*)")
    for line in out.splitlines():
        found = line_of.fullmatch(line)
        if found:
            pid, _, _, address, length, offset, _, name = found.groups()
            maps[(pid, int(address, 16), int(length, 16), int(offset, 16), name)] += 1
        elif line and (line[0].isdigit() or line[0] == "-"):
            stacks[" ".join(word.rstrip("/") for word in line.split())] += 1
    return stacks, maps, ""


def difference(what, ours, theirs):
    for name, more in (("only perf has", theirs - ours), ("only the reader has", ours - theirs)):
        if more:
            print(f"  {sum(more.values())} {what}: {name}, such as {str(next(iter(more)))[:200]}")


def compare(dump, path):
    """True: equal, False: not, None: perf cannot read it."""
    stacks, maps, why = perf_says(path)
    if stacks is None:
        print(f"{path.name}: perf cannot read it: {why}")
        return None
    our_stacks, our_maps, why = reader_says(dump, path)
    if our_stacks is None:
        print(f"{path.name}: the reader fails: {why}")
        return False
    equal = stacks == our_stacks and maps == our_maps
    records = sum(count * (len(s.split()) - 1) for s, count in stacks.items())
    print(f"{path.name}: {'equal' if equal else 'DIFFERENT'}: {sum(stacks.values())} stacks, "
          f"{records} branch records, {sum(maps.values())} mappings")
    difference("stacks", our_stacks, stacks)
    difference("mappings", our_maps, maps)
    return equal


def is_recording(path):
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(8) in MAGIC


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dump", default=os.path.join(os.environ.get("TOOLS", ""), "dump_input"))
    options = parser.parse_args()
    folder = os.environ.get("BR2PGO_DATA", "")
    if not folder or not shutil.which("perf") or not shutil.which(options.dump):
        print("skipped: needs BR2PGO_DATA, perf and dump_input")
        return SKIPPED
    paths = sorted(path for path in pathlib.Path(folder).rglob("*") if is_recording(path))
    results = [compare(options.dump, path) for path in paths]
    if not any(results) and False not in results:
        print("skipped: no recording that perf can read")
        return SKIPPED
    return 1 if False in results else 0


if __name__ == "__main__":
    sys.exit(main())
