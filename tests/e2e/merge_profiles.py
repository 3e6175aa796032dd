#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Merging finished profiles. LLVM's: byte for byte what llvm-profdata makes of the same two. GCC's:
gcc 12 takes a merged one, one that was converted to version 3 and back, and what create_gcov 0.19
writes as version 2, at which it dies otherwise. Nothing depends on the order of the inputs."""
import csv
import glob
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile

import create_gcov_compare as gcov

SOURCE = gcov.SOURCE
BR2PGO = gcov.BR2PGO
PROFDATA = os.path.join(os.environ.get("LLVM_BIN") or "/usr/lib/llvm-19/bin", "llvm-profdata")
expect, content = gcov.expect, gcov.content


def merge(output, *inputs, options=()):
    result = subprocess.run([BR2PGO, "merge", "-q", *inputs, "-o", output, *options],
                            capture_output=True, text=True, check=False)
    expect("Sanitizer" not in result.stderr, result.stderr)
    return result


def must_merge(output, *inputs, options=()):
    result = merge(output, *inputs, options=options)
    expect(result.returncode == 0, f"{inputs} {options}: {result.stderr}")


def is_known_difference(form, pair):
    """llvm-profdata takes a function's attributes from the first input, and the file's flags for
    them from the last one that was read."""
    return form == "extbinary" and any("attributes" in path for path in pair)


def compare_pair(scratch, form, pair):
    ours, turned, theirs = (os.path.join(scratch, name) for name in ("ours", "turned", "theirs"))
    result = subprocess.run([PROFDATA, "merge", "--sample", "--" + form, *pair, "-o", theirs],
                            capture_output=True, text=True, check=False)
    options = ("-f", "llvm-" + form)
    own = merge(ours, *pair, options=options)
    what = f"{form} of {' and '.join(map(os.path.basename, pair))}"
    expect((own.returncode == 0) == (result.returncode == 0),
           f"{what}: exit {own.returncode} {own.stderr}, llvm-profdata {result.stderr}")
    if own.returncode != 0:
        return 0
    must_merge(turned, *reversed(pair), options=options)
    expect(content(ours) == content(turned), f"{what}: depends on the order")
    if is_known_difference(form, pair):
        return 0
    expect(content(ours) == content(theirs), f"{what}: not what llvm-profdata writes")
    must_merge(ours, ours, options=options)  # one input, and the output is it
    expect(content(ours) == content(theirs), f"{what}: changed by another round")
    return 1


def compare_llvm(scratch):
    paths = sorted(glob.glob(os.path.join(SOURCE, "tests", "data", "profiles", "*.textprof")))
    count = sum(compare_pair(scratch, form, (a, b))
                for form in ("text", "extbinary") for i, a in enumerate(paths) for b in paths[i:])
    print(f"{count} merges are what llvm-profdata makes")
    expect(count > 150, "too few merges")


def gcc_counts(scratch, profile, source):
    """How many blocks gcc has a count for, and the sum."""
    gcov.run("gcc", "-O2", "-g", "-gdwarf-4", "-c", f"-fauto-profile={profile}",
             "-fdump-ipa-afdo-all", source, "-o", os.path.join(scratch, "x.o"))
    text = b""
    for path in glob.glob(os.path.join(scratch, "*.afdo")):
        text += content(path)
        os.remove(path)
    counts = [int(number) for number in re.findall(rb"count (\d+) \(auto FDO\)", text)]
    return sum(number != 0 for number in counts), sum(counts)


def version_of(path):
    return int.from_bytes(content(path)[4:8], "little")


def check_gcc(scratch, recording, program, source):
    one, two, sum_, new, back, good = (
        os.path.join(scratch, name + ".gcov") for name in ("one", "two", "sum", "new", "back",
                                                           "good"))
    for path, version in ((one, "12"), (two, "12"), (new, "16")):
        gcov.run(BR2PGO, recording, "-q", "-b", program, "-o", path, "--gcc-version", version)
    must_merge(good, one)
    expect(content(good) == content(one), "one profile is not written as it is")
    must_merge(good, new)
    expect(content(good) == content(new), "one profile of version 3 is not written as it is")
    must_merge(sum_, one, two)
    blocks, total = gcc_counts(scratch, one, source)
    expect(blocks > 10, "gcc has no counts")
    more, twice = gcc_counts(scratch, sum_, source)
    expect(blocks <= more and 1.9 * total < twice < 2.1 * total,
           f"{more} blocks count {twice}, not twice the {total} of {blocks}")
    must_merge(back, one, options=("--gcc-version", "16"))
    expect(version_of(back) == 3, "GCC 16 needs version 3")
    must_merge(back, back, options=("--gcc-version", "12"))
    expect(gcc_counts(scratch, back, source) == (blocks, total), "version 2 to 3 and back")
    must_merge(back, new, options=("--gcc-version", "12"))
    expect(version_of(back) == 2, "GCC 12 needs version 2")
    blocks3, total3 = gcc_counts(scratch, back, source)
    expect(blocks3 > 0.8 * blocks and 0.8 * total < total3 < 1.2 * total,
           f"of version 3: {blocks3} blocks, {total3}; of version 2: {blocks}, {total}")
    gcov.run(BR2PGO, "show", one, "-o", one + ".text")
    if os.path.exists(PROFDATA):
        gcov.run(PROFDATA, "merge", "--sample", "--text", one + ".text", "-o", one + ".again")
        expect(content(one + ".text").split(b"\n", 1)[1] == content(one + ".again"),
               "what is shown is not what llvm-profdata reads")
    print(f"gcc 12 has counts of {blocks} blocks; merged {more}; converted {blocks3}")


def rescue(scratch, recording, program, source):
    text, bad, fixed = (os.path.join(scratch, name) for name in ("text", "bad", "fixed.gcov"))
    gcov.text_profile(recording, program, text)
    gcov.run("create_gcov", "--profiler=text", f"--profile={text}", f"--binary={program}",
             f"--gcov={bad}", "--gcov_version=2")
    for options in ((), ("--gcc-version", "12")):
        must_merge(fixed, bad, options=options)
        blocks, _ = gcc_counts(scratch, fixed, source)
        expect(version_of(fixed) == 2 and blocks > 10, f"gcc has counts of {blocks} blocks")
    print(f"create_gcov's version 2, rescued: counts of {blocks} blocks")


def record(scratch):
    sources = sorted(glob.glob(os.path.join(SOURCE, "examples", "quickstart", "*.c")))
    program = os.path.realpath(os.path.join(scratch, "words"))
    recording = os.path.join(scratch, "perf.data")
    gcov.run("gcc", "-O2", "-g", "-gdwarf-4", *sources, "-o", program)
    result = subprocess.run([os.path.join(gcov.TOOLS, "record_steps"), "--period", "101", "-o",
                             recording, program], stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, check=False, text=True)
    skip = "under ptrace" in result.stderr and result.returncode != 0
    return (None if skip else recording), program, sources[0]


def read_edges(path):
    """{(image, function, from, to, kind): (count, mispredicted, probability, outcomes)}"""
    with open(path, encoding="utf-8", newline="") as file:
        return {tuple(row[name] for name in ("image", "function", "from", "to", "kind")):
                (row["count"], row["mispredicted"], float(row["probability"] or -1), row["outcomes"])
                for row in csv.DictReader(file)}


def check_edges(scratch, recording, program):
    """The sum of two parts' tables is the table of both parts. A branch that in one part was seen taken as the oldest
    record alone counts there, and not among all: one outcome more."""
    parts = []
    for name, window in (("one", "0%-40%"), ("two", "40%-100%")):
        parts.append(os.path.join(scratch, name + ".edges.csv"))
        gcov.run(BR2PGO, "-q", recording, "-b", program, "--time", window, "-o", parts[-1])
    whole, ours, turned = (os.path.join(scratch, name) for name in ("all.edges.csv", "sum.edges.csv", "sum.edges.json"))
    gcov.run(BR2PGO, "-q", recording, recording, recording, "-b", program, "-o", whole)
    must_merge(ours, *parts, *parts, *parts)
    must_merge(turned, *reversed(parts), ours, options=("-f", "edges-json"))
    found, wanted, exact = read_edges(ours), read_edges(whole), 0
    expect(len(wanted) > 50 and found.keys() == wanted.keys(), "the sum has other rows than the table of all")
    for key, (count, missed, probability, outcomes) in wanted.items():
        sums = found[key]
        more = int(sums[3] or 0) - int(outcomes or 0)
        expect(sums[:2] == (count, missed) and 0 <= more <= 3 and
               abs(sums[2] - probability) < (2e-6 if more == 0 else 3 / int(outcomes)),
               f"{key}: {sums} in the sum, not {(count, missed, probability, outcomes)}")
        exact += more == 0
    expect(exact > 0.95 * len(wanted), "nearly all are the same")
    expect(json.loads(content(turned))["edges"][-1]["count"] % 4 == 0, "four times as much")
    print(f"{len(wanted)} edges of two parts add up to those of all")


def main():
    with tempfile.TemporaryDirectory(prefix="br2pgo-merge-") as scratch:
        if os.path.exists(PROFDATA):
            compare_llvm(scratch)
        if platform.machine() != "x86_64" or not shutil.which("gcc") or not re.match(
                r"12\b", gcov.run("gcc", "-dumpversion")):
            print("skipped: gcc is not gcc 12 for x86-64")
            return 0 if os.path.exists(PROFDATA) else 77
        recording, program, source = record(scratch)
        if recording is None:
            print("skipped: no ptrace here")
            return 0
        check_gcc(scratch, recording, program, source)
        check_edges(scratch, recording, program)
        if shutil.which("create_gcov"):
            rescue(scratch, recording, program, source)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except gcov.Failure as failure:
        print(f"merge_profiles: {failure}")
        sys.exit(1)
