#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The manual page has every command and option that the program has (its --help is printed from the table that is
parsed by), with the short form, and no other; and mandoc finds nothing to say about the manual pages."""
import glob
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.realpath(os.environ.get("SOURCE_DIR")
                        or os.path.join(os.path.dirname(__file__), "..", ".."))
BR2PGO = os.environ.get("BR2PGO") or os.path.join(ROOT, "build", "dev", "bin", "br2pgo")


def program_options():
    """The commands, and the options of all of them with their short forms."""
    def help_of(*words):
        return subprocess.run([BR2PGO, *words, "--help"], capture_output=True, text=True, check=True).stdout
    commands = re.findall(r"^br2pgo (\w+), ", help_of(), re.M)
    options = {}
    for command in commands:
        options.update({name: short for short, name in
                        re.findall(r"^  (?:-(\w), |    )--([\w-]+)", help_of(command), re.M)})
    return set(commands), options


def manual_options(text):
    """The same of the page: what stands in the synopsis, and what heads a paragraph."""
    synopsis = text.split("\n.Sh SYNOPSIS\n")[1].split("\n.Sh ")[0]
    options = {}
    for line in re.findall(r"^\.It (Fl .*)$", text, re.M):
        for name in re.findall(r"(?:Fl|,) -([\w-]+)", line):
            options.setdefault(name, "")
        options.update({name: short for short, name in re.findall(r"Fl (\w) , Fl -([\w-]+)", line)})
    return set(re.findall(r"^\.Cm (\w+)$", synopsis, re.M)) | {"convert"}, options


def main():
    pages = sorted(glob.glob(os.path.join(ROOT, "docs", "man", "*.[1-8]")))
    with open(os.path.join(ROOT, "docs", "man", "br2pgo.1"), encoding="utf-8") as file:
        (commands, options), (manual_commands, manual) = program_options(), manual_options(file.read())
    problems = [f"br2pgo.1: command {name}: only {'here' if name in manual_commands else 'in --help'}"
                for name in commands ^ manual_commands]
    problems += [f"br2pgo.1: --{name}: {options.get(name)!r} in --help, {manual.get(name)!r} here"
                 for name in sorted(options.keys() | manual.keys()) if options.get(name) != manual.get(name)]
    if shutil.which("mandoc"):
        result = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", *pages], check=False)
        problems += ["mandoc is not content"] if result.returncode != 0 else []
    else:
        print("no mandoc here")
    print("\n".join(problems))
    print(f"{len(options)} options, {len(pages)} pages checked, {len(problems)} problems")
    return 1 if problems or not pages or len(options) < 15 else 0


if __name__ == "__main__":
    sys.exit(main())
