#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""examples/closed-loop, with the quickstart's program: profiles save taken branches by what the recorder counts, its
figures add up, tools that are not there are named, and a second time nothing is made again."""
import csv
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile

RUN = os.path.join(os.environ["SOURCE_DIR"], "examples", "closed-loop", "run.py")
BR2PGO = os.environ["BR2PGO"]
SANITIZED = bool(os.environ.get("SANITIZE"))
problems = []


def expect(good, what):
    if not good:
        problems.append(what)
        print(f"WRONG: {what}")


def loop(work, *words, **variables):
    return subprocess.run([sys.executable, RUN, "--br2pgo", BR2PGO, "--work", work, "--jobs", "2", *words], check=False,
                          env=dict(os.environ, **variables), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def read_table(work):
    with open(os.path.join(work, "table.csv"), encoding="utf-8") as file:
        return {(row["compiler"], row["profile"]): row for row in csv.DictReader(file)}


def read_log(work):
    with open(os.path.join(work, "words", "log"), encoding="utf-8") as file:
        return [line for line in file if line.startswith("$ ")]


def check_row(rows, compiler, profile, least):
    """The profile saves at least so many percent, and the percentage is that of the counts."""
    row, plain = rows[(compiler, profile)], rows[(compiler, "-O2")]
    if re.match("not installed", row["remark"]):
        print(f"{compiler}, {profile}: {row['remark']}")
        return
    expect(row["taken_branches"], f"{compiler}, {profile}: {row['remark']}")
    if row["taken_branches"]:
        saved = 100 * (1 - int(row["taken_branches"]) / int(plain["taken_branches"]))
        expect(saved >= least, f"{compiler}, {profile}: {saved:.1f} % saved, not {least}")
        expect(f"{saved:.1f}" == row["taken_saved_percent"], f"{compiler}, {profile}: {saved:.1f} is not in {row}")


def check_compiler(work, compiler, least):
    done = loop(work, "--program", "words", "--compiler", compiler)
    if done.returncode != 0:
        expect(False, f"{compiler}: exit {done.returncode}: {done.stderr}")
        return
    print(done.stdout)
    rows = read_table(work)
    check_row(rows, compiler, "br2pgo", least)
    for profile in "llvm-bolt with br2pgo", "br2pgo, then llvm-bolt with br2pgo":
        check_row(rows, compiler, profile, 5)
    commands = read_log(work)
    again = loop(work, "--program", "words", "--compiler", compiler)
    expect(again.stdout == done.stdout, f"{compiler}: the second time\n{again.stdout}")
    # What failed is tried again.
    more = [line for line in read_log(work)[len(commands):] if "create_gcov" not in line]
    expect(not more, f"{compiler}: made again: {more}")


def main():
    if SANITIZED or platform.machine() != "x86_64":
        print("skipped: the closed loop is tried on x86-64, with a build for use")
        return 77
    for tool in "qemu-x86_64", "objdump":
        if shutil.which(tool) is None:
            print(f"skipped: no {tool}")
            return 77
    with tempfile.TemporaryDirectory() as work:
        for compiler, command, least in ("clang", "clang-19", 25), ("gcc", "gcc-12", 10):
            if shutil.which(command) is None:
                print(f"not tried: no {command}")
                continue
            check_compiler(work, compiler, least)
        done = loop(work, "--program", "words", PATH="/nonexistent")
        expect(done.returncode == 1 and "not installed: clang-19" in done.stderr, f"no tools: {done.stderr}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
