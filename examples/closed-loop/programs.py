# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs that the closed loop is tried on: where their sources come from, how they are compiled, and what they
do: once to train, and then, with another input, to be counted."""
import glob
import os
import shlex
import subprocess
import tarfile

HERE = os.path.dirname(os.path.abspath(__file__))


class Program:
    """Sources, flags, and runs. `folder` is where its sources lie, `inputs` where its inputs do."""
    name = ""
    package = None
    cplusplus = False
    flags = []
    libraries = []
    bolt_flags = []
    needs = {}  # tool -> Debian package
    period = None  # of samples, in taken branches; less than the default where the training run is short

    def __init__(self, work):
        self.work = os.path.join(work, self.name)
        self.inputs = os.path.join(self.work, "inputs")

    @property
    def folder(self):
        """The unpacked upstream sources of the package."""
        tops = [entry for entry in glob.glob(os.path.join(self.work, "source", "*")) if os.path.isdir(entry)]
        if len(tops) != 1:
            raise FileNotFoundError(f"{self.work}/source: not one folder but {len(tops)}")
        return tops[0]

    def unpack(self, tarball):
        with tarfile.open(tarball) as archive:
            archive.extractall(os.path.join(self.work, "source"))

    def prepare(self):
        """Makes what is compiled and what is read, once."""

    def sources(self):
        raise NotImplementedError

    def runs(self, program, training):
        """The commands of a run, the training one or the one that is counted."""
        raise NotImplementedError

    def command(self, program, training):
        """The run as one command."""
        runs = [shlex.join(run) for run in self.runs(program, training)]
        if len(runs) == 1:
            return shlex.split(runs[0])
        return ["sh", "-c", " && ".join(runs)]


class Words(Program):
    """The quickstart's program: for a first look, and for the test."""
    name = "words"

    @property
    def folder(self):
        return os.path.join(HERE, "..", "quickstart")

    def sources(self):
        return sorted(glob.glob(os.path.join(self.folder, "*.c")))

    def runs(self, program, training):
        return [[program, "200" if training else "700"]]


class Lua(Program):
    name = "lua"
    package = "lua5.4"
    # Hashes of strings are otherwise seeded by the time.
    flags = ["-DLUA_USE_LINUX", "-Dluai_makeseed(L)=1"]
    libraries = ["-lm", "-ldl"]
    # llvm-bolt 19 gives up the program when it comes to the interpreter's computed gotos.
    bolt_flags = ["-skip-funcs=luaV_execute/1"]

    def sources(self):
        files = glob.glob(os.path.join(self.folder, "src", "*.c"))
        return sorted(file for file in files if os.path.basename(file) != "luac.c")

    def runs(self, program, training):
        size, seed = ("40", "1") if training else ("70", "7")
        return [[program, os.path.join(HERE, "work.lua"), size, seed]]


class Sqlite(Program):
    """speedtest1, SQLite's own benchmark."""
    name = "sqlite"
    package = "sqlite3"
    flags = ["-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION"]
    libraries = ["-lm"]
    needs = {"tclsh": "tcl", "make": "make"}

    @property
    def made(self):
        return os.path.join(self.work, "amalgamation")

    def prepare(self):
        """sqlite3.c, of all source files; that takes a Tcl interpreter."""
        if os.path.exists(os.path.join(self.made, "sqlite3.c")):
            return
        os.makedirs(self.made, exist_ok=True)
        for command in (os.path.join(self.folder, "configure"),), ("make", "sqlite3.c"):
            subprocess.run(command, cwd=self.made, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def sources(self):
        return [os.path.join(self.made, "sqlite3.c"), os.path.join(self.folder, "test", "speedtest1.c")]

    def runs(self, program, training):
        return [[program, "--size", "10" if training else "20"]]


class Zstd(Program):
    """Compresses and decompresses sources of its own: the library's to train, the other ones to be counted."""
    name = "zstd"
    package = "libzstd"
    period = 499
    flags = ["-DZSTD_DISABLE_ASM", "-DZSTD_LEGACY_SUPPORT=0", "-DZSTD_NODICT", "-DZSTD_NOBENCH", "-DXXH_NAMESPACE=ZSTD_"]

    def sources(self):
        folders = "lib/common", "lib/compress", "lib/decompress", "programs"
        files = [file for folder in folders for file in glob.glob(os.path.join(self.folder, folder, "*.c"))]
        return sorted(file for file in files if not file.endswith(("benchfn.c", "benchzstd.c", "dibio.c")))

    def prepare(self):
        os.makedirs(self.inputs, exist_ok=True)
        for name, folders in ("train", ("lib",)), ("count", ("programs", "doc", "contrib", "tests")):
            with open(os.path.join(self.inputs, name), "wb") as out:
                for folder in folders:
                    for top, below, files in os.walk(os.path.join(self.folder, folder)):
                        below.sort()
                        for file in sorted(files):
                            with open(os.path.join(top, file), "rb") as one:
                                out.write(one.read())

    def runs(self, program, training):
        path = os.path.join(self.inputs, "train" if training else "count")
        packed = path + ".zst"
        return [[program, "-q", "-f", level, path, "-o", packed] for level in ("-1", "-6")] + [
            [program, "-q", "-f", "-d", packed, "-o", path + ".again"]]


class Ninja(Program):
    """Reads a build description, looks at every file, and goes through the build without running it."""
    name = "ninja"
    package = "ninja-build"
    cplusplus = True
    period = 97

    def sources(self):
        left_out = ("_test.cc", "test.cc", "perftest.cc", "-win32.cc", ".in.cc", "_bench.cc", "browse.cc")
        files = glob.glob(os.path.join(self.folder, "src", "*.cc"))
        return sorted(file for file in files if not file.endswith(left_out))

    def prepare(self):
        self.describe("train", 400, 7)
        self.describe("count", 2500, 11)

    def describe(self, name, objects, headers):
        """A build of so many objects, each with some headers, in libraries of 40, and one program."""
        folder = os.path.join(self.inputs, name)
        os.makedirs(os.path.join(folder, "src"), exist_ok=True)
        lines = ["cflags = -O2 -Wall", "rule cc", "  command = cc $cflags $defines -MD -MF $out.d -c $in -o $out",
                 "  depfile = $out.d", "  description = CC $out", "rule ar", "  command = ar rcs $out $in",
                 "rule link", "  command = cc $in -o $out"]
        libraries = {}
        for number in range(objects):
            library = number // 40
            files = [f"src/file{number}.c"] + [f"src/h{(number * k) % (objects // 3)}.h" for k in range(1, headers)]
            for file in files:
                with open(os.path.join(folder, file), "w", encoding="utf-8"):
                    pass
            made = f"out/lib{library}/file{number}.o"
            lines += [f"build {made}: cc {files[0]} | {' '.join(sorted(set(files[1:])))}",
                      f"  defines = -DPART={library} -DFILE={number}"]
            libraries.setdefault(f"out/lib{library}.a", []).append(made)
        lines += [f"build {library}: ar {' '.join(parts)}" for library, parts in libraries.items()]
        lines += [f"build out/program: link {' '.join(libraries)}", "default out/program"]
        with open(os.path.join(folder, "build.ninja"), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")

    def runs(self, program, training):
        return [[program, "-C", os.path.join(self.inputs, "train" if training else "count"), "-n"]]


PROGRAMS = {program.name: program for program in (Words, Lua, Sqlite, Zstd, Ninja)}
