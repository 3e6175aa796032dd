#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles every header alone: the public ones as strict C11 and C++17, the others as C17."""
import argparse
import os
import shutil
import subprocess
import sys

ROOT = os.path.realpath(os.environ.get("SOURCE_DIR")
                        or os.path.join(os.path.dirname(__file__), "..", ".."))
STRICT = ["-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wundef", "-Werror"]


def compiles(compiler, language, flags, header):
    """Compiles a file that includes `header` twice."""
    source = f'#include "{header}"\n#include "{header}"\nextern int not_empty;\n'
    result = subprocess.run([*compiler, "-x", language, *flags, "-"], input=source, text=True,
                            stderr=subprocess.PIPE, check=False)
    if result.returncode != 0:
        print(f"{header} ({' '.join(flags[:1])}):\n{result.stderr}")
    return result.returncode == 0


def headers(top):
    for folder, _, names in sorted(os.walk(top)):
        yield from (os.path.join(folder, name) for name in sorted(names) if name.endswith(".h"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--build", required=True)
    parser.add_argument("--include", action="append", default=[])
    args = parser.parse_args()
    cxx = next((c for c in ("g++", "clang++-19", "clang++") if shutil.which(c)), None)

    generated = os.path.join(args.build, "include")
    public = ["-I" + os.path.join(ROOT, "include"), "-I" + generated]
    own = public + ["-I" + os.path.join(ROOT, "src"), "-I" + ROOT, "-D_GNU_SOURCE"]
    own += [flag for folder in args.include for flag in ("-isystem", folder)]
    good = count = 0
    for header in [*headers(os.path.join(ROOT, "include")), *headers(generated)]:
        good += compiles([args.cc], "c", ["-std=c11", *STRICT, *public], header)
        count += 1
        if cxx:
            good += compiles([cxx], "c++", ["-std=c++17", *STRICT, *public], header)
            count += 1
    for top in ("src", "converters"):
        for header in headers(os.path.join(ROOT, top)):
            good += compiles([args.cc], "c", ["-std=c17", *STRICT, *own], header)
            count += 1
    print(f"{good} of {count} compiled" + ("" if cxx else "; no C++ compiler, C++17 left out"))
    return 0 if good == count and count else 1


if __name__ == "__main__":
    sys.exit(main())
