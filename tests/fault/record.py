#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recording that is interrupted from a terminal, by a hang-up, or by a folder that goes away: what
was recorded is kept, what was there before too. perf is a stand-in that ends as perf does."""
import os
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import program
from program import waiting

# Keeps what it has at SIGINT and SIGTERM, and ends the program, for whose end it waits. Of a program that is called
# "hang" it does not come to an end.
PERF = """#!{python}
import os, shutil, signal, subprocess, sys
output = sys.argv[sys.argv.index("-o") + 1]
if output == "/dev/null":
    sys.exit(0)
ended = []
signal.signal(signal.SIGINT, lambda *_: ended.append(1))
signal.signal(signal.SIGTERM, lambda *_: ended.append(1))
words = sys.argv[sys.argv.index("--") + 1:] if "--" in sys.argv else ["sleep", "1000"]
child = subprocess.Popen(words)
print("perf has begun", flush=True)
signal.pthread_sigmask(signal.SIG_BLOCK, {{signal.SIGINT, signal.SIGTERM, signal.SIGCHLD}})
while not ended and child.poll() is None:
    if signal.sigwait({{signal.SIGINT, signal.SIGTERM, signal.SIGCHLD}}) != signal.SIGCHLD:
        break
child.terminate()
if words[0] == "hang":
    open("perf.pid", "w").write(str(os.getpid()))
    while True:
        signal.sigwait({{signal.SIGINT, signal.SIGTERM}})
child.wait()
shutil.copyfile({recording!r}, output)
"""


class Record(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="br2pgo-record-")
        cls.recording = os.path.join(cls.folder, "whole")
        program.make_recording(cls.recording, 200)
        devices = os.path.join(cls.folder, "root/sys/bus/event_source/devices/cpu/caps")
        os.makedirs(devices)
        os.makedirs(os.path.join(cls.folder, "root/proc"))
        with open(os.path.join(devices, "branches"), "w", encoding="ascii") as file:
            file.write("32\n")
        with open(os.path.join(cls.folder, "root/proc/cpuinfo"), "w", encoding="ascii") as file:
            file.write("vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nflags\t\t: fpu\n")
        os.mkdir(os.path.join(cls.folder, "bin"))
        perf = os.path.join(cls.folder, "bin/perf")
        with open(perf, "w", encoding="utf-8") as file:
            file.write(PERF.format(python=sys.executable, recording=cls.recording))
        os.chmod(perf, 0o755)
        os.symlink(shutil.which("cat"), os.path.join(cls.folder, "bin/hang"))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def setUp(self):
        self.work = tempfile.mkdtemp(dir=self.folder)
        self.output = os.path.join(self.work, "perf.data")

    def environment(self):
        return dict(os.environ, BR2PGO_MACHINE_ROOT=os.path.join(self.folder, "root"),
                    PATH=os.path.join(self.folder, "bin") + ":" + os.environ["PATH"])

    def check_kept(self):
        with open(self.recording, "rb") as wanted, open(self.output, "rb") as got:
            self.assertEqual(wanted.read(), got.read())
        self.assertEqual(os.listdir(self.work), ["perf.data"])

    def on_terminal(self, *words):
        """Runs it on a terminal of its own, presses Ctrl-C once perf has begun; returns the wait
        status and what was shown."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.work)
            os.execve(program.BR2PGO, ["br2pgo", "record", *words], self.environment())
        shown = b""
        pressed = False
        while True:
            try:
                got = os.read(terminal, 4096)
            except OSError:
                got = b""
            if not got:
                break
            shown += got
            if not pressed and b"perf has begun" in shown:
                os.write(terminal, b"\003")
                pressed = True
        os.close(terminal)
        return os.waitpid(pid, 0)[1], shown.decode()

    def test_interrupted_program(self):
        status, shown = self.on_terminal("sleep", "1000")
        self.assertEqual(os.WTERMSIG(status), signal.SIGINT)
        self.assertIn("1200 branch records in 200 samples", shown)
        self.assertIn("stopped; what was recorded until then is kept", shown)
        self.check_kept()

    def test_interrupted_machine(self):
        """That is how it ends when nothing else does."""
        status, shown = self.on_terminal("--all-cpus")
        self.assertEqual(status, 0)
        self.assertIn("stopped; what was recorded until then is kept", shown)
        self.assertIn("--all-images", shown)
        self.check_kept()

    def signalled(self, number):
        with subprocess.Popen([program.BR2PGO, "record", "sleep", "1000"], cwd=self.work,
                              env=self.environment(), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as process:
            self.assertEqual(process.stdout.readline(), "perf has begun\n")
            process.send_signal(number)
            _, said = process.communicate(timeout=waiting.LIMIT)
        self.assertEqual(process.returncode, -number)
        self.assertIn("stopped", said)
        self.check_kept()

    def ask(self, *words, numbers, lines=2):
        """Signals one after the other, each when the one before is answered; returns the status and what was
        said. perf says that it has begun, and the program, where it has something to say, that it is ready."""
        with subprocess.Popen([program.BR2PGO, "record", *words], cwd=self.work,
                              env=self.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as process:
            begun = [process.stdout.readline() for _ in range(lines)]
            self.assertEqual(sorted(begun), ["perf has begun\n", "ready\n"][:lines])
            said = []
            for number, answer in zip(numbers, ("told to end", "is killed, the", "ended at once")):
                if said:
                    time.sleep(0.7)  # less may be one request
                process.send_signal(number)
                said += waiting.lines_until(process.stderr, answer)
            said += process.communicate(timeout=waiting.LIMIT)[1].splitlines()
        return process.returncode, [line.strip().split(";")[0] for line in said]

    def test_asked_twice(self):
        """A program that does not end is killed, at the second request; the recording is kept."""
        for number, more in ((signal.SIGINT, []), (signal.SIGTERM, ["--duration", "100"])):
            status, said = self.ask(*more, "sh", "-c", "trap '' INT TERM; echo ready; while :; do sleep 1; done",
                                    numbers=[number, number])
            self.assertEqual(status, -number)
            self.assertEqual([line for line in said if "the program is" in line],
                             ["br2pgo: the program is told to end",
                              "br2pgo: the program is killed, the recording is kept"])
            self.check_kept()
            os.remove(self.output)

    def test_asked_once(self):
        """It is not killed, however long it takes."""
        status, _ = self.ask("sh", "-c", "trap 'sleep 2; echo done >&2; exit' TERM; echo ready; while :; do sleep 1; done",
                             numbers=[signal.SIGTERM])
        self.assertEqual(status, -signal.SIGTERM)
        self.check_kept()

    @staticmethod
    def is_gone(pid):
        try:
            with open(f"/proc/{pid}/status", encoding="ascii") as file:
                return "State:\tZ" in file.read()
        except OSError:
            return True

    def test_asked_thrice(self):
        """Nothing is waited for, and nothing is left."""
        status, said = self.ask("hang", numbers=[signal.SIGTERM, signal.SIGTERM, signal.SIGTERM], lines=1)
        self.assertEqual(status, -signal.SIGTERM)
        self.assertEqual(said[-1], "br2pgo: ended at once, without a recording")
        self.assertEqual(os.listdir(self.work), ["perf.pid"])
        with open(os.path.join(self.work, "perf.pid"), encoding="ascii") as file:
            pid = int(file.read())
        waiting.until(lambda: self.is_gone(pid), "perf's end")

    def test_hung_up(self):
        self.signalled(signal.SIGHUP)

    def test_terminated(self):
        self.signalled(signal.SIGTERM)

    def test_folder_gone(self):
        """The recording cannot be put in place; that is said."""
        inner = os.path.join(self.work, "inner")
        os.mkdir(inner)
        result = subprocess.run([program.BR2PGO, "record", "-o", os.path.join(inner, "x"), "sh",
                                 "-c", f"rm -rf {inner}"], env=self.environment(), check=False,
                                capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 1)
        self.assertIn("br2pgo: error: perf ended with status 1 and made no recording\n",
                      result.stderr)
        self.assertEqual(os.listdir(self.work), [])


if __name__ == "__main__":
    unittest.main()
