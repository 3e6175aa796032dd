#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reading and counting a branch record takes no more instructions than it did: valgrind counts them.

Instructions are the same on a busy machine; what they were depends on the compiler, so each has its
own figure. Two recordings of different size are counted: what starting takes drops out."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

# Compiler, flags: instructions for each branch record, in samples of 32. Measured; lower it when the
# code gets better.
KNOWN = {
    ("gcc 12", "-O2 -g"): 53.7,
}
WORSE = 1.05
TOOLS = os.environ["TOOLS"]
BENCH = os.path.join(os.environ["SOURCE_DIR"], "tests", "bench")
# Few traces: how many share a slot of the table depends on secret numbers, drawn anew in each run.
DESCRIPTION = """event cycles:u sample=IP,TID,TIME,BRANCH_STACK branch=USER,ANY
comm pid=7 exec name=app
mmap2 pid=7 addr=0x400000 len=0x100000 off=0 name=/opt/app
sample pid=7 : %s
""" % " ".join("0x%x/0x%x/%s/-/-/0" % (0x401000 + k * k * 577 % 4099 * 16, 0x401004 + k * k * k * 331 % 4093 * 16,
                                     "M" if k % 9 == 0 else "P") for k in range(1, 33))


def skip(why):
    print(why)
    sys.exit(77)


def compiler():
    """What the tools were built by, and the flags, as KNOWN has them."""
    with open(os.path.join(os.environ["BUILD_DIR"], "CMakeCache.txt")) as file:
        cache = dict(re.findall(r"^(\w+):\w+=(.*)$", file.read(), re.M))
    build = cache.get("CMAKE_BUILD_TYPE", "")
    flags = (cache.get("CMAKE_C_FLAGS", "") + " " + cache.get("CMAKE_C_FLAGS_" + build.upper(), "")).strip()
    macros = subprocess.run([cache["CMAKE_C_COMPILER"], "-dM", "-E", "-x", "c", os.devnull], check=True,
                            stdout=subprocess.PIPE, text=True).stdout
    if "__x86_64__" not in macros:
        skip("figures are known for x86-64 only")
    for name, macro in (("clang", "__clang_major__"), ("gcc", "__GNUC__")):
        found = re.search(r"#define %s (\d+)" % macro, macros)
        if found:
            return name + " " + found.group(1), flags
    return "unknown", flags


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout


def count(path, folder):
    """Branch records of a recording, and the instructions that counting them took."""
    text = run("valgrind", "--tool=callgrind", "--callgrind-out-file=" + os.path.join(folder, "out"),
               os.path.join(TOOLS, "count"), "--rounds", "1", "--floor", "0", path)
    records = re.search(r": (\d+) branch records", text)
    instructions = re.search(r"Collected : (\d+)", text)
    return int(records.group(1)), int(instructions.group(1))


def measure(folder):
    small = os.path.join(folder, "small.data")
    with open(os.path.join(folder, "description"), "w") as file:
        file.write(DESCRIPTION)
    run(os.path.join(TOOLS, "mkperf"), file.name, "-o", small)
    counted = []
    for size in ("2M", "8M"):
        large = os.path.join(folder, size)
        run(sys.executable, os.path.join(BENCH, "make_large.py"), small, size, large)
        counted.append(count(large, folder))
    (few, before), (many, after) = counted
    return (after - before) / (many - few)


def main():
    if os.environ.get("SANITIZE"):
        skip("sanitizers add instructions")
    if shutil.which("valgrind") is None:
        skip("needs valgrind")
    key = compiler()
    if key not in KNOWN:
        skip("no figure is recorded for %s, %s" % key)
    with tempfile.TemporaryDirectory() as folder:
        now = min(measure(folder) for _ in range(3))
    print("%s, %s: %.2f instructions a branch record" % (*key, now))
    known = KNOWN[key]
    if now > known * WORSE:
        print("it was %.2f: more than 5 %% worse" % known)
        return 1
    return 0


sys.exit(main())
