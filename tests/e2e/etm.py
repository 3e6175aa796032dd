#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arm ETM: the real recording gives the ranges that its own tool found, one by one; streams made here, packet by packet
(Arm IHI 0064), in frames and without, give every edge as often as they say, and no edge over what is missing."""
import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile

TOOLS, BR2PGO, DATA = os.environ["TOOLS"], os.environ["BR2PGO"], os.environ.get("BR2PGO_DATA")

PROGRAM = """
.globl _start
.type _start, %function
_start: bl work
after: svc #0
back: b _start
.size _start, .-_start
.type work, %function
work: subs w0, w0, #1
b.ne work
ret
.size work, .-work
"""
START, AFTER, BACK, WORK = 0x210000, 0x210004, 0x210008, 0x21000C
NOT_TAKEN = (WORK + 4, WORK + 8)
LOOP, CALL, RETURN, AGAIN = (WORK + 4, WORK), (START, WORK), (WORK + 8, AFTER), (BACK, START)

SYNC = bytes(11) + b"\x80" + b"\x01\x00"  # A-sync; trace info without anything
TRACE_ON, OVERFLOW = b"\x04", b"\x00\x05"
TAKEN, PASSED = b"\xf7", b"\xf6"


def address(value, thread):
    """Address and context: a long 64-bit address, EL0, 64 bits, and the context id."""
    parts = [value >> 2 & 0x7F, value >> 9 & 0x7F] + [value >> shift & 0xFF for shift in range(16, 64, 8)]
    return b"\x85" + bytes(parts) + bytes([0x90 | 0x20]) + thread.to_bytes(4, "little")


def long_address(value):
    parts = [value >> 2 & 0x7F, value >> 9 & 0x7F] + [value >> shift & 0xFF for shift in range(16, 64, 8)]
    return b"\x9d" + bytes(parts)


def exception(returns_to):
    """A call of the kernel, and where it will return to."""
    return b"\x06" + bytes([0x02 << 1 | 1]) + long_address(returns_to)


def indirect(value):
    return TAKEN + long_address(value)


def frames(stream, trace_id):
    """The formatter's frames of 16 bytes, all of one source; what is left of the last is of none (id 0)."""
    out, position = b"", 0
    data = list(stream)
    first = True
    while position < len(data):
        frame, flags = [], 0
        for at in range(15):
            if first and at == 0:
                frame.append(trace_id << 1 | 1)
                first = False
                continue
            if position == len(data):
                frame.append(1 if at % 2 == 0 else 0)  # source 0 from here on
                continue
            byte = data[position]
            if at % 2 == 0:
                flags |= (byte & 1) << (at // 2)
                byte &= 0xFE
            frame.append(byte)
            position += 1
        out += bytes(frame + [flags])
    return out


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def build():
    with open("a.s", "w", encoding="ascii") as file:
        file.write(PROGRAM)
    clang = os.path.join(os.environ.get("LLVM_BIN", ""), "clang")
    result = run(clang, "--target=aarch64-linux-gnu", "-nostdlib", "-static", "-fuse-ld=lld",
                 "-Wl,--image-base=0x200000,--section-start=.text=0x210000,-z,max-page-size=0x10000", "a.s", "-o", "a")
    return result.returncode == 0


def make(parts, unit_id=0x10, hw_id=None, thread_buffer=False):
    """A recording: `parts` are what the kernel's AUX records tell of, (bytes, flags, gap before)."""
    head = "event cs_etm//u type=8 config=0x4000 period=1 sample=IP,TID,TIME,CPU,IDENTIFIER flags=exclude_kernel\n"
    head += f"auxtrace_info type=3 priv=1,0x800000001,0,0x4040404040404040,2,7,0x40,{unit_id:#x},"
    head += "0x28000ea1,0x4100f422,0x20001088,0,0x8c\n"
    for pid in (7, 9):
        head += f"comm pid={pid} exec name=a\nmmap2 pid={pid} addr=0x210000 len=0x1000 off=0x10000 name=/opt/a\n"
    head += "comm pid=9 tid=10 name=thread\n"
    if hw_id is not None:
        head += f"hw_id value={hw_id:#x} pid=7 tid=7 cpu=2\n"
    at = 0
    where = "tid=7" if thread_buffer else "cpu=2"
    for number, (data, flags, gap) in enumerate(parts):
        at += gap
        with open(f"trace.{number}", "wb") as file:
            file.write(data)
        size = len(data) + -len(data) % 8
        head += f"aux pid=7 tid=7 cpu=2 off={at} size={size} flags={flags} time={1000 + number}\n"
        head += f"auxtrace idx=0 {where} off={at} ref={number} file=trace.{number}\n"
        at += size
    subprocess.run([os.path.join(TOOLS, "mkperf"), "-o", "perf.data"], input=head, text=True, check=True)


def edges():
    result = run(BR2PGO, "perf.data", "-b", "a", "-o", "a.edges.csv")
    if result.returncode != 0:
        return result.stderr, {}
    with open("a.edges.csv", encoding="ascii", newline="") as file:
        return result.stderr, {(int(r["from"], 16), int(r["to"], 16)): int(r["count"]) for r in csv.DictReader(file)}


def once(thread=7):
    """The program once: a call, three turns of the loop, the return by the stack of returns, a call of the kernel."""
    return (TRACE_ON + address(START, thread) + TAKEN + TAKEN + TAKEN + PASSED + indirect(AFTER) + exception(BACK))


def again(thread=7):
    """Back from the kernel: to where it was called, and the program's beginning, up to its call."""
    return TRACE_ON + address(BACK, thread) + TAKEN + TAKEN + exception(WORK)


ONCE = {CALL: 1, LOOP: 2, NOT_TAKEN: 1, RETURN: 1}
TWICE = {**ONCE, AGAIN: 1, CALL: 2}


def framed(*chunks):
    return frames(SYNC + b"".join(chunks), 0x10)


def check(what, expected, loss=None, **how):
    parts = how.pop("parts")
    make(parts, **how)
    said, found = edges()
    problems = [] if found == expected else [f"{what}: {found} in place of {expected}: {said}"]
    if (loss is None) != ("has holes" not in said) or (loss is not None and loss not in said):
        problems.append(f"{what}: losses: {said}")
    return problems


def check_made():
    whole = SYNC + once() + again()
    problems = check("in frames", TWICE, parts=[(frames(whole, 0x10), 0, 0)])
    problems += check("raw", TWICE, parts=[(whole, 0x100, 0)])
    problems += check("raw, of a thread", TWICE, parts=[(whole, 0x100, 0)], thread_buffer=True)
    problems += check("id of AUX_OUTPUT_HW_ID", TWICE, parts=[(frames(whole, 0x12), 0, 0)], unit_id=0x80, hw_id=0x12)
    problems += check("two parts", TWICE, parts=[(framed(once()), 0, 0), (framed(again()), 0, 0)])
    problems += check("a gap", TWICE, "not recorded 1", parts=[(framed(once()), 0, 0), (framed(again()), 0, 64)])
    problems += check("truncated", TWICE, "not recorded 1", parts=[(framed(once()), 1, 0), (framed(again()), 0, 0)])
    threads = once(7) + once(10) + again(7) + again(10)
    problems += check("two threads", {edge: 2 * count for edge, count in TWICE.items()},
                      parts=[(framed(threads), 0, 0)])
    cut = TRACE_ON + address(START, 7) + TAKEN + TAKEN + OVERFLOW + SYNC + TRACE_ON + address(BACK, 7) + TAKEN + exception(START)
    problems += check("an overflow", {CALL: 1, AGAIN: 1}, "overflow in the processor 1",
                      parts=[(framed(cut), 0, 0)])
    return problems


def check_hostile():
    """Bytes that are no trace, and a place without code, are an error of one line and what to do."""
    problems = []
    for what, data in (("no packets", bytes((i * 37 + 11) % 251 for i in range(4096))),
                       ("no code", framed(TRACE_ON, address(0x5000, 7), TAKEN * 9))):
        make([(data, 0, 0)])
        result = run(BR2PGO, "perf.data", "-b", "a", "-o", "hostile.edges.csv")
        if result.returncode != 3 or "hint:" not in result.stderr or os.path.exists("hostile.edges.csv"):
            problems.append(f"{what}: exit {result.returncode}: {result.stderr}")
    return problems


def read_injected(path):
    """Counts of ranges and of direct branches, as AutoFDO's text has them."""
    with open(path, encoding="ascii") as file:
        text = file.read()
    ranges = {(int(a, 16), int(b, 16)): int(n) for a, b, n in re.findall(r"^(\w+)-(\w+):(\d+)$", text, re.M)}
    branches = {(int(a, 16), int(b, 16)): int(n) for a, b, n in re.findall(r"^(\w+)->(\w+):(\d+)$", text, re.M)}
    return ranges, {edge: count for edge, count in branches.items() if edge[1] != 0}


def check_recording():
    """Ranges end at each branch, whether or not it was taken: runs are cut behind those they pass. The code at 0x1000
    to 0x1008 is of no function that the stripped program tells."""
    image = os.path.join(DATA, "etm/etm_test_loop")
    command = [BR2PGO, os.path.join(DATA, "etm/perf_etm.data"), "-b", image, "-q"]
    result = run(*command, "-o", "r.edges.csv", "-o", "r.unsymbolized")
    if result.returncode != 0:
        return [f"recording: {result.stderr}"]
    with open("r.edges.csv", encoding="ascii", newline="") as file:
        rows = [(int(r["from"], 16), int(r["to"], 16), r["kind"], int(r["count"])) for r in csv.DictReader(file)]
    passed = {start: end for start, end, kind, _ in rows if kind == "fallthrough"}
    found = {}
    with open("r.unsymbolized", encoding="ascii") as file:
        runs = re.findall(r"^(\w+)-(\w+):(\d+)$", file.read(), re.M)
    for begin, end, count in ((int(a, 16) + 0x1000, int(b, 16) + 0x1000, int(n)) for a, b, n in runs):
        for cut in sorted(at for at in passed if begin <= at < end):
            found[begin, cut] = found.get((begin, cut), 0) + count
            begin = passed[cut]
        found[begin, end] = found.get((begin, end), 0) + count
    ranges, branches = read_injected(os.path.join(DATA, "etm/perf_inject.data"))
    direct = {(a, b): n for a, b, kind, n in rows if kind in ("cond", "jump", "call")}
    problems = [] if ranges.pop((0x1000, 0x1004)) == 1 and branches.pop((0x1004, 0x100C)) == 1 else ["other injected data"]
    problems += [] if found == ranges else [f"ranges {found} in place of {ranges}"]
    return problems + ([] if direct == branches else [f"branches {direct} in place of {branches}"])


def main():
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            able = shutil.which("ld.lld") is not None and build()
            problems += check_made() + check_hostile() if able else []
            problems += check_recording() if DATA else []
        finally:
            os.chdir("/")
    for problem in problems:
        print(problem)
    if not able and not DATA:
        print("no clang or lld for AArch64, and no BR2PGO_DATA")
        return 77
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
