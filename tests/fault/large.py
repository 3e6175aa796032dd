#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files of 100 GiB that are a hole but for their beginning: read, or refused, in no time and little
memory."""
import os
import resource
import struct
import subprocess
import sys

import program
from program import BR2PGO

SIZE = 100 << 30
MEMORY = 256 << 20 if not os.environ.get("SANITIZE") else None


def extend(path):
    os.truncate(path, SIZE)


class Large(program.Case):
    """Each call gets 20 seconds of processor time."""

    def run_limited(self, *args):
        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
            if MEMORY:
                resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        return subprocess.run([BR2PGO, *args], capture_output=True, check=False, preexec_fn=limit)

    def setUp(self):
        super().setUp()
        self.large = os.path.join(self.folder, "large")

    def tearDown(self):
        os.unlink(self.large)
        super().tearDown()

    def write(self, content):
        with open(self.large, "wb") as file:
            file.write(content)
        try:
            extend(self.large)
        except OSError:
            self.skipTest("no file system for files of 100 GiB")

    def test_recording(self):
        """With a size of data that fits, that lies, that is right."""
        with open(self.data, "rb") as file:
            recording = bytearray(file.read())
        offset, size = struct.unpack_from("<QQ", recording, 40)
        for claimed in (SIZE - offset, 1 << 63, size):
            struct.pack_into("<Q", recording, 48, claimed)
            self.write(recording)
            result = self.run_limited("inspect", self.large)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(b"6 records in 1 samples", result.stdout)
            self.assertEqual(b"could not be read" in result.stdout, claimed != size)
            output = os.path.join(self.out, "x.gcov")
            result = self.run_limited(self.large, "-b", self.app, "-o", output)
            self.assertEqual(result.returncode, 0, result.stderr)
            os.unlink(output)

    def assert_refused(self, content, *args, words):
        self.write(content)
        result = self.run_limited(*args, self.large)
        self.assert_failed(result, words)

    def test_texts(self):
        script = b"app 7 1.0: cycles: 0x401000/0x401010/P/-/-/1\n"
        self.assert_refused(script, "inspect", words="not a recording")
        self.assert_refused(b"1\n401010-401013:7\n0\n", "inspect", words="line 4")
        self.assert_refused(b"B 401010 401013 7 0\n", "inspect", words="line 2")
        self.write(script * 3000)  # more than is looked at to tell what it is
        result = self.run_limited("inspect", self.large)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(b"3000 records", result.stdout)
        self.assertIn(b"could not be read", result.stdout)

    def test_packed(self):
        self.assert_refused(b"\x28\xb5\x2f\xfd\0\x50", "inspect", words="damaged")

    def test_profiles(self):
        for suffix in ("textprof", "fdata", "gcov", "edges.csv", "edges.json"):
            path = os.path.join(self.folder, "p." + suffix)
            self.assertEqual(self.run_program("-o", path).returncode, 0)
            with open(path, "rb") as file:
                self.assert_refused(file.read(), "show", words="damaged")
            os.unlink(path)
        self.assert_refused(b"", "show", words="no profile")
        self.assert_refused(b"", "inspect", words="zero bytes only")

    def test_program(self):
        with open(self.app, "rb") as file:
            self.write(file.read())
        output = os.path.join(self.out, "x.gcov")
        result = self.run_limited(self.data, "-b", self.large, "-o", output)
        self.assertEqual(result.returncode, 0, result.stderr)


if __name__ == "__main__":
    if not program.is_x86():
        print("needs a compiler for x86-64")
        sys.exit(77)
    program.unittest.main(defaultTest=["Large"], verbosity=1)
