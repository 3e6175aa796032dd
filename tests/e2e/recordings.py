#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What each recording of the folder $BR2PGO_DATA must come to: public ones from real processors, and
emulated ones whose exact counts are known. Skipped where that folder is not."""
import gzip
import json
import lzma
import os
import re
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SOURCE_DIR"], "tests", "tools"))
import score_edges  # noqa: E402  pylint: disable=wrong-import-position

DATA = os.environ.get("BR2PGO_DATA", "")
PROFDATA = os.path.join(os.environ.get("LLVM_BIN", ""), "llvm-profdata")

# A call that must be refused: recording, binary, output, exit status, what stderr says.
REFUSED = [
    ("autofdo/propeller_sample_1.perfdata1", "autofdo/propeller_sample_1.bin", "x.prof", 3,
     "error: .*propeller_sample_1.bin' has .*neither functions nor a line table for the code that ran"),
    ("etm/perf_etm.data", "etm/etm_test_loop", "x.prof", 3, "error: .*etm_test_loop' has no line table"),
    ("perfparser/perf.lbr.data", None, "x.edges.csv", 3, "error: .*branch records are call stacks"),
    ("perfparser/perf.data.zstd", None, "x.edges.csv", 3, "error: .*no branch records"),
    ("linux-perf-data/fibo.compressed2.pipe.data", None, "x.prof", 3, "error: .*no branch records"),
    ("linux-perf-data/sleep.compressed.data", None, "x.prof", 3, "error: .*no branch records"),
    ("linux-perf-data/sleep.compressed2.data", None, "x.prof", 3, "error: .*no branch records"),
    # Read, but without the image; in the last two all records lie in the kernel.
    ("quipper/perf.data.branch-4.14", None, "x.prof", 2, "hint: .*ld-2.23.so' 96.9 %"),
    ("quipper/perf.data.callgraph_and_branch-3.8", None, "x.prof", 1,
     "error: cannot open '/opt/google/chrome/chrome'"),
    ("quipper/perf.data.branch_stack_hw_index", None, "x.prof", 1,
     "error: cannot open '/opt/google/chrome/chrome'"),
    ("quipper/perf.data.branch_stack_spec", None, "x.prof", 3, "error: no branch record lies in"),
    ("autofdo/perf-kernel.data", "autofdo/test_kernel_module.ko", "x.edges.csv", 3,
     "error: no branch record lies in .*test_kernel_module.ko"),
]

# recording: event with branch records, its samples, their records, deepest, records of the image with most
READ = {
    "quipper/perf.data.branch-4.14": ("cycles:ppp", 13, 416, 32, 323),
    "quipper/perf.data.callgraph_and_branch-3.8": ("cycles", 1856, 29696, 16, 17797),
    "quipper/perf.data.branch_stack_spec": ("rc4", 8, 128, 16, 128),
    "quipper/perf.data.branch_stack_hw_index": ("instructions:uH", 5, 116, 33, 71),
    "autofdo/perf-kernel.data": ("instructions:k", 24, 1445, 64, 1445),
    "autofdo/test.lbr": (None, 9232, 147712, 16, 143639),
    "simpleperf/perf_lbr.data": (None, 13, 386, 32, 385),
}

# Emulated: least edge_overlap, most cond_error; least program similarity and hot-block overlap.
EMULATED = {
    "lua-clang": (0.98, 0.003, 98.9, 89.3),
    "lua-gcc": (0.98, 0.003, None, None),
    "speedtest1-clang": (0.97, 0.0055, 98.2, 95.3),
}

problems = []


def expect(good, what):
    if not good:
        problems.append(what)
        print(f"WRONG: {what}")


def path(name):
    return os.path.join(DATA, name)


def br2pgo(*words):
    return subprocess.run([os.environ["BR2PGO"], *words], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)


def convert(recording, binary, *outputs, options=()):
    """The funnel {(stage, reason): count} of a conversion that must succeed."""
    words = [path(recording), "--report", "report.json", *options]
    words += ["-b", path(binary)] if binary else []
    for output in outputs:
        words += ["-o", output]
    result = br2pgo(*words)
    expect(result.returncode == 0, f"{recording}: exit {result.returncode}: {result.stderr}")
    if result.returncode != 0:
        return {}
    with open("report.json", encoding="utf-8") as file:
        rows = json.load(file)["funnel"]
    return {(row["stage"], row["reason"]): row["count"] for row in rows}


def check_refused():
    for recording, binary, output, status, message in REFUSED:
        words = [path(recording), "-o", output] + (["-b", path(binary)] if binary else [])
        result = br2pgo(*words)
        expect(result.returncode == status and re.search(message, result.stderr)
               and not os.path.exists(output) and "hint: " in result.stderr,
               f"{recording}: exit {result.returncode}, not {status} with '{message}': {result.stderr}")
        print(f"{recording}: {result.stderr.splitlines()[-2] if result.stderr else ''}")


def check_read():
    for recording, (event, samples, records, depth, most) in READ.items():
        result = br2pgo("inspect", path(recording))
        text = result.stdout
        found = re.search(r"^branches +(\d+) records in (\d+) samples, at most (\d+) each", text, re.M)
        images = re.findall(r"^ +(\d+) +\d+\.\d\d% ", text, re.M)
        got = tuple(map(int, found.groups())) if found else None
        expect(result.returncode == 0 and got == (records, samples, depth)
               and images and int(images[0]) == most
               and (event is None or f"event        '{event}': {samples} samples" in text),
               f"inspect {recording}: {got}, {images[:1]}:\n{text}")


def taken_edges(table):
    edges = score_edges.read(table)
    return {pair: count for pair, (count, _) in edges.taken.items()}


def check_autofdo():
    funnel = convert("autofdo/test.lbr", "autofdo/test.binary", "lbr.textprof", "lbr.edges.csv")
    runs = funnel.get(("straight runs", "kept"), 0)
    expect(abs(runs - 134622) <= 134, f"test.lbr: {runs} straight runs, another tool: 134622")
    print(f"test.lbr: {runs} straight runs; another tool: 134622")

    funnel = convert("autofdo/propeller_sample_1.perfdata1", "autofdo/propeller_sample_1.bin",
                     "propeller.edges.csv")
    expect(funnel.get(("branch records", "newest logged twice"), 0) > 900,
           f"propeller_sample_1: the records logged twice are not seen: {funnel}")
    expect(funnel.get(("straight runs", "kept")) == funnel.get(("straight runs", "in"), -1),
           f"propeller_sample_1: runs are lost: {funnel}")

    name = "autofdo/hierarchical_discriminator_test.x86_64"
    funnel = convert(name + ".perf.data", name, "h.textprof", "h.edges.csv")
    with open("h.textprof", encoding="utf-8") as file:
        functions = re.findall(r"^(\w+):\d+:\d+$", file.read(), re.M)
    expect({"main", "test_vector_loop", "test_unroll"} <= set(functions), f"{name}: {functions}")


def check_simpleperf():
    """Its own tool's counts of the same recording: FROM->TO:COUNT, addresses less the load bias of
    0x1000."""
    convert("simpleperf/perf_lbr.data", "simpleperf/lbr_test_loop", "l.textprof", "l.edges.csv")
    with open(path("simpleperf/inject_lbr.data"), encoding="utf-8") as file:
        wanted = {(int(a, 16) + 0x1000, int(b, 16) + 0x1000): int(n)
                  for a, b, n in re.findall(r"^(\w+)->(\w+):(\d+)$", file.read(), re.M)}
    got = taken_edges("l.edges.csv")
    expect(got == wanted, f"lbr_test_loop: {got}, not {wanted}")


def declaration_lines(image):
    """{function: its declaration line}, of all functions whose code the image's debug information
    describes."""
    out = subprocess.run([os.path.join(os.environ["TOOLS"], "dump_image"), image], check=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
    lines = {}
    for line in out.splitlines():
        if line.startswith("F "):
            for frame in line.split(" ", 3)[3].split("|"):
                name, _, decl, _ = (frame.rsplit(":", 3) + [""] * 3)[:4]
                if decl:
                    lines[name] = int(decl)
    return lines


def without_line_zero(text, declared):
    """The text without the records of line 0, whose offset is 0 - declaration line in 16 bits: the
    exact profile of a program with long files still holds some. They are no place in the source, and
    br2pgo leaves them out."""
    out, names, removed = [], [], 0
    for line in text.splitlines():
        depth = len(line) - len(line.lstrip(" "))
        header = re.match(r"(?: *(\d+)(?:\.\d+)?: )?([^\s:]+):\d+", line)
        record = re.match(r" +(\d+)(?:\.\d+)?: \d+(?: |$)", line)
        if record and names:
            decl = declared.get(names[depth - 1], 0)
            if decl and int(record.group(1)) == -decl & 0xffff:
                removed += 1
                continue
        elif header:
            names[depth:] = [header.group(2)]
        out.append(line)
    return "\n".join(out) + "\n", removed


def overlap(truth, ours):
    """Program similarity and hot-block overlap."""
    text = subprocess.run([PROFDATA, "overlap", "--sample", truth, ours], check=True,
                          stdout=subprocess.PIPE).stdout.decode()
    return (float(re.search(r"program profile similarity: +([\d.]+)%", text).group(1)),
            float(re.search(r"Hot-block overlap: +([\d.]+)%", text).group(1)))


def check_overlap(name, similarity, hot):
    with open(path(f"emulated/{name}.exact.textprof"), encoding="utf-8") as file:
        text, removed = without_line_zero(file.read(), declaration_lines(path(f"emulated/{name}")))
    with open("truth.textprof", "w", encoding="utf-8") as file:
        file.write(text)
    plain = overlap(path(f"emulated/{name}.exact.textprof"), f"{name}.textprof")
    got = overlap("truth.textprof", f"{name}.textprof")
    print(f"{name}: program similarity {got[0]} %, hot-block overlap {got[1]} %"
          f" (with the {removed} records of line 0 in the truth: {plain[0]} %, {plain[1]} %)")
    expect(got[0] >= similarity and got[1] >= hot,
           f"{name}: similarity and hot-block overlap are {got}, to be {similarity, hot}")


def check_emulated():
    for name, (least_overlap, most_error, similarity, hot) in EMULATED.items():
        outputs = [name + suffix for suffix in
                   (".prof", ".binprof", ".textprof", ".edges.csv", ".edges.json")]
        convert(f"emulated/{name}.perf.data", f"emulated/{name}", *outputs)
        figures = score_edges.score(score_edges.read(path(f"emulated/{name}.truth.csv")),
                                    score_edges.read(f"{name}.edges.csv"))
        print(f"{name}: " + ", ".join(f"{k} {v:.6f}" for k, v in figures.items()))
        expect(figures["edge_overlap"] >= least_overlap and figures["cond_error"] <= most_error
               and figures["wrong_edges"] == 0 and figures["cond_coverage"] >= 0.997,
               f"{name}: {figures}")
        if similarity is None:
            continue
        if os.path.exists(PROFDATA):
            check_overlap(name, similarity, hot)
        else:
            print(f"{name}: no llvm-profdata: overlap not measured")


def numbers(data, at, count):
    return struct.unpack_from("<" + "Q" * count, data, at)


def split(recording, folder):
    """The recording in a directory: its samples in turn in data.0, data.1, data.2."""
    with open(recording, "rb") as file:
        data = file.read()
    header = list(numbers(data, 0, 13))
    begin, size = header[5], header[6]
    kept, parts, turn, at = b"", [b"", b"", b""], 0, begin
    while at < begin + size:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        if kind == 9:
            parts[turn % 3] += data[at:at + length]
            turn += 1
        else:
            kept += data[at:at + length]
        at += length
    removed = size - len(kept)
    header[6] = len(kept)
    features = bin(sum(bits << 64 * i for i, bits in enumerate(header[9:13]))).count("1")
    table = list(numbers(data, begin + size, 2 * features))
    for i in range(0, len(table), 2):
        table[i] -= removed
    whole = struct.pack("<13Q", *header) + data[104:begin] + kept
    whole += struct.pack(f"<{len(table)}Q", *table) + data[begin + size + 8 * len(table):]
    os.mkdir(folder)
    for name, content in [("data", whole)] + [(f"data.{i}", p) for i, p in enumerate(parts)]:
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)


def profile_of(words, recording=None):
    """The bytes of the profile that a call makes, with a recording on its standard input."""
    words = [os.environ["BR2PGO"], *words, "-b", path("emulated/lua-clang"), "-o", "c.prof"]
    result = subprocess.run(words, input=recording, stderr=subprocess.PIPE, check=False)
    expect(result.returncode == 0 and not result.stderr, f"{words}: {result.stderr.decode()}")
    with open("c.prof", "rb") as file:
        return file.read()


def check_containers():
    """A real recording comes to the same profile however it is packed and split, and in parts."""
    name = path("emulated/lua-clang.perf.data")
    with open(name, "rb") as file:
        recording = file.read()
    wanted = profile_of([name])
    for packing in (gzip, lzma, None):
        packed = packing.compress(recording) if packing else recording
        with open("packed", "wb") as file:
            file.write(packed)
        expect(profile_of(["packed"]) == wanted, f"{packing}: not the same profile")
        expect(profile_of(["-"], packed) == wanted, f"{packing}, in a stream: not the same profile")
    split(name, "split")
    expect(profile_of(["split"]) == wanted, "a directory: not the same profile")
    expect(profile_of(["--weight", "0.1", name]) == wanted, "one weight: not the same profile")
    # The parts of the time, each a recording, add up; so does one that counts twice.
    funnel = convert("emulated/lua-clang.perf.data", "emulated/lua-clang", "whole.edges.csv")
    whole = funnel.get(("branch records", "in"), 0)
    parts = [convert("emulated/lua-clang.perf.data", "emulated/lua-clang", "part.edges.csv",
                     options=["--time", span]).get(("branch records", "in"), 0)
             for span in ("0%-30%", "30%-100%")]
    expect(whole > 0 and min(parts) > whole / 5 and sum(parts) == whole,
           f"parts of the time have {parts} of {whole} records")
    funnel = convert("emulated/lua-clang.perf.data", "emulated/lua-clang", "twice.edges.csv",
                     options=["--weight", "2", name])
    expect(funnel.get(("branch records", "in"), 0) == 3 * whole, f"weights 1 and 2: {funnel}")


def main():
    if not os.path.exists(path("emulated")) or not DATA:
        print("skipped: BR2PGO_DATA does not name the folder of recordings")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            check_refused()
            check_read()
            check_autofdo()
            check_simpleperf()
            check_emulated()
            check_containers()
        finally:
            os.chdir("/")
    print(f"{len(problems)} wrong")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
