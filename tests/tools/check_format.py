#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""clang-format 14 would change nothing in any C file. With --fix: let it."""
import os
import shutil
import subprocess
import sys

ROOT = os.path.realpath(os.environ.get("SOURCE_DIR")
                        or os.path.join(os.path.dirname(__file__), "..", ".."))
FOLDERS = ("src", "converters", "include", "tests", "examples")


def main():
    if not shutil.which("clang-format-14"):
        print("no clang-format-14 here")
        return 77
    files = []
    for top in FOLDERS:
        for folder, _, names in sorted(os.walk(os.path.join(ROOT, top))):
            files += [os.path.join(folder, name) for name in sorted(names)
                      if name.endswith((".c", ".h"))]
    mode = ["-i"] if "--fix" in sys.argv else ["--dry-run", "-Werror"]
    result = subprocess.run(["clang-format-14", *mode, *files], check=False)
    print(f"{len(files)} files checked")
    return result.returncode if files else 1


if __name__ == "__main__":
    sys.exit(main())
