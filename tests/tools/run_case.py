#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs test cases: tests/golden/*.case and tests/cli/*.case.

usage: run_case.py [--update] [--keep] CASE...

A case is a text file (or a folder holding it under the name `case`, beside files that are copied
into the scratch folder). Text before the first section is a comment. Sections begin with a line
`--- KIND ARGUMENTS`; the lines up to the next one are their text. In order:

  --- requires TOOL...        skipped (77) unless all are on the PATH
  --- file NAME [MODE]        creates a file; MODE as for chmod
  --- image NAME [FLAGS...]   assembles and links the text with
                              cc -nostdlib -static -no-pie -Wl,--build-id=none FLAGS
  --- cimage NAME [FLAGS...]  the same for C text
  --- perf NAME               makes a recording of the text with mkperf
  --- run                     a shell command; br2pgo and the test tools are on the PATH
and after each run what is expected of it:
  --- exit N                  exit status; default 0
  --- stdout [glob]           default empty
  --- stderr [glob]           default empty; with glob, `*` stands for any text within a line, a
                              line `...` for any number of lines
  --- output NAME [glob|hex]  the text of a file that the run wrote; hex: 16 bytes a line
  --- created NAME...         files the run wrote whose text does not matter
A run that leaves any other new file fails, as does one that changes a file without saying so.

In image, perf and file sections @{IMAGE:SYMBOL} stands for the link-time address of a symbol of an
image made before, and @{IMAGE:SYMBOL+0x10} for that plus an offset. A section line in the text of
a section is written with a leading backslash.

Each case runs in its own scratch folder, which is the working directory: write relative paths.
--update writes what happened into the case (glob expectations only where they do not fit: never).
--keep leaves the scratch folder and says where it is. Exit: 0 passed, 1 failed, 77 skipped."""
import argparse
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.environ.get("SOURCE_DIR") or os.path.realpath(os.path.join(HERE, "..", ".."))
LINK = ["cc", "-nostdlib", "-static", "-no-pie", "-Wl,--build-id=none"]
KINDS = {"requires", "file", "image", "cimage", "perf", "run", "exit", "stdout", "stderr", "output",
         "created"}
EXPECTATIONS = {"exit", "stdout", "stderr", "output", "created"}
TIMEOUT = 120


class Problem(Exception):
    """The case cannot be run as it stands."""


class Skip(Exception):
    """The case needs what is not here."""


class Section:
    def __init__(self, kind, args, text=""):
        self.kind = kind
        self.args = args
        self.text = text

    @property
    def name(self):
        """What it is about: stdout, exit, output NAME, ..."""
        return " ".join([self.kind, *self.args[:1]]) if self.kind == "output" else self.kind

    def mode(self):
        rest = self.args[1:] if self.kind == "output" else self.args
        return rest[0] if rest else "exact"

    def __str__(self):
        text = re.sub(r"^(\\*--- )", r"\\\1", self.text, flags=re.M)
        return " ".join(["---", self.kind, *self.args]) + "\n" + text


def parse(path):
    """Returns the comment and the sections of a case."""
    comment, sections = "", []
    with open(path, encoding="utf-8", newline="") as file:
        for number, line in enumerate(file, 1):
            if line.startswith("--- "):
                kind, *args = line[4:].split()
                if kind not in KINDS:
                    raise Problem(f"{path}:{number}: unknown section '{kind}'")
                if kind in EXPECTATIONS and not any(s.kind == "run" for s in sections):
                    raise Problem(f"{path}:{number}: '{kind}' before any run")
                if kind in ("file", "image", "cimage", "perf", "output", "created") and not args:
                    raise Problem(f"{path}:{number}: '{kind}' needs a name")
                sections.append(Section(kind, args))
            elif sections:
                sections[-1].text += re.sub(r"^\\(\\*--- )", r"\1", line)
            else:
                comment += line
    if not any(s.kind == "run" for s in sections):
        raise Problem(f"{path}: no run section")
    return comment, sections


def symbols(image):
    """Name -> address of an ELF image's symbols."""
    out = subprocess.run(["nm", image], capture_output=True, text=True, check=False)
    if out.returncode != 0:
        raise Problem(f"nm {image}: {out.stderr}")
    fields = (line.split() for line in out.stdout.splitlines())
    return {f[2]: int(f[0], 16) for f in fields if len(f) == 3}


def substitute(text):
    def address(match):
        image, symbol, offset = match.groups()
        table = symbols(image)
        if symbol not in table:
            raise Problem(f"no symbol '{symbol}' in {image}")
        return hex(table[symbol] + int(offset or "0", 0))
    return re.sub(r"@\{([^:{}]+):([^+{}]+)(?:\+(\w+))?\}", address, text)


def call(command, text):
    result = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise Problem(f"{' '.join(command)}: exit {result.returncode}\n{result.stderr}")


def prepare(section):
    """Makes what a section before the run describes."""
    name = section.args[0]
    if os.path.dirname(name):
        os.makedirs(os.path.dirname(name), exist_ok=True)
    text = substitute(section.text)
    if section.kind == "file":
        with open(name, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        if len(section.args) > 1:
            os.chmod(name, int(section.args[1], 8))
    elif section.kind == "perf":
        with open(name + ".mkperf", "w", encoding="utf-8") as file:
            file.write(text)
        call(["mkperf", name + ".mkperf", "-o", name], None)
        os.unlink(name + ".mkperf")
    else:
        language = "assembler" if section.kind == "image" else "c"
        call([*LINK, *section.args[1:], "-x", language, "-", "-o", name], text)


def snapshot():
    """Path -> content of all files here."""
    files = {}
    for folder, _, names in os.walk("."):
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), ".")
            if os.path.islink(path) or not os.path.isfile(path):
                files[path] = None
                continue
            try:
                with open(path, "rb") as file:
                    files[path] = file.read()
            except OSError:
                files[path] = None
    return files


def text_of(content, mode):
    """Bytes as an expectation writes them."""
    if mode == "hex":
        lines = [content[i:i + 16].hex(" ") for i in range(0, len(content), 16)]
        return "".join(line + "\n" for line in lines)
    text = content.decode("utf-8", "backslashreplace")
    # A section's text ends with a newline; say so where the real one does not.
    return text if not text or text.endswith("\n") else text + "\n\\ no newline at the end\n"


def fits(mode, wanted, got):
    if mode != "glob":
        return wanted == got
    parts = []
    for line in wanted.splitlines():
        if line == "...":
            parts.append(r"(?:[^\n]*\n)*")
        else:
            parts.append(r"[^\n]*".join(re.escape(piece) for piece in line.split("*")) + r"\n")
    return re.fullmatch("".join(parts), got) is not None


class Run:
    """A run section with the expectations that follow it."""

    def __init__(self, section):
        self.section = section
        self.expected = []
        self.failures = []

    def find(self, name):
        return next((s for s in self.expected if s.name == name), None)

    def check(self, name, got, default):
        """Compares, notes a failure, and returns whether the expectation can be updated."""
        section = self.find(name)
        mode = section.mode() if section and section.kind != "exit" else "exact"
        wanted = section.text if section and section.kind != "exit" else default
        if section and section.kind == "exit":
            wanted = section.args[0] + "\n"
        if fits(mode, wanted, got):
            return
        diff = difflib.unified_diff(wanted.splitlines(), got.splitlines(), "expected", "got",
                                    lineterm="")
        self.failures.append(f"{name}:\n" + "\n".join(diff))
        self.update(section, name, mode, got)

    def update(self, section, name, mode, got):
        if mode == "glob":
            return
        if not section:
            section = Section(*(("output", [name[7:]]) if name.startswith("output ")
                                else (name, [])))
            self.expected.append(section)
        if section.kind == "exit":
            section.args = [got.strip()]
        else:
            section.text = got

    def check_files(self, before, after):
        named = set()
        for section in [s for s in self.expected if s.kind == "output"]:
            path = os.path.normpath(section.args[0])
            named.add(path)
            if after.get(path) is None:
                self.failures.append(f"{section.name}: not written")
                continue
            self.check(section.name, text_of(after[path], section.mode()), "")
        for section in [s for s in self.expected if s.kind == "created"]:
            for path in map(os.path.normpath, section.args):
                named.add(path)
                if path not in after:
                    self.failures.append(f"created {path}: not written")
        for path in sorted(set(before) | set(after)):
            if path in named or (path in before and path in after and before[path] == after[path]):
                continue
            if path not in after:
                self.failures.append(f"{path} was removed")
            else:
                what = "changed" if path in before else "appeared"
                self.failures.append(f"{path} {what}, but no section says so")
                self.update(None, f"output {path}", "exact", text_of(after[path] or b"", "exact"))

    def execute(self, environment):
        before = snapshot()
        result = subprocess.run(["bash", "-c", self.section.text], env=environment,
                                stdin=subprocess.DEVNULL, capture_output=True, check=False,
                                timeout=TIMEOUT)
        self.check("exit", f"{result.returncode}\n", "0\n")
        self.check("stdout", text_of(result.stdout, "exact"), "")
        self.check("stderr", text_of(result.stderr, "exact"), "")
        self.check_files(before, snapshot())
        return not self.failures


def make_environment(scratch):
    """A plain environment with br2pgo, the test tools and LLVM's tools first on the PATH."""
    binaries = os.path.join(scratch, "bin")
    os.mkdir(binaries)
    program = os.environ.get("BR2PGO")
    if not program or not os.path.exists(program):
        raise Problem(f"no program: BR2PGO is '{program}'")
    os.symlink(program, os.path.join(binaries, "br2pgo"))
    keep = ("BR2PGO_DATA", "TOOLS", "SOURCE_DIR", "BUILD_DIR", "LLVM_BIN", "ASAN_OPTIONS",
            "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS")
    environment = {name: os.environ[name] for name in keep if name in os.environ}
    path = [binaries, HERE, os.environ.get("TOOLS"), os.environ.get("LLVM_BIN"),
            os.environ["PATH"]]
    environment.update(PATH=":".join(p for p in path if p), LC_ALL="C.UTF-8", TZ="UTC",
                       HOME=scratch, TERM="dumb")
    os.environ["PATH"] = environment["PATH"]
    return environment


def execute(sections, work, environment):
    """Runs all sections; returns the runs."""
    runs = []
    for section in sections:
        if section.kind == "run":
            runs.append(Run(section))
        elif section.kind in EXPECTATIONS:
            runs[-1].expected.append(section)
    upcoming = iter(runs)
    old = os.getcwd()
    os.chdir(work)
    try:
        for section in sections:
            if section.kind == "requires":
                missing = [tool for tool in section.args if not shutil.which(tool)]
                if missing:
                    raise Skip("needs " + ", ".join(missing))
            elif section.kind == "run":
                next(upcoming).execute(environment)
            elif section.kind not in EXPECTATIONS:
                prepare(section)
    finally:
        os.chdir(old)
    return runs


def rewrite(path, comment, sections, runs):
    by_section = {id(run.section): run for run in runs}
    order = ["exit", "stdout", "stderr", "created", "output"]
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(comment)
        for section in sections:
            if section.kind in EXPECTATIONS:
                continue
            file.write(str(section))
            if section.kind == "run":
                expected = by_section[id(section)].expected
                for item in sorted(expected, key=lambda s: order.index(s.kind)):
                    if item.kind in ("stdout", "stderr") and not item.text:
                        continue
                    if item.kind == "exit" and item.args == ["0"]:
                        continue
                    file.write(str(item))


def run_case(path, args):
    copied = path if os.path.isdir(path) else None
    path = os.path.join(path, "case") if copied else path
    scratch = os.path.realpath(tempfile.mkdtemp(prefix="br2pgo-case-"))
    try:
        comment, sections = parse(path)
        environment = make_environment(scratch)
        work = os.path.join(scratch, "work")
        if copied:
            shutil.copytree(copied, work, ignore=lambda folder, names: {"case"} & set(names))
        else:
            os.mkdir(work)
        runs = execute(sections, work, environment)
    finally:
        if args.keep:
            print(f"{path}: {scratch}")
        else:
            subprocess.run(["chmod", "-R", "u+rwX", scratch], check=False)
            shutil.rmtree(scratch, ignore_errors=True)
    failed = [run for run in runs if run.failures]
    for run in failed:
        print(f"{path}: $ {run.section.text.strip()}")
        print("\n".join(run.failures))
    if failed and args.update:
        rewrite(path, comment, sections, runs)
        print(f"{path}: updated; look at the difference")
    return not failed


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("case", nargs="+")
    args = parser.parse_args()
    status = 0
    for path in args.case:
        try:
            if not run_case(path, args):
                status = 1
        except Skip as skip:
            print(f"{path}: skipped: {skip}")
            status = status or 77
        except (Problem, OSError, subprocess.TimeoutExpired) as problem:
            print(f"{path}: {problem}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
