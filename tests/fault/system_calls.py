#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each call that opens, reads, maps, writes, closes or renames goes wrong in turn, on every command:
either the right output, or an error line and every file as it was. Interruptions and short transfers
must not be noticed at all."""
import errno
import os
import shutil
import subprocess
import sys
import tempfile

from program import BR2PGO, RECORDING, SANITIZE, SOURCE, TOOLS, is_x86, with_preload

SHORT, INTERRUPTED = 0, errno.EINTR
# What goes wrong with each call. What must be survived, or must fail, is in MUST_WORK and MUST_FAIL.
FAULTS = {
    "open": [errno.EIO, errno.EMFILE], "read": [errno.EIO, INTERRUPTED, SHORT],
    "pread": [errno.EIO, INTERRUPTED, SHORT], "write": [errno.ENOSPC, errno.EIO, INTERRUPTED, SHORT],
    "mmap": [errno.ENOMEM], "fstat": [errno.EIO], "fsync": [errno.EIO], "close": [errno.EIO],
    "rename": [errno.EIO], "link": [errno.EPERM], "fchmod": [errno.EPERM],
}
MUST_WORK = {(call, fault) for call in ("read", "pread", "write") for fault in (INTERRUPTED, SHORT)}
MUST_WORK.add(("link", errno.EPERM))
MUST_FAIL = {("write", errno.ENOSPC), ("write", errno.EIO), ("fsync", errno.EIO), ("rename", errno.EIO),
             ("fchmod", errno.EPERM)}
SUFFIXES = ("prof", "textprof", "binprof", "gcov", "fdata", "preagg", "unsymbolized", "edges.csv",
            "edges.json")
OUTPUTS = [word for suffix in SUFFIXES for word in ("-o", "out/x." + suffix)]
# Name, arguments, and what is piped in.
COMMANDS = [
    ("convert", ["perf.data", "-b", "app", *OUTPUTS, "--report", "out/report.json"], None),
    ("convert a stream", ["-", "-b", "app", "-o", "out/x.textprof"], "long.data.zst"),
    ("convert a directory", ["dir.data", "-b", "app", "-o", "out/x.textprof"], None),
    ("convert all", ["perf.data", "--sysroot", "root", "--all-images", "-f", "llvm-text",
                     "-o", "out/%n.%x"], None),
    ("convert text", ["x.unsymbolized", "-b", "app", "-o", "out/x.textprof"], None),
    ("inspect", ["inspect", "dir.data"], None),
    ("inspect as JSON", ["inspect", "perf.data", "--json"], None),
    ("show", ["show", "x.prof", "-o", "out/x.textprof"], None),
    ("merge for clang", ["merge", "x.prof", "x.textprof", "-o", "out/x.binprof"], None),
    ("merge for GCC", ["merge", "x.gcov", "x.gcov", "-o", "out/x.gcov"], None),
    ("merge for BOLT", ["merge", "x.fdata", "x.fdata", "-o", "out/x.fdata"], None),
    ("record", ["record", "--emulate", "--exact", "out/x.edges.csv", "-o", "out/x.prof", "--",
                "/bin/true"], None),
]


def make_files():
    subprocess.run(["cc", "-g", "-O1", "-fcf-protection=none", "-fno-toplevel-reorder", "-nostdlib",
                    "-static", "-no-pie", "-Wl,-Ttext=0x401000", "-Wl,-z,noseparate-code",
                    "-Wl,--build-id=0x51ac", "-x", "c", "-", "-o", "app"],
                   input=SOURCE, text=True, check=True)
    os.makedirs("root/opt")
    shutil.copy("app", "root/opt/app")
    event, tasks = RECORDING.split("\n", 1)
    sample = RECORDING % 1
    parts = f"{event}\npart 0\n{tasks % 1}end\npart 1\n{tasks % 2}end\n"
    for name, text in (("perf.data", RECORDING % 300), ("dir.data", parts),
                       ("long.data.zst", "packed zstd\n" + RECORDING % 30000), ("one.data", sample)):
        subprocess.run([os.path.join(TOOLS, "mkperf"), "-o", name], input=text, text=True, check=True)
    inputs = [word for suffix in SUFFIXES[:-2] for word in ("-o", "x." + suffix)]
    subprocess.run([BR2PGO, "one.data", "-b", "app", "-q", *inputs], check=True)
    os.mkdir("out")


def set_old():
    """Every output is there already; returns the folder's contents."""
    shutil.rmtree("out")
    os.mkdir("out")
    for name in [*("x." + suffix for suffix in SUFFIXES), "report.json", "app.textprof"]:
        with open(os.path.join("out", name), "w", encoding="utf-8") as file:
            file.write("old")
    return contents()


def contents():
    found = {}
    for name in sorted(os.listdir("out")):
        with open(os.path.join("out", name), "rb") as file:
            found[name] = file.read()
    return found


def run(arguments, piped, **faults):
    environment = with_preload(TMPDIR=os.getcwd(), **faults)
    stdin = open(piped, "rb") if piped else None  # pylint: disable=consider-using-with
    source = subprocess.Popen(["cat"], stdin=stdin, stdout=subprocess.PIPE) if piped else None
    result = subprocess.run([BR2PGO, *arguments], env=environment, capture_output=True, timeout=120,
                            stdin=source.stdout if source else subprocess.DEVNULL, check=False)
    if source:
        source.stdout.close()
        source.wait()
        stdin.close()
    return result


def judge_recording(result, call, fault):
    """Its bytes depend on the environment, which holds the fault. What was recorded is not given up when
    something else fails: each file is as it was, or whole."""
    now = contents()
    error = result.stderr.decode(errors="replace")
    whole = {
        "x.prof": now["x.prof"].startswith(b"PERFILE2") and subprocess.run(
            [BR2PGO, "inspect", "out/x.prof"], capture_output=True, check=False).returncode == 0,
        "x.edges.csv": now["x.edges.csv"].count(b"\n") > 10,
    }
    if result.returncode == 0:
        if (call, fault) in MUST_FAIL:
            return "passed unseen"
        return None if all(whole.values()) else "exit 0, but not the right output"
    if (call, fault) in MUST_WORK:
        return "failed: " + error
    if result.returncode != 1 or "br2pgo: error: " not in error:
        return f"exit {result.returncode}: {error}"
    if any(not good and now[name] != b"old" for name, good in whole.items()):
        return "part of a file: " + error
    return None


def judge(result, call, fault, old, new, said):
    """What is wrong with this outcome; None: nothing."""
    now = contents()
    report = now.get("report.json")
    error = result.stderr.decode(errors="replace")
    if result.returncode == 0:
        if (call, fault) in MUST_FAIL:
            return "passed unseen"
        return None if (now, result.stdout) == (new, said) else "exit 0, but not the right output"
    if (call, fault) in MUST_WORK:
        return "failed: " + error
    if result.returncode not in (1, 2, 3):
        return f"exit {result.returncode}: {error}"
    if not any(line.startswith("br2pgo: error: ") for line in error.splitlines()):
        return "no error line: " + error
    if report not in (None, b"old"):  # it is for failures too
        now["report.json"] = b"old"
    if now != old:
        left = [name for name in now if now.get(name) != old.get(name)]
        return f"changed {left or sorted(set(old) - set(now))}: {error}"
    return None


def numbers(count):
    """Which calls of so many: of a long row of the same, the first and the last."""
    return [number for number in range(1, count + 1) if number <= 12 or number > count - 12 or count <= 60]


def try_command(name, arguments, piped):
    """The number of faults tried and what was found."""
    set_old()
    result = run(arguments, piped, BR2_FAULT_COUNTS="counts")
    if result.returncode != 0 and name == "record":
        print("record: no emulator here")
        return 0, []
    if result.returncode != 0:
        return 0, [f"{name}: {result.stderr.decode()}"]
    new, said = contents(), result.stdout
    with open("counts", encoding="utf-8") as file:
        counts = {line.split()[0]: int(line.split()[1]) for line in file}
    tried, found, failures = 0, [], 0
    for call, faults in FAULTS.items():
        for fault in faults:
            for number in numbers(counts[call]):
                old = set_old()
                result = run(arguments, piped, BR2_FAULT=f"{call}:{number}:{fault or 'short'}")
                tried += 1
                failures += result.returncode != 0
                problem = judge_recording(result, call, fault) if name == "record" \
                    else judge(result, call, fault, old, new, said)
                if problem:
                    found.append(f"{name}: {call} number {number}, {os.strerror(fault)}: {problem}")
    left = [entry for entry in os.listdir(".") if entry.startswith(".br2pgo")]
    if left:
        found.append(f"{name}: left {left}")
    print(f"{name}: {tried} faults, {failures} of them ended it; "
          + ", ".join(f"{call} {count}" for call, count in counts.items() if count), flush=True)
    if failures == 0:
        found.append(f"{name}: no fault had an effect")
    return tried, found


def main():
    if not is_x86() or "thread" in SANITIZE:
        print("needs a compiler for x86-64, and no thread sanitizer")
        return 77
    folder = tempfile.mkdtemp(prefix="br2pgo-calls-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK)
                              else None)
    os.chdir(folder)
    problems = []
    try:
        make_files()
        chosen = [command for command in COMMANDS if len(sys.argv) < 2 or command[0] in sys.argv[1:]]
        for command in chosen:
            problems += try_command(*command)[1]
    finally:
        os.chdir("/")
        shutil.rmtree(folder)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
