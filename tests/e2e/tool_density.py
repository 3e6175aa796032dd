#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`br2pgo check` gives the densities, and how many times more samples are worth taking, that
llvm-profgen 19 and perf2bolt 20 or later print for the same counts."""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.environ.get("SOURCE_DIR") or os.path.join(os.path.dirname(__file__), "..", "..")
BR2PGO = os.environ["BR2PGO"]
BIN = os.environ.get("LLVM_BIN") or "/usr/lib/llvm-19/bin"
PROFGEN = os.path.join(BIN, "llvm-profgen")
SAID = re.compile(r"Functions with density >= ([0-9.]+) account for 99\.00%")
MORE = re.compile(r"estimated to optimize better with ([0-9.]+)x more samples")


def expect(condition, message):
    if not condition:
        sys.exit(message)


def run(*command, status=0):
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    expect(status is None or result.returncode == status,
           f"{' '.join(command)}: {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout + result.stderr


def figures(path, *options):
    result = subprocess.run([BR2PGO, "check", "-q", "--json", path, *options], capture_output=True,
                            text=True, check=False)
    expect(result.returncode in (0, 3), result.stderr)
    return {figure["name"]: figure for figure in json.loads(result.stdout)["figures"]}


def compare(said, figure, wanted, what):
    density = SAID.search(said)
    expect(density, f"{what} says no density: {said}")
    expect(density[1] == f"{figure['value']:.1f}",
           f"density {figure['value']}, {what} says {density[1]}")
    more = MORE.search(said)
    expect((more is not None) == (figure["value"] < wanted), f"{what}: {said}")
    if more:
        expect(f"asks for {wanted}, {more[1]} times more samples" in (figure["note"] or ""),
               f"{figure['note']!r}, {what} says {more[1]}")
    print(f"density {density[1]}, as {what} says")


def check_profgen(scratch, binary, recording):
    counts, profile = (os.path.join(scratch, name) for name in ("counts", "profgen.prof"))
    run(BR2PGO, "-q", recording, "-b", binary, "-f", "unsymbolized", "-o", counts)
    said = run(PROFGEN, f"--unsymbolized-profile={counts}", f"--binary={binary}",
               f"--output={profile}", "--show-density")
    compare(said, figures(profile)["density"], 50, "llvm-profgen")


def check_bolt(scratch, tool, binary, recording):
    counts, profile = (os.path.join(scratch, name) for name in ("counts", "bolt.fdata"))
    run(BR2PGO, "-q", recording, "-b", binary, "-f", "bolt-preagg", "-o", counts)
    said = run(tool, "--pa", "-p", counts, "-o", profile, binary, "--show-density")
    compare(said, figures(recording, "-b", binary)["bolt-density"], 60, os.path.basename(tool))


def recordings(scratch):
    """Pairs of program and recording: one made here, and those of BR2PGO_DATA."""
    binary, source = os.path.join(scratch, "words"), os.path.join(SOURCE, "examples", "quickstart")
    parts = sorted(glob.glob(os.path.join(source, "*.c")))
    clang = os.path.join(BIN, "clang")
    if os.path.exists(clang) and shutil.which("qemu-x86_64") and os.uname().machine == "x86_64":
        run(clang, "-O2", "-g", "-fdebug-info-for-profiling", "-Wl,--emit-relocs", *parts, "-o",
            binary)
        shutil.copy(os.path.join(source, "words.c"), scratch)
        for period in ("701", "3001"):
            recording = os.path.join(scratch, f"words.{period}.data")
            # What the program is told is the same in every folder, and so is the recording.
            result = subprocess.run([BR2PGO, "record", "-q", "--emulate", "--period", period, "-o",
                                     recording, "--", "./words", "words.c"], cwd=scratch, env={"PATH": "/usr/bin"},
                                    capture_output=True, text=True, check=False)
            if result.returncode == 0:
                yield binary, recording
    folder = os.path.join(os.environ.get("BR2PGO_DATA", ""), "emulated")
    for recording in sorted(glob.glob(os.path.join(folder, "*clang.perf.data"))):
        yield recording.removesuffix(".perf.data"), recording


def main():
    bolts = [tool for tool in sorted(glob.glob("/usr/bin/perf2bolt-2[0-9]"))]
    compared = 0
    with tempfile.TemporaryDirectory() as scratch:
        for binary, recording in recordings(scratch):
            if os.path.exists(PROFGEN):
                check_profgen(scratch, binary, recording)
                compared += 1
            for tool in bolts:
                check_bolt(scratch, tool, binary, recording)
                compared += 1
    if compared == 0:
        print("neither tool, or no recording, here")
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main())
