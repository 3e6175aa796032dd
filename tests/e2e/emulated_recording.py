#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs recorded in the emulator: threads, processes and libraries are where they belong, the same
run gives the same bytes, exact counts are those that valgrind finds, other tools read the recording."""
import csv
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tools"))
import waiting  # noqa: E402

BR2PGO = os.environ["BR2PGO"]
BIN = os.environ.get("LLVM_BIN", "")

# Sums that take a branch now and then; a process that runs this program again; a library that is
# loaded late; threads.
PROGRAM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile long sink;

__attribute__((noinline)) long work(long n)
{
    long sum = sink;
    for (long i = 0; i < n; i++) {
        if (i % 3 == 0) { sum += i; } else if (i % 7 == 1) { sum ^= i; }
    }
    sink = sum;
    return sum;
}

static void *run(void *argument)
{
    char name[16];
    snprintf(name, sizeof name, "worker%ld", (long)argument);
    prctl(PR_SET_NAME, name);
    return (void *)work(20000 * (long)argument);
}

static void start_threads(void)
{
    pthread_t threads[2];
    for (long i = 0; i < 2; i++) { pthread_create(&threads[i], NULL, run, (void *)(i + 1)); }
    for (int i = 0; i < 2; i++) { pthread_join(threads[i], NULL); }
}

static void start_process(char *program)
{
    int status;
    if (fork() == 0) {
        work(9000);
        execl(program, program, "child", (char *)NULL);
        _exit(1);
    }
    wait(&status);
}

static void load(void)
{
    void *library = dlopen("./late.so", RTLD_NOW);
    long (*call)(long) = (long (*)(long))dlsym(library, "late");
    printf("%ld\n", call(30000));
}

static void show_name(void)
{
    char name[16];
    prctl(PR_GET_NAME, name);
    printf("%s\n", name);
    fflush(stdout);
}

static void close_all(void)
{
    for (int i = 3; i < 1024; i++) { close(i); }
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        work(15000);
        if (strcmp(argv[i], "threads") == 0) { start_threads(); }
        if (strcmp(argv[i], "process") == 0) { start_process(argv[0]); }
        if (strcmp(argv[i], "load") == 0) { load(); }
        if (strcmp(argv[i], "close") == 0) { close_all(); }
        if (strcmp(argv[i], "crash") == 0) { fflush(stdout); abort(); }
        if (strcmp(argv[i], "name") == 0) { show_name(); }
        if (strcmp(argv[i], "quit") == 0) { _exit(7); }
        if (strcmp(argv[i], "deaf") == 0) { signal(SIGINT, SIG_IGN); signal(SIGTERM, SIG_IGN); }
        if (strcmp(argv[i], "loop") == 0) { for (;;) { work(1000); } }
    }
    return 0;
}
"""
LATE = r"""
long late(long n)
{
    long sum = 0;
    for (long i = 0; i < n; i++) { if (i & 4) { sum += i; } }
    return sum;
}
"""
# Signals that come at any time, and one in the middle of a block.
# Ends by itself when it is told to, after some work.
ENDS = r"""
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile sig_atomic_t got;
static volatile long sink;

static void take(int number) { got = number; }

int main(void)
{
    sigset_t both, before; /* taken only where they are waited for: pause() would miss one before it */
    sigemptyset(&both);
    sigaddset(&both, SIGINT);
    sigaddset(&both, SIGTERM);
    sigprocmask(SIG_BLOCK, &both, &before);
    signal(SIGINT, take);
    signal(SIGTERM, take);
    printf("begun\n");
    fflush(stdout);
    while (got == 0) { sigsuspend(&before); }
    for (int i = 0; i < 77778; i++) { sink += i; }
    printf("got %d\n", got);
    return 0;
}
"""

SIGNALS = r"""
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
static volatile int hits, faults;
static sigjmp_buf back;
static void alarm_handler(int number) { for (int i = 0; i < 10; i++) { hits += (number + i) & 1; } }
static void fault_handler(int number) { faults += number != 0; siglongjmp(back, 1); }
__attribute__((noinline)) static long half(long x) { return x & 1 ? x * 3 : x / 2; }
int main(void)
{
    struct sigaction action;
    struct itimerval timer = {{0, 2000}, {0, 2000}};
    long sum = 0;
    memset(&action, 0, sizeof action);
    action.sa_handler = alarm_handler;
    sigaction(SIGALRM, &action, 0);
    action.sa_handler = fault_handler;
    sigaction(SIGSEGV, &action, 0);
    setitimer(ITIMER_REAL, &timer, 0);
    for (long i = 0; i < 1000000; i++) { sum += half(i); if (sum > 1000000) { sum -= 1000000; } }
    for (int i = 0; i < 5; i++) { if (!sigsetjmp(back, 1)) { *(volatile int *)0 = 1; } }
    return hits == 0 || faults != 5;
}
"""


def run(*words, **options):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False, **options)


def record(output, *words, status=0):
    result = run(BR2PGO, "record", "--emulate", "-o", output, *words)
    if result.returncode != status:
        raise AssertionError(f"record {' '.join(words)}: exit {result.returncode}: {result.stderr}")
    return result


def expect(what, got, wanted):
    if got != wanted:
        raise AssertionError(f"{what}: {got!r}, not {wanted!r}")


def build(name, text, *flags, compiler="cc"):
    with open(name + ".c", "w", encoding="utf-8") as file:
        file.write(text)
    subprocess.run([compiler, "-O1", "-g", name + ".c", "-o", name, *flags], check=True)


def find(name):
    path = os.path.join(BIN, name)
    return path if os.path.exists(path) else shutil.which(name)


def read_rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def conditionals(path, image):
    """{address: (taken, executed)}"""
    found = {}
    for row in read_rows(path):
        if row["image"] == image and row["kind"] in ("cond", "fallthrough") and row["from"]:
            taken, executed = found.get(int(row["from"], 16), (0, 0))
            count = int(row["count"])
            found[int(row["from"], 16)] = taken + count * (row["kind"] == "cond"), executed + count
    return found


def tasks(recording):
    """perf's view of who ran: lines like "FORK(1000:1001):(1000:1000)"."""
    text = run("perf", "script", "-i", recording, "--show-task-events", "--show-mmap-events").stdout
    found = re.findall(r"PERF_RECORD_(\S.*)", text)
    return [re.sub(r"MMAP2 (\d+)/\d+: .* (\S+)$", lambda m: f"MMAP2 {m[1]} {os.path.basename(m[2])}",
                   line).strip() for line in found]


def check_tasks():
    """Who starts whom, in numbers that depend on nothing else; what each process loads."""
    record("all.data", "--period", "101", "./program", "threads", "load", "process")
    if not shutil.which("perf"):
        return
    got = tasks("all.data")
    for line in ("COMM exec: program:1000/1000", "FORK(1000:1001):(1000:1000)",
                 "FORK(1000:1002):(1000:1000)", "COMM: worker1:1000/1001", "COMM: worker2:1000/1002",
                 "EXIT(1000:1001):(1000:1000)", "FORK(1003:1003):(1000:1000)",
                 "COMM exec: program:1003/1003", "EXIT(1003:1003):(1000:1000)",
                 "MMAP2 1000 program", "MMAP2 1000 late.so", "MMAP2 1003 program"):
        expect(line, got.count(line), 1)
    expect("late.so in the other program", got.count("MMAP2 1003 late.so"), 0)
    text = run("perf", "script", "-i", "all.data", "-F", "comm,tid,ip,sym,dso").stdout
    for line in (r"worker1\s+1001\s+\w+ work", r"worker2\s+1002\s+\w+ work",
                 r"program\s+1003\s+\w+ work", r"program\s+1000\s+\w+ late \(.*late\.so\)"):
        if not re.search(line, text):
            raise AssertionError(f"perf script has no line {line}")


def check_same():
    for name in ("one", "two"):
        record(name + ".data", "--period", "101", "--exact", name + ".csv", "--totals", name + ".json",
               "./program", "load", "process", "close", "process")
    for suffix in (".data", ".csv", ".json"):
        with open("one" + suffix, "rb") as one, open("two" + suffix, "rb") as two:
            expect("the second " + suffix, one.read() == two.read(), True)
    record("three.data", "--period", "101", "--seed", "3", "./program", "load")
    with open("one.json", encoding="utf-8") as file:
        totals = json.load(file)
    expect("processes", (totals["processes"], totals["threads"], totals["complete"]), (3, 3, True))


def expect_work(table, image, *calls):
    """The loop's counts are known: how many rounds, how many of a number divisible by 3, and how many
    are the last."""
    rounds = sum(calls)
    taken = sorted(min(t, n - t) for t, n in conditionals(table, image).values() if n == rounds)
    expect(f"{image}'s loop", taken, [len(calls), sum((n + 2) // 3 for n in calls)])


def check_short_threads():
    """Processes that end within a period are sampled as often as others: on average, one sample for
    a period's branches."""
    record("short.data", "--period", "20011", "--totals", "short.json", "sh", "-c",
           "for i in 1 2 3 4 5 6 7 8 9 10; do ./program; ./program; ./program; done")
    with open("short.json", encoding="utf-8") as file:
        totals = json.load(file)
    share = totals["samples"] * 20011 / totals["taken_branches"]
    expect(f"samples for their branches, {share:.2f}", 0.5 < share < 1.5, True)


def images(recording):
    return [image["path"] for image in json.loads(run(BR2PGO, "inspect", "--json", recording).stdout)["images"]]


def check_work():
    record("work.data", "--exact", "work.csv", "./program", "close", "close")
    expect_work("work.csv", "program", 15000, 15000)
    record("work.data", "--exact", "work.csv", "./program", "threads", "process")
    expect_work("work.csv", "program", 15000, 20000, 40000, 15000, 9000, 15000)
    # Threads that come when others have ended begin from nothing.
    record("work.data", "--exact", "work.csv", "./program", "threads", "threads", "threads")
    expect_work("work.csv", "program", *[15000, 20000, 40000] * 3)


def check_functions():
    """Exact counts name functions as a conversion of the recording does; the C library's too."""
    record("named.data", "--period", "101", "--exact", "exact.csv", "./fixed", "close")
    names = {}
    for row in read_rows("exact.csv"):
        names[row["image"], row["from"]] = row["function"]
    for path in ("fixed", next(image for image in images("named.data") if "/libc.so" in image)):
        expect("converts", run(BR2PGO, "named.data", "-q", "-b", path, "-o", "named.edges.csv").returncode, 0)
        ours = {row["from"]: row["function"] for row in read_rows("named.edges.csv")}
        expect(f"functions of {path}", {at: names[os.path.basename(path), at] for at in ours}, ours)
    found = {name for (image, _), name in names.items() if image == "fixed"}
    expect("the program's", {"main", "work"} - found, set())
    expect("what is outside", names["fixed", ""], "")


def check_callgrind():
    """Every conditional branch of the program: how often executed, how often taken."""
    if not shutil.which("valgrind"):
        print("no valgrind: not compared")
        return
    result = run("valgrind", "--tool=callgrind", "--collect-jumps=yes", "--dump-instr=yes",
                 "--compress-strings=no", "--compress-pos=no", "--callgrind-out-file=callgrind.out",
                 "./fixed", "load", "close")
    expect("valgrind's exit", result.returncode, 0)
    taken, executed, jump = {}, {}, None
    with open("callgrind.out", encoding="utf-8") as file:
        for line in file:
            if line.startswith("jcnd="):
                jump = int(re.match(r"jcnd=(\d+)/", line).group(1))
            elif line.startswith("0x"):
                fields = line.split()
                address = int(fields[0], 16)
                if jump is not None:
                    taken[address] = taken.get(address, 0) + jump
                elif len(fields) > 2:
                    executed[address] = executed.get(address, 0) + int(fields[2])
                jump = None
            elif line.startswith("calls="):
                next(file)
    record("fixed.data", "--exact", "fixed.csv", "./fixed", "load", "close")
    ours = conditionals("fixed.csv", "fixed")
    own = range(0x400000, 0x410000)  # the program is not moved; libraries' addresses begin at 0
    expect("branches", {address for address in taken if address in own} - set(ours), set())
    expect("enough branches", len(ours) >= 10, True)
    for address, (our_taken, our_executed) in ours.items():
        expect(f"branch {address:#x}", (our_taken, our_executed),
               (taken.get(address, 0), executed[address]))
    print(f"callgrind: {len(ours)} conditional branches equal")


def check_cycles():
    """Asked for, a record has as many cycles as instructions since the branch before: rounds of 12, and of 20 with a call."""
    wanted = [("loop", 12), ("loop", 20), ("run", 12), ("run", 15), ("run", 2), ("run", 3)]  # in order of addresses
    with open("rounds.s", "w", encoding="ascii") as file:
        file.write(".globl main\nmain: mov $6000, %ecx\n1:" + "nop;" * 10 + "dec %ecx; jnz 1b\n"
                   "mov $4000, %ecx\n2:" + "nop;" * 14 + "call 3f; dec %ecx; jnz 2b\nxor %eax, %eax; ret\n"
                   "3: nop; nop; ret\n.section .note.GNU-stack,\"\",@progbits\n")
    subprocess.run(["cc", "rounds.s", "-o", "rounds"], check=True)
    for depth in ("8", "64"):
        record("cycles.data", "--cycles", "--period", "101", "--depth", depth, "./rounds")
        shown = run(BR2PGO, "report", "cycles.data", "-b", "rounds", "--section", "latency", "--json").stdout
        rows = json.loads(shown)["tables"]["cycle_histograms"]["rows"]
        found = sorted((row["of"], row["start"], row["cycles"]) for row in rows if row["count"] > 100)
        expect(f"cycles at depth {depth}", [(of, cycles) for of, _, cycles in found], wanted)
    shown = run(BR2PGO, "inspect", "cycles.data").stdout
    expect("no cycles", "no cycles" in shown, False)


def check_signals():
    record("signals.data", "--exact", "signals.csv", "./signals")
    counts = conditionals("signals.csv", "signals").values()
    expect("branches that a signal cannot disturb",
           ((500000, 1000000) in counts, (999999, 1000000) in counts), (True, True))


def start_loop(output, *words):
    """A recording that has samples by the time this returns, of a program that does not end."""
    process = subprocess.Popen([BR2PGO, "record", "--emulate", "--period", "101", "-o", output, "./program", *words,
                                "name", "loop"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    expect("the loop's program", process.stdout.readline(), "program\n")
    return process


def check_interruptions():
    """One request that comes as two signals, as timeout's does, ends nothing at once; a second
    request kills the program; what was recorded is kept each time."""
    for _ in range(3):
        with start_loop("twice.data") as process:
            process.send_signal(signal.SIGSTOP)  # both are there when it goes on
            process.send_signal(signal.SIGTERM)
            process.send_signal(signal.SIGHUP)
            process.send_signal(signal.SIGCONT)
            errors = process.communicate(timeout=waiting.LIMIT)[1]
        expect("heard twice", ("stopped" in errors, "is killed" in errors.replace("again, it is killed", ""),
                               os.path.getsize("twice.data") > 1000), (True, False, True))
        os.remove("twice.data")
    with start_loop("twice.data", "deaf") as process:
        process.send_signal(signal.SIGINT)
        lines = waiting.lines_until(process.stderr, "told to end")
        time.sleep(0.7)  # less may be one request
        process.send_signal(signal.SIGINT)
        lines += process.communicate(timeout=waiting.LIMIT)[1].splitlines()
    expect("asked twice", (process.returncode, os.path.getsize("twice.data") > 1000), (-signal.SIGINT, True))
    expect("what is said", [line.split(";")[0] for line in lines if "interrupted again" in line],
           ["br2pgo: the program is told to end", "br2pgo: the program is killed, the recording is kept"])
    expect("what is left over", [n for n in os.listdir(".") if n.startswith(".br2pgo")], [])


def check_passed_on():
    """The program gets the very signal, and what it does then is recorded."""
    for number in (signal.SIGINT, signal.SIGTERM):
        with subprocess.Popen([BR2PGO, "record", "--emulate", "--exact", "ends.csv", "-o", "ends.data", "./ends"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            expect("begun", process.stdout.readline(), "begun\n")
            process.send_signal(number)
            said = process.communicate(timeout=waiting.LIMIT)[0]
        expect("passed on", (process.returncode, said), (-number, f"got {number}\n"))
        expect("recorded to its end", (77777, 77778) in conditionals("ends.csv", "ends").values(), True)


def limited(path, size, *words):
    """Records where a file can soon have so many bytes only. The emulator, which needs more, is not limited."""
    with subprocess.Popen([BR2PGO, "record", "--emulate", "--period", "101", "-o", path, *words],
                          stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (size, size))
        errors = process.communicate(timeout=waiting.LIMIT)[1]
    return process.returncode, errors


def check_part(path, result, reason, least, most):
    """A part was kept that is a whole recording of its own, nearly as large as there was room for."""
    status, errors = result
    expect(reason, (status, f"no room for more of the recording: {reason}" in errors, os.path.exists(path)),
           (1, True, False))
    part = path + ".partial"
    said = re.search(r"the (\d+) samples until then are in '(.*)'", errors)
    expect("the part", said and os.path.basename(said.group(2)), os.path.basename(part))
    size = os.path.getsize(part)
    expect(f"{size} bytes", least < size <= most, True)
    shown = json.loads(run(BR2PGO, "inspect", "--json", part).stdout)
    expect("the part's samples", (shown["state"], shown["branches"]["samples"]), ("whole", int(said.group(1))))
    os.remove(part)


def check_room():
    """No room for all of the recording: what there is room for is kept. None at all, and the program does not run."""
    loop = ("./program", "name", "loop")
    check_part("limited.data", limited("limited.data", 3 << 20, *loop), "File too large", 2 << 20, 3 << 20)
    result = run(BR2PGO, "record", "--emulate", "-o", "none.data", "touch", "has-run",
                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)))
    expect("no room", (result.returncode, "no room for a recording: File too large" in result.stderr,
                       os.path.exists("has-run")), (1, True, False))
    os.mkdir("small")
    if os.geteuid() == 0 and run("mount", "-t", "tmpfs", "-o", "size=4m", "none", "small").returncode == 0:
        try:
            result = limited("small/x.data", resource.RLIM_INFINITY, *loop)
            check_part("small/x.data", result, "No space left on device", 1 << 20, 4 << 20)
            expect("what is left over", os.listdir("small"), [])
        finally:
            run("umount", "small")
    else:
        print("may not mount: no full disk")
    result = subprocess.run([BR2PGO, "record", "--exact", "/dev/full", "-o", "whole.data", "./program"], check=False,
                            stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    expect("no room for counts", (result.returncode, "the recording is in 'whole.data', whole" in result.stderr,
                                  os.path.getsize("whole.data") > 1000), (1, True, True))


def check_lost_folder():
    """The recording cannot be put in its place: it is in another, which is said."""
    os.mkdir("gone")
    os.mkdir("spare")
    result = run(BR2PGO, "record", "--emulate", "-o", "gone/x.data", "sh", "-c", "rm -r gone; ./program",
                 env={**os.environ, "TMPDIR": os.path.abspath("spare")})
    said = re.search(r"the recording is in '(.*)', with (\d+) samples", result.stderr)
    expect("the folder is gone", (result.returncode, bool(said)), (1, True))
    shown = json.loads(run(BR2PGO, "inspect", "--json", said.group(1)).stdout)
    expect("the recording", (shown["state"], shown["branches"]["samples"]), ("whole", int(said.group(2))))
    expect("what is left over", len(os.listdir("spare")), 1)


def check_ends():
    """However the program ends, what was recorded is kept, and its status is passed on."""
    for words in (("./program",), ("sh", "-c", "true; ./program name")):
        expect("the name", record("name.data", *words, "name").stdout, "program\n")
    for how, status in (("crash", 128 + signal.SIGABRT), ("quit", 7)):
        result = record(how + ".data", "--period", "101", "./program", how, status=status)
        if how == "crash" and "signal 6" not in result.stderr:
            raise AssertionError(f"nothing said of the crash: {result.stderr}")
        expect(how, run(BR2PGO, how + ".data", "-q", "-b", "program", "-o", how + ".edges.csv").returncode,
               0)
    result = record("stopped.data", "--duration", "3", "--period", "101", "./program", "loop")
    expect("stopped", "stopped" in result.stderr, True)
    with start_loop("broken.data") as process:
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=waiting.LIMIT)[1]
    expect("interrupted", "stopped" in errors and os.path.getsize("broken.data") > 1000, True)
    expect("what is left over", [n for n in os.listdir(".") if n.startswith(".br2pgo")], [])


def check_refusals():
    with open("script.sh", "w", encoding="utf-8") as file:
        file.write("#!/bin/sh -e\n./program quit || test $? = 7\nno-such-program 2>/dev/null || true\n"
                   "exec ./program process\n")
    os.chmod("script.sh", 0o755)
    result = record("script.data", "-v", "./script.sh")
    expect("the script's processes", "processes 3," in result.stderr, True)
    result = run(BR2PGO, "record", "--emulate", "-o", "none.data", "./late.so.c")
    expect("no program", (result.returncode, os.path.exists("none.data")), (1, False))
    os.mkdir("bin")
    with open("bin/qemu-x86_64", "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\necho unknown option 1>&2\nexit 1\n")
    os.chmod("bin/qemu-x86_64", 0o755)
    result = run(BR2PGO, "record", "--emulate", "-o", "none.data", "./program",
                 env={**os.environ, "PATH": os.path.abspath("bin") + ":" + os.environ["PATH"]})
    expect("an emulator without plugins", (result.returncode, "takes no plugins" in result.stderr,
                                           os.path.exists("none.data")), (1, True, False))
    result = run(BR2PGO, "record", "--exact", "none/x.csv", "-o", "none.data", "./program", "loop",
                 timeout=60)
    expect("no folder", (result.returncode, os.path.exists("none.data")), (1, False))
    result = run(BR2PGO, "record", "--emulate", "--period", "100000000", "-o", "none.data", "./program")
    expect("no sample", (result.returncode, "no sample" in result.stderr,
                         os.path.exists("none.data")), (3, True, False))


def check_tools():
    """The converter and other tools make profiles of it."""
    record("plain.data", "--period", "53", "./plain", "load")
    result = run(BR2PGO, "plain.data", "-q", "-b", "plain", "-o", "plain.prof", "-o", "plain.edges.csv")
    expect("br2pgo", (result.returncode, result.stderr), (0, ""))
    if shutil.which("perf") and find("llvm-profgen"):
        result = run(find("llvm-profgen"), "--perfdata=plain.data", "--binary=plain",
                     "--output=other.textprof", "--format=text")
        expect("llvm-profgen", (result.returncode, os.path.getsize("other.textprof") > 0), (0, True))
    if shutil.which("perf") and find("perf2bolt"):
        result = run(find("perf2bolt"), "-p", "plain.data", "-o", "other.fdata", "plain")
        text = result.stdout + result.stderr
        expect("perf2bolt", "mismatching disassembled function contents: 0 (0.0%)" in text, True)


def check_machines():
    for machine in ("aarch64", "riscv64"):
        compiler = f"{machine}-linux-gnu-gcc"
        if not shutil.which(compiler) or not shutil.which("qemu-" + machine):
            print(f"no {machine}: not recorded")
            continue
        build("program-" + machine, PROGRAM, "-static", compiler=compiler)
        program = "program-" + machine
        record(machine + ".data", "--period", "101", "--exact", machine + ".csv", "./" + program, "close", "close")
        expect_work(machine + ".csv", program, 15000, 15000)
        check_conversion(machine, program)


def check_conversion(machine, program):
    """What samples say of that machine's program is what was counted."""
    result = run(BR2PGO, machine + ".data", "-v", "-b", program, "-o", machine + ".prof", "-o", machine + ".gcov",
                 "-o", machine + ".edges.csv")
    expect("converts", (result.returncode, os.path.getsize(machine + ".gcov") > 100), (0, True))
    exact = {row["from"]: row for row in read_rows(machine + ".csv") if row["image"] == program and row["kind"] == "cond"}
    rows = [row for row in read_rows(machine + ".edges.csv") if row["kind"] == "cond" and int(row["outcomes"]) > 500]
    expect("busy branches", len(rows) >= 3, True)
    for row in rows:
        wanted = exact[row["from"]]
        expect(f"{machine} {row['from']}: function and target", (row["function"], row["to"]), (wanted["function"], wanted["to"]))
        expect(f"{machine} {row['from']}: {row['probability']}, counted {wanted['probability']}",
               abs(float(row["probability"]) - float(wanted["probability"])) < 0.05, True)
    expect("work's", "work" in {row["function"] for row in rows}, True)
    shown = run(BR2PGO, "report", machine + ".data", "-b", program, "--section", "code", "--json").stdout
    texts = {row["text"].split()[0] for row in json.loads(shown)["tables"]["instructions"]["rows"]}
    expect(f"instructions as text: {texts}", ".inst" not in texts and ".2byte" not in texts and
           {"aarch64": "ldr", "riscv64": "addi"}[machine] in texts, True)


def main():
    if not shutil.which("qemu-x86_64") or os.uname().machine != "x86_64":
        print("no qemu-x86_64, or another machine")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        build("program", PROGRAM, "-pthread", "-ldl")
        build("fixed", PROGRAM, "-pthread", "-ldl", "-no-pie")
        build("plain", PROGRAM, "-pthread", "-ldl")
        build("signals", SIGNALS)
        build("ends", ENDS)
        build("late.so", LATE, "-shared", "-fPIC")
        try:
            for check in (check_tasks, check_same, check_short_threads, check_work, check_functions, check_callgrind, check_cycles, check_signals,
                          check_interruptions, check_passed_on, check_room, check_lost_folder, check_ends, check_refusals, check_tools, check_machines):
                begin = time.monotonic()
                check()
                print(f"{check.__name__}: {time.monotonic() - begin:.1f} s")
        finally:
            os.chdir("/")
    return 0


if __name__ == "__main__":
    sys.exit(main())
