#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gcc takes the profile of its own program: the counts are in its dump, as they are in the profile,
in all functions that hold 99 % of the samples; inlined functions and constructors have theirs,
indirect calls their target; and the program built with it takes fewer branches.

With $BR2PGO_DATA and $BR2PGO_LUA_SOURCE (a folder with the sources of Lua 5.4.4: lvm.c and so on)
also a large program. Other versions of GCC that are installed are tried as well."""
import csv
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
TOOLS = os.environ.get("TOOLS", "")
BR2PGO = os.environ.get("BR2PGO", "br2pgo")
FLAGS = ["-O2", "-g", "-Wall", "-Wextra", "-Werror"]
DUMP = "-fdump-ipa-afdo-all"
VERSIONS = range(11, 18)

# The constructor is inlined, the other one is not.
CONSTRUCTORS = """
struct A { unsigned v; __attribute__((noinline)) explicit A(int n); };
struct B { unsigned v; explicit B(int n) : v(1) {
    for (int i = 0; i < n; i++) {
        v += v << 3 ^ 5;
    }
} };
A::A(int n) : v(3) {
    for (int i = 0; i < n; i++) {
        v ^= v >> 2 ^ 77;
    }
}
__attribute__((noinline)) unsigned sum(int n) {
    unsigned s = 0;
    for (int i = 0; i < n; i++) {
        B b(i);
        s += b.v;
        A a(i % 7);
        s += a.v;
    }
    return s;
}
int main(int argc, char **) { return sum(60 * argc) == 1; }
"""


class Failure(Exception):
    pass


def expect(condition, message):
    if not condition:
        raise Failure(message)


def run(*command, cwd=None):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=cwd,
                            check=False, text=True, errors="replace")
    expect(result.returncode == 0, f"{' '.join(command)}:\n{result.stdout}")
    return result.stdout


def quietly(*command, cwd=None):
    said = run(*command, cwd=cwd)
    expect(said == "", f"{' '.join(command)} says: {said}")


def record(program, recording):
    result = subprocess.run([os.path.join(TOOLS, "record_steps"), "--period", "101", "--truth",
                             recording + ".csv", "-o", recording, program],
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False,
                            text=True)
    if "under ptrace" in result.stderr and result.returncode != 0:
        print("skipped: no ptrace here")
        sys.exit(77)
    expect(result.returncode in (0, 1) and os.path.exists(recording), result.stderr)


def taken(recording):
    with open(recording + ".csv", newline="", encoding="utf-8") as file:
        return sum(int(row["count"]) for row in csv.DictReader(file)
                   if row["kind"] != "fallthrough")


class Node:
    """A function of a profile: counts by place, call targets, inlined functions."""

    def __init__(self, name, total):
        self.name, self.total = name, total
        self.counts, self.targets, self.inlined = {}, {}, []

    def everything(self):
        yield self
        for node in self.inlined:
            yield from node.everything()


def read_profile(path):
    """The profile's functions by name, from its text in LLVM's form."""
    text = path + ".txt"
    quietly(os.path.join(TOOLS, "convert_profile"), path, "llvm-text", text)
    functions, stack = {}, []
    with open(text, encoding="utf-8") as file:
        for line in file:
            depth = len(line) - len(line.lstrip(" "))
            del stack[depth:]
            head = re.fullmatch(r"\s*(?:([\d.]+): )?([^\s:]+):(\d+)(?::\d+)?\n", line)
            if head:
                node = Node(head[2], int(head[3]))
                if depth == 0:
                    functions[node.name] = node
                else:
                    stack[-1].inlined.append(node)
                stack.append(node)
                continue
            words = line.split()
            stack[-1].counts[words[0].rstrip(":")] = int(words[1])
            if len(words) > 2:
                stack[-1].targets[words[0].rstrip(":")] = words[2:]
    return functions


def hot_functions(functions, share=0.99):
    wanted = share * sum(f.total for f in functions.values())
    for function in sorted(functions.values(), key=lambda f: (-f.total, f.name)):
        if wanted <= 0:
            break
        wanted -= function.total
        yield function


def read_dumps(folder):
    """The block counts of each function, by the name in the source."""
    counts = {}
    for path in glob.glob(os.path.join(folder, "*.afdo")):
        name = None
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                head = re.match(r"(?:[\w:<>*& .]+?[ *&])?([\w:~]+?)(?:D\.\d+)? \(.*", line)
                if head and not line.startswith((" ", ";")):
                    name = head[1].split("::")[-1]
                    counts.setdefault(name, [])
                block = re.match(r";;   basic block \d+, .*count (\d+) \(auto FDO\)", line)
                if block and name:
                    counts[name].append(int(block[1]))
    return counts


def dump_text(folder):
    texts = []
    for path in sorted(glob.glob(os.path.join(folder, "*.afdo"))):
        with open(path, encoding="utf-8", errors="replace") as file:
            texts.append(file.read())
    return "".join(texts)


def is_there(count, blocks):
    """Whether a block has this count, or what it became where gcc made counts agree."""
    return any(0.9 * count <= block <= 1.1 * count for block in blocks)


def landed(functions, counts):
    """Of the hot functions, those in whose dump the hottest count of the profile is."""
    hot = list(hot_functions(functions))
    good, bad = [], []
    for function in hot:
        most = max(count for node in function.everything() for count in node.counts.values())
        there = most > 0 and is_there(most, counts.get(function.name, []))
        (good if there else bad).append(function.name)
    return good, bad


def compile_with(compiler, sources, profile, folder):
    """The program; the dumps are beside it."""
    os.makedirs(folder)
    program = os.path.join(folder, "program")
    quietly(compiler, *FLAGS, f"-fauto-profile={profile}", DUMP, *sources, "-o", program)
    return program


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
    optimised = compile_with(gcc, sources, profile, folder)
    functions, counts = read_profile(profile), read_dumps(folder)
    good, bad = landed(functions, counts)
    expect(not bad and len(good) >= 4, f"counts are in {good}, but not in {bad}")

    # take_word -> add -> hash: the innermost counts are in the outermost function.
    inner = {node.name: node for node in functions["take_word"].everything()}
    most = max(inner["hash"].counts.values())
    expect(most > 1000 and is_there(most, counts["take_word"]), f"hash: {most} not in take_word")
    expect("main" in counts and any(counts["main"]), "main has no counts")

    targets = functions["words_count"].targets
    expect(len(targets) == 1, f"words_count has targets at {targets}")
    best = max(list(targets.values())[0], key=lambda word: int(word.split(":")[1]))
    name, count = best.split(":")
    text = dump_text(folder)
    found = re.search(r"Indirect call counter all: (\d+), 1 values: \[\d+:(\d+)\]", text)
    promoted = re.search(rf"Indirect call -> direct call .* => {name}(?:D\.\d+)? transform", text)
    expect((found and int(found[2]) == int(count)) or promoted,
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


def constructors(scratch, gcc):
    cxx = gcc.replace("gcc", "g++")
    if not shutil.which(cxx):
        print(f"skipped: constructors, no {cxx} here")
        return
    source = os.path.join(scratch, "c.cc")
    with open(source, "w", encoding="utf-8") as file:
        file.write(CONSTRUCTORS)
    program, recording = os.path.join(scratch, "c"), os.path.join(scratch, "c.data")
    profile, folder = os.path.join(scratch, "c.gcov"), os.path.join(scratch, "c-dump")
    quietly(cxx, *FLAGS, source, "-o", program)
    record(program, recording)
    run(BR2PGO, recording, "-q", "-b", program, "-o", profile)
    functions = read_profile(profile)
    names = {node.name for node in functions["_Z3sumi"].everything()}
    expect("_ZN1BC4Ei" in names, f"sum has {names} inlined")
    expect("_ZN1AC2Ei" in functions, f"only {functions.keys()}")
    compile_with(cxx, [source], profile, folder)
    counts = read_dumps(folder)
    inner = {node.name: node for node in functions["_Z3sumi"].everything()}["_ZN1BC4Ei"]
    expect(is_there(max(inner.counts.values()), counts["sum"]), f"B::B: {inner.counts}, {counts['sum']}")
    own = max(functions["_ZN1AC2Ei"].counts.values())
    expect(is_there(own, counts["A"]), f"A::A: {own}, {counts['A']}")
    print("constructors: the counts of an inlined one and of one that is not are there")


def lua(scratch, gcc):
    data, source = os.environ.get("BR2PGO_DATA", ""), os.environ.get("BR2PGO_LUA_SOURCE", "")
    image = os.path.join(data, "emulated", "lua-gcc")
    if not os.path.exists(image):
        print("skipped: Lua, no recording in $BR2PGO_DATA")
        return
    profile = os.path.join(scratch, "lua.gcov")
    run(BR2PGO, image + ".perf.data", "-q", "-b", image, "-o", profile)
    functions = read_profile(profile)
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
    good, bad = landed(functions, counts)
    print(f"Lua: {len(good)} of {len(good) + len(bad)} functions with 99 % of the samples have "
          f"their counts, not {bad}")
    expect("luaV_execute" in good and len(good) >= 0.95 * (len(good) + len(bad)), "too few")


def other_versions(scratch, recording, sources):
    functions = None
    for version in VERSIONS:
        gcc = f"gcc-{version}"
        if version == 12 or not shutil.which(gcc):
            if version != 12:
                print(f"skipped: {gcc}, not here")
            continue
        profile = os.path.join(scratch, f"{gcc}.gcov")
        program = os.path.join(scratch, gcc)
        quietly(gcc, *FLAGS, *sources, "-o", program)
        record(program, recording + version)
        run(BR2PGO, recording + version, "-q", "-b", program, "-o", profile, "--gcc", gcc)
        folder = os.path.join(scratch, gcc + "-dump")
        compile_with(gcc, sources, profile, folder)
        functions = read_profile(profile)
        present = [name for name, counts in read_dumps(folder).items() if any(counts)]
        missing = [f.name for f in hot_functions(functions) if f.name not in present]
        print(f"{gcc}: counts in {present}, not in {missing}")
        expect(not missing, f"{gcc} has no counts")


def main():
    gcc = "gcc-12" if shutil.which("gcc-12") else "gcc"
    if platform.machine() != "x86_64" or not shutil.which(gcc) \
            or not re.match(r"12\b", run(gcc, "-dumpversion")):
        print("skipped: needs gcc 12 and an x86-64 processor")
        return 77
    with tempfile.TemporaryDirectory(prefix="br2pgo-gcc-") as scratch:
        recording, sources = quickstart(scratch, gcc)
        wrong_version(scratch, gcc, recording, sources)
        constructors(scratch, gcc)
        other_versions(scratch, recording, sources)
        lua(scratch, gcc)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        print(f"gcc_uses_profile: {failure}")
        sys.exit(1)
