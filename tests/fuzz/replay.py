#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small seeds for the fuzz targets, made here, and their replay: replay.py TARGET PROGRAM runs a target,
built with replay.c, on its seeds and damaged versions of them; replay.py --seeds FOLDER writes all
seeds to FOLDER/TARGET, to start fuzzing from."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fault"))
import program  # noqa: E402  pylint: disable=wrong-import-position

EVENT = "event cycles:u sample=IP,TID,TIME,CPU,BRANCH_STACK branch=USER,ANY\n"
BODY = program.RECORDING.split("\n", 1)[1] % 1
DESCRIPTIONS = {
    "file": EVENT + BODY, "pipe": "mode pipe\n" + EVENT + BODY, "big": "endian big\n" + EVENT + BODY,
    "old": "version 1\n" + EVENT + BODY, "index": EVENT.replace("ANY", "ANY,HW_INDEX") + BODY,
    "zstd": EVENT + f"compress 60\n{BODY}end\n", "zstd2": EVENT + f"compress 60 v2\n{BODY}end\n",
    "ids": "event a sample=IP,TID,TIME,IDENTIFIER,BRANCH_STACK branch=USER,ANY\nevent b "
           "sample=IP,TID,TIME,IDENTIFIER\nfeature event_desc\nbuildid 51ac /opt/app\n" + BODY,
    "tasks": EVENT + "fork pid=8 ppid=7\nlost 3\n" + BODY + "exit pid=8\nthrottle\n",
}
SCRIPT = bytes([3, 6, 21, 0, 3, 6, 23, 0, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 0, 3, 6, 8, 16, 0, 27, 0, 2,
                10, 0, 17, 0, 26, 0])
PROFILES = ("textprof", "binprof", "prof", "gcov")
LLVM_TEXT = b"""main:3600:100
 1: 100
 1.2: 90 _Z3foov:80 bar:10
 2: inlined:500
  1: 20
  3: deeper:40
   1: 7
 !CFGChecksum: 1234
other:7:0
 65535: 7
"""
CODE = bytes.fromhex("e80b000000ebf9909090909090909090" "83f8017402ffc1ffca75f5c3")


def make_recordings(folder):
    for name, description in DESCRIPTIONS.items():
        subprocess.run([os.path.join(program.TOOLS, "mkperf"), "-o", os.path.join(folder, name)],
                       input=description, text=True, check=True)


def convert(folder, suffixes):
    """What the fault tests' program gives in these formats."""
    program.Case.setUpClass()
    try:
        outputs = [word for suffix in suffixes
                   for word in ("-o", os.path.join(folder, "seed." + suffix))]
        subprocess.run([program.BR2PGO, program.Case.data, "-b", program.Case.app, "-q", *outputs],
                       check=True)
    finally:
        program.Case.tearDownClass()


def write(folder, name, content):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(content)


def make_directories(folder):
    """Two bytes, the size of `data`, then it and data.0."""
    make_recordings(folder)
    with open(os.path.join(folder, "file"), "rb") as file:
        whole = file.read()
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))
    records = int.from_bytes(whole[40:48], "little")
    write(folder, "directory", len(whole).to_bytes(2, "big") + whole + whole[records:])


def make_image(folder):
    program.Case.setUpClass()
    with open(program.Case.app, "rb") as file:
        write(folder, "app", file.read())
    program.Case.tearDownClass()


def make_profiles(folder):
    convert(folder, PROFILES)
    write(folder, "rich", LLVM_TEXT)


def make_texts(folder):
    """The first byte is the number of a beginning (fuzz_text.c)."""
    for number in range(10):
        write(folder, f"text{number}", bytes([number]) + b"B 401010 401013 7 1\nF 401010 401020 7\n")


def make_flow(folder):
    records = [(0x19, 0x10, 1), (0x13, 0x17, 0), (0x1b, 5, 2), (5, 0, 2), (0, 0x10, 1), (0, 0, 0xf0),
               (0x19, 0x10, 0xf), (0x13, 0x17, 0x31), (0x19, 0x10, 1), (0x19, 0x10, 1)]
    body = b"".join(bytes(record) for record in records * 3)
    write(folder, "loop", bytes([len(CODE)]) + CODE + body)
    write(folder, "zeros", bytes([64]) + bytes(64) + body)


def make_trace(folder):
    """The first byte says what of it there is (fuzz_trace.c); packets as in Intel's manual."""
    psb, end, clock, mode = b"\x02\x82" * 8, b"\x02\x23", b"\x19" + bytes([0, 9, 0, 0, 0, 0, 0]), b"\x99\x01"
    place = (0x401000).to_bytes(6, "little")
    body = psb + clock + mode + b"\x7d" + place + end
    body += b"\x52\x52\x59\x07\x53" + b"\x52"  # each TNT once through the called loop, compressed return; MTC, CYC
    body += b"\x08" + b"\x2d\x05\x10"  # no more of the loop; the return in a TIP
    kernel = b"\x7d" + place + b"\x6d" + bytes.fromhex("1000a081ffff") + b"\x52\x0e\x6d" + place + b"\x52"
    body += kernel + b"\x02\xf3\x7d" + place + b"\x52" + b"\x7d" + place + b"\x01" + mode + b"\x71" + place + b"\x52"
    for options in range(8):
        write(folder, f"trace{options}", bytes([options]) + body + body)


def make_etm(folder):
    """The first byte says what of it there is (fuzz_etm.c); packets as in Arm's IHI 0064."""
    def place(value):
        return bytes([value >> 2 & 0x7F, value >> 9 & 0x7F, value >> 16]) + bytes(5)

    context = b"\xb0\x07" + bytes(3)
    body = bytes(11) + b"\x80\x01\x00\x04\x85" + place(0x210000) + context + b"\xf7\xf7\xf7\xf6\xf7\x9d" + place(0x210004)
    body += b"\x06\x05\x9d" + place(0x210008) + b"\x04\x85" + place(0x210008) + context + b"\xf7\xf7"
    for options in range(1, 128, 2):
        write(folder, f"etm{options}", bytes([options]) + body + body)


SEEDS = {
    "fuzz_perf_data": make_recordings, "fuzz_perf_directory": make_directories,
    "fuzz_text": make_texts, "fuzz_image": make_image, "fuzz_flow": make_flow,
    "fuzz_profile": make_profiles, "fuzz_merge": make_profiles,
    "fuzz_fdata": lambda folder: convert(folder, ["fdata"]),
    "fuzz_edges": lambda folder: convert(folder, ["edges.csv", "edges.json"]),
    "fuzz_trace": make_trace, "fuzz_etm": make_etm,
    "fuzz_script": lambda folder: write(folder, "script", SCRIPT),
}


def main():
    if not program.is_x86():
        print("needs a compiler for x86-64")
        return 77
    if sys.argv[1] == "--seeds":
        for target, make in SEEDS.items():
            folder = os.path.join(sys.argv[2], target)
            os.makedirs(folder, exist_ok=True)
            make(folder)
        return 0
    with tempfile.TemporaryDirectory(prefix="br2pgo-seeds-") as folder:
        SEEDS[sys.argv[1]](folder)
        seeds = sorted(os.path.join(folder, name) for name in os.listdir(folder))
        return subprocess.run([sys.argv[2], *seeds], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
