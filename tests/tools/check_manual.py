#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mandoc finds nothing to say about the manual pages."""
import glob
import os
import shutil
import subprocess
import sys

ROOT = os.path.realpath(os.environ.get("SOURCE_DIR")
                        or os.path.join(os.path.dirname(__file__), "..", ".."))


def main():
    if not shutil.which("mandoc"):
        print("no mandoc here")
        return 77
    pages = sorted(glob.glob(os.path.join(ROOT, "docs", "man", "*.[1-8]")))
    result = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", *pages], check=False)
    print(f"{len(pages)} pages checked")
    return result.returncode if pages else 1


if __name__ == "__main__":
    sys.exit(main())
