#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Intel PT recordings made of exact runs: every edge is counted as often as it was taken, and what is missing of a
trace is missing in the counts, nothing else. perf, which has a decoder of its own, finds no error in what is made."""
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

TOOLS, BR2PGO = os.environ["TOOLS"], os.environ["BR2PGO"]

SERIAL = """
#include <stdio.h>
static int add(int x) { return x * 3 + 1; }
static int turn(int x) { return x ^ 5; }
static int less(int x) { return x - 7; }
static int (*const calls[])(int) = {add, turn, less};
__attribute__((noinline)) static int cases(int x)
{
    switch (x & 7) {
    case 0: return x + 1;
    case 1: return x * 2;
    case 2: return x - 9;
    case 3: return x ^ 3;
    case 4: return x / 3;
    case 5: return x * 5;
    case 6: return 4;
    default: return x;
    }
}
__attribute__((noinline)) static int deep(int n) { return n == 0 ? 1 : deep(n - 1) + cases(n); }
int main(void)
{
    int sum = 0;
    for (int i = 0; i < 300; i++) {
        sum += calls[i % 3](i);
        sum += cases(sum);
    }
    printf("%d\\n", sum + deep(100)); /* deeper than the stack of return addresses */
    return 0;
}
"""
THREADS = """
#include <pthread.h>
#include <stdio.h>
__attribute__((noinline)) static int half(int x) { return x & 1 ? x * 3 + 1 : x / 2; }
static void *work(void *arg)
{
    long sum = (long)arg;
    for (int i = 0; i < 2000; i++) {
        sum += half((int)sum);
    }
    return (void *)sum;
}
int main(void)
{
    pthread_t one, two;
    void *first, *second;
    pthread_create(&one, 0, work, (void *)5);
    pthread_create(&two, 0, work, (void *)7);
    pthread_join(one, &first);
    pthread_join(two, &second);
    printf("%ld\\n", (long)first + (long)second);
    return 0;
}
"""

SOME = -1
# Program, pt_encode's options, losses that br2pgo tells, and whether perf reads it without an error.
CASES = [
    ("serial", "", 0, True),
    ("serial", "--no-retcomp", 0, True),
    ("serial", "--interrupt 50 --mtc --cycles --long-tnt --psb 500", 0, True),
    ("serial", "--overflow 1500,300", 1, False),
    ("serial", "--hole 2001,1000", 1, False),
    ("serial", "--hole 0,1777", 0, False),  # begins in the middle of something
    ("serial", "--kernel --psb 300", 0, False),
    ("serial", "--kernel --interrupt 20 --mtc --cycles", 0, False),
    ("serial", "--kernel --kernel-overflow --interrupt 20", SOME, False),
    ("linked", "", 0, True),
    ("threads", "", 0, True),
    ("threads", "--cpus 1", 0, True),
    ("threads", "--cpus 2 --mtc", 0, False),  # perf takes the clock for later than it is
    ("threads", "--cpus 2 --slice 17", 0, True),
    ("threads", "--cpus 2 --kernel", 0, False),
]


def run(*words, **options):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, **options)


def edges(path, image):
    """{(from, to, kind): count} of the rows that lead from the image to itself."""
    with open(path, newline="", encoding="utf-8") as file:
        return {(row["from"], row["to"], row["kind"]): int(row["count"]) for row in csv.DictReader(file)
                if row["image"] == image and row["from"] and row["to"] and row["count"] != "0"}


def differences(expected, found, slack):
    """What differs by more than an outcome for each loss: of the last branch before it nobody may know."""
    return [f"{edge}: {found.get(edge, 0)}, not {expected.get(edge, 0)}" for edge in sorted({*expected, *found})
            if abs(found.get(edge, 0) - expected.get(edge, 0)) > slack]


def build(name):
    source = THREADS if name == "threads" else SERIAL
    with open(name + ".c", "w", encoding="utf-8") as file:
        file.write(source)
    flags = ["-O1", "-g", "-fno-inline", "-fno-optimize-sibling-calls"] if name == "linked" else ["-O2", "-g", "-static"]
    subprocess.run(["gcc", *flags, "-o", name, name + ".c", "-pthread"], check=True)
    result = run(BR2PGO, "record", "--emulate", "-q", "--period", "1", "--depth", "8", "--exact", name + ".exact.csv",
                 "-o", name + ".run", "./" + name, env={"LC_ALL": "C", "PATH": os.environ["PATH"]})
    if not os.path.exists(name + ".run"):
        raise AssertionError(f"br2pgo record: {result.stderr}")


def make(name, options, data="perf.data", more=""):
    shutil.rmtree("trace", ignore_errors=True)
    os.mkdir("trace")
    result = run(os.path.join(TOOLS, "pt_encode"), *options.split(), name + ".run", "trace")
    if result.returncode != 0:
        raise AssertionError(f"pt_encode {options}: {result.stderr}")
    made = run(os.path.join(TOOLS, "mkperf"), "-o", data, input=result.stdout + more)
    if made.returncode != 0:
        raise AssertionError(f"mkperf: {made.stderr}")


def check_perf(what):
    if not shutil.which("perf"):
        return []
    result = run("perf", "script", "--itrace=e", "-i", "perf.data")
    text = result.stdout + result.stderr
    return [f"{what}: perf: {text[:300]}"] if "error" in text or result.returncode != 0 else []


def check_case(name, options, losses, clean):
    what = f"{name} {options}"
    make(name, options)
    problems = check_perf(what) if clean else []
    truth = edges("trace/truth.csv", name)
    if not losses and "--hole" not in options and name != "threads":
        problems += [f"{what}: made of another run: {d}" for d in differences(edges(name + ".exact.csv", name), truth, 0)]
    result = run(BR2PGO, "perf.data", "-b", name, "-o", "ours.edges.csv", "--threads", "2")
    if result.returncode != 0:
        return problems + [f"{what}: exit {result.returncode}: {result.stderr}"]
    told = re.search(r"has holes \(.*? (\d+)\)", result.stderr)
    lost = int(told.group(1)) if told else 0
    if lost == 0 if losses == SOME else lost != losses:
        problems.append(f"{what}: {losses} losses are in it: {result.stderr}")
    ours = edges("ours.edges.csv", name)
    if len(truth) < 50:
        problems.append(f"{what}: only {len(truth)} edges")
    return problems + [f"{what}: {d}" for d in differences(truth, ours, lost)]


def check_refused(what, name, expected, *options):
    result = run(BR2PGO, "perf.data", "-b", name, "-o", "refused.edges.csv", *options)
    if result.returncode != 3 or expected not in result.stderr or os.path.exists("refused.edges.csv"):
        return [f"{what}: exit {result.returncode}, not refused by '{expected}': {result.stderr}"]
    return []


def check_wrong_files():
    """Another build of the program: told by its build-id or, without one, by the trace that does not fit."""
    os.makedirs("other", exist_ok=True)
    subprocess.run(["gcc", "-O0", "-g", "-static", "-o", "other/serial", "serial.c"], check=True)
    make("serial", "")
    problems = check_refused("another build", "other/serial", "is not the one that was recorded")
    make("serial", "", more=f"buildid {'ab' * 20} {os.path.abspath('serial')}\n")
    return problems + check_refused("another build-id", "other/serial", "build-id")


def check_no_files():
    """Where the program is no longer, and what --binary names is not it."""
    make("serial", "")
    os.rename("serial", "renamed")
    problems = check_refused("another name", "renamed", "'renamed' is none of its files, by build-id or name")
    result = run(BR2PGO, "perf.data", "-b", "missing", "-o", "refused.edges.csv")
    if result.returncode != 1 or "cannot open 'missing'" not in result.stderr:
        problems.append(f"no such program: exit {result.returncode}: {result.stderr}")
    os.rename("renamed", "serial")
    return problems


def check_selection():
    make("threads", "")
    return (check_refused("--pid", "threads", "is a trace", "--pid", "1") +
            check_refused("--event", "threads", "are in a trace", "--event", "intel_pt//u"))


def check_profile():
    """From the trace to a compiler's profile, and the same bytes each time."""
    make("threads", "--cpus 2")
    texts = []
    for threads in ("1", "2", "2"):
        result = run(BR2PGO, "perf.data", "-b", "threads", "-o", "threads.textprof", "-q", "--threads", threads)
        if result.returncode != 0:
            return [f"profile: {result.stderr}"]
        with open("threads.textprof", encoding="utf-8") as file:
            texts.append(file.read())
    problems = [] if re.search(r"^half:\d+:4000$", texts[0], re.M) else [f"half is not called 4000 times: {texts[0]}"]
    result = run(BR2PGO, "inspect", "perf.data")
    if not re.search(r"trace +Intel PT, \d+ bytes in 2 streams, 0 gaps", result.stdout):
        problems.append(f"inspect: {result.stdout} {result.stderr}")
    size = re.search(r"Intel PT, (\d+) bytes", result.stdout)
    result = run(BR2PGO, "inspect", "--json", "perf.data")
    told = json.loads(result.stdout) if result.returncode == 0 else {}
    found = [told.get(f"trace_{what}") for what in ("streams", "bytes", "gaps")]
    if size is None or found != [2, int(size.group(1)), 0]:
        problems.append(f"inspect --json: {found}, exit {result.returncode}: {result.stderr}")
    result = run(BR2PGO, "check", "perf.data", "-b", "threads", "--max-beat", "5")
    if result.returncode != 2 or "it is of samples, and traces" not in result.stderr:
        problems.append(f"check --max-beat: exit {result.returncode}: {result.stderr}")
    return problems + ([] if len(set(texts)) == 1 else ["profiles of one trace differ"])


def main():
    if not os.path.exists(os.path.join(TOOLS, "pt_encode")) or not shutil.which("qemu-x86_64"):
        print("no libipt, or no qemu-x86_64")
        return 77
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for name in ("serial", "linked", "threads"):
                build(name)
            for case in CASES:
                problems += check_case(*case)
            problems += check_wrong_files() + check_no_files() + check_selection() + check_profile()
        finally:
            os.chdir("/")
    for problem in problems[:20]:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
