#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""br2pgo_add_profile() of an installed br2pgo, and of the build folder: with clang and GCC, Ninja and make, and
llvm-bolt, programs are trained and built with what came of it; a checked-in profile needs no br2pgo; and what cannot
give a good profile fails, says why, and leaves the old one."""
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.environ["SOURCE_DIR"]
BUILD = os.environ["BUILD_DIR"]
CMAKE = os.environ.get("CMAKE", "cmake")
LLVM_BIN = os.environ.get("LLVM_BIN", "")
RECIPE = os.path.join(SOURCE, "examples", "recipes", "cmake")

# Two images, a library in one of them, in another folder; a source that is generated; blanks and semicolons in arguments.
PROJECT = """
cmake_minimum_required(VERSION 3.21)
project(pair LANGUAGES C)
add_subdirectory(inner)
add_custom_command(OUTPUT outer.c COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_CURRENT_SOURCE_DIR}/outer.in outer.c)
add_library(outer SHARED outer.c)
add_executable(tool main.c)
target_link_libraries(outer PRIVATE inner)
target_link_libraries(tool PRIVATE outer)
find_package(br2pgo QUIET)
if(NOT br2pgo_FOUND)
  include(${VENDORED}/Br2pgoProfile.cmake)
endif()
br2pgo_add_profile(TARGET tool outer pair::inner PROFILE kept/tool.prof MIN_RECORDS ${MIN}
  COMMAND tool 3000 "a b" COMMAND $<TARGET_FILE:tool> 2000 "c;d" RECORD_OPTIONS --emulate --period 101)
"""
FILES = {
    "inner/CMakeLists.txt": """
add_library(inner STATIC inner.c)
add_library(pair::inner ALIAS inner)
set_target_properties(inner PROPERTIES POSITION_INDEPENDENT_CODE ON)
""",
    "inner/inner.c": """
int inner(int n) {
    int s = n;
    while (n > 1) { s ^= n; n = s & 1 ? n - 1 : n - 2; }
    return s;
}
""",
    "outer.in": """
int inner(int n);
int outer(int n) { int s = 0; for (int i = 0; i < 4; i++) { s ^= inner(n + i); } return s; }
""",
    "main.c": """
#include <stdlib.h>
#include <string.h>
int outer(int n);
int main(int argc, char **argv) {
    int s = 0, words = 0;
    if (argc < 3 || (strcmp(argv[2], "a b") != 0 && strcmp(argv[2], "c;d") != 0)) { return 9; }
    for (int i = 0; i < 3000 + argc; i++) { words ^= words * 3 + argc; }
    for (int i = 0; i < 30; i++) { s += outer(atoi(argv[1]) / 3 + (words & 7)); }
    return s == 42;
}
""",
}
SINGLE = """
cmake_minimum_required(VERSION 3.21)
project(single LANGUAGES C)
add_executable(words {sources})
find_package(br2pgo REQUIRED)
br2pgo_add_profile(TARGET words RECORD_OPTIONS --emulate --period 101 {arguments})
"""
scratch = ""
problems = []


def expect(good, what):
    if not good:
        problems.append(what)
        print(f"WRONG: {what}")


def run(*words, **options):
    result = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)
    return result.returncode, result.stdout


def configure(source, folder, *options):
    return run(CMAKE, "-S", source, "-B", folder, "-DCMAKE_BUILD_TYPE=Release", *options)


def build(folder, target="all", **options):
    return run(CMAKE, "--build", folder, "--target", target, "-v", **options)


def works(result, what):
    status, said = result
    expect(status == 0, f"{what}: exit {status}:\n{said}")
    return said


def fails(result, text, what):
    """CMake breaks and indents what it says."""
    status, said = result
    expect(status != 0 and text in " ".join(said.split()), f"{what}: exit {status}, and not '{text}':\n{said}")


def write(folder, files):
    for name, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def code(program):
    return run("objdump", "-d", "--no-show-raw-insn", program)[1].split("\n", 3)[-1]


def show(profile):
    return works(run(os.environ["BR2PGO"], "show", profile), f"show {profile}")


def recipe(package, compiler, generator, profile):
    """Trained by the first build; not again by the next; built anew when the profile is another one."""
    name = f"{os.path.basename(compiler)}-{generator.split()[-1]}"
    plain, folder = os.path.join(scratch, name + "-plain"), os.path.join(scratch, name)
    common = ["-G", generator, f"-DCMAKE_C_COMPILER={compiler}", f"-DCMAKE_PREFIX_PATH={package}"]
    works(configure(RECIPE, plain, *common), name)
    said = works(build(plain), name)
    expect("-fprofile" not in said and "-fauto-profile" not in said and "br2pgo-train" not in said,
           f"{name}: OFF does something:\n{said}")
    works(configure(RECIPE, folder, *common, "-Dwords_PGO=MAKE"), name)
    said = works(build(folder), name)
    expect(len(re.findall(r"-f(?:auto-profile|profile-sample-use)=\S* .*-c ", said)) == 3, f"{name}: not used:\n{said}")
    made = os.path.join(folder, "br2pgo", profile)
    text = show(made)
    expect("take_word:" in text and "main:" in text, f"{name}: profile has {text}")
    expect(code(os.path.join(folder, "words")) != code(os.path.join(plain, "words")), f"{name}: the same code")
    expect(run(os.path.join(folder, "words"))[1] == run(os.path.join(plain, "words"))[1], f"{name}: prints another thing")
    said = works(build(folder), name)
    expect(" -c " not in said and "training with" not in said, f"{name}: built again:\n{said}")

    # The same again is the same profile, so nothing is built; another one builds everything.
    before, trained = read(made), os.stat(made).st_mtime_ns
    works(build(folder, "words-profile"), name)
    expect(read(made) == before and os.stat(made).st_mtime_ns == trained, f"{name}: another profile")
    works(run(os.environ["BR2PGO"], "merge", made, made, "-o", made), name)
    said = works(build(folder), name)
    expect(len(re.findall(" -c ", said)) == 3, f"{name}: the new profile is not used:\n{said}")
    print(f"{name}: trained, built with the profile")


def pair(package):
    """Two images share a checked-in profile, which then needs no br2pgo."""
    source, folder = os.path.join(scratch, "pair"), os.path.join(scratch, "pair-build")
    write(source, dict(FILES, **{"CMakeLists.txt": PROJECT}))
    clang = f"-DCMAKE_C_COMPILER={os.path.join(LLVM_BIN, 'clang')}"
    common = ["-G", "Ninja", clang, f"-DCMAKE_PREFIX_PATH={package}", "-DMIN=500"]
    fails(configure(source, folder, *common, "-Dpair_PGO=USE"), "there is no profile", "pair")
    fails(configure(source, folder, *common, "-Dpair_PGO=ON"), "is OFF, USE or MAKE, not 'ON'", "pair")
    works(configure(source, folder, *common, "-Dpair_PGO=OFF", "-DCMAKE_UNITY_BUILD=ON"), "pair")
    works(build(folder, "tool-profile"), "pair")
    kept = os.path.join(source, "kept", "tool.prof")
    text = show(kept)
    for function in ("main", "outer", "inner"):
        expect(re.search(rf"^( *[\d.]+: )?{function}:[1-9]", text, re.M), f"pair: no {function} in\n{text}")

    # Both commands count: the second gives fewer records than wanted, and so does the first.
    before = read(kept)
    works(configure(source, folder, "-DMIN=100000000"), "pair")
    fails(build(folder, "tool-profile"), "are too few, 100000000 are wanted", "pair")
    expect(read(kept) == before, "pair: a failure changed the profile")
    expect(os.path.exists(os.path.join(folder, "br2pgo-train", "br2pgo", "tool", "1.data")), "pair: one recording")

    vendored = os.path.join(SOURCE, "cmake")
    other = os.path.join(scratch, "pair-use")
    works(configure(source, other, "-G", "Ninja", clang, f"-DVENDORED={vendored}", "-DMIN=1", "-Dpair_PGO=USE",
                    "-DBR2PGO_PROGRAM=BR2PGO_PROGRAM-NOTFOUND", "-DCMAKE_DISABLE_FIND_PACKAGE_br2pgo=ON",
                    "-DCMAKE_UNITY_BUILD=ON"), "pair")
    said = works(build(other), "pair")
    expect(said.count(f"-fprofile-sample-use={kept}") >= 4, f"pair: not used:\n{said}")
    os.utime(kept)
    said = works(build(other), "pair")
    expect(len(re.findall(" -c ", said)) == 3, f"pair: the new profile is not used:\n{said}")
    works(configure(source, other, "-Dpair_PGO=MAKE"), "pair")
    works(build(other, "clean"), "pair")
    expect(read(kept) == before, "pair: a checked-in profile does not survive `clean`")
    works(build(other), "pair")
    changed_sources(source, other)
    print("pair: two images and a library share a profile")


def changed_sources(source, folder):
    """A quarter of the sources may be other than what the profile was made of; not three quarters. Comments count."""
    said = works(build(folder), "changed")
    expect("of the sources are other" not in said, f"changed: the same sources are others:\n{said}")
    write(source, {"inner/inner.c": "/* now */" + FILES["inner/inner.c"]})
    said = works(build(folder), "changed")
    share = re.search(r"(\d+) % of the sources are other than those", said)
    expect(share and 15 < int(share.group(1)) < 40, f"changed: not told:\n{said}")
    write(source, {"main.c": FILES["main.c"].replace("30", "31"), "inner/inner.c": FILES["inner/inner.c"]})
    fails(build(folder), "tool.prof' is stale: ", "changed")
    fails(build(folder), "at most 50 may be (MAX_STALE); make it anew: cmake --build", "changed twice")
    write(source, FILES)
    works(build(folder), "changed back")
    made_of = os.path.join(source, "kept", "tool.prof.made-of")
    lines = read(made_of).decode().splitlines()
    expect(re.match(r"compiler llvm, C by Clang \d+", lines[1]) and
           [re.sub(r"[0-9a-f]{40}", "ID", line) for line in lines[2:4]] == ["image ID tool", "image ID libouter.so"],
           f"changed: made of {lines[:5]}")
    os.remove(made_of)
    write(source, {"main.c": FILES["main.c"].replace("30", "31")})
    expect("is not checked" in works(build(folder), "no note"), "changed: nothing is said of a note that is missing")


def single(package, name, arguments, *options, sources=None):
    """A project with the quickstart's program alone, in C."""
    source, folder = os.path.join(scratch, name), os.path.join(scratch, name + "-build")
    words = os.path.join(SOURCE, "examples", "quickstart")
    sources = sources or " ".join(os.path.join(words, file) for file in ("words.c", "count.c", "filter.c"))
    write(source, {"CMakeLists.txt": SINGLE.format(sources=sources, arguments=arguments)})
    return folder, configure(source, folder, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={package}", *options)


def without_qemu():
    """A PATH like this one, without the emulators."""
    folder = os.path.join(scratch, "path")
    os.makedirs(folder)
    for place in os.environ["PATH"].split(":"):
        for name in os.listdir(place) if os.path.isdir(place) else []:
            if not name.startswith(("qemu-", "perf")) and not os.path.lexists(os.path.join(folder, name)):
                os.symlink(os.path.join(place, name), os.path.join(folder, name))
    return dict(os.environ, PATH=folder)


def wrong_compilers(package):
    """Profiles of another compiler; compilers that are too old for any."""
    llvm, gcc = "main:100:1\n 1: 100\n", "adcg\2\0\0\0"
    clang = f"-DCMAKE_C_COMPILER={os.path.join(LLVM_BIN, 'clang')}"
    for name, compiler, text, wrong in (
            ("gcc-for-clang", clang, gcc, "words.x' is a profile for GCC, not for clang: make it anew"),
            ("clang-for-gcc", "-DCMAKE_C_COMPILER=gcc", llvm, "words.x' is a profile for clang, not for GCC"),
            ("bolt-for-gcc", "-DCMAKE_C_COMPILER=gcc", "1 main 0 1 main 4 0 5\n", "is a profile for llvm-bolt, not for GCC")):
        write(os.path.join(scratch, name), {"words.x": text})
        fails(single(package, name, "COMMAND words PROFILE words.x", compiler, "-Dsingle_PGO=USE")[1], wrong, name)
    old = os.path.join(scratch, "old-gcc")
    write(scratch, {"old-gcc": "#!/bin/sh\nexec gcc -w -U__GNUC__ -D__GNUC__=4 \"$@\"\n"})
    os.chmod(old, 0o755)
    for mode, good in (("MAKE", False), ("OFF", True)):
        result = single(package, "old-compiler-" + mode, "COMMAND words", f"-DCMAKE_C_COMPILER={old}",
                        f"-Dsingle_PGO={mode}")[1]
        if good:
            works(result, "an old compiler, without a profile")
        else:
            fails(result, "takes no such profile: use GCC 5 or newer", "an old compiler")


def failures(package):
    """What is wrong, and the text that says so."""
    make = "-Dsingle_PGO=MAKE"
    for name, arguments, text in (
            ("unknown", "COMMAND words COMPILER msvc", "COMPILER is auto, llvm, gcc or bolt, not 'msvc'"),
            ("no-command", "", "COMMAND is missing"),
            ("empty-command", "COMMAND", "a COMMAND is empty"),
            ("records", "COMMAND words MIN_RECORDS many", "MIN_RECORDS is a positive number, not 'many'"),
            ("density", "COMMAND words MIN_DENSITY low", "MIN_DENSITY is a number, not 'low'"),
            ("share", "COMMAND words MAX_STALE 101", "MAX_STALE is a number of percent, not '101'"),
            ("library", "COMMAND words COMPILER bolt TARGET words nothing", "there is no target 'nothing'")):
        fails(single(package, name, arguments, make)[1], text, name)
    folder, configured = single(package, "crash", "COMMAND words COMMAND sh -c \"exit 7\"", make)
    works(configured, "crash")
    fails(build(folder), "training failed (7): sh -c exit 7", "crash")
    folder, configured = single(package, "interrupted", "COMMAND sh -c \"kill -INT $PPID; sleep 10\"", make)
    works(configured, "interrupted")
    fails(build(folder), "training was interrupted: sh -c kill -INT", "interrupted")
    expect(not os.path.exists(os.path.join(folder, "br2pgo", "words.gcov")), "interrupted: there is a profile")
    folder, configured = single(package, "thin", "COMMAND words MIN_DENSITY 10000", make)
    works(configured, "thin")
    fails(build(folder), "0000 are wanted (MIN_DENSITY 10000): train longer", "thin")
    folder, configured = single(package, "emulator", "COMMAND words", make)
    works(configured, "emulator")
    fails(build(folder, env=without_qemu()), "the emulator 'qemu-x86_64' is not on the PATH br2pgo: hint: on Debian and"
          " Ubuntu: apt-get install qemu-user", "emulator")
    wrong_compilers(package)

    # Another build of the program runs in place of the one that was made to train.
    sources = os.path.join(scratch, "old.c")
    write(scratch, {"old.c": "int main(void) { int s = 0; for (int i = 0; i < 200000; i++) { s += i & 3 ? 1 : s; }"
                             " return s == 7; }\n"})
    old = os.path.join(scratch, "old", "words")
    os.makedirs(os.path.dirname(old))
    works(run("cc", "-O1", "-g", "-Wl,--build-id", sources, "-o", old), "old")
    folder, configured = single(package, "stale", f'COMMAND "{old}"', make)
    works(configured, "stale")
    fails(build(folder), "build-id", "stale")
    expect(not os.path.exists(os.path.join(folder, "br2pgo", "words.gcov")), "stale: there is a profile")
    print("failures: each says what is wrong")


def bolted(package):
    """llvm-bolt's result is in the program's place; a profile of other code is refused."""
    bolt = os.path.join(LLVM_BIN, "llvm-bolt")
    if not os.path.exists(bolt):
        print("skipped: llvm-bolt, not here")
        return
    options = ["-Dsingle_PGO=MAKE", f"-DBR2PGO_LLVM_BOLT={bolt}"]
    folder, configured = single(package, "bolt", "COMMAND words COMPILER bolt PROFILE words.fdata", *options)
    works(configured, "bolt")
    works(build(folder), "bolt")
    program = os.path.join(folder, "words")
    expect(".bolt.org.text" in run("readelf", "-SW", program)[1], "bolt: not bolted")
    expect(".bolt.org.text" not in run("readelf", "-SW", program + ".unbolted")[1], "bolt: bolted before")
    expect(run(program) == run(program + ".unbolted"), "bolt: prints another thing")
    said = works(build(folder), "bolt")
    expect("no work to do" in said, f"bolt: built again:\n{said}")

    profile = os.path.join(scratch, "bolt", "words.fdata")
    lines = read(profile).decode().splitlines()
    moved = [re.sub(r"^1 (\S+) (\w+) 1 \1 (\w+)", lambda m: f"1 {m[1]} {int(m[2], 16) + 1:x} 1 {m[1]} {m[3]}", line)
             for line in lines]
    write(os.path.dirname(profile), {"words.fdata": "\n".join(moved) + "\n"})
    fails(build(folder), "is stale", "bolt")
    expect(not os.path.exists(program), "bolt: a program is left that was built with a stale profile")
    other = "".join(f"1 none_{i} 0 1 none_{i} 4 0 5\n" for i in range(4))
    write(os.path.dirname(profile), {"words.fdata": other})
    fails(build(folder), "is stale", "bolt")
    print("bolt: bolted; stale profiles are refused")


def main():
    if os.environ.get("SANITIZE") or platform.machine() != "x86_64":
        print("skipped: needs a program as it is installed, and x86-64")
        return 77
    clang = os.path.join(LLVM_BIN, "clang")
    missing = [tool for tool in ("ninja", "make", clang, "gcc", "objdump") if not shutil.which(tool)]
    if missing:
        print(f"skipped: no {', '.join(missing)}")
        return 77
    installed = os.path.join(scratch, "prefix")
    works(run(CMAKE, "--install", BUILD, "--prefix", installed), "install")
    recipe(installed, clang, "Ninja", "words.prof")
    recipe(BUILD, "gcc", "Unix Makefiles", "words.gcov")
    pair(installed)
    failures(BUILD)
    bolted(installed)
    return 1 if problems else 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="br2pgo cmake ") as scratch:
        sys.exit(main())
