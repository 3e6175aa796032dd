#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every command with what is no ordinary file: FIFOs, /dev/stdin, /dev/fd/N, process substitution,
/dev/null and /dev/full, as input and as output; a reader that goes away, and signals."""
import os
import signal
import subprocess
import sys

import program
from program import BR2PGO, waiting


class Streams(program.Case):
    def setUp(self):
        super().setUp()
        self.prof = os.path.join(self.out, "p.gcov")
        self.assertEqual(self.run_program("-o", self.prof).returncode, 0)
        # Command, its input, and what its output is called.
        self.commands = [
            ([self.data, "-b", self.app, "-f", "gcov"], self.data),
            (["show", self.prof], self.prof),
            (["merge", self.prof, "-f", "gcov"], self.prof),
        ]

    def call(self, args, **more):
        more.setdefault("stdout", subprocess.PIPE)
        return subprocess.run([BR2PGO, *args], stderr=subprocess.PIPE, check=False, timeout=60, **more)

    def wanted(self, args):
        path = os.path.join(self.out, "wanted")
        result = self.call([*args, "-o", path])
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(path, "rb") as file:
            content = file.read()
        os.unlink(path)
        self.assertGreater(len(content), 50)
        return content

    def test_input(self):
        """As a FIFO, /dev/stdin, /dev/fd/N and by process substitution; all the same."""
        inspected = self.call(["inspect", self.data]).stdout
        for args, source in [*self.commands, (["inspect", self.data], self.data)]:
            output = [] if args[0] == "inspect" else ["-o", "-"]
            wanted = inspected if args[0] == "inspect" else self.wanted(args)
            fifo = os.path.join(self.folder, "input")
            os.mkfifo(fifo)
            for name in (fifo, "/dev/stdin", "/dev/fd/0"):
                with subprocess.Popen(["sh", "-c", 'cat "$0" >"$1"' if name == fifo else 'cat "$0"',
                                       source, fifo], stdout=subprocess.PIPE) as cat:
                    words = [name if word == source else word for word in args]
                    result = self.call([*words, *output],
                                       stdin=subprocess.DEVNULL if name == fifo else cat.stdout)
                self.assertEqual(result.returncode, 0, (name, result.stderr))
                # What inspect prints begins with the name.
                cut = 1 if args[0] == "inspect" else 0
                self.assertEqual(result.stdout.split(b"\n")[cut:], wanted.split(b"\n")[cut:], name)
            os.unlink(fifo)
            line = " ".join(f'<(cat "{source}")' if word == source else f'"{word}"' for word in args)
            result = subprocess.run(["bash", "-c", f'"{BR2PGO}" {line} {" ".join(output)}'],
                                    capture_output=True, check=False, timeout=60)
            self.assertEqual(result.returncode, 0, result.stderr)

    def test_output(self):
        """Into a FIFO, /dev/stdout, /dev/fd/1 and a process: written in place, nothing renamed."""
        for args, _ in self.commands:
            wanted = self.wanted(args)
            fifo = os.path.join(self.folder, "output")
            os.mkfifo(fifo)
            with subprocess.Popen([BR2PGO, *args, "-o", fifo]) as process:
                with open(fifo, "rb") as file:
                    self.assertEqual(file.read(), wanted)
                self.assertEqual(process.wait(60), 0)
            self.assertTrue(os.path.exists(fifo))
            os.unlink(fifo)
            for name in ("-", "/dev/stdout", "/dev/fd/1"):
                self.assertEqual(self.call([*args, "-o", name]).stdout, wanted)
            line = " ".join(f'"{word}"' for word in args)
            copy = os.path.join(self.out, "copy")
            subprocess.run(["bash", "-c", f'"{BR2PGO}" {line} -o >(cat >"{copy}.x"; mv "{copy}.x" "{copy}")'],
                           check=True, timeout=60, stderr=subprocess.DEVNULL)
            waiting.until(lambda: os.path.exists(copy), "the copy")  # pylint: disable=cell-var-from-loop
            with open(copy, "rb") as file:
                self.assertEqual(file.read(), wanted)
            os.unlink(copy)

    def test_null(self):
        for args, source in self.commands:
            self.assertEqual(self.call([*args, "-o", "/dev/null"]).returncode, 0)
            words = ["/dev/null" if word == source else word for word in args]
            result = self.call([*words, "-o", self.old])
            self.assert_failed(result, "/dev/null")
            with open(self.old, "rb") as file:
                self.assertEqual(file.read(), b"old")
        self.assert_failed(self.call(["inspect", "/dev/null"]), "/dev/null")

    @program.unittest.skipUnless(program.FULL, "no /dev/full")
    def test_full(self):
        for args, _ in self.commands:
            self.assert_failed(self.call([*args, "-o", "/dev/full"]), "/dev/full", "No space left")
        with open("/dev/full", "wb") as full:
            self.assert_failed(self.call(["inspect", "--json", self.data], stdout=full), "No space left")

    def test_broken_pipe(self):
        for args in [*([*args, "-o", "-"] for args, _ in self.commands), ["inspect", self.data]]:
            reading, writing = os.pipe()
            os.close(reading)
            with open(writing, "wb") as closed:
                self.assert_failed(self.call(args, stdout=closed), "Broken pipe")

    def test_folder_that_may_not_be_written(self):
        nobody = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        os.chmod(self.prof, 0o644)
        os.chmod(self.out, 0o555)
        try:
            self.call(["--version"], **nobody)
        except PermissionError:
            self.skipTest("nobody cannot run the program")
        for args, _ in self.commands:
            self.assert_failed(self.call([*args, "-o", os.path.join(self.out, "new")], **nobody),
                               "cannot create", "hint: ")

    def test_signals(self):
        """While they wait for their input, and for the reader of their output."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            for args, source in self.commands:
                for side in ("input", "output"):
                    fifo = os.path.join(self.folder, side)
                    os.mkfifo(fifo)
                    words = [fifo if side == "input" and word == source else word for word in args]
                    output = fifo if side == "output" else os.path.join(self.out, "new")
                    with subprocess.Popen([BR2PGO, *words, "-o", output], stderr=subprocess.PIPE) as process:
                        waiting.until_asleep(process)
                        process.send_signal(number)
                        self.assertEqual(process.wait(waiting.LIMIT), -number, (args, side))
                    os.unlink(fifo)
        self.assertEqual(sorted(os.listdir(self.out)), ["old.gcov", "p.gcov"])


if __name__ == "__main__":
    if not program.is_x86():
        print("needs a compiler for x86-64")
        sys.exit(77)
    program.unittest.main(defaultTest=["Streams"], verbosity=1)
