# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program built in every way that is compared: by clang and by GCC, with profiles of br2pgo, of the tools that
people use today, of an instrumented build, and by llvm-bolt."""
import glob
import os
import shutil

from steps import StepFailed

# -gdwarf-4 because create_gcov 0.19 reads no DWARF 5; the code is the same.
COMPILERS = {
    "clang": (("clang-19", "clang++-19"), ["-O2", "-g", "-fdebug-info-for-profiling"]),
    "gcc": (("gcc-12", "g++-12"), ["-O2", "-g", "-gdwarf-4"]),
}
LINKING = ["-Wl,--emit-relocs", "-Wl,--build-id"]
# As perf2bolt-19 it does not know that it is perf2bolt, and copies the program.
PERF2BOLT = "/usr/lib/llvm-19/bin/perf2bolt"
# Flow inference, for counts that do not add up; clang does without it unless it is asked.
INFERENCE = ["-mllvm", "-sample-profile-use-profi"]
BOLT = ["-reorder-blocks=ext-tsp", "-reorder-functions=hfsort", "-split-functions"]


def need(tool):
    if shutil.which(tool) is None:
        raise StepFailed(f"not installed: {tool}")


class Builds:
    """All builds of one program by one compiler."""

    def __init__(self, program, compiler, steps, tools):
        self.program = program
        self.compiler = compiler
        self.steps = steps
        self.tools = tools
        names, self.flags = COMPILERS[compiler]
        self.command = names[1 if program.cplusplus else 0]
        self.top = os.path.join(program.work, compiler)

    def path(self, *parts):
        return os.path.join(self.top, *parts)

    def build(self, folder, flags=(), inputs=(), each=None):
        """The program, compiled with flags more, and with `each`(name) for each file; `inputs` are profiles."""
        need(self.command)
        makes = []
        for source in self.program.sources():
            name = os.path.splitext(os.path.basename(source))[0]
            output = self.path(folder, name + ".o")
            own = each(name) if each else []
            command = [self.command, *self.flags, *self.program.flags, *flags, *own, "-c", source, "-o", output]
            makes.append((output, command, [source, *inputs]))
        objects = self.steps.make_all(makes)
        linked = self.path(folder, self.program.name)
        command = [self.command, *self.flags, *flags, *LINKING, *objects, "-o", linked, *self.program.libraries]
        return self.steps.make(linked, command, objects)

    def record(self, binary):
        """The one recording that all profiles for this binary are made of."""
        output = os.path.join(os.path.dirname(binary), "perf.data")
        command = [self.tools.br2pgo, "record", "--emulate", "-q", "-o", output]
        if self.program.period is not None:
            command += ["--period", str(self.program.period)]
        command.append("--")
        return self.steps.make(output, command + self.program.command(binary, True), [binary])

    def convert(self, binary, recording, name, *options):
        """br2pgo's profile."""
        output = os.path.join(os.path.dirname(binary), name)
        command = [self.tools.br2pgo, "-q", *options, recording, "-b", binary, "-o", output]
        return self.steps.make(output, command, [self.tools.br2pgo, recording, binary])

    def bolt(self, binary, profile, folder):
        need("llvm-bolt-19")
        output = self.path(folder, self.program.name)
        return self.steps.make(output, ["llvm-bolt-19", binary, "-data=" + profile, *BOLT,
                                        *self.program.bolt_flags, "-o", output], [binary, profile])

    def perf2bolt(self, binary, recording):
        need(PERF2BOLT)
        need("perf")
        output = os.path.join(os.path.dirname(binary), "perf2bolt.fdata")
        return self.steps.make(output, [PERF2BOLT, "-p", recording, "-o", output, binary], [recording, binary])

    def profgen(self, binary, recording):
        need("llvm-profgen-19")
        need("perf")
        output = os.path.join(os.path.dirname(binary), "profgen.prof")
        return self.steps.make(output, ["llvm-profgen-19", "--perfdata=" + recording, "--binary=" + binary,
                                        "--format=extbinary", "--output=" + output], [recording, binary])

    def create_gcov(self, binary, recording):
        need("create_gcov")
        output = os.path.join(os.path.dirname(binary), "create.gcov")
        return self.steps.make(output, ["create_gcov", "--profile=" + recording, "--binary=" + binary,
                                        "--gcov=" + output, "--gcov_version=2"], [recording, binary])

    def put_right(self, profile):
        """create_gcov's profile, with strings as GCC 12 reads them, and nothing else changed."""
        output = os.path.splitext(profile)[0] + ".right.gcov"
        command = [self.tools.br2pgo, "merge", "-q", profile, "-o", output]
        return self.steps.make(output, command, [self.tools.br2pgo, profile])

    def instrumented_clang(self):
        trained = self.build("instrumented", ["-fprofile-generate"])
        raw = self.path("instrumented", "raw")
        profile = self.path("instrumented", "profile")
        if not os.path.exists(raw):
            self.steps.run(self.program.command(trained, True), environment={"LLVM_PROFILE_FILE": raw + ".new/%p"})
            os.rename(raw + ".new", raw)
        self.steps.make(profile, ["llvm-profdata-19", "merge", raw, "-o", profile], glob.glob(raw + "/*"))
        return self.build("instrumented-use", ["-fprofile-use=" + profile], [profile])

    def instrumented_gcc(self):
        trained = self.build("instrumented", ["-fprofile-generate"])
        if not glob.glob(self.path("instrumented", "*.gcda")):
            self.steps.run(self.program.command(trained, True))

        def own(name):
            # By these names GCC finds instrumented/NAME.gcda, and says so when it does not.
            return ["-dumpdir", self.path("instrumented", ""), "-dumpbase", name]
        counts = sorted(glob.glob(self.path("instrumented", "*.gcda")))
        return self.build("instrumented-use", ["-fprofile-use", "-Werror=missing-profile"], counts, own)


def clang_variants(builds):
    """(name, function that gives the binary), each later one may use what earlier ones made."""
    def plain():
        return builds.build("plain")

    def recording():
        return builds.record(plain())

    def use(profile, folder, *flags):
        return builds.build(folder, ["-fprofile-sample-use=" + profile, *flags], [profile])

    def sampled():
        return use(builds.convert(plain(), recording(), "br2pgo.prof"), "br2pgo")

    def inferred():
        profile = builds.convert(plain(), recording(), "br2pgo-inferred.prof", "--flow-inference")
        return use(profile, "br2pgo-inferred", *INFERENCE)

    def peer(folder="profgen", *flags):
        return use(builds.profgen(plain(), recording()), folder, *flags)

    yield "-O2", plain
    yield "br2pgo", sampled
    yield "llvm-profgen", peer
    yield "br2pgo, flow inference", inferred
    yield "llvm-profgen, flow inference", lambda: peer("profgen-inferred", *INFERENCE)
    yield "instrumented", builds.instrumented_clang
    yield from bolt_variants(builds, plain, sampled)


def gcc_variants(builds):
    def plain():
        return builds.build("plain")

    def recording():
        return builds.record(plain())

    def use(profile, folder):
        return builds.build(folder, ["-fauto-profile=" + profile], [profile])

    def sampled():
        return use(builds.convert(plain(), recording(), "br2pgo.gcov"), "br2pgo")

    def peer():
        return use(builds.create_gcov(plain(), recording()), "create_gcov")

    def repaired():
        return use(builds.put_right(builds.create_gcov(plain(), recording())), "create_gcov-right")

    yield "-O2", plain
    yield "br2pgo", sampled
    yield "create_gcov", peer
    yield "create_gcov, put right by br2pgo merge", repaired
    yield "instrumented", builds.instrumented_gcc
    yield from bolt_variants(builds, plain, sampled)


def bolt_variants(builds, plain, sampled):
    def ours(build, folder):
        binary = build()
        return builds.bolt(binary, builds.convert(binary, builds.record(binary), "br2pgo.fdata"), folder)

    def theirs():
        binary = plain()
        return builds.bolt(binary, builds.perf2bolt(binary, builds.record(binary)), "perf2bolt")

    yield "llvm-bolt with br2pgo", lambda: ours(plain, "bolt")
    yield "llvm-bolt with perf2bolt", theirs
    yield "br2pgo, then llvm-bolt with br2pgo", lambda: ours(sampled, "br2pgo-bolt")


VARIANTS = {"clang": clang_variants, "gcc": gcc_variants}
