#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Repeats the samples of a perf.data file, each time a little later, until the copy is large enough.

usage: make_large.py RECORDING SIZE OUTPUT      SIZE in bytes, or with K, M or G behind it

For benchmarks: all else is copied once, the ends of processes behind the last sample. Little-endian
files in file mode without compression, one layout for all events' samples."""
import struct
import sys

SAMPLE, EXIT = 9, 4
IDENTIFIER, IP, TID, TIME, SAMPLE_ID_ALL = 1 << 16, 1 << 0, 1 << 1, 1 << 2, 1 << 18


def size_of(text):
    factor = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1:].upper(), 1)
    return int(text[:-1] if factor != 1 else text) * factor


def records(data):
    at = 0
    while len(data) - at >= 8:
        kind, _, size = struct.unpack_from("<IHH", data, at)
        if size < 8 or size > len(data) - at:
            return
        yield kind, data[at:at + size]
        at += size


def time_offset(sample_type):
    if not sample_type & TIME:
        raise SystemExit("make_large: the samples have no time")
    return 8 + 8 * sum(bool(sample_type & bit) for bit in (IDENTIFIER, IP, TID))


def split(data, at_time):
    """Samples; all else, the ends of processes apart; first and last time of a sample."""
    samples, before, ends, times = [], [], [], []
    for kind, record in records(data):
        if kind == SAMPLE:
            samples.append(bytearray(record))
            times.append(struct.unpack_from("<Q", record, at_time)[0])
        elif kind == EXIT:
            ends.append(bytearray(record))
        else:
            before.append(record)
    return samples, b"".join(before), ends, times


def main():
    if len(sys.argv) != 4:
        print(__doc__)
        return 2
    with open(sys.argv[1], "rb") as file:
        whole = file.read()
    if whole[:8] != b"PERFILE2" or struct.unpack_from("<Q", whole, 8)[0] != 104:
        raise SystemExit("make_large: not a little-endian perf.data in file mode")
    attrs, data_at, data_size = struct.unpack_from("<Q", whole, 24)[0], *struct.unpack_from("<QQ", whole, 40)
    at_time = time_offset(struct.unpack_from("<Q", whole, attrs + 24)[0])
    samples, before, ends, times = split(whole[data_at:data_at + data_size], at_time)
    if not samples:
        raise SystemExit("make_large: no samples")
    span = max(times) - min(times) + 1
    once = sum(map(len, samples))
    rounds = max(1, -(-(size_of(sys.argv[2]) - len(before)) // once))
    with open(sys.argv[3], "wb") as out:
        out.write(whole[:data_at] + before)
        for number in range(rounds):
            for sample, time in zip(samples, times):
                struct.pack_into("<Q", sample, at_time, time + number * span)
            out.write(b"".join(samples))
        for end in ends:  # pid, ppid, tid, ptid, time
            time = struct.unpack_from("<Q", end, 24)[0] + (rounds - 1) * span
            struct.pack_into("<Q", end, 24, time)
            out.write(end)
        size = out.tell() - data_at
        write_features(out, whole, data_at + data_size, size - data_size)
        out.seek(48)
        out.write(struct.pack("<Q", size))
    print(f"{sys.argv[3]}: {rounds * len(samples)} samples, {size} bytes of data")
    return 0


def write_features(out, whole, table, moved):
    """The sections behind the data, whose table says where they are."""
    count = sum(bin(byte).count("1") for byte in whole[72:104])
    for i in range(count):
        offset, size = struct.unpack_from("<QQ", whole, table + 16 * i)
        out.write(struct.pack("<QQ", offset + moved, size))
    out.write(whole[table + 16 * count:])


if __name__ == "__main__":
    sys.exit(main())
