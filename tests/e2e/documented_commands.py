#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Documents tell the truth: every command in README.md, docs and the manual page is run here, those
of docs/guide in a copy of examples/quickstart, or stands below with the reason why not; what they show of its output is what it prints; and help,
manual page and docs/formats.md know the same options and formats."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.realpath(os.environ.get("SOURCE_DIR")
                        or os.path.join(os.path.dirname(__file__), "..", ".."))
BR2PGO = os.path.realpath(os.environ["BR2PGO"])
TOOLS = os.path.realpath(os.environ.get("TOOLS") or os.path.join(ROOT, "tests", "tools"))
MANUAL = os.path.join(ROOT, "docs", "man", "br2pgo.1")

NOT_RUN = {
    "examples/quickstart/run.sh": "installs packages; needs minutes",
    "tests/run.sh": "runs this test",
    "br2pgo record -o server.data --pid 4711 --duration 60": "there is no such process",
    "br2pgo record --dry-run ./app": "asks the branch hardware; cli.record has machines with some",
    "cmake --preset release": "a whole build; e2e.install_consumer installs one",
    "cmake --build build/release": "a whole build; e2e.install_consumer installs one",
    "cmake --install build/release --prefix /usr/local": "e2e.install_consumer does, elsewhere",
}
# Exit status, where it is not 0.
STATUS = {"br2pgo perf.data -b other-build -o words.prof": 3}

SOURCE = """#define CODE __attribute__((naked, aligned(16))) void
CODE begin(void)
{
    __asm__("mov $3000, %ebx");
    __asm__("1: mov $7, %edx");
    __asm__("call work");
    __asm__("dec %ebx");
    __asm__("jne 1b");
    __asm__("mov $60, %eax");
    __asm__("xor %edi, %edi");
    __asm__("syscall");
}
CODE work(void)
{
    __asm__("cmp $1, %eax");
    __asm__("je 1f");
    __asm__("inc %ecx");
    __asm__("1: dec %edx");
    __asm__("jne work");
    __asm__("ret");
}
int main(void) { return 0; }
"""
RECORDING = """event branches:u sample=IP,TID,TIME,BRANCH_STACK branch=USER,ANY,NO_CYCLES
feature cmdline perf record -b ./words
feature arch x86_64
comm pid=7 exec name=words
mmap2 pid=7 addr=0x400000 len=0x2000 off=0 buildid=51ac name={folder}/words
repeat 200
sample pid=7 : 0x40100a/0x401020/P/-/-/1 0x401011/0x401005/P/-/-/1 0x40102b/0x40100f/P/-/-/1 \
0x401029/0x401020/M/-/-/1 0x401023/0x401027/P/-/-/1 0x40100a/0x401020/P/-/-/1
end
"""


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def markdown_commands(text):
    """Pairs of a command and the lines shown below it, of the blocks marked sh and console."""
    for kind, block in re.findall(r"^```(sh|console)\n(.*?)^```", text, re.M | re.S):
        block = block.replace("\\\n", " ")
        if kind == "sh":
            for line in block.splitlines():
                if line.strip() and not line.startswith("#"):
                    yield " ".join(line.split()), []
            continue
        parts = re.split(r"^\$ (.*)\n", block, flags=re.M)
        for command, shown in zip(parts[1::2], parts[2::2]):
            yield " ".join(command.split()), [line for line in shown.splitlines() if line]


def manual_commands(text):
    return [(line[4:].strip(), []) for line in text.splitlines() if line.startswith(".Dl ")]


def make_folder():
    """A folder with a recording, the program it is of under two names, and another build of it."""
    folder = os.path.realpath(tempfile.mkdtemp(prefix="br2pgo-docs-"))
    with open(os.path.join(folder, "words.c"), "w", encoding="utf-8") as file:
        file.write(SOURCE)
    with open(os.path.join(folder, "more.textprof"), "w", encoding="utf-8") as file:
        file.write("begin:20:7\n 1: 20\n")
    for name, build_id in (("words", "51ac"), ("app", "51ac"), ("other-build", "2f7a")):
        subprocess.run(["cc", "-g", "-O1", "-fcf-protection=none", "-fno-toplevel-reorder",
                        "-nostdlib", "-static", "-no-pie", "-Wl,-Ttext=0x401000", "-Wl,-e,begin",
                        "-Wl,-z,noseparate-code", f"-Wl,--build-id=0x{build_id}", "words.c", "-o",
                        name], cwd=folder, check=True)
    subprocess.run([os.path.join(TOOLS, "mkperf"), "-o", os.path.join(folder, "perf.data")],
                   input=RECORDING.format(folder=folder), text=True, check=True)
    return folder


def make_quickstart():
    """The folder in which a reader of docs/guide is."""
    folder = os.path.realpath(tempfile.mkdtemp(prefix="br2pgo-docs-"))
    shutil.copytree(os.path.join(ROOT, "examples"), os.path.join(folder, "examples"))
    return folder, os.path.join(folder, "examples", "quickstart")


def unknown_fragments(shown, strings):
    """What stands in a line of documented output, but in no text of the program. Numbers, names in
    quotes, paths and build-ids are the recording's."""
    line = re.sub(r"'[^']*'|\(deleted\)|\S*/\S*|\b[0-9a-f]{16,}\b|[0-9.]+ ?%|0x[0-9a-f]+", "\0", shown)
    for fragment in re.split(r"\0|\d+|\s{2,}|: |, |\.\.\.", line):
        fragment = fragment.strip(" :,()-%")
        if len(fragment) > 1 and fragment.encode() not in strings:
            yield fragment


def run_commands(name, commands, strings):
    problems, run = [], 0
    guide = name.startswith(os.path.join("docs", "guide"))
    folder, where = make_quickstart() if guide else (make_folder(),) * 2
    path = [os.path.dirname(BR2PGO), os.environ.get("LLVM_BIN", ""), os.environ["PATH"]]
    environment = dict(os.environ, PATH=":".join(filter(None, path)), LC_ALL="C",
                       br2pgo_DIR=os.path.join(os.environ.get("BUILD_DIR", ""), "lib", "cmake", "br2pgo"))
    for command, shown in commands:
        if command in NOT_RUN:
            continue
        tool = command.split()[0]
        if tool.startswith(("clang", "llvm-bolt")) and not shutil.which(tool, path=environment["PATH"]):
            print(f"{name}: no {tool} to run: {command}")
            continue
        result = subprocess.run(["bash", "-c", command], cwd=where, env=environment,
                                stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                timeout=120, check=False)
        run += 1
        if result.returncode != STATUS.get(command, 0):
            problems.append(f"{name}: $ {command}\n  exit {result.returncode}\n{result.stderr}")
        if tool != "br2pgo":
            continue
        for line in shown:
            # The command is named by the recording: "command  perf record ..."
            line = re.sub(r"^(command|machine) .*", r"\1", line)
            for fragment in unknown_fragments(line, strings):
                problems.append(f"{name}: $ {command}\n  never prints '{fragment}': {line}")
    shutil.rmtree(folder)
    print(f"{name}: {len(commands)} commands, {run} run")
    return problems


def help_tables():
    """Options with their values, and formats with their suffixes, of --help."""
    text = subprocess.run([BR2PGO, "--help"], capture_output=True, text=True, check=True).stdout
    options = {}
    for short, name, value in re.findall(r"^  (?:-(\w), |    )--([\w-]+)(?: (\S+))?", text, re.M):
        value = re.sub(r"^\d+\.\.\d+$", "N", value)
        value = re.sub(r"^([A-Z]+)\[?,.*", r"\1", value)  # a list: the manual shows its parts
        if value and not re.fullmatch(r"[A-Z]+|\w+(\|\w+)+", value):
            value = ""  # the first word of the help text
        options[name] = (short, value if "|" in value else value.lower())
    formats = re.search(r"^Formats:\n((?:  .*\n)+)", text, re.M).group(1)
    return options, {fields[0]: fields[1] if fields[1].startswith(".") else ""
                     for fields in map(str.split, formats.splitlines())}


def manual_tables(text):
    options = {}
    lines = re.findall(r"^\.It (Fl .*)$", text, re.M)
    for line in "\n".join(lines).replace(" ; ", "\n").replace(" , -", "\nFl -").splitlines():
        match = re.fullmatch(r"(?:Fl (\w) , )?Fl -([\w-]+)(?: Ar (\w+)(?: ,)?(?: Ns .*)?| Cm (.+))?", line)
        short, name, value, words = match.groups()
        # What a command takes in its own sense has its first sense in the table of all options.
        options.setdefault(name, (short or "", (words or "").replace(" ", "") or value or ""))
    section = re.search(r"^\.Sh FORMATS\n(.*?)^\.Sh", text, re.M | re.S).group(1)
    found = re.findall(r"^\.It Cm (\S+)\n(?:\.Pq Pa (\S+)\n)?", section, re.M)
    return options, dict(found)


def formats_document():
    text = read(os.path.join(ROOT, "docs", "formats.md"))
    section = re.search(r"^## Written.*?\n(.*?)^#+ |\Z", text, re.M | re.S).group(1)
    rows = re.findall(r"^\| ([\w-]+) \| *(\S*) *\|", section, re.M)
    return {name: suffix.strip("|") for name, suffix in rows if name not in ("name", "---")}


def compare(what, wanted, got):
    return [f"{what}: {key}: {wanted.get(key)} in --help, {got.get(key)} here"
            for key in sorted(set(wanted) | set(got)) if wanted.get(key) != got.get(key)]


def main():
    if "__x86_64__" not in subprocess.run(["cc", "-dM", "-E", "-x", "c", "/dev/null"], text=True,
                                          capture_output=True, check=True).stdout:
        print("needs a compiler for x86-64")
        return 77
    with open(BR2PGO, "rb") as file:
        strings = file.read()
    manual = read(MANUAL)
    documents = {"br2pgo.1": manual_commands(manual)}
    for path in [*glob.glob(os.path.join(ROOT, "*.md")),
                 *glob.glob(os.path.join(ROOT, "docs", "**", "*.md"), recursive=True)]:
        documents[os.path.relpath(path, ROOT)] = list(markdown_commands(read(path)))
    problems = []
    for name, commands in sorted(documents.items()):
        if commands:
            problems += run_commands(name, commands, strings)
    known = {command for commands in documents.values() for command, _ in commands}
    problems += [f"no document has this command any more: {command}"
                 for command in [*NOT_RUN, *STATUS] if command not in known]
    options, formats = help_tables()
    manual_options, manual_formats = manual_tables(manual)
    problems += compare("br2pgo.1", options, manual_options)
    problems += compare("br2pgo.1", formats, manual_formats)
    problems += compare("docs/formats.md", formats, formats_document())
    print("\n".join(problems))
    print(f"{len(options)} options, {len(formats)} formats, {len(problems)} problems")
    return 1 if problems or len(options) < 15 or len(formats) < 5 or len(known) < 8 else 0


if __name__ == "__main__":
    sys.exit(main())
