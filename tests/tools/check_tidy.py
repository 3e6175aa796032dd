#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""clang-tidy 14 with .clang-tidy finds nothing in src/, converters/ and tests/tools/.
usage: check_tidy.py BUILD [FILE...]"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.realpath(os.environ.get("SOURCE_DIR")
                        or os.path.join(os.path.dirname(__file__), "..", ".."))
FOLDERS = tuple(os.path.join(ROOT, name) + os.sep for name in ("src", "converters", "tests/tools"))
# The commands may be gcc's: flags only gcc knows are no finding.
# Headers are told by their full path: a checkout may lie below a folder named src.
EXTRA = ["--header-filter=^" + re.escape(ROOT) + "/(src|converters|include/br2pgo)/",
         "--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Qunused-arguments"]


# What the functions of base/err.h return; see there.
MODEL = ["--extra-arg=-include" + os.path.join(ROOT, "tests/tools/check_tidy_model.h"),
         "--extra-arg=-Wno-unused-value"]


def tidy(build, path):
    own = path.startswith(os.path.join(ROOT, "tests")) or path.endswith("src/base/err.c")
    model = [] if own else MODEL
    result = subprocess.run(["clang-tidy-14", "--quiet", "-p", build, *EXTRA, *model, path],
                            capture_output=True, text=True, check=False)
    if result.returncode != 0:
        print(result.stdout, result.stderr, sep="", flush=True)
    return result.returncode == 0


def each_once(build, folder):
    """What is compiled twice is analysed once: clang-tidy, which would do it in one process, then finds fault with va_list."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = {os.path.realpath(entry["file"]): entry for entry in reversed(json.load(file))}
    with open(os.path.join(folder, "compile_commands.json"), "w", encoding="utf-8") as file:
        json.dump(list(entries.values()), file)
    return entries


def main():
    if not shutil.which("clang-tidy-14"):
        print("no clang-tidy-14 here")
        return 77
    chosen = [os.path.realpath(path) for path in sys.argv[2:]]
    with tempfile.TemporaryDirectory(prefix="br2pgo-tidy-") as folder:
        paths = sorted(path for path in each_once(sys.argv[1], folder)
                       if (path in chosen if chosen else path.startswith(FOLDERS)))
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            good = sum(pool.map(lambda path: tidy(folder, path), paths))
    print(f"{good} of {len(paths)} files clean")
    return 0 if good == len(paths) and paths else 1


if __name__ == "__main__":
    sys.exit(main())
