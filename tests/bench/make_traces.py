#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a perf.data file of made-up branch records, for benchmarks of reading and counting.

usage: make_traces.py [--traces N] [--processes N] [--size SIZE] OUTPUT

So many distinct traces (1M), spread over 5000 functions of 4 KiB each, in samples of 32 records, again and again
until the file has its SIZE in bytes (512M; K, M or G behind it). Each process (1) maps the image at a place of its
own and has its share of the traces. Numbers are the same in every run."""
import argparse
import random
import struct
import sys

FUNCTIONS, DEPTH, LENGTH = 5000, 32, 5000 * 4096
IP, TID, TIME, BRANCH_STACK = 1 << 0, 1 << 1, 1 << 2, 1 << 11
COMM, SAMPLE, MMAP2 = 3, 9, 10


def size_of(text):
    factor = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1:].upper(), 1)
    return int(float(text[:-1] if factor != 1 else text) * factor)


def name_of(text):
    return text + b"\0" * (8 - len(text) % 8)


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def base_of(pid):
    return 0x555500000000 + pid * (1 << 26)


def process(pid):
    """Its execution and the mapping of its image."""
    trailer = struct.pack("<iiQ", pid, pid, 1)
    exec_name = record(COMM, 1 << 13, struct.pack("<ii", pid, pid) + name_of(b"app") + trailer)
    mapping = struct.pack("<iiQQQIIQQII", pid, pid, base_of(pid), LENGTH, 0, 8, 1, 4711, 1, 5, 2)
    return exec_name + record(MMAP2, 2, mapping + name_of(b"/opt/app") + trailer)


def sample(pid, time, numbers):
    """A straight run leads from each branch's target to the next newer branch."""
    base = base_of(pid)
    source = base + numbers.randrange(FUNCTIONS) * 4096 + numbers.randrange(1024) * 4
    records = []
    for _ in range(DEPTH):
        target = source - numbers.randrange(1, 16) * 4
        older = base + numbers.randrange(FUNCTIONS) * 4096 + numbers.randrange(1024) * 4
        records.append(struct.pack("<QQQ", older, target, 1 + (numbers.random() < 0.95)))
        source = older
    head = struct.pack("<QiiQQ", source, pid, pid, time, DEPTH)
    return record(SAMPLE, 2, head + b"".join(records))


def attributes():
    sample_type = IP | TID | TIME | BRANCH_STACK
    attr = struct.pack("<IIQQQQQ", 0, 112, 0, 1000003, sample_type, 0, 1 << 18 | 1 << 8 | 1 << 9)
    attr += struct.pack("<IIQQQ", 0, 0, 0, 0, 1 << 0 | 1 << 3)
    return attr + b"\0" * (112 - len(attr))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--traces", type=size_of, default=1000000)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--size", type=size_of, default=512 << 20)
    parser.add_argument("output")
    args = parser.parse_args()
    numbers = random.Random(1)
    pids = range(1000, 1000 + args.processes)
    begin = b"".join(process(pid) for pid in pids)
    samples = b"".join(sample(pids[i % len(pids)], 1000 + i, numbers)
                       for i in range(max(len(pids), args.traces // DEPTH)))
    rounds = max(1, round((args.size - len(begin)) / len(samples)))
    at, ids = 104, 104 + 112 + 16
    size = len(begin) + rounds * len(samples)
    header = b"PERFILE2" + struct.pack("<QQQQQQQQQ", 104, 128, at, 128, ids, size, 0, 0, 0)
    with open(args.output, "wb") as out:
        out.write(header + b"\0" * (104 - len(header)))
        out.write(attributes() + struct.pack("<QQ", ids, 0))
        out.write(begin)
        for _ in range(rounds):
            out.write(samples)
    return 0


sys.exit(main())
