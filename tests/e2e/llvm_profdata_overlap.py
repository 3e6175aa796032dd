#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`br2pgo diff` gives the figures of `llvm-profdata overlap --sample`: of every pair of the profiles
in tests/data, of random ones, and of real ones where there are recordings."""
import glob
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.environ.get("SOURCE_DIR") or os.path.join(os.path.dirname(__file__), "..", "..")
BR2PGO = os.environ["BR2PGO"]
PROFDATA = os.path.join(os.environ.get("LLVM_BIN") or "/usr/lib/llvm-19/bin", "llvm-profdata")
RANDOM = 60  # pairs

# Line of llvm-profdata -> where diff's JSON has it.
PERCENT = {
    "Whole program profile similarity": ("similarity",),
    "Whole program sample overlap": ("sample_overlap",),
    "percentage of samples unique in base profile": ("base_only",),
    "percentage of samples unique in test profile": ("test_only",),
    "Function overlap": ("functions_in", "overlap"),
    "Hot-function overlap": ("hot_functions_in", "overlap"),
    "Hot-block overlap": ("hot_places_in", "overlap"),
}
COUNTS = {
    "total samples in base profile": ("base", "samples"),
    "total samples in test profile": ("test", "samples"),
    "overlap functions": ("functions_in", "both"),
    "functions unique in base profile": ("functions_in", "base_only"),
    "functions unique in test profile": ("functions_in", "test_only"),
    "overlap hot functions": ("hot_functions_in", "both"),
    "hot functions unique in base profile": ("hot_functions_in", "base_only"),
    "hot functions unique in test profile": ("hot_functions_in", "test_only"),
    "overlap hot blocks": ("hot_places_in", "both"),
    "hot blocks unique in base profile": ("hot_places_in", "base_only"),
    "hot blocks unique in test profile": ("hot_places_in", "test_only"),
}


def expect(condition, message):
    if not condition:
        sys.exit(message)


def at(figures, path):
    for name in path:
        figures = figures[name]
    return figures


def theirs(base, test):
    """llvm-profdata's figures, and of each function its samples and its similarity in percent."""
    result = subprocess.run([PROFDATA, "overlap", "--sample", "--value-cutoff=0", base, test],
                            capture_output=True, text=True, check=False)
    if result.returncode != 0 or "Sum of sample counts" in result.stdout:
        return None, None
    figures = dict(re.findall(r"^ +([A-Za-z][^:]*): ([0-9.]+)%?$", result.stdout, re.M))
    functions = {}
    for line in result.stdout.partition("Function-level details:\n")[2].splitlines()[1:]:
        words = line.split(None, 8)
        functions[words[8].strip()] = (int(words[6]), int(words[7]), float(words[2][:-1]),
                                       float(words[3][:-1]))
    return figures, functions


def compare_functions(ours, functions, what):
    for function in ours["functions"]:
        if function["new"] or function["vanished"]:
            continue
        base, test, similarity, overlap = functions[function["name"]]
        expect((base, test) == (function["base"], function["test"]), f"{what}: {function}")
        expect(abs(similarity - 100 * function["similarity"]) < 0.0051, f"{what}: {function}, "
               f"llvm-profdata {similarity}")
        expect(abs(overlap - 100 * function["overlap"]) < 0.0051, f"{what}: {function}")


def compare(base, test):
    what = f"{os.path.basename(base)} and {os.path.basename(test)}"
    figures, functions = theirs(base, test)
    result = subprocess.run([BR2PGO, "diff", "--json", base, test], capture_output=True, text=True,
                            check=False)
    expect("Sanitizer" not in result.stderr, result.stderr)
    if figures is None:
        return 0
    expect(result.returncode == 0, f"{what}: {result.stderr}")
    ours = json.loads(result.stdout)
    for name, path in PERCENT.items():
        expect(abs(float(figures[name]) - 100 * at(ours, path)) < 0.00051,
               f"{what}: {name} is {100 * at(ours, path)}, llvm-profdata says {figures[name]}")
    for name, path in COUNTS.items():
        expect(int(figures[name]) == at(ours, path),
               f"{what}: {name} is {at(ours, path)}, llvm-profdata says {figures[name]}")
    compare_functions(ours, functions, what)
    return 1


def random_body(rng, depth, lines):
    indent = " " * depth
    for _ in range(rng.randrange(1, 6)):
        place = rng.choice([f"{rng.randrange(6)}", f"{rng.randrange(6)}.{rng.randrange(1, 3)}"])
        count = rng.choice([0, 1, rng.randrange(9), rng.randrange(900), rng.randrange(90000)])
        lines.append(f"{indent}{place}: {count}")
    for _ in range(rng.randrange(3) if depth < 4 else 0):
        lines.append(f"{indent}{rng.randrange(6)}: {rng.choice('abc')}:1")
        random_body(rng, depth + 1, lines)


def random_profile(rng, path):
    lines = []
    for name in rng.sample(["main", "foo", "bar", "baz", "qux"], rng.randrange(1, 6)):
        lines.append(f"{name}:1000:{rng.randrange(9)}")
        random_body(rng, 1, lines)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def compare_random(scratch):
    rng = random.Random(7)
    paths = [os.path.join(scratch, name) for name in ("a.textprof", "b.textprof")]
    count = 0
    for _ in range(RANDOM):
        for path in paths:
            random_profile(rng, path)
        count += compare(*paths)
    return count


def compare_real(scratch):
    folder = os.path.join(os.environ.get("BR2PGO_DATA", ""), "emulated")
    count = 0
    for exact in sorted(glob.glob(os.path.join(folder, "*.exact.textprof"))):
        binary = exact.removesuffix(".exact.textprof")
        output = os.path.join(scratch, "sampled.prof")
        subprocess.run([BR2PGO, "-q", binary + ".perf.data", "-b", binary, "-o", output],
                       check=True)
        count += compare(exact, output)
    return count


def main():
    if not os.path.exists(PROFDATA):
        print("no llvm-profdata here")
        return 77
    paths = sorted(glob.glob(os.path.join(SOURCE, "tests", "data", "profiles", "*.textprof")))
    # llvm-profdata's sums wrap around at 64 bits, here they stay at the most.
    paths = [path for path in paths if not path.endswith("saturated.textprof")]
    known = sum(compare(a, b) for a in paths for b in paths)
    scratch = tempfile.mkdtemp()
    try:
        made = compare_random(scratch)
        real = compare_real(scratch)
    finally:
        shutil.rmtree(scratch)
    print(f"{known} pairs of known profiles, {made} random and {real} real ones: as llvm-profdata")
    expect(known > 80 and made > 40, "too few pairs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
