#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What can make a conversion slow, each case beside what it has to be compared with.

usage: cases.py --build DIR --recording PERF.DATA --binary BINARY [--rounds N] [--scratch DIR] [CASE...]

DIR is where br2pgo was built with its tests. Cases (all of them): start, threads, compressed, traces, processes,
files, image. Each command runs once in a round, in turn; medians are printed."""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

import peers

HERE = os.path.dirname(os.path.abspath(__file__))
PARTS, FUNCTIONS, TYPES = 100, 500, 6000


def script(name, *arguments, **options):
    subprocess.run([sys.executable, os.path.join(HERE, name), *map(str, arguments)], check=True,
                   **{"stdout": subprocess.DEVNULL, **options})


class Bench:
    def __init__(self, args, folder):
        self.args = args
        self.folder = folder
        self.br2pgo = os.path.join(os.path.abspath(args.build), "bin", "br2pgo")
        self.count = os.path.join(os.path.abspath(args.build), "tools", "count")
        self.binary = self.path(os.path.basename(args.binary))
        shutil.copy(args.binary, self.binary)

    def path(self, name):
        return os.path.join(self.folder, name)

    def large(self, size):
        """The recording, repeated up to `size`."""
        path = self.path("large-" + size)
        if not os.path.exists(path):
            script("make_large.py", self.args.recording, size, path)
        return path

    def convert(self, recordings, *more, binary=None):
        return [self.br2pgo, "-q", *recordings, "-b", binary or self.binary, "-o", self.path("out.prof"), *more]

    def row(self, case, commands):
        """Runs named commands in turn and prints a line for each, with the ratio to the first."""
        runs = {name: [] for name in commands}
        for _ in range(self.args.rounds):
            for name, command in commands.items():
                runs[name].append(peers.run(command, self.folder))
        first = None
        for name, values in runs.items():
            if None in values:
                print("| %s | %s | failed | | | |" % (case, name))
                continue
            wall, cpu, memory = (statistics.median(v[i] for v in values) for i in range(3))
            first = first or cpu
            print("| %s | %s | %.4f | %.4f | %.0f | %.2f |" % (case, name, wall, cpu, memory, cpu / first))
        sys.stdout.flush()


def start(bench):
    bench.row("start", {"br2pgo --version": [bench.br2pgo, "--version"], "true": ["true"]})


def threads(bench):
    data = bench.large("300M")
    bench.row("threads", {"%d thread%s" % (n, "s" if n > 1 else ""): bench.convert([data], "-j", str(n))
                          for n in (1, 2, 3, 7)})


def compressed(bench):
    data, stream = bench.path("packed.data"), bench.path("packed.zst")
    script("make_compressed.py", bench.large("300M"), data, stream)
    bench.row("compressed", {"zstd -d": ["zstd", "-q", "-d", "-f", stream, "-o", os.devnull],
                             "as it is": bench.convert([bench.large("300M")]),
                             "compressed": bench.convert([data])})


def made_up(bench, case, variants):
    commands = {}
    for name, arguments in variants.items():
        path = bench.path("made-up-" + name.replace(" ", "-"))
        script("make_traces.py", *arguments, path)
        commands[name] = [bench.count, "--rounds", "1", "--floor", "0", path]
    bench.row(case, commands)


def traces(bench):
    made_up(bench, "traces", {
        "thousand, 250 MB": ["--traces", 1000, "--size", "250M"],
        "million, 250 MB": ["--traces", 1000000, "--size", "250M"],
        "million, 750 MB": ["--traces", 1000000, "--size", "750M"]})


def processes(bench):
    made_up(bench, "processes", {
        "one, 250 MB": ["--traces", 100000, "--size", "250M"],
        "500, 250 MB": ["--traces", 100000, "--size", "250M", "--processes", 500]})


def files(bench):
    one = bench.large("1M")
    folder = bench.path("files")
    os.mkdir(folder)
    many = [os.path.join(folder, "%d.data" % i) for i in range(1000)]
    for path in many:
        shutil.copy(one, path)
    megabytes = os.path.getsize(one) / 1e6  # the recording may be larger than it has to be
    whole = bench.large(str(1000 * os.path.getsize(one)))
    names = {count: "%d of %.1f MB" % (count, megabytes) for count in (10, 100, 1000)}
    bench.row("files", {"1 of their bytes": bench.convert([whole]),
                        **{name: bench.convert(many[:count]) for count, name in names.items()}})
    shutil.rmtree(folder)


def link_large_image(bench):
    """A program of many parts: one, with its symbols renamed, again and again."""
    part, program = bench.path("part.c"), bench.path("large")
    with open(part, "w") as out:
        script("make_program.py", FUNCTIONS, "p_", TYPES, stdout=out)
    subprocess.run(["gcc", "-O1", "-g", "-fno-eliminate-unused-debug-types", "-c", part, "-o", part + ".o"], check=True)
    objects = []
    for i in range(PARTS):
        objects.append(bench.path("part%d.o" % i))
        subprocess.run(["objcopy", "--prefix-symbols=x%d" % i, part + ".o", objects[-1]], check=True)
    with open(bench.path("main.c"), "w") as out:
        tables = ["x%dp_table" % i for i in range(PARTS)]
        out.write("typedef unsigned function(unsigned);\n")
        out.write("extern function *const %s[];\n" % "[], *const ".join(tables))
        out.write("static function *const *const tables[] = {%s};\n" % ", ".join(tables))
        out.write("int main(void)\n{\n    unsigned sum = 1, state = 1;\n    for (int i = 0; i < 40000; i++) {\n"
                  "        state = state * 1664525u + 1013904223u;\n"
                  "        sum += tables[state >> 30][(state >> 8) % 64](state >> 4);\n    }\n"
                  "    return sum == 0;\n}\n")
    subprocess.run(["gcc", "-O1", "-g", bench.path("main.c"), *objects, "-o", program], check=True)
    for path in objects:
        os.unlink(path)
    return program


def image(bench):
    program, data = link_large_image(bench), bench.path("large.data")
    subprocess.run([bench.br2pgo, "record", "-q", "--emulate", "-o", data, "--", program], check=True)
    gcov = [bench.br2pgo, "-q", data, "-b", program, "-o", bench.path("out.gcov")]
    fdata = [bench.br2pgo, "-q", data, "-b", program, "-f", "edges", "-o", bench.path("out.csv")]
    name = "%.0f MB, %d functions" % (os.path.getsize(program) / 1e6, PARTS * FUNCTIONS)
    bench.row("image", {name: bench.convert([data], binary=program), name + ", for GCC": gcov, name + ", edges": fdata})


def main():
    cases = {f.__name__: f for f in (start, threads, compressed, traces, processes, files, image)}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--recording", required=True)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scratch", default=None)
    parser.add_argument("cases", nargs="*", metavar="CASE")
    args = parser.parse_args()
    unknown = [name for name in args.cases if name not in cases]
    if unknown:
        parser.error("no case '%s'; there are %s" % (unknown[0], ", ".join(cases)))
    print("| case | | wall s | processor s | peak MB | processor / first |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir=args.scratch) as folder:
        bench = Bench(args, folder)
        for name in args.cases or cases:
            cases[name](bench)


main()
