#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Merging many profiles: hundreds take no more memory and no more open files than one and the sum;
weights are those of llvm-profdata, in any order of the inputs; what two recordings make together is
what their profiles make merged, and what a real recording makes is what its parts make merged."""
import csv
import json
import os
import random
import resource
import subprocess
import sys
import tempfile

BR2PGO = os.environ["BR2PGO"]
SOURCE = os.environ.get("SOURCE_DIR") or os.path.join(os.path.dirname(__file__), "..", "..")
TOOLS = os.environ.get("TOOLS", "")
PROFDATA = os.path.join(os.environ.get("LLVM_BIN") or "/usr/lib/llvm-19/bin", "llvm-profdata")
MANY = 400
FUNCTIONS = 40
INLINED = 20
LINES = 60  # what is read of one profile takes 200 KB and more, of all more than 80 MB
FILES = 16  # open at a time; the memory is the least that --max-memory takes

# Public recordings, and emulated ones, with their images.
DATA = [
    ("autofdo/test.lbr", "autofdo/test.binary"),
    ("autofdo/propeller_sample_1.perfdata1", "autofdo/propeller_sample_1.bin"),
    ("emulated/lua-clang.perf.data", "emulated/lua-clang"),
    ("emulated/speedtest1-clang.perf.data", "emulated/speedtest1-clang"),
]


def expect(condition, message):
    if not condition:
        sys.exit(message)


def run(*command, **options):
    result = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    expect(result.returncode == 0, f"{command[:6]}: {result.returncode} {result.stderr}")
    return result.stdout


def content(path):
    with open(path, "rb") as file:
        return file.read()


def make_profile(path, rng):
    lines = []
    for function in range(FUNCTIONS):
        counts = [rng.randrange(1000) for _ in range(LINES)]
        inlined = [rng.randrange(1000) for _ in range(INLINED)]
        lines.append(f"function{function}:{sum(counts) + sum(inlined)}:{rng.randrange(9)}")
        lines += [f" {line}: {count} target{line % 7}:{count}" for line, count in
                  enumerate(counts)]
        for line, count in enumerate(inlined):
            lines += [f" {LINES + line}: inlined{line % 5}:{count}", f"  1: {count}"]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def few_files():
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))


def check_many(scratch):
    rng = random.Random(1)
    path = os.path.join(scratch, "one.textprof")
    make_profile(path, rng)
    names = []
    for i in range(MANY):
        names.append(os.path.join(scratch, f"many{i}.textprof"))
        os.link(path, names[-1])
    many, once = os.path.join(scratch, "many.textprof"), os.path.join(scratch, "once.textprof")
    limit = [] if os.environ.get("SANITIZE") else ["--max-memory", "16M"]
    run(BR2PGO, "merge", "-q", *limit, *names, "-o", many, preexec_fn=few_files)
    run(BR2PGO, "merge", "-q", "--weight", str(MANY), path, "-o", once)
    expect(content(many) == content(once), f"{MANY} times a profile is not {MANY} times its counts")


def check_order(scratch):
    rng = random.Random(2)
    parts = []
    for i in range(5):
        path = os.path.join(scratch, f"part{i}.textprof")
        make_profile(path, rng)
        parts.append((rng.randrange(1, 9), path))
    output, other = os.path.join(scratch, "sum.textprof"), os.path.join(scratch, "llvm.textprof")
    if os.path.exists(PROFDATA):
        run(PROFDATA, "merge", "--sample", "--text",
            *[f"--weighted-input={weight},{path}" for weight, path in parts], "-o", other)
    first = None
    for _ in range(6):
        rng.shuffle(parts)
        words = [word for weight, path in parts for word in ("--weight", str(weight), path)]
        run(BR2PGO, "merge", "-q", *words, "-o", output)
        first = first or content(output)
        expect(content(output) == first, "the sum depends on the order of the profiles")
    expect(not os.path.exists(other) or first == content(other),
           "weights are not those of llvm-profdata")


def similarity(base, test):
    return json.loads(run(BR2PGO, "diff", "--json", base, test))["similarity"]


def check_recordings(scratch):
    """Edges add up exactly. A line's count is the highest of its instructions, and the sum of two such
    is at least that of the sums."""
    folder = os.path.join(SOURCE, "examples", "quickstart")
    sources = [os.path.join(folder, name) for name in sorted(os.listdir(folder))
               if name.endswith(".c")]
    program = os.path.realpath(os.path.join(scratch, "words"))
    run("cc", "-O2", "-g", *sources, "-o", program)
    recordings = []
    for period in ("101", "307"):
        recordings.append(os.path.join(scratch, f"{period}.data"))
        result = subprocess.run([os.path.join(TOOLS, "record_steps"), "--period", period, "-o",
                                 recordings[-1], program], capture_output=True, check=False)
        if result.returncode != 0:
            print("no recordings: no ptrace here")
            return
    for suffix in ("fdata", "edges.csv", "textprof"):
        both, merged = (os.path.join(scratch, name + "." + suffix) for name in ("both", "merged"))
        run(BR2PGO, "-q", *recordings, "-b", program, "-o", both)
        parts = [path + "." + suffix for path in recordings]
        for recording, part in zip(recordings, parts):
            run(BR2PGO, "-q", recording, "-b", program, "-o", part)
        run(BR2PGO, "merge", "-q", *parts, "-o", merged)
        alike = similarity(both, merged)
        print(f"{suffix} of two recordings and of their profiles merged: {100 * alike:.2f} % similar")
        if suffix != "textprof":
            expect(content(both) == content(merged), f"{suffix} does not add up as recordings do")
        expect(alike > 0.98, "merging is not what reading together is")


def read_rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def in_doubt(rows):
    """Functions in which runs pass an indirect jump: whether they count, many records decide together."""
    jumps = {row["from"] for row in rows if row["kind"] == "ijump"}
    return {row["function"] for row in rows if row["kind"] == "fallthrough" and row["from"] in jumps}


def check_parts(scratch, recording, image):
    whole, merged = (os.path.join(scratch, name + ".edges.csv") for name in ("whole", "merged"))
    parts = []
    run(BR2PGO, "-q", recording, "-b", image, "-o", whole)
    for part in ("0%-20%", "20%-50%", "50%-100%"):
        parts.append(os.path.join(scratch, f"{len(parts)}.edges.json"))
        run(BR2PGO, "-q", recording, "-b", image, "--time", part, "-o", parts[-1])
    run(BR2PGO, "merge", "-q", *reversed(parts), "-o", merged)
    rows, sums = read_rows(whole), read_rows(merged)
    doubt = in_doubt(rows) | in_doubt(sums)
    expect(doubt or content(whole) == content(merged), f"{recording}: the parts are not the whole")
    rows, sums = ([row for row in table if row["function"] not in doubt] for table in (rows, sums))
    expect(rows and rows == sums, f"{recording}: the parts are not the whole")
    print(f"{os.path.basename(recording)}: {len(rows)} rows are those of its parts, "
          f"{len(doubt)} functions in doubt")


def main():
    with tempfile.TemporaryDirectory() as scratch:
        check_many(scratch)
        check_order(scratch)
        if os.uname().machine == "x86_64":
            check_recordings(scratch)
        for recording, image in DATA if os.environ.get("BR2PGO_DATA") else []:
            folder = os.environ["BR2PGO_DATA"]
            check_parts(scratch, os.path.join(folder, recording), os.path.join(folder, image))
    return 0


if __name__ == "__main__":
    sys.exit(main())
