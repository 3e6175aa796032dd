#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What each kind of profile gains, on real programs, in figures that do not depend on the machine.

Each program is built without profile, recorded once (emulated) on a training input, built again with each tool's
profile, and run, also emulated, on another input: executed instructions, taken branches, mispredicted ones, of all
code from the loader on. README.md beside this has the results.

Program sources are Debian's source packages, fetched with apt-get; `words` is the quickstart's. What is made lies in
the work folder, and is not made again while its command and its inputs are the same; remove a folder in it to begin
anew. Of x86-64.
"""
import argparse
import csv
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from builds import VARIANTS, Builds
from programs import PROGRAMS
from steps import StepFailed, Steps

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.realpath(os.path.join(HERE, "..", ".."))
COUNTS = ["instructions", "taken_branches", "mispredicted_branches"]
TITLES = ["program", "compiler", "profile", *COUNTS, "i1_misses", "taken_saved_percent",
          "taken_saved_of_instrumented_percent", "instructions_saved_percent", "remark"]


class Stop(Exception):
    """There is nothing to go on with; `hint` is what to do."""

    def __init__(self, text, hint):
        super().__init__(text)
        self.hint = hint


def say(text):
    print(time.strftime("%H:%M:%S ") + text, file=sys.stderr, flush=True)


def fetch(program, work, steps):
    """The program's upstream sources, through apt-get with lists of its own: deb-src need not be configured."""
    if program.package is None or glob.glob(os.path.join(program.work, "source", "*")):
        return
    for tool in "apt-get", "xz":
        if shutil.which(tool) is None:
            raise Stop(f"no {tool}", "this is for Debian and Ubuntu")
    say(f"{program.name}: fetching the source package {program.package}")
    apt, packages = os.path.join(work, "apt"), os.path.join(work, "packages", program.package)
    for folder in os.path.join(apt, "lists", "partial"), os.path.join(apt, "cache", "archives", "partial"), packages:
        os.makedirs(folder, exist_ok=True)
    with open(os.path.join(apt, "sources.list"), "w", encoding="utf-8") as file:
        file.write("deb-src http://deb.debian.org/debian bookworm main\n")
    keys = "/usr/share/keyrings/debian-archive-keyring.gpg"
    options = {"Dir::Etc::sourcelist": os.path.join(apt, "sources.list"), "Dir::Etc::sourceparts": "/dev/null",
               "Dir::State": apt, "Dir::Cache": os.path.join(apt, "cache"), "APT::Sandbox::User": "root"}
    if os.path.exists(keys):
        options["Dir::Etc::Trusted"] = keys
    command = ["apt-get", "-qq"] + [f"-o{name}={value}" for name, value in options.items()]
    try:
        if not glob.glob(os.path.join(apt, "lists", "*_Sources")):
            steps.run(command + ["update"])
        steps.run(command + ["source", "--download-only", "--only-source", program.package], folder=packages)
        program.unpack(sorted(glob.glob(os.path.join(packages, "*.orig.tar.*z")))[0])
    except (StepFailed, IndexError) as failure:
        raise Stop(f"the sources of {program.package} cannot be had: {failure}",
                   f"is there a network? or unpack them in {os.path.join(program.work, 'source')}") from failure


def prepare(program):
    for tool, package in program.needs.items():
        if shutil.which(tool) is None:
            raise Stop(f"no {tool}, which makes {program.name}'s sources", f"apt-get install {package}")
    try:
        program.prepare()
    except (OSError, subprocess.CalledProcessError) as failure:
        raise Stop(f"{program.name}: {failure}", f"remove {program.work} and try again") from failure


def count(program, binary, steps, args):
    """Runs the binary on the input that is counted: (totals, what it printed)."""
    totals, output = binary + ".totals.json", binary + ".count.data"
    command = [args.br2pgo, "record", "-q", "--totals", totals, "-o", output, "--"]
    printed = binary + ".printed"
    run = program.command(binary, False)
    steps.make(printed, ["sh", "-c", shlex.join(command + run) + " >" + shlex.quote(printed)], [binary])
    if os.path.exists(output):
        os.unlink(output)
    with open(totals, encoding="utf-8") as file:
        figures = json.load(file)
    with open(printed, encoding="utf-8", errors="replace") as file:
        text = re.sub(r" *\d+\.\d+s", "", file.read())
    if not figures["complete"]:
        raise StepFailed("the run was not counted to its end")
    if args.cachegrind:
        misses = binary + ".cachegrind"
        steps.make(misses, ["valgrind", "--tool=cachegrind", "--cache-sim=yes", "--trace-children=yes",
                            "--cachegrind-out-file=/dev/null", "--log-file=" + misses, *run], [binary])
        with open(misses, encoding="utf-8") as file:
            found = re.findall(r"I1 +misses: +([\d,]+)", file.read())
        figures["i1_misses"] = sum(int(number.replace(",", "")) for number in found)
    return figures, text


def percent(saved, whole):
    return f"{100 * saved / whole:.1f}" if whole else ""


def measure(program, compiler, steps, args):
    """One row for each build."""
    rows, printed = [], None
    for name, build in VARIANTS[compiler](Builds(program, compiler, steps, args)):
        started = time.monotonic()
        row = {"program": program.name, "compiler": compiler, "profile": name, "remark": ""}
        try:
            figures, text = count(program, build(), steps, args)
            printed = text if printed is None else printed
            if text != printed:
                raise StepFailed("does not print what the program built without profile prints")
            row.update({title: figures[title] for title in COUNTS + ["i1_misses"] if title in figures})
        except StepFailed as failure:
            row["remark"] = str(failure)
        taken = f"{row['taken_branches'] / 1e6:.1f} M taken branches" if "taken_branches" in row else row["remark"]
        say(f"{program.name}: {compiler}, {name}: {taken} ({time.monotonic() - started:.0f} s)")
        rows.append(row)
    if "taken_branches" not in rows[0]:
        raise Stop(f"{program.name}: {compiler}: {rows[0]['remark']}", f"the commands are in {steps.log}")
    compare(rows)
    return rows


def compare(rows):
    """What each row saves of the first, and which part that is of what the instrumented build saves."""
    first = rows[0]
    best = [row for row in rows if row["profile"] == "instrumented" and "taken_branches" in row]
    for row in rows[1:]:
        if "taken_branches" not in row:
            continue
        saved = first["taken_branches"] - row["taken_branches"]
        row["taken_saved_percent"] = percent(saved, first["taken_branches"])
        row["instructions_saved_percent"] = percent(first["instructions"] - row["instructions"], first["instructions"])
        if best:
            whole = first["taken_branches"] - best[0]["taken_branches"]
            row["taken_saved_of_instrumented_percent"] = percent(saved, whole)


def markdown(rows):
    """The rows as a table for people."""
    misses = any("i1_misses" in row for row in rows)
    head = ["program", "compiler", "profile", "taken branches, M", "saved", "of instrumented", "instructions, M",
            "saved", "mispredicted, M"] + (["I1 misses, M"] if misses else [])
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * 3 + "---:|" * (len(head) - 3)]
    for row in rows:
        cells = [row["program"], row["compiler"], row["profile"]]
        if "taken_branches" not in row:
            lines.append("| " + " | ".join(cells + [row["remark"].replace("|", "/")] + [""] * (len(head) - 4)) + " |")
            continue

        def millions(title, row=row):
            return f"{row[title] / 1e6:.1f}" if title in row else ""

        def share(title, row=row):
            return row[title] + " %" if row.get(title) else ""
        cells += [millions("taken_branches"), share("taken_saved_percent"),
                  share("taken_saved_of_instrumented_percent"), millions("instructions"),
                  share("instructions_saved_percent"), millions("mispredicted_branches")]
        lines.append("| " + " | ".join(cells + ([millions("i1_misses")] if misses else [])) + " |")
    return "\n".join(lines) + "\n"


def write(rows, work):
    with open(os.path.join(work, "table.csv"), "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, TITLES, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    text = markdown(rows)
    with open(os.path.join(work, "table.md"), "w", encoding="utf-8") as file:
        file.write(text)
    print(text, end="")


def find_br2pgo():
    built = [os.path.join(ROOT, "build", preset, "bin", "br2pgo") for preset in ("release", "dev", "quickstart")]
    return next((path for path in built if os.path.exists(path)), None) or shutil.which("br2pgo")


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", action="append", choices=list(PROGRAMS), help="only this one; may be repeated")
    parser.add_argument("--compiler", action="append", choices=list(VARIANTS), help="only this one")
    parser.add_argument("--work", default=os.path.join(ROOT, "build", "closed-loop"), help="default: %(default)s")
    parser.add_argument("--br2pgo", default=find_br2pgo(), help="default: what was built here, else the one on the PATH")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="files to compile at once")
    parser.add_argument("--cachegrind", action="store_true", help="count misses of the instruction cache too; slow")
    args = parser.parse_args()
    if args.br2pgo is None or shutil.which(args.br2pgo) is None:
        raise Stop("no br2pgo", "build it: cmake --preset release && cmake --build build/release")
    args.br2pgo = os.path.abspath(shutil.which(args.br2pgo))
    args.work = os.path.abspath(args.work)
    return args


def main():
    try:
        args = options()
        os.makedirs(args.work, exist_ok=True)
        rows, started = [], time.monotonic()
        for name in args.program or [name for name in PROGRAMS if name != "words"]:
            program = PROGRAMS[name](args.work)
            os.makedirs(program.work, exist_ok=True)
            steps = Steps(os.path.join(program.work, "log"), args.jobs)
            fetch(program, args.work, steps)
            prepare(program)
            for compiler in args.compiler or list(VARIANTS):
                rows += measure(program, compiler, steps, args)
        write(rows, args.work)
        say(f"{time.monotonic() - started:.0f} s; the table is in {args.work}/table.md and table.csv")
        return 0
    except Stop as stop:
        print(f"closed-loop: error: {stop}\nclosed-loop: hint: {stop.hint}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
