#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run_case.py passes what is right and fails what is wrong."""
import os
import subprocess
import sys
import tempfile

RUNNER = os.path.join(os.path.dirname(os.path.realpath(__file__)), "run_case.py")

# (what, exit status, case)
CASES = [
    ("silence is expected", 0, "--- run\ntrue\n"),
    ("an exit status is compared", 1, "--- run\nexit 3\n"),
    ("an expected exit status", 0, "--- run\nexit 3\n--- exit 3\n"),
    ("unexpected stdout", 1, "--- run\necho x\n"),
    ("unexpected stderr", 1, "--- run\necho x >&2\n"),
    ("expected streams", 0, "--- run\necho x; echo y >&2\n--- stdout\nx\n--- stderr\ny\n"),
    ("a missing last newline", 1, "--- run\nprintf x\n--- stdout\nx\n"),
    ("a glob", 0, "--- run\nseq 5; echo a1b\n--- stdout glob\n1\n...\n5\na*b\n"),
    ("a glob that does not fit", 1, "--- run\nseq 5\n--- stdout glob\n1\n...\n4\n"),
    ("`*` stays within a line", 1, "--- run\nseq 2\n--- stdout glob\n*2\n"),
    ("an unnamed new file", 1, "--- run\necho x > y\n"),
    ("a created file", 0, "--- run\necho x > y\n--- created y\n"),
    ("an output", 0, "--- run\necho x > y\n--- output y\nx\n"),
    ("a wrong output", 1, "--- run\necho x > y\n--- output y\nz\n"),
    ("an output in hex", 0, "--- run\nprintf 'A\\0' > y\n--- output y hex\n41 00\n"),
    ("a missing output", 1, "--- run\ntrue\n--- output y\nx\n"),
    ("a changed file", 1, "--- file a\nx\n--- run\necho y > a\n"),
    ("a removed file", 1, "--- file a\nx\n--- run\nrm a\n"),
    ("a file's text", 0, "note\n--- file d/a\nx\n\\--- run\n--- run\ncat d/a\n--- stdout\nx\n"
                         "\\--- run\n"),
    ("two runs", 1, "--- run\necho x\n--- stdout\nx\n--- run\necho y\n--- stdout\nx\n"),
    ("a missing tool", 77, "--- requires no-such-tool\n--- run\ntrue\n"),
    ("an unknown section", 1, "--- fle a\n--- run\ntrue\n"),
    ("an expectation before a run", 1, "--- stdout\n--- run\ntrue\n"),
    ("the program on the PATH", 0, "--- run\nbr2pgo\n"),
    ("symbols", 0, "--- image a -Wl,-Ttext=0x401000\n.globl _start\n_start: nop\nend: ret\n"
                   "--- file t\n@{a:_start} @{a:end+0x10}\n--- run\ncat t\n--- stdout\n"
                   "0x401000 0x401011\n"),
]


def run(*args):
    environment = {**os.environ, "BR2PGO": "/bin/true"}
    return subprocess.run([sys.executable, RUNNER, *args], env=environment, capture_output=True,
                          text=True, check=False)


def check_update(folder):
    path = os.path.join(folder, "update.case")
    with open(path, "w", encoding="utf-8") as file:
        file.write("why\n--- run\necho x; printf -- '--- y' >&2; echo z > w; exit 4\n")
    first, second = run("--update", path), run(path)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    wanted = "--- exit 4\n--- stdout\nx\n--- stderr\n\\--- y\n\\ no newline at the end\n" \
             "--- output w\nz\n"
    return first.returncode == 1 and second.returncode == 0 and text.endswith(wanted) \
        and text.startswith("why\n--- run\n")


def main():
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for what, status, text in CASES:
            path = os.path.join(folder, "x.case")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            result = run(path)
            if result.returncode != status:
                wrong += 1
                print(f"{what}: exit {result.returncode}, not {status}\n{result.stdout}"
                      f"{result.stderr}")
        if not check_update(folder):
            wrong += 1
            print("--update did not write what happened")
    print(f"{len(CASES) + 1} checks, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
