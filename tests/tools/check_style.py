#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules of CONTRIBUTING.md that no other tool checks: the licence line, the length of a file,
include guards, functions that may not be called."""
import os
import re
import sys

ROOT = os.path.realpath(os.environ.get("SOURCE_DIR")
                        or os.path.join(os.path.dirname(__file__), "..", ".."))
LICENCE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
MAX_LINES = 800

# Never; the plain allocator is wrapped by base/mem.h.
BANNED = re.compile(
    r"\b(strcpy|strcat|sprintf|vsprintf|gets|strtok|atoi|atol|atof|alloca|setjmp|longjmp|abort)\s*\(")
BANNED_LIBRARY = re.compile(
    r"\b(exit|_exit|printf|puts|perror|malloc|calloc|realloc|strdup|strndup|assert|asprintf)\s*\(")
ALLOCATOR = ("src/base/mem.c",)
# The only way out of a callback of a library that asks nobody whether to go on.
MAY_JUMP = ("src/image/demangle.c",)
STRIP = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\])*"', re.S)


def blank(match):
    return "\n" * match.group(0).count("\n")


def check(path, text):
    lines = text.splitlines()
    if LICENCE not in "\n".join(lines[:2]):
        yield 1, "the first line is not the SPDX licence line"
    if len(lines) > MAX_LINES:
        yield len(lines), f"{len(lines)} lines; at most {MAX_LINES}"
    if not path.endswith((".c", ".h")):
        return
    if path.endswith(".h") and not re.search(r"^#ifndef BR2\w*_H$", text, re.M):
        yield 1, "no include guard BR2_..._H"
    library = path.startswith(("src/", "converters/")) and not path.startswith("src/cli/")
    for number, line in enumerate(STRIP.sub(blank, text).splitlines(), 1):
        match = BANNED.search(line)
        if not match and library and path not in ALLOCATOR:
            match = BANNED_LIBRARY.search(line)
        if match and not (path in MAY_JUMP and match.group(1) in ("setjmp", "longjmp")):
            yield number, f"{match.group(1)} may not be called here"


def main():
    problems = []
    count = 0
    for top in ("src", "converters", "include", "tests", "examples", "cmake", "scripts"):
        for folder, _, names in sorted(os.walk(os.path.join(ROOT, top))):
            for name in sorted(names):
                if not name.endswith((".c", ".h", ".py", ".sh", ".cmake")):
                    continue
                path = os.path.relpath(os.path.join(folder, name), ROOT)
                with open(os.path.join(ROOT, path), encoding="utf-8") as file:
                    text = file.read()
                count += 1
                problems += [f"{path}:{line}: {what}" for line, what in check(path, text)]
    for problem in problems:
        print(problem)
    print(f"{count} files checked, {len(problems)} problems")
    return 1 if problems or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
