#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What perf and llvm-profgen print is read as the recording itself is.

Recordings from $BR2PGO_DATA (skipped where it is unset): the text of perf script, with many -F, gives the same
edges, LLVM profile and pre-aggregated addresses, byte for byte, as perf.data. llvm-profgen reads the
unsymbolised profile that br2pgo writes as it reads its own, and br2pgo reads llvm-profgen's.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
PROGRAM = os.environ["BR2PGO"]
PROFGEN = os.path.join(os.environ.get("LLVM_BIN", ""), "llvm-profgen")
PROFDATA = os.path.join(os.environ.get("LLVM_BIN", ""), "llvm-profdata")

# Recording, image, options: position-independent and not, with and without build-ids, MMAP and MMAP2.
RECORDINGS = [
    ("emulated/lua-clang.perf.data", "emulated/lua-clang", []),
    ("emulated/lua-gcc.perf.data", "emulated/lua-gcc", []),
    ("autofdo/test.lbr", "autofdo/test.binary", []),
    ("autofdo/propeller_sample_1.perfdata1", "autofdo/propeller_sample_1.bin", ["--ignore-build-id"]),
]
FIELDS = [
    "comm,pid,tid,time,event,ip,brstack",
    "comm,pid,tid,time,period,event,ip,sym,symoff,dso,brstack",
    "pid,brstack",
    "pid,time,brstack",
    "ip,brstack",
    "pid,ip,brstack",
    "comm,pid,event,ip,brstack",
    "comm,time,brstack",
    "brstack",
    "event,brstack",
    "pid,time,brstack,dso",
    "pid,ip,sym,brstack,brstacksym",
]


def run(*command, check=True):
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if check and result.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {result.returncode}\n{result.stderr}")
    return result


def outputs(stem):
    return [f"{stem}.edges.csv", f"{stem}.preagg", f"{stem}.unsymbolized"]


def convert(recording, image, stem, options, names):
    wanted = [word for name in names for word in ("-o", name)]
    run(PROGRAM, recording, "-b", image, *options, *wanted)
    contents = []
    for name in outputs(stem):
        with open(name, "rb") as file:
            contents.append(file.read())
    return contents


def print_text(recording, fields, name):
    """perf script's text; False where the recording lacks a field."""
    with open(name, "wb") as file:
        result = subprocess.run(["perf", "script", "-i", recording, "--no-itrace", "-F", fields,
                                 "--show-mmap-events", "--show-task-events"], stdout=file,
                                stderr=subprocess.PIPE, check=False)
    return result.returncode == 0


def check_perf_script(folder, problems):
    compared = 0
    for recording, image, options in RECORDINGS:
        recording, image = (os.path.join(folder, name) for name in (recording, image))
        direct = convert(recording, image, "direct", options, outputs("direct"))
        for fields in FIELDS:
            if not print_text(recording, fields, "script.txt"):
                continue
            compared += 1
            text = convert("script.txt", image, "text", options, outputs("text"))
            if text != direct:
                problems.append(f"{recording} -F {fields}: not what perf.data gives")
    return compared


def similarity(one, other):
    text = run(PROFDATA, "overlap", "--sample", one, other).stdout
    return float(re.search(r"program profile similarity: ([\d.]+)%", text).group(1))


def check_unsymbolized(folder, problems):
    """Both tools' files read by both."""
    for name in ("lua-clang", "lua-gcc"):
        recording, image = (os.path.join(folder, "emulated", name + end) for end in (".perf.data", ""))
        run(PROGRAM, recording, "-b", image, "-o", "ours.unsymbolized", "-o", "direct.textprof")
        print_text(recording, "ip,brstack", "script.txt")
        run(PROFGEN, "--perfscript=script.txt", f"--binary={image}", "--skip-symbolization",
            "--output=theirs.unsymbolized")
        for file in ("ours", "theirs"):
            run(PROFGEN, "--format=text", f"--unsymbolized-profile={file}.unsymbolized",
                f"--binary={image}", f"--output={file}.profgen")
            run(PROGRAM, f"{file}.unsymbolized", "-b", image, "-o", f"{file}.textprof")
        with open("ours.textprof", "rb") as ours, open("direct.textprof", "rb") as direct:
            if ours.read() != direct.read():
                problems.append(f"{name}: the unsymbolised profile is not read as the recording is")
        # Not equal: llvm-profgen keeps a few branches that their instructions do not allow.
        for one, other in (("ours.profgen", "theirs.profgen"), ("theirs.textprof", "direct.textprof")):
            same = similarity(one, other)
            if same < 99.9:
                problems.append(f"{name}: {one} and {other}: similarity {same} %")


def main():
    folder = os.environ.get("BR2PGO_DATA")
    if not folder or not shutil.which("perf"):
        print("skipped: BR2PGO_DATA is not set, or there is no perf")
        return SKIPPED
    problems = []
    with tempfile.TemporaryDirectory(prefix="br2pgo-text-") as scratch:
        os.chdir(scratch)
        compared = check_perf_script(folder, problems)
        if os.path.exists(PROFGEN):
            check_unsymbolized(folder, problems)
        os.chdir("/")
    for problem in problems:
        print(problem)
    print(f"{compared} texts of perf script compared, {len(problems)} problems")
    return 1 if problems or compared < len(RECORDINGS) * 10 else 0


if __name__ == "__main__":
    sys.exit(main())
