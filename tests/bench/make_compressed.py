#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a perf.data file again, its records compressed as `perf record -z` does (needs the program zstd).

usage: make_compressed.py RECORDING OUTPUT STREAM      STREAM: what the records hold, a zstd file

For benchmarks. Little-endian files in file mode; what stands behind the data (features) is left out."""
import struct
import subprocess
import sys

COMPRESSED, CHUNK = 81, 65000


def main():
    if len(sys.argv) != 4:
        print(__doc__)
        return 2
    with open(sys.argv[1], "rb") as file:
        whole = file.read()
    if whole[:8] != b"PERFILE2" or struct.unpack_from("<Q", whole, 8)[0] != 104:
        raise SystemExit("make_compressed: not a little-endian perf.data in file mode")
    at, size = struct.unpack_from("<QQ", whole, 40)
    with open(sys.argv[3], "wb") as stream:
        subprocess.run(["zstd", "-q", "-1", "-c"], input=whole[at:at + size], stdout=stream, check=True)
    with open(sys.argv[3], "rb") as stream, open(sys.argv[2], "wb") as out:
        out.write(whole[:at])
        while chunk := stream.read(CHUNK):
            out.write(struct.pack("<IHH", COMPRESSED, 0, 8 + len(chunk)) + chunk)
        packed = out.tell() - at
        out.seek(48)
        out.write(struct.pack("<Q", packed))
        out.seek(72)
        out.write(b"\0" * 32)
    return 0


sys.exit(main())
