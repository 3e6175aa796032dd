#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command lines in the manuals of llvm-profgen, perf2bolt, create_llvm_prof and create_gcov, run by the tools
and by br2pgo in their place, give the same kind of file with the same profile: of fdata the same lines, of LLVM's
formats the same functions, lines and counts but for line 0, which br2pgo leaves out, of gcov the same functions.
A tool that is not there is skipped by name."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.path.join(os.environ["SOURCE_DIR"], "examples", "quickstart")
FILES = [os.path.join(SOURCE, name) for name in ("words.c", "count.c", "filter.c")]
BIN = os.environ.get("LLVM_BIN", "")
PROFDATA = os.path.join(BIN, "llvm-profdata")
# Similarity in percent; what differs is rounding, and what create_llvm_prof does not count.
ALIKE = {"llvm-profgen": 99.9, "create_llvm_prof": 99.0}

# From llvm/docs/CommandGuide, clang/docs/UsersManual.rst, bolt/README.md, bolt/docs, the README.md of autofdo and
# GCC's manual; OUT is the output. -fno-inline: create_llvm_prof 0.19 loses inlined functions' names.
COMMANDS = [
    ("llvm-profgen", "--binary=app --perfdata=app.data --output=OUT"),
    ("llvm-profgen", "--perfdata=app.data --binary=app --output=OUT --format=text"),
    ("llvm-profgen", "-perfdata app.data -binary app -o OUT -format=binary"),
    ("llvm-profgen", "--perfscript=app.script --binary=app -o OUT --ignore-stack-samples"),
    ("llvm-profgen", "--unsymbolized-profile=app.unsymbolized --binary=app --output=OUT"),
    ("llvm-profgen", "--perfdata=app.data --binary=app --output=OUT --use-md5 --format=extbinary"),
    ("perf2bolt", "-p app.data -o OUT app"),
    ("perf2bolt", "app -p=app.data -o=OUT -ignore-build-id"),
    ("perf2bolt", "-p app.preagg -pa -o OUT app"),
    ("perf2bolt", "--perfdata=app.data -o OUT --profile-format=fdata app"),
    ("create_llvm_prof", "--binary=app --profile=app.data --out=OUT --format=text"),
    ("create_llvm_prof", "--binary app --out=OUT --format binary --profile app.data --use_lbr=true"),
    ("create_gcov", "--binary=app-gcc --profile=gcc.data --gcov=OUT -gcov_version=1"),
    ("create_gcov", "-binary app-gcc -profile gcc.data -gcov OUT --gcov_version 1 --profiler=perf"),
]
# What a tool refuses is refused here too.
REFUSED = [
    ("llvm-profgen", "--binary=app --perfdata=app.data"),
    ("llvm-profgen", "--binary=app --perfdata=app.data --output=OUT --no-such"),
    ("llvm-profgen", "--binary=app --perfdata=app.data --output=OUT other"),
    ("llvm-profgen", "--binary=app --perfdata=app.data --perfscript=app.script --output=OUT"),
    ("perf2bolt", "-p app.data -o OUT"),
    ("perf2bolt", "-p app.data app"),
    ("create_llvm_prof", "--binary=app --profile=app.data"),
    ("create_llvm_prof", "--binary=app --profile=app.data --out=OUT --format=json"),
    ("create_gcov", "--binary=app-gcc --profile=gcc.data --gcov=OUT --no_such"),
]


def run(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, text=True,
                          errors="replace", timeout=300)


def need(*words):
    result = run(*words)
    if result.returncode != 0:
        sys.exit(f"{' '.join(words)}: exit {result.returncode}\n{result.stderr}")


def find(tool):
    path = os.path.join(BIN, tool)
    return path if os.path.exists(path) else shutil.which(tool)


def make_inputs():
    """False where programs cannot be traced step by step."""
    clang = find("clang") or "clang-19"
    need(clang, "-O2", "-fno-inline", "-gdwarf-4", "-fdebug-info-for-profiling", "-Wl,-q", *FILES, "-o", "app")
    need("gcc", "-O2", "-gdwarf-4", *FILES, "-o", "app-gcc")
    for program, recording in (("./app", "app.data"), ("./app-gcc", "gcc.data")):
        result = run(os.path.join(os.environ["TOOLS"], "record_steps"), "--period", "101", "--depth", "32", "--truth",
                     "truth.csv", "-o", recording, program)
        if "under ptrace" in result.stderr:
            return False
        if result.returncode != 0:
            sys.exit(f"record_steps: {result.stderr}")
    with open("app.script", "w", encoding="utf-8") as file:
        subprocess.run(["perf", "script", "-i", "app.data", "-F", "ip,brstack", "--show-mmap-events"], stdout=file,
                       stderr=subprocess.DEVNULL, check=True)
    need(os.environ["BR2PGO"], "app.data", "-b", "app", "-q", "-o", "app.unsymbolized", "-o", "app.preagg")
    return True


def without_line_0(path):
    """The profile as text, less the records whose line is 0 minus that of the function, in 16 bits."""
    need(PROFDATA, "merge", "--sample", "--text", path, "-o", "as.text")
    with open("as.text", encoding="utf-8") as file:
        lines = [line for line in file if not re.match(r" +6[45]\d{3}[.:]", line)]
    with open(path + ".text", "w", encoding="utf-8") as file:
        file.writelines(lines)
    return path + ".text"


def places(path):
    """The functions and lines of a profile as text, without counts."""
    with open(path, encoding="utf-8") as file:
        return sorted(re.match(r" *[^: ]+", line)[0] for line in file)


def head(path, size):
    with open(path, "rb") as file:
        return file.read(size)


def lines_of(path):
    with open(path, encoding="utf-8") as file:
        return sorted(file)


def functions(path):
    return sorted(re.findall(r"^(\S+) total:\d+ head:", run("dump_gcov", "--gcov_version=1", path).stdout, re.M))


def compare(tool, theirs, ours):
    """What is not alike; None: nothing."""
    if tool == "perf2bolt":
        return None if lines_of(theirs) == lines_of(ours) != [] else "other lines"
    if tool == "create_gcov":
        if head(theirs, 8) != head(ours, 8):
            return "another version"
        return None if functions(theirs) == functions(ours) != [] else "other functions"
    binary = head(theirs, 1) in (b"\xff", b"\x84")
    if binary and head(theirs, 10) != head(ours, 10) or not binary and not head(ours, 1).isalpha():
        return "another format"
    theirs, ours = without_line_0(theirs), without_line_0(ours)
    if places(theirs) != places(ours):
        return f"other places: {set(places(theirs)) ^ set(places(ours))}"
    overlap = run(PROFDATA, "overlap", "--sample", theirs, ours).stdout
    found = re.search(r"program profile similarity: ([\d.]+)%", overlap)
    print(f"  similarity {found[1] if found else overlap} %")
    return None if found and float(found[1]) >= ALIKE[tool] else "other counts"


def check(tool, words, refused):
    """Both run the words; what is wrong, or None."""
    statuses = []
    for command, output in ((find(tool), "theirs"), (os.path.abspath(tool + "-9.1"), "ours")):
        if os.path.exists(output):
            os.remove(output)
        result = run(command, *(word.replace("OUT", output) for word in words.split()))
        statuses.append(result.returncode)
        if (result.returncode != 0) != refused:
            return f"{output}: exit {result.returncode}: {result.stderr}"
    if refused:
        return None if not os.path.exists("ours") else "left an output"
    return compare(tool, "theirs", "ours")


def main():
    if not shutil.which("perf") or not os.path.exists(PROFDATA):
        print("skipped: no perf, or no llvm-profdata")
        return 77
    problems, compared = [], 0
    with tempfile.TemporaryDirectory(prefix="br2pgo-peers-") as scratch:
        os.chdir(scratch)
        if not make_inputs():
            print("skipped: no ptrace here")
            return 77
        for tool in ALIKE.keys() | {"perf2bolt", "create_gcov"}:
            os.symlink(os.environ["BR2PGO"], tool + "-9.1")
            if not find(tool):
                print(f"skipped: {tool} is not here")
        for tool, words, refused in [(*line, False) for line in COMMANDS] + [(*line, True) for line in REFUSED]:
            if find(tool):
                print(f"{tool} {words}")
                compared += 1
                problem = check(tool, words, refused)
                problems += [f"{tool} {words}: {problem}"] if problem else []
        os.chdir("/")
    print("\n".join(problems))
    print(f"{compared} command lines compared, {len(problems)} problems")
    return 1 if problems or compared == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
