#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks every #include of src/ and converters/ against docs/design.md: a part may include only
what stands in its row, and a foreign library's header only where it is at home."""
import os
import re
import sys

ROOT = os.path.realpath(os.environ.get("SOURCE_DIR")
                        or os.path.join(os.path.dirname(__file__), "..", ".."))

# Part -> what it may include with "...": parts, or single headers of a part.
ALLOWED = {
    "base": [],
    "input": ["base"],
    "process": ["base", "input"],
    "image": ["base"],
    "trace": ["base", "input", "process", "image/code.h", "image/image.h"],
    "flow": ["base", "input", "process", "image"],
    "profile": ["base", "image/debug.h", "flow"],
    "report": ["base", "input", "process", "image", "flow", "profile"],
    "converters": ["base", "profile", "flow/edge_table.h", "flow/block_flow.h",
                   "flow/range_table.h"],
    "lib": ["base", "input", "process", "image", "trace", "flow", "profile", "report", "converters"],
    "record": ["base"],
    "cli": ["base", "record"],
}

# Pattern of a foreign header -> files (prefixes of paths) that may include it.
FOREIGN = {
    r"(gelf|libelf)\.h": ["src/image/"],
    r"elf\.h": ["src/image/", "src/record/"],
    r"(dwarf\.h|elfutils/.*)": ["src/image/"],
    r"llvm-c/.*": ["src/image/disassembler.c", "src/image/disassembly/"],
    r"zstd.*\.h": ["src/input/", "src/image/elf_zstd.c"],
    r"zlib\.h": ["converters/llvm/", "src/input/"],
    r"lzma\.h": ["src/input/"],
    r"libiberty/.*": ["src/image/demangle.c"],
    r"md5\.h": ["converters/llvm/"],
    r"opencsd/.*": ["src/trace/etm_tree.c"],
    r"intel-pt\.h": ["src/trace/pt"],
    r"jansson\.h": ["src/report/", "converters/table/", "src/lib/", "src/cli/summary.c"],
}
# Headers that only one file of a part may include, so that a library can be exchanged there.
ONE_FILE = [r"zlib\.h", r"lzma\.h"]

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


def sources():
    for top in ("src", "converters", "include"):
        for folder, _, names in sorted(os.walk(os.path.join(ROOT, top))):
            for name in sorted(names):
                if name.endswith((".c", ".h")):
                    yield os.path.relpath(os.path.join(folder, name), ROOT)


def part_of(path):
    parts = path.split("/")
    if parts[0] == "src":
        return parts[1]
    return "public" if parts[0] == "include" else parts[0]


def check_own(path, name):
    """Why the part of `path` may not include "name", or None."""
    if name.startswith("br2pgo/"):
        return None
    part = part_of(path)
    folder = name.split("/")[0]
    if folder == "src":
        return "is spelled without src/"
    if "/" not in name or folder not in ALLOWED:
        return "is not of the form part/file.h"
    if not any(os.path.exists(os.path.join(ROOT, base, name)) for base in ("src", ".")):
        return "does not exist"
    if part == "public":
        return "is not public, but a public header includes it"
    if folder == part or folder in ALLOWED.get(part, []) or name in ALLOWED.get(part, []):
        return None
    return f"is not for {part}, which may include: {', '.join(ALLOWED.get(part, [])) or 'nothing'}"


def check_foreign(path, name):
    for pattern, homes in FOREIGN.items():
        if re.fullmatch(pattern, name) and not path.startswith(tuple(homes)):
            return f"is only for {', '.join(homes)}"
    return None


def main():
    problems = []
    users = {}
    count = 0
    for path in sources():
        if part_of(path) not in ALLOWED and part_of(path) != "public":
            problems.append(f"{path}: part '{part_of(path)}' is not in the table")
            continue
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                match = INCLUDE.match(line)
                if not match:
                    continue
                count += 1
                kind, name = match.groups()
                why = check_own(path, name) if kind == '"' else check_foreign(path, name)
                if why:
                    problems.append(f"{path}:{number}: {name} {why}")
                for pattern in ONE_FILE:
                    if re.fullmatch(pattern, name):
                        users.setdefault((pattern, part_of(path)), set()).add(path)
    for (pattern, part), paths in users.items():
        if len(paths) > 1:
            problems.append(f"{pattern} belongs in one file of {part} but is in "
                            f"{', '.join(sorted(paths))}")
    for problem in problems:
        print(problem)
    print(f"{count} includes checked, {len(problems)} wrong")
    return 1 if problems or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
