#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""create_gcov (Debian's autofdo) makes of the same recording the same profile, seen through its own
dump_gcov, but for what is known: heads of 0, lines with several blocks, calls that were seen more
often than runs, targets of direct calls. What create_gcov writes under any version is read, and
written again the same; its version 2, at which gcc 12 dies, becomes one that gcc 12 takes.

GCC 11 takes both, where it is in $BR2PGO_GCC_DIR/bin or installed, and has the same counts by both."""
import collections
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
import gcc_oracle  # noqa: E402  pylint: disable=wrong-import-position
from gcc_oracle import BR2PGO, TOOLS, Failure, expect  # noqa: E402  pylint: disable=wrong-import-position

MODULES = bytes.fromhex("000000ae")


def run(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                            text=True)
    expect(result.returncode == 0, f"{' '.join(command)}:\n{result.stdout}{result.stderr}")
    return result.stdout


def content(path):
    with open(path, "rb") as file:
        return file.read()


def text_profile(recording, program, path):
    """The recording as create_gcov reads it: ranges, addresses, branches, each with its count."""
    maps, ranges, branches = [], collections.Counter(), collections.Counter()

    def offset(address):
        for start, size, at in maps:
            if start <= address < start + size:
                return address - start + at
        return None

    for line in run(os.path.join(TOOLS, "dump_input"), "--tasks", "--samples",
                    recording).splitlines():
        words = line.split()
        if words[0] == "mmap" and words[-1] == program:
            start, size = words[3].split("+")
            maps.append((int(start, 16), int(size, 16), int(words[4][1:], 16)))
        if words[0] != "sample":
            continue
        newer = None
        for source, target in (map(lambda x: int(x, 16), r.split("/")[:2]) for r in words[6:]):
            a, b = offset(source), offset(target)
            if a is not None and b is not None:
                branches[a, b] += 1
            if b is not None and newer is not None:
                ranges[b, newer] += 1
            newer = a
    with open(path, "w", encoding="utf-8") as file:
        print(len(ranges), *(f"{a:x}-{b:x}:{n}" for (a, b), n in sorted(ranges.items())), "0",
              len(branches), *(f"{a:x}->{b:x}:{n}" for (a, b), n in sorted(branches.items())),
              sep="\n", file=file)


def read_dump(path):
    """Line -> (its least busy block's count, has targets), by the names of the functions that lead to it; head counts."""
    lines, heads, stack = {}, {}, []
    for line in run("dump_gcov", "--gcov_version=1", path).splitlines():
        depth = (len(line) - len(line.lstrip(" "))) // 2
        del stack[depth:]
        function = re.fullmatch(r"\s*(?:([\d.]+): )?(\S+) total:\d+(?: head:(\d+))?", line)
        if function:
            stack.append((function[1] or "").split(".")[0] + ":" + function[2])
            if depth == 0:
                heads[function[2]] = int(function[3])
            continue
        place, count, *targets = line.split()
        key = (*stack, place.rstrip(":").split(".")[0])
        least, had = lines.get(key, (int(count), False))
        lines[key] = (min(least, int(count)), had or bool(targets))
    return lines, heads


def compare(theirs, ours):
    lines, heads = read_dump(theirs)
    our_lines, our_heads = read_dump(ours)
    # Here lines of cases have counts too, which have no code: of the one switch, in run.
    cases = our_lines.keys() - lines.keys()
    expect(lines.keys() <= our_lines.keys() and 0 < len(cases) < 6 and
           all(key[-2].endswith(":run") and our_lines[key][0] > 0 for key in cases),
           f"lines: {lines.keys() ^ our_lines.keys()}")
    more = 0
    for key, (count, calls) in lines.items():
        mine = our_lines[key][0]
        more += mine != count
        expect(mine == count or (calls and mine > count), f"{key}: {count}, here {mine}")
    expect(heads.keys() == our_heads.keys(), f"{heads.keys()} {our_heads.keys()}")
    for name, head in heads.items():
        expect(our_heads[name] >= max(head, 1), f"head of {name}: {head}, here {our_heads[name]}")
    print(f"{len(lines)} lines of {len(heads)} functions, {more} with more calls than runs")
    expect(len(lines) > 50 and more < 5, "too few lines, or too many that differ")


def rewrite(scratch, files):
    """All are the same but for the stamp; written as version 1, the same up to the working set."""
    words = content(files["1"])
    end = words.index(MODULES)
    again = os.path.join(scratch, "again.gcov")
    for name, path in files.items():
        expect(content(path)[8:] == words[8:], f"version {name} differs")
        run(os.path.join(TOOLS, "convert_profile"), "--gcov-version", "1", path, "gcov", again)
        expect(content(again)[:end + 12] == words[:end + 12], f"version {name} is not read whole")
    print(f"create_gcov's versions {', '.join(files)} are read")


def in_gcc_11(scratch, sources):
    """GCC 11 has the counts of create_gcov's profile in the same blocks as those of br2pgo's, and
    takes no more branches."""
    gcc = gcc_oracle.find("gcc-11")
    if gcc is None:
        print("skipped: gcc-11: not in $BR2PGO_GCC_DIR, not installed")
        return
    program = os.path.realpath(os.path.join(scratch, "words11"))
    run(gcc, "-O2", "-g", "-gdwarf-4", *sources, "-o", program)
    gcc_oracle.record(program, program + ".data")
    text_profile(program + ".data", program, program + ".txt")
    profiles = {"create_gcov": program + ".theirs", "br2pgo": program + ".gcov"}
    run("create_gcov", "--profiler=text", f"--profile={program}.txt", f"--binary={program}",
        f"--gcov={profiles['create_gcov']}", "--gcov_version=1")
    run(BR2PGO, program + ".data", "-q", "-b", program, "-o", profiles["br2pgo"], "--gcc", gcc)
    counts, branches = {}, {"none": gcc_oracle.taken(program + ".data")}
    for name, profile in profiles.items():
        folder = os.path.join(scratch, name)
        again = gcc_oracle.compile_with([gcc], sources, profile, folder)
        counts[name] = gcc_oracle.read_dumps(folder)
        gcc_oracle.record(again, again + ".data")
        branches[name] = gcc_oracle.taken(again + ".data")
    theirs, ours = counts["create_gcov"], counts["br2pgo"]
    expect(len(theirs) >= 5 and sum(map(len, theirs.values())) > 50, f"dump: {theirs}")
    # As in the profiles: the call through a pointer was seen more often than the run to it, and
    # the function's head count is not 0.
    pairs = list(zip(theirs["words_count"], ours["words_count"]))
    expect(len(theirs.pop("words_count")) == len(ours.pop("words_count")) == len(pairs)
           and all(a <= b <= 1.05 * a + 1 for a, b in pairs), f"words_count: {pairs}")
    # Loops that share a line with what runs before them: here that line has the lesser count.
    for name in "words_filter", "main":
        one, other = theirs.pop(name), ours.pop(name)
        expect(len(one) == len(other) and max(one) == max(other), f"{name}: {one}, here {other}")
    expect(theirs == ours, f"{theirs}, here {ours}")
    expect(branches["br2pgo"] <= branches["create_gcov"] < 0.9 * branches["none"],
           f"taken branches: {branches}")
    print(f"gcc 11 has the same counts; taken branches: {branches}")


def rescue(scratch, path, source):
    good = os.path.join(scratch, "good.gcov")
    run(os.path.join(TOOLS, "convert_profile"), "--gcov-version", "2", path, "gcov", good)
    if not re.match(r"12\b", run("gcc", "-dumpversion")):
        print("skipped: gcc is not gcc 12")
        return
    dump = os.path.join(scratch, "rescued.o")
    run("gcc", "-O2", "-g", "-gdwarf-4", "-c", f"-fauto-profile={good}", "-fdump-ipa-afdo-all",
        source, "-o", dump)
    text = b"".join(content(name) for name in glob.glob(os.path.join(scratch, "*.afdo")))
    expect(len(re.findall(rb"count [1-9]\d* \(auto FDO\)", text)) > 10, "gcc has no counts")
    print("gcc 12 takes the counts of a rescued file")


def main():
    missing = [tool for tool in ("create_gcov", "dump_gcov", "gcc") if not shutil.which(tool)]
    if missing or platform.machine() != "x86_64":
        print(f"skipped: needs x86-64 and {', '.join(missing)}")
        return 77
    with tempfile.TemporaryDirectory(prefix="br2pgo-create-gcov-") as scratch:
        sources = sorted(glob.glob(os.path.join(SOURCE, "examples", "quickstart", "*.c")))
        program = os.path.realpath(os.path.join(scratch, "words"))
        recording = os.path.join(scratch, "perf.data")
        run("gcc", "-O2", "-g", "-gdwarf-4", *sources, "-o", program)
        result = subprocess.run([os.path.join(TOOLS, "record_steps"), "--period", "101", "-o",
                                 recording, program], stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, check=False, text=True)
        if "under ptrace" in result.stderr and result.returncode != 0:
            print("skipped: no ptrace here")
            return 77
        text = os.path.join(scratch, "profile.txt")
        text_profile(recording, program, text)
        files = {}
        for version in ("1", "2", "875575082"):
            files[version] = os.path.join(scratch, f"theirs.{version}")
            run("create_gcov", "--profiler=text", f"--profile={text}", f"--binary={program}",
                f"--gcov={files[version]}", f"--gcov_version={version}")
        ours = os.path.join(scratch, "ours.gcov")
        run(BR2PGO, recording, "-q", "-b", program, "-o", ours, "--gcc-version", "11")
        compare(files["1"], ours)
        rewrite(scratch, files)
        rescue(scratch, files["2"], sources[0])
        in_gcc_11(scratch, sources)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        print(f"create_gcov_compare: {failure}")
        sys.exit(1)
