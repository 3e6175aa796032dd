#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Public recordings (BR2PGO_DATA) cut at record boundaries and at random bytes: read or refused, and never
more samples than the whole has. BR2PGO_CUTS sets how many random ones."""
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

from program import BR2PGO

DATA = os.environ.get("BR2PGO_DATA", "")
CUTS = int(os.environ.get("BR2PGO_CUTS", "1000"))
BOUNDARIES = 300
RECORDINGS = ("autofdo/test.lbr", "autofdo/propeller_sample_1.perfdata1", "autofdo/perf-kernel.data",
              "quipper/perf.data.branch-4.14", "quipper/perf.data.branch_stack_spec",
              "simpleperf/perf_lbr.data", "perfparser/perf.data.zstd")


def boundaries(content):
    """Where records end, of a file in file mode: spread over it, at most so many."""
    if content[:8] != b"PERFILE2" or content[8] == 16:
        return []
    at, size = struct.unpack_from("<QQ", content, 40)
    end, found = min(at + size, len(content)), []
    while at + 8 <= end:
        length = struct.unpack_from("<H", content, at + 6)[0]
        if length < 8:
            break
        at += length
        found.append(at)
    return found[:: max(1, len(found) // BOUNDARIES)]


def inspect(path):
    result = subprocess.run([BR2PGO, "inspect", "--json", path], capture_output=True, check=False,
                            timeout=60)
    if result.returncode == 0:
        return json.loads(result.stdout)["branches"]["samples"]
    if result.returncode not in (1, 3) or not result.stderr.startswith(b"br2pgo: error: "):
        raise AssertionError(f"exit {result.returncode}: {result.stderr.decode(errors='replace')}")
    return None


def try_recording(path, folder):
    with open(path, "rb") as file:
        content = file.read()
    copy = os.path.join(folder, "cut")
    shutil.copyfile(path, copy)
    os.chmod(copy, 0o600)
    numbers = random.Random(len(content))
    cuts = sorted({*boundaries(content), *(numbers.randrange(len(content)) for _ in range(CUTS))},
                  reverse=True)
    most = inspect(copy)
    read = 0
    for cut in cuts:  # each shorter than the one before
        os.truncate(copy, cut)
        samples = inspect(copy)
        if samples is not None:
            read += 1
            if most is None or samples > most:
                raise AssertionError(f"{path} cut to {cut}: {samples} samples, {most} when longer")
            most = samples
    print(f"{os.path.basename(path)}: {len(cuts)} cuts, {read} read")
    return read


def main():
    paths = [os.path.join(DATA, name) for name in RECORDINGS if os.path.exists(os.path.join(DATA, name))]
    if not DATA or not paths:
        print("needs BR2PGO_DATA")
        return 77
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        read = sum(try_recording(path, folder) for path in paths)
    return 0 if read > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
