# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tests that ask a GCC share: programs to run, GCC profiles read byte by byte (a second reader,
independent of br2pgo's), and the counts in the dumps of -fdump-ipa-afdo-all."""
import csv
import glob
import os
import re
import shutil
import struct
import subprocess
import sys

TOOLS = os.environ.get("TOOLS", "")
BR2PGO = os.environ.get("BR2PGO", "br2pgo")
FLAGS = ["-O2", "-g", "-Wall", "-Wextra", "-Werror"]
DUMP = "-fdump-ipa-afdo-all"
NO_FILE = 0xffffffff


class Failure(Exception):
    pass


def expect(condition, message):
    if not condition:
        raise Failure(message)


def run(*command, cwd=None):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=cwd,
                            check=False, text=True, errors="replace")
    expect(result.returncode == 0, f"{' '.join(command)}:\n{result.stdout}")
    return result.stdout


def quietly(*command, cwd=None):
    said = run(*command, cwd=cwd)
    expect(said == "", f"{' '.join(command)} says: {said}")


def find(name):
    """A compiler of the folder $BR2PGO_GCC_DIR, or an installed one; None: neither."""
    folder = os.environ.get("BR2PGO_GCC_DIR", "")
    path = os.path.join(folder, "bin", name)
    return path if folder and os.path.exists(path) else shutil.which(name)


def record(program, recording):
    """Single-steps the program into a recording; its exact edges are beside it. Ends the test with
    77 where that is not allowed."""
    result = subprocess.run([os.path.join(TOOLS, "record_steps"), "--period", "101", "--truth",
                             recording + ".csv", "-o", recording, program],
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False,
                            text=True)
    if "under ptrace" in result.stderr and result.returncode != 0:
        print("skipped: no ptrace here")
        sys.exit(77)
    expect(result.returncode in (0, 1) and os.path.exists(recording), result.stderr)


def taken(recording, kinds=("cond", "jump", "call", "icall", "ijump", "return")):
    """Branches of these kinds that the program took, exactly."""
    with open(recording + ".csv", newline="", encoding="utf-8") as file:
        return sum(int(row["count"]) for row in csv.DictReader(file) if row["kind"] in kinds)


class Function:
    """A function of a profile, at the top or inlined. Places are (line offset, discriminator)."""

    def __init__(self):
        self.name = self.file = ""
        self.head = self.first_seen = 0
        self.counts, self.targets, self.inlined = {}, {}, []

    def everything(self):
        yield self
        for _, function in self.inlined:
            yield from function.everything()

    @property
    def total(self):
        return sum(sum(function.counts.values()) for function in self.everything())

    @property
    def most(self):
        return max(count for function in self.everything() for count in function.counts.values())


class Profile:
    """A GCC profile, from its bytes. `functions`: those at the top, by name."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = file.read()
        self.at, self.functions, self.summary, self.files = 0, {}, None, []
        magic, self.version, _ = self.take("III")
        expect(magic == 0x67636461 and self.version in (1, 2, 3), f"{path} is no GCC profile")
        if self.version == 3:
            self.read_summary()
        self.read_names()
        tag, _, count = self.take("III")
        expect(tag == 0xac000000, f"{path}: no functions where they should be")
        for _ in range(count):
            function = Function()
            function.head, = self.take("Q")
            function.first_seen = self.take("Q")[0] if self.version == 3 else 0
            self.read_body(function)
            expect(function.name not in self.functions, f"{function.name} is there twice")
            self.functions[function.name] = function
        tag, _, modules = self.take("III")
        expect(tag == 0xae000000 and modules == 0, f"{path}: no empty module table")

    def take(self, form):
        values = struct.unpack_from("<" + form, self.bytes, self.at)
        self.at += struct.calcsize("<" + form)
        return values

    def take_string(self):
        size, = self.take("I")
        size *= 4 if self.version == 1 else 1
        text = self.bytes[self.at:self.at + size]
        self.at += size
        return text.rstrip(b"\0").decode()

    def read_summary(self):
        tag, *self.summary, count = self.take("IQQQQQQ")
        expect(tag == 0xa8000000, "no summary where it should be")
        self.cutoffs = [self.take("IQQ") for _ in range(count)]

    def read_names(self):
        tag, _ = self.take("II")
        expect(tag == 0xaa000000, "no names where they should be")
        if self.version == 3:
            self.files = [self.take_string() for _ in range(self.take("I")[0])]
        self.names = []
        for _ in range(self.take("I")[0]):
            name = self.take_string()
            file = self.take("I")[0] if self.version == 3 else NO_FILE
            self.names.append((name, self.files[file] if file != NO_FILE else ""))

    def read_body(self, function):
        name, places, callsites = self.take("III")
        function.name, function.file = self.names[name]
        for _ in range(places):
            place, targets, count = self.take("IIQ")
            place = (place >> 16, place & 0xffff)
            function.counts[place] = count
            calls = [self.take("IQQ") for _ in range(targets)]
            if calls:
                function.targets[place] = {self.names[name][0]: n for _, name, n in calls}
        for _ in range(callsites):
            place, = self.take("I")
            inner = Function()
            self.read_body(inner)
            function.inlined.append(((place >> 16, place & 0xffff), inner))

    def everything(self):
        for function in self.functions.values():
            yield from function.everything()

    def hot(self, share=0.99):
        """The functions that hold this share of all counts."""
        wanted = share * sum(f.total for f in self.functions.values())
        for function in sorted(self.functions.values(), key=lambda f: (-f.total, f.name)):
            if wanted <= 0:
                break
            wanted -= function.total
            yield function


def dump_text(folder):
    texts = []
    for path in sorted(glob.glob(os.path.join(folder, "*.afdo"))):
        with open(path, encoding="utf-8", errors="replace") as file:
            texts.append(file.read())
    return "".join(texts)


# A function, and a block's count, in the dumps of GCC up to 15, and of 16, which scales the counts
# of its blocks and says what they were.
HEAD = re.compile(r"(?:[\w:<>*& .]+?[ *&])?([\w:~]+?)(?:D\.\d+)? \(.*")
BLOCK = re.compile(r";;   basic block \d+, .*count (\d+) \(auto FDO")
HEAD_16 = re.compile(r"Annotating BB profile of (?:[\w ]+ )?([\w:~]+)(?:\(.*\))?/\d+$")
BLOCK_16 = re.compile(r" Annotated bb \d+ with count (\d+), scaled")


def read_dump(path, counts):
    """Adds the blocks' counts in one dump to those of each function."""
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = file.readlines()
    scaled = any(HEAD_16.match(line) for line in lines)
    head, block, name = (HEAD_16, BLOCK_16, None) if scaled else (HEAD, BLOCK, None)
    for line in lines:
        found = head.match(line)
        if found and not line.startswith((" ", ";")):
            name = found[1].split("::")[-1]
            counts.setdefault(name, [])
        found = block.match(line)
        if found and name:
            counts[name].append(int(found[1]))


def read_dumps(folder, source=""):
    """The block counts of each function, by the name in the source; of one source or of all."""
    counts = {}
    for path in glob.glob(os.path.join(folder, f"*{source}.*.afdo")):
        read_dump(path, counts)
    return counts


def is_there(count, blocks):
    """Whether a block has this count, or what it became where gcc made counts agree."""
    return any(0.9 * count <= block <= 1.1 * count for block in blocks)


def landed(profile, counts):
    """Of the hot functions, those in whose dump the hottest count of the profile is."""
    good, bad = [], []
    for function in profile.hot():
        name = function.name.split(".")[0]
        there = function.most > 0 and is_there(function.most, counts.get(name, []))
        (good if there else bad).append(function.name)
    return good, bad


def compile_with(compiler, sources, profile, folder):
    """The program; the dumps are beside it. `compiler`: its path and further options."""
    os.makedirs(folder)
    program = os.path.join(folder, "program")
    quietly(*compiler, *FLAGS, f"-fauto-profile={profile}", DUMP, *sources, "-o", program)
    return program
