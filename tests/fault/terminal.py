#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the program shows on a terminal and nowhere else: progress, which is taken away at the end;
the list of what it wrote; and that it writes no binary profile there."""
import os
import pty
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

import program

RECORDS = 32
SAMPLES = 100000
ERASE = b"\r\033[K"


def read_all(terminal):
    """All that comes until the other side is closed."""
    out = b""
    while True:
        try:
            got = os.read(terminal, 65536)
        except OSError:
            got = b""
        if not got:
            return out
        out += got


def run_on_terminal(command, stdout=None):
    """Runs it with standard error on a terminal, standard output too unless given."""
    master, slave = pty.openpty()
    modes = termios.tcgetattr(slave)
    modes[1] &= ~termios.OPOST  # lines as they are written
    termios.tcsetattr(slave, termios.TCSANOW, modes)
    with subprocess.Popen(command, stderr=slave, stdout=slave if stdout is None else stdout,
                          stdin=subprocess.DEVNULL) as process:
        os.close(slave)
        shown = read_all(master)
        os.close(master)
        return process.wait(60), shown


def screen(shown):
    """What is left to see: every line as the last thing written over it."""
    lines = shown.decode().split("\n")
    return "\n".join(line.rsplit(ERASE.decode(), 1)[-1] for line in lines)


class Terminal(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.case = type("Made", (program.Case,), {})
        cls.case.setUpClass()
        cls.folder = cls.case.folder
        cls.long = os.path.join(cls.folder, "long.data")
        cls.make_long(cls.long)

    @staticmethod
    def make_long(path):
        """A recording whose branch records are all different, which takes time. The mode of a pipe
        has no sizes in its header: records may be appended."""
        text = "mode pipe\n" + program.RECORDING % 1
        head = subprocess.run([os.path.join(program.TOOLS, "mkperf")], input=text.encode(),
                              capture_output=True, check=True).stdout
        randbytes = random.Random(1).randbytes
        size = 40 + 24 * RECORDS
        sample = struct.pack("<IHHQIIQQ", 9, 2, size, 0x401000, 7, 7, 100, RECORDS)
        with open(path, "wb") as file:
            file.write(head)
            for _ in range(SAMPLES):
                file.write(sample + randbytes(24 * RECORDS))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def command(self, *args, data=None):
        return [program.BR2PGO, data or self.long, "-b", self.case.app, *args]

    def output(self):
        return os.path.join(self.folder, "x.gcov")

    def test_progress_on_a_terminal(self):
        status, shown = run_on_terminal(self.command("-o", self.output(), "--progress=always"))
        self.assertEqual(status, 0)
        lines = shown.split(ERASE)
        self.assertGreater(len(lines), 3, shown)
        self.assertRegex(lines[1].decode(), r"^(scanning|reading) \[#* *\] +\d+%$")
        shares = [int(line.rsplit(b"]", 1)[1].strip(b" %")) for line in lines[1:-1]
                  if line.startswith(b"reading [")]
        self.assertEqual(shares, sorted(shares))
        self.assertEqual(screen(shown), f"br2pgo: wrote '{self.output()}' (gcov)\n")

    def test_no_progress(self):
        for option in ("--progress=never", "--quiet"):
            status, shown = run_on_terminal(self.command("-o", self.output(), option))
            self.assertEqual(status, 0)
            self.assertNotIn(b"\r", shown)

    def test_no_progress_for_short_work(self):
        status, shown = run_on_terminal(self.command("-o", self.output(), data=self.case.data))
        self.assertEqual(status, 0)
        self.assertNotIn(b"\r", shown)

    def test_nothing_of_it_in_a_pipe(self):
        result = subprocess.run(self.command("-f", "edges", "-o", "-"), capture_output=True,
                                check=False)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.assertNotIn(b"\033", result.stdout)
        always = subprocess.run(self.command("-f", "edges", "-o", "-", "--progress=always"),
                                capture_output=True, check=False)
        self.assertIn(b"reading [", always.stderr)
        self.assertTrue(always.stderr.endswith(ERASE))
        self.assertEqual(always.stdout, result.stdout)

    def test_error_on_a_clear_line(self):
        """What fails late is said where the line of progress was."""
        missing = os.path.join(self.folder, "missing", "x.gcov")
        status, shown = run_on_terminal(self.command("-o", missing, "--progress=always"))
        self.assertEqual(status, 1)
        self.assertGreater(shown.count(ERASE), 1)
        self.assertTrue(screen(shown).startswith("br2pgo: error: cannot create"), screen(shown))

    def test_binary_profile_is_not_for_a_terminal(self):
        data = self.case.data
        status, shown = run_on_terminal(self.command("-f", "llvm-extbinary", "-o", "-", data=data))
        self.assertEqual(status, 2)
        self.assertIn(b"not for a terminal", shown)
        status, shown = run_on_terminal(self.command("-f", "llvm-text", "-o", "-", data=data))
        self.assertEqual(status, 0)
        self.assertIn(b"work:", shown)


if __name__ == "__main__":
    if not program.is_x86():
        print("needs a compiler for x86-64")
        sys.exit(77)
    unittest.main(verbosity=1)
