#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The recipes of examples/recipes work in a copy of the folder, each where its tools are here: trained, the program is
built with the profile, and differs; another profile has it built anew. e2e.cmake_module tries the one for CMake."""
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.environ["SOURCE_DIR"]
BR2PGO = os.environ["BR2PGO"]
LLVM_BIN = os.environ.get("LLVM_BIN", "")
CLANG = os.path.join(LLVM_BIN, "clang")
scratch = ""
problems = []


class Failure(Exception):
    pass


def expect(good, what):
    if not good:
        problems.append(what)
        print(f"WRONG: {what}")


def run(recipe, *words, **variables):
    """What the command prints; it must succeed."""
    path = f"{os.path.dirname(BR2PGO)}:{LLVM_BIN}:{os.environ['PATH']}"
    result = subprocess.run(words, cwd=os.path.join(scratch, "recipes", recipe), text=True, check=False,
                            env=dict(os.environ, PATH=path, **variables),
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if result.returncode != 0:
        raise Failure(f"{recipe}: {' '.join(words)}: exit {result.returncode}:\n{result.stdout}")
    return result.stdout


def file_of(recipe, name):
    return os.path.join(scratch, "recipes", recipe, name)


def code(program):
    result = subprocess.run(["objdump", "-d", "--no-show-raw-insn", program], stdout=subprocess.PIPE, text=True,
                            check=False)
    return result.stdout.split("\n", 3)[-1]


def expect_functions(recipe, profile, *functions):
    text = run(recipe, "br2pgo", "show", profile)
    for name in functions:
        expect(re.search(rf"^( *[\d.]+: )?\S*{name}\S*:[1-9]", text, re.M), f"{recipe}: no {name} in\n{text}")


def double(recipe, profile):
    """Another profile of the same program in place of this one."""
    run(recipe, "br2pgo", "merge", profile, profile, "-q", "-o", profile)


def make(compiler):
    name = os.path.basename(compiler)
    cc = f"CC={compiler}"
    run("make", "make", cc)
    plain = code(file_of("make", "words"))
    run("make", "make", cc, "profile")
    expect_functions("make", "words.afdo", "take_word", "main")
    said = run("make", "make", cc)
    expect(len(re.findall(r"-f(?:auto-profile|profile-sample-use)=words.afdo -c", said)) == 3, f"make {name}: {said}")
    expect(code(file_of("make", "words")) != plain, f"make {name}: the same code")
    expect("Nothing to be done" in run("make", "make", cc), f"make {name}: built again")
    double("make", "words.afdo")
    expect(run("make", "make", cc).count(" -c ") == 3, f"make {name}: the new profile is not used")
    run("make", "make", "clean")
    os.unlink(file_of("make", "words.afdo"))
    print(f"make, {name}: works")


def meson():
    run("meson", "meson", "setup", "build", CC="gcc")
    run("meson", "meson", "compile", "-C", "build")
    plain = code(file_of("meson", "build/words"))
    run("meson", "meson", "compile", "-C", "build", "words-profile")
    expect_functions("meson", "words.afdo", "take_word", "main")
    said = run("meson", "meson", "compile", "-C", "build", "-v")
    expect(len(re.findall(r"-fauto-profile=\S*/build/\w+\.afdo ", said)) == 3, f"meson: {said}")
    expect(code(file_of("meson", "build/words")) != plain, "meson: the same code")
    expect("no work to do" in run("meson", "meson", "compile", "-C", "build"), "meson: built again")
    double("meson", "words.afdo")
    said = run("meson", "meson", "compile", "-C", "build", "-v")
    expect(said.count(" -c ") == 3, f"meson: the new profile is not used:\n{said}")
    print("meson: works")


def cargo():
    unstable = {"RUSTC_BOOTSTRAP": "1"}
    run("cargo", "./profile.sh", **unstable)
    expect_functions("cargo", "bins.prof", "bin_of", "count")
    run("cargo", "./profile.sh", "build", **unstable)
    built, trained = file_of("cargo", "target/release/bins"), file_of("cargo", "target/train/release/bins")
    expect(code(built) != code(trained), "cargo: the same code")
    said = [run("cargo", program) for program in (built, trained)]
    expect(said[0] == said[1] and said[0].startswith("["), f"cargo: {said}")
    double("cargo", "bins.prof")
    said = run("cargo", "./profile.sh", "build", **unstable)
    expect("Compiling bins" in said, f"cargo: the new profile is not used:\n{said}")
    print("cargo: works")


def steps(path):
    """Variables and shell steps of a pipeline: no YAML parser comes with Python."""
    variables, scripts = {}, []
    with open(path, encoding="utf-8") as file:
        for line in file:
            if re.match(r"  \w+: ", line):
                name, variables_value = line.split(":", 1)
                variables[name.strip()] = variables_value.strip()
            elif line.startswith("    run: |"):
                scripts.append("")
            elif line.startswith("      ") and scripts:
                scripts[-1] += line[6:]
    return variables, scripts


def pipeline():
    variables, scripts = steps(file_of("pipeline", "release.yml"))
    expect(len(scripts) == 6 and len(variables) == 3, f"pipeline: {variables}, {scripts}")
    said = ""
    for script in scripts:
        said += run("pipeline", "bash", "-euo", "pipefail", "-c", script, **variables)
    expect(re.search(r"\d{5,} branch records of build [0-9a-f]{40}, \d+ functions", said), f"pipeline: {said}")
    expect(code(file_of("pipeline", "dist/words")) != code(file_of("pipeline", "work/words")), "pipeline: same code")
    expect_functions("pipeline", "dist/words.prof", "take_word", "main")
    print("pipeline: works")


def main():
    if os.environ.get("SANITIZE") or platform.machine() != "x86_64":
        print("skipped: needs the program as it is installed, and x86-64")
        return 77
    shutil.copytree(os.path.join(SOURCE, "examples"), scratch, dirs_exist_ok=True,
                    ignore=shutil.ignore_patterns("build", "target", "*.afdo"))
    recipes = [("make", ["make", "gcc", "objdump"], lambda: make("gcc")),
               ("make", ["make", CLANG, "objdump"], lambda: make(CLANG)),
               ("meson", ["meson", "ninja", "gcc", "objdump"], meson),
               ("cargo", ["cargo", "rustc", "objdump"], cargo),
               ("pipeline", [CLANG, "python3", "objdump"], pipeline)]
    worked = 0
    for name, tools, recipe in recipes:
        missing = [tool for tool in tools if not shutil.which(tool)]
        if missing:
            print(f"skipped: {name}, no {', '.join(missing)} here")
            continue
        try:
            recipe()
        except Failure as failure:
            expect(False, str(failure))
        worked += 1
    if problems:
        return 1
    return 0 if worked else 77


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="br2pgo-recipes-") as scratch:
        sys.exit(main())
