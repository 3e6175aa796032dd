#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is written is byte for byte what llvm-profdata writes for the same profile, and what
llvm-profdata writes is read back the same. Then: damaged files are refused or survive another
round."""
import glob
import os
import random
import subprocess
import sys
import tempfile

SOURCE = os.environ.get("SOURCE_DIR") or os.path.join(os.path.dirname(__file__), "..", "..")
CONVERT = os.path.join(os.environ.get("TOOLS", ""), "convert_profile")
PROFDATA = os.path.join(os.environ.get("LLVM_BIN") or "/usr/lib/llvm-19/bin", "llvm-profdata")

# Name -> (options of llvm-profdata, format, options of convert_profile).
TEXT = (["--text"], "llvm-text", [])
BINARY = (["--binary"], "llvm-binary", [])
EXT = (["--extbinary"], "llvm-extbinary", [])
VARIANTS = {
    "text": TEXT,
    "binary": BINARY,
    "extbinary": EXT,
    "md5": (["--extbinary", "--use-md5"], "llvm-extbinary", ["--md5"]),
    "compressed": (["--extbinary", "--compress-all-sections"], "llvm-extbinary", ["--compress"]),
    "partial": (["--extbinary", "--gen-partial-profile"], "llvm-extbinary", ["--partial"]),
    "fs": (["--extbinary", "--profile-isfs"], "llvm-extbinary", ["--fs"]),
    "symbols": (["--extbinary", "--prof-sym-list=LIST"], "llvm-extbinary",
                ["--symbol-list", "LIST"]),
    "everything": (["--extbinary", "--use-md5", "--compress-all-sections", "--gen-partial-profile",
                    "--prof-sym-list=LIST"], "llvm-extbinary",
                   ["--md5", "--compress", "--partial", "--symbol-list", "LIST"]),
}
RANDOM = 50  # profiles of up to 40 functions; most of the time goes into starting tools
SYMBOLS = "zeta\nmain\n_ZN3fooEv\nalpha\nnever.called\nmain\n"
# Checksums: not for raw binary, and llvm-profdata writes those of several functions in the order of
# a hash table.
PROBE_VARIANTS = ["text", "extbinary", "md5", "compressed"]


class Failure(Exception):
    pass


def run(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if result.returncode < 0 or b"Sanitizer" in result.stdout:
        raise Failure(f"{' '.join(command)} died:\n{result.stdout.decode(errors='replace')}")
    return result


def must(*command):
    result = run(*command)
    if result.returncode != 0:
        raise Failure(f"{' '.join(command)}:\n{result.stdout.decode(errors='replace')}")


def content(path):
    with open(path, "rb") as file:
        return file.read()


def same(ours, theirs, what):
    if content(ours) != content(theirs):
        a, b = content(ours), content(theirs)
        at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
        raise Failure(f"{what}: {len(a)} and {len(b)} bytes, first difference at {at}: "
                      f"{a[at:at + 16]!r}, llvm-profdata {b[at:at + 16]!r}")


class Check:
    def __init__(self, folder):
        self.folder = folder
        self.count = 0
        with open(self.path("list"), "w", encoding="utf-8") as file:
            file.write(SYMBOLS)

    def path(self, name):
        return os.path.join(self.folder, name)

    def options(self, options):
        return [option.replace("LIST", self.path("list")) for option in options]

    def write(self, source, variant):
        """Both tools' files of `source` in one variant, compared."""
        theirs, form, ours = VARIANTS[variant]
        llvm, own = self.path("llvm." + variant), self.path("own." + variant)
        must(PROFDATA, "merge", "--sample", *self.options(theirs), source, "-o", llvm)
        must(CONVERT, *self.options(ours), source, form, own)
        same(own, llvm, f"{source} as {variant}")
        self.count += 1
        return llvm

    def back(self, file, variant):
        """llvm-profdata's file, read and written again by both in the same variant and as text.
        Hashes change places in that: they are in the order of the names they were made from."""
        theirs, form, ours = VARIANTS[variant]
        must(PROFDATA, "merge", "--sample", *self.options(theirs), file, "-o", self.path("text"))
        must(CONVERT, *self.options(ours), file, form, self.path("again"))
        same(self.path("again"), self.path("text"), f"{file} again as {variant}")
        if variant not in ("md5", "everything"):  # text cannot hold hashes of inlined functions
            must(CONVERT, file, "llvm-text", self.path("again"))
            must(PROFDATA, "merge", "--sample", "--text", file, "-o", self.path("text"))
            same(self.path("again"), self.path("text"), f"{file} back as text")
        self.count += 1

    def profile(self, source, variants):
        for variant in variants:
            self.back(self.write(source, variant), variant)


def random_name(rng):
    kind = rng.randrange(8)
    if kind == 0:
        return f"ns{rng.randrange(3)}::f<int, {rng.randrange(4)}>(char *)"
    if kind == 1:
        return f"f{rng.randrange(9)}.llvm.{rng.randrange(1 << 40)}"
    if kind == 2:
        return f"g{rng.randrange(5)}.__uniq.{rng.randrange(99)}"
    return "_Z" + "".join(rng.choice("abAB_1") for _ in range(rng.randrange(1, 6)))


def random_count(rng):
    return rng.choice([0, 1, rng.randrange(10), rng.randrange(300), rng.randrange(1 << 20),
                       rng.randrange(1 << 60)])


def random_place(rng):
    offset = rng.choice([rng.randrange(5), rng.randrange(200), rng.randrange(65400, 65536)])
    disc = rng.choice([0, 0, rng.randrange(4), rng.randrange(1 << 32)])
    return f"{offset}.{disc}" if disc else str(offset)


def random_body(rng, names, depth, lines):
    indent = " " * depth
    for _ in range(rng.randrange(6)):
        targets = "".join(f" {rng.choice(names)}:{random_count(rng)}"
                          for _ in range(rng.choice([0, 0, 0, 1, 2, 4])))
        lines.append(f"{indent}{random_place(rng)}: {random_count(rng)}{targets}")
    if depth < 6:
        for _ in range(rng.choice([0, 0, 1, 2])):
            lines.append(f"{indent}{random_place(rng)}: {rng.choice(names)}:{random_count(rng)}")
            random_body(rng, names, depth + 1, lines)


def random_profile(rng):
    names = [random_name(rng) for _ in range(rng.randrange(1, 40))]
    lines = []
    for _ in range(rng.randrange(1, 40)):
        lines.append(f"{rng.choice(names)}:{random_count(rng)}:{random_count(rng)}")
        random_body(rng, names, 1, lines)
    return "\n".join(lines) + "\n"


def check_random(check, count):
    rng = random.Random(20240229)
    options = [name for name in VARIANTS if name not in ("text", "binary", "extbinary")]
    path = check.path("random.textprof")
    for number in range(count):
        with open(path, "w", encoding="utf-8") as file:
            file.write(random_profile(rng))
        try:
            for variant in ["text", "binary", "extbinary"]:
                check.write(path, variant)
            variant = rng.choice(options)
            check.back(check.write(path, variant), variant)
        except Failure as failure:
            raise Failure(f"random profile {number}: {failure}\n{content(path).decode()}") from None


def refused(check):
    """Context-sensitive and future files are refused with a message that says what they are."""
    cases = [
        ("context", b"[main:3 @ foo]:10:1\n 1: 10\n", b"context-sensitive"),
        ("compact", b"\x82\xe4\xd0\xb1\xf4\xc9\x94\xa8\x53\x67\0\0", b"compact binary"),
        ("version", b"\x84\xe4\xd0\xb1\xf4\xc9\x94\xa8\x53\x68\0\0", b"version 104"),
    ]
    must(PROFDATA, "merge", "--sample", "--extbinary", write(check, "cs.text", cases[0][1]), "-o",
         check.path("cs"))
    cases.append(("context-extbinary", content(check.path("cs")), b"context-sensitive"))
    for name, data, message in cases:
        result = run(CONVERT, write(check, name, data), "llvm-text", check.path("out"))
        if result.returncode != 1 or message not in result.stdout:
            raise Failure(f"{name}: exit {result.returncode}, {result.stdout!r}")


def write(check, name, data):
    with open(check.path(name), "wb") as file:
        file.write(data)
    return check.path(name)


def main():
    if not os.path.exists(CONVERT) or not os.path.exists(PROFDATA):
        print(f"needs {CONVERT} and {PROFDATA}")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        check = Check(folder)
        profiles = sorted(glob.glob(os.path.join(SOURCE, "tests/data/profiles/*.textprof")))
        data = os.environ.get("BR2PGO_DATA")
        if data:
            profiles += sorted(glob.glob(os.path.join(data, "emulated", "*.exact.textprof")))
        try:
            for path in profiles:
                check.profile(path, PROBE_VARIANTS if "probes" in path else VARIANTS)
            refused(check)
            check_random(check, RANDOM)
        except Failure as failure:
            print(failure)
            return 1
        print(f"{len(profiles)} profiles and {RANDOM} random ones, {check.count} comparisons")
        return 0 if profiles else 1


if __name__ == "__main__":
    sys.exit(main())
