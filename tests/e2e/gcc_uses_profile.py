#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gcc takes the profile of its own program: the counts are in its dump, as they are in the profile,
in all functions that hold 99 % of the samples; inlined functions have theirs, indirect calls their
target; and the program built with it takes fewer branches.

With $BR2PGO_DATA and $BR2PGO_LUA_SOURCE (a folder with the sources of Lua 5.4.4: lvm.c and so on)
also a large program. Other versions of GCC: gcc_versions.py."""
import glob
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.path.realpath(os.environ.get("SOURCE_DIR")
                          or os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.insert(0, os.path.join(SOURCE, "tests", "tools"))
from gcc_oracle import (  # noqa: E402  pylint: disable=wrong-import-position
    BR2PGO, DUMP, FLAGS, Failure, Profile, compile_with, dump_text, expect, is_there, landed, quietly,
    read_dumps, record, run, taken)



def quickstart(scratch, gcc):
    sources = sorted(glob.glob(os.path.join(SOURCE, "examples", "quickstart", "*.c")))
    program, recording = os.path.join(scratch, "words"), os.path.join(scratch, "words.data")
    quietly(gcc, *FLAGS, *sources, "-o", program)
    record(program, recording)
    profile = os.path.join(scratch, "words.gcov")
    # One reading for every compiler, and the same whoever says which GCC is meant.
    run(BR2PGO, recording, "-q", "-o", profile, "-o", profile + ".prof", "-o", profile + ".afdo")
    run(BR2PGO, recording, "-q", "-o", profile + ".asked.gcov", "--gcc", gcc)
    with open(profile, "rb") as file:
        wanted = file.read()
    for other in (profile + ".afdo", profile + ".asked.gcov"):
        with open(other, "rb") as file:
            expect(file.read() == wanted, f"{other} differs")

    folder = os.path.join(scratch, "words-dump")
    optimised = compile_with([gcc], sources, profile, folder)
    words, counts = Profile(profile), read_dumps(folder)
    functions = words.functions
    good, bad = landed(words, counts)
    expect(not bad and len(good) >= 4, f"counts are in {good}, but not in {bad}")

    # take_word -> add -> hash: the innermost counts are in the outermost function.
    inner = {node.name: node for node in functions["take_word"].everything()}
    most = max(inner["hash"].counts.values())
    expect(most > 1000 and is_there(most, counts["take_word"]), f"hash: {most} not in take_word")
    expect("main" in counts and any(counts["main"]), "main has no counts")

    targets = functions["words_count"].targets
    expect(len(targets) == 1, f"words_count has targets at {targets}")
    name, count = max(list(targets.values())[0].items(), key=lambda target: target[1])
    text = dump_text(folder)
    found = re.search(r"Indirect call counter all: (\d+), 1 values: \[\d+:(\d+)\]", text)
    promoted = re.search(rf"Indirect call -> direct call .* => {name}(?:D\.\d+)? transform", text)
    expect((found and int(found[2]) == count) or promoted,
           f"the indirect call to {name} ({count} times) is not known to gcc")

    again = os.path.join(scratch, "again.data")
    record(optimised, again)
    before, after = taken(recording), taken(again)
    print(f"quickstart: {len(good)} functions with 99 % of the samples have their counts; taken "
          f"branches {before} -> {after}")
    expect(after < 0.95 * before, "the program takes no fewer branches")
    return recording, sources


def wrong_version(scratch, gcc, recording, sources):
    """gcc says so when it gets a profile for another version: what is written is what was asked."""
    for version, number in (("11", 1), ("16", 3)):
        profile = os.path.join(scratch, f"for{version}.gcov")
        run(BR2PGO, recording, "-q", "-o", profile, "--gcc-version", version)
        result = subprocess.run([gcc, "-O2", "-g", f"-fauto-profile={profile}", "-c", sources[0],
                                 "-o", "/dev/null"], stderr=subprocess.PIPE, check=False, text=True)
        expect(f"profile version {number} does not match" in result.stderr, result.stderr)


def lua(scratch, gcc):
    data, source = os.environ.get("BR2PGO_DATA", ""), os.environ.get("BR2PGO_LUA_SOURCE", "")
    image = os.path.join(data, "emulated", "lua-gcc")
    if not os.path.exists(image):
        print("skipped: Lua, no recording in $BR2PGO_DATA")
        return
    profile = os.path.join(scratch, "lua.gcov")
    run(BR2PGO, image + ".perf.data", "-q", "-b", image, "-o", profile)
    functions = Profile(profile).functions
    expect(len(functions) > 100, f"only {len(functions)} functions of Lua")
    if not os.path.exists(os.path.join(source, "lvm.c")):
        print("skipped: compiling Lua, no source in $BR2PGO_LUA_SOURCE")
        return
    folder = os.path.join(scratch, "lua-dump")
    os.makedirs(folder)
    for path in sorted(glob.glob(os.path.join(source, "*.c"))):
        if os.path.basename(path) not in ("lua.c", "luac.c"):
            quietly(gcc, "-O2", "-g", f"-fauto-profile={profile}", DUMP, "-c", path, cwd=folder)
    counts = read_dumps(folder)
    good, bad = landed(Profile(profile), counts)
    print(f"Lua: {len(good)} of {len(good) + len(bad)} functions with 99 % of the samples have "
          f"their counts, not {bad}")
    expect("luaV_execute" in good and len(good) >= 0.95 * (len(good) + len(bad)), "too few")


def main():
    gcc = "gcc-12" if shutil.which("gcc-12") else "gcc"
    if platform.machine() != "x86_64" or not shutil.which(gcc) \
            or not re.match(r"12\b", run(gcc, "-dumpversion")):
        print("skipped: needs gcc 12 and an x86-64 processor")
        return 77
    with tempfile.TemporaryDirectory(prefix="br2pgo-gcc-") as scratch:
        recording, sources = quickstart(scratch, gcc)
        wrong_version(scratch, gcc, recording, sources)
        lua(scratch, gcc)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        print(f"gcc_uses_profile: {failure}")
        sys.exit(1)
