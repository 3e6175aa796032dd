#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The program when its surroundings fail: no room for an output, folders that may not be written,
pipes, signals. Always an error or the signal, no file left, the old output as it was."""
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tools"))
import waiting  # noqa: E402

BR2PGO = os.path.abspath(os.environ.get("BR2PGO", "build/dev/bin/br2pgo"))
TOOLS = os.path.abspath(os.environ.get("TOOLS")
                        or os.path.join(os.path.dirname(__file__), "..", "tools"))
PRELOAD = os.path.abspath(os.path.join(os.environ.get("BUILD_DIR", "build/dev"), "fault", "preload.so"))
SANITIZE = os.environ.get("SANITIZE", "")
FULL = os.path.exists("/dev/full")
SOURCE = """
#define CODE __attribute__((naked, aligned(16))) void
CODE _start(void) { __asm__("call work"); __asm__("jmp _start"); }
CODE work(void)
{
    __asm__("cmp $1, %eax");
    __asm__("je 1f");
    __asm__("inc %ecx");
    __asm__("1: dec %edx");
    __asm__("jne work");
    __asm__("ret");
}
"""
HISTORY = """0x401000/0x401010/P/-/-/1 0x401005/0x401000/P/-/-/1 0x40101b/0x401005/P/-/-/1 \
0x401019/0x401010/M/-/-/1 0x401013/0x401017/P/-/-/1 0x401000/0x401010/P/-/-/1"""
RECORDING = """event cycles:u sample=IP,TID,TIME,BRANCH_STACK branch=USER,ANY
comm pid=7 exec name=app
mmap2 pid=7 addr=0x400000 len=0x2000 off=0 buildid=51ac name=/opt/app
repeat %d
sample pid=7 : """ + HISTORY + "\nend\n"


def make_recording(path, samples):
    subprocess.run([os.path.join(TOOLS, "mkperf"), "-o", path], input=RECORDING % samples,
                   text=True, check=True)


def with_preload(**more):
    """The environment in which preload.c does what `more` says."""
    environment = dict(os.environ, LD_PRELOAD=PRELOAD, **more)
    # The sanitizer's own library comes second then.
    environment["ASAN_OPTIONS"] = environment.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
    return environment


def is_x86():
    result = subprocess.run(["cc", "-dM", "-E", "-x", "c", "/dev/null"], capture_output=True,
                            text=True, check=True)
    return "__x86_64__" in result.stdout


class Case(unittest.TestCase):
    """Each in its own folder, with app, perf.data, and an old output in out/."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="br2pgo-fault-")
        os.chmod(cls.folder, 0o755)
        cls.app = os.path.join(cls.folder, "app")
        cls.data = os.path.join(cls.folder, "perf.data")
        subprocess.run(["cc", "-g", "-O1", "-fcf-protection=none", "-fno-toplevel-reorder",
                        "-nostdlib", "-static", "-no-pie", "-Wl,-Ttext=0x401000",
                        "-Wl,-z,noseparate-code", "-Wl,--build-id=0x51ac", "-x", "c", "-", "-o", cls.app],
                       input=SOURCE, text=True, check=True)
        make_recording(cls.data, 1)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def setUp(self):
        self.out = os.path.join(self.folder, "out")
        os.mkdir(self.out)
        self.old = os.path.join(self.out, "old.gcov")
        with open(self.old, "w", encoding="utf-8") as file:
            file.write("old")

    def tearDown(self):
        subprocess.run(["chmod", "-R", "u+rwX", self.out], check=False)
        shutil.rmtree(self.out)

    def command(self, *args, data=None):
        return [BR2PGO, data or self.data, "-b", self.app, *args]

    def run_program(self, *args, data=None, timeout=60, **more):
        more.setdefault("stdout", subprocess.PIPE)
        return subprocess.run(self.command(*args, data=data), stderr=subprocess.PIPE, check=False,
                              timeout=timeout, **more)

    def assert_untouched(self):
        """Only the old output is there, as it was."""
        self.assertEqual(os.listdir(self.out), ["old.gcov"])
        with open(self.old, encoding="utf-8") as file:
            self.assertEqual(file.read(), "old")

    def assert_failed(self, result, *words, status=1):
        error = result.stderr.decode()
        self.assertEqual(result.returncode, status, error)
        self.assertTrue(error.startswith("br2pgo: error: "), error)
        for word in words:
            self.assertIn(word, error)


class NoRoom(Case):
    def test_limit_of_file_size(self):
        """Every size that is too small, for the first and for the second output."""
        self.assertEqual(self.run_program("-f", "llvm-text", "-o", self.old).returncode, 0)
        needed = os.path.getsize(self.old)
        self.assertGreater(needed, 50)
        second = os.path.join(self.out, "new.edges.csv")
        for ignored in (False, True):
            for limit in (0, 1, needed - 1):
                with open(self.old, "w", encoding="utf-8") as file:
                    file.write("old")

                def limit_size(limit=limit, ignored=ignored):
                    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
                    signal.signal(signal.SIGXFSZ, signal.SIG_IGN if ignored else signal.SIG_DFL)
                result = self.run_program("-f", "edges", "-o", "-", "-f", "llvm-text", "-o",
                                          self.old, "-f", "edges", "-o", second,
                                          preexec_fn=limit_size)
                self.assert_failed(result, "cannot write", "File too large")
                # What goes to a pipe cannot be taken back: it is the last to be written.
                self.assertEqual(result.stdout, b"")
                self.assert_untouched()

    def test_second_output_too_large(self):
        """The first one fits: it is not put into place either."""
        first = os.path.join(self.out, "first.textprof")
        second = os.path.join(self.out, "second.edges.json")
        self.assertEqual(self.run_program("-o", first, "-o", second).returncode, 0)
        sizes = [os.path.getsize(first), os.path.getsize(second)]
        self.assertLess(sizes[0], sizes[1])
        os.unlink(first)
        os.unlink(second)
        result = self.run_program(
            "-o", first, "-o", second,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (sizes[0], sizes[0])))
        self.assert_failed(result, "second.edges.json")
        self.assert_untouched()

    @unittest.skipUnless(FULL, "no /dev/full")
    def test_full_device(self):
        first = os.path.join(self.out, "first.textprof")
        result = self.run_program("-o", first, "-f", "edges", "-o", "/dev/full")
        self.assert_failed(result, "/dev/full", "No space left")
        self.assert_untouched()

    @unittest.skipUnless(FULL, "no /dev/full")
    def test_full_standard_output(self):
        for args in (["-f", "edges", "-o", "-"], ["-f", "edges", "-o", "/dev/stdout"]):
            with open("/dev/full", "wb") as full:
                result = self.run_program(*args, "-o", self.old, stdout=full)
            self.assert_failed(result, "No space left")
            self.assert_untouched()
        for args in (["--help"], ["--version"], ["inspect", self.data]):
            with open("/dev/full", "wb") as full:
                result = subprocess.run([BR2PGO, *args], stdout=full, stderr=subprocess.PIPE,
                                        check=False)
            self.assert_failed(result, "standard output", "No space left")

    @unittest.skipUnless(FULL, "no /dev/full")
    def test_full_report(self):
        result = self.run_program("-f", "edges", "-o", "-", "--report", "/dev/full")
        self.assert_failed(result, "/dev/full")

    @unittest.skipUnless(os.geteuid() == 0, "needs root to mount")
    def test_full_file_system(self):
        place = os.path.join(self.out, "mounted")
        os.mkdir(place)
        mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", place],
                               capture_output=True, check=False)
        if mount.returncode != 0:
            os.rmdir(place)
            self.skipTest("may not mount")
        try:
            with open(os.path.join(place, "old.gcov"), "w", encoding="utf-8") as file:
                file.write("old")
            with open(os.path.join(place, "filler"), "wb", buffering=0) as file:
                try:
                    while True:
                        file.write(bytes(4096))
                except OSError:
                    pass
            result = self.run_program("-o", os.path.join(place, "old.gcov"))
            self.assert_failed(result, "No space left")
            self.assertEqual(sorted(os.listdir(place)), ["filler", "old.gcov"])
        finally:
            subprocess.run(["umount", place], check=True)
            os.rmdir(place)


class Folders(Case):
    def as_nobody(self):
        """Arguments for subprocess that take away root's rights."""
        return {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}

    def test_folder_that_may_not_be_written(self):
        os.chmod(self.out, 0o555)
        try:
            # Where the program itself is out of nobody's reach there is nothing to learn.
            reach = subprocess.run([BR2PGO, "--version"], capture_output=True, check=False,
                                   **self.as_nobody())
        except PermissionError:
            self.skipTest("nobody cannot run the program")
        self.assertEqual(reach.returncode, 0)
        result = self.run_program("-o", self.old, **self.as_nobody())
        self.assert_failed(result, "cannot create", "Permission denied", "hint: ")
        self.assert_untouched()

    def test_folder_that_is_not_there(self):
        result = self.run_program("-o", self.old, "-o", os.path.join(self.out, "no", "x.gcov"))
        self.assert_failed(result, "No such file or directory", "hint: ")
        self.assert_untouched()

    def test_output_that_is_a_folder(self):
        result = self.run_program("-o", self.old, "-f", "edges", "-o", self.out)
        self.assert_failed(result, "Is a directory")
        self.assert_untouched()

    def test_permissions_and_links_stay(self):
        os.chmod(self.old, 0o640)
        link = os.path.join(self.out, "link.gcov")
        os.symlink("old.gcov", link)
        self.assertEqual(self.run_program("-o", link).returncode, 0)
        self.assertTrue(os.path.islink(link))
        self.assertEqual(os.stat(self.old).st_mode & 0o777, 0o640)
        self.assertGreater(os.path.getsize(self.old), 3)


    @unittest.skipUnless(os.geteuid() == 0, "needs root to give files away")
    def test_second_may_not_be_replaced(self):
        """Like /tmp: everybody may add files, and replace his own. What was replaced is put back."""
        os.chmod(self.out, 0o1777)
        os.chmod(self.old, 0o666)
        first = os.path.join(self.out, "first.edges.csv")
        fresh = os.path.join(self.out, "fresh.edges.json")
        with open(first, "w", encoding="utf-8") as file:
            file.write("first")
        os.chown(first, 65534, 65534)
        try:
            subprocess.run([BR2PGO, "--version"], capture_output=True, check=True,
                           **self.as_nobody())
        except PermissionError:
            self.skipTest("nobody cannot run the program")
        for later in (self.old, os.path.join(self.out, "x.edges.json")):
            result = self.run_program("-o", first, "-o", fresh, "-o", later, **self.as_nobody())
            if later == self.old:
                self.assert_failed(result, "cannot replace", "old.gcov", "hint: ")
                with open(first, encoding="utf-8") as file:
                    self.assertEqual(file.read(), "first")
                self.assertEqual(sorted(os.listdir(self.out)), ["first.edges.csv", "old.gcov"])
        self.assertEqual(result.returncode, 0)
        self.assertEqual(sorted(os.listdir(self.out)), ["first.edges.csv", "fresh.edges.json",
                                                        "old.gcov", "x.edges.json"])


class Pipes(Case):
    def edges(self):
        """What an edge table is."""
        return self.run_program("-f", "edges", "-o", "-").stdout

    def test_standard_output(self):
        wanted = self.edges()
        self.assertTrue(wanted.startswith(b"image,function,"))
        self.assertGreater(wanted.count(b"\n"), 5)
        self.assertEqual(self.run_program("-f", "edges", "-o", "/dev/stdout").stdout, wanted)

    def test_named_pipe(self):
        wanted = self.edges()
        fifo = os.path.join(self.out, "fifo.edges.csv")
        os.mkfifo(fifo)
        with subprocess.Popen(self.command("-o", fifo)) as process:
            with open(fifo, "rb") as file:
                self.assertEqual(file.read(), wanted)
            self.assertEqual(process.wait(waiting.LIMIT), 0)
        os.unlink(fifo)
        self.assert_untouched()

    def test_reader_that_goes_away(self):
        reading, writing = os.pipe()
        os.close(reading)
        with open(writing, "wb") as closed:
            result = self.run_program("-o", self.old, "-f", "edges", "-o", "-", stdout=closed)
        self.assert_failed(result, "Broken pipe")
        self.assert_untouched()

    def test_recording_from_a_pipe(self):
        wanted = self.edges()
        with open(self.data, "rb") as file:
            recording = file.read()
        result = self.run_program("-f", "edges", "-o", "-", data="/dev/stdin", input=recording)
        self.assertEqual((result.returncode, result.stdout), (0, wanted))


class Signals(Case):
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def start(self, *args, data=None, **more):
        return subprocess.Popen(self.command(*args, data=data), stderr=subprocess.PIPE,
                                stdout=subprocess.DEVNULL, **more)

    def assert_ends_by(self, process, number):
        try:
            process.wait(waiting.LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            self.fail(f"did not end on signal {number}")
        finally:
            process.stderr.close()
        self.assertEqual(process.returncode, -number)
        self.assert_untouched()

    def test_while_waiting_for_the_recording(self):
        fifo = os.path.join(self.folder, "fifo.data")
        os.mkfifo(fifo)
        for number in self.numbers:
            process = self.start("-o", self.old, data=fifo)
            with open(fifo, "wb") as file:  # opened: it reads now, and nothing comes
                file.write(b"PERFILE2")
                file.flush()
                waiting.until_empty(file)
                process.send_signal(number)
                self.assert_ends_by(process, number)
        os.unlink(fifo)

    def test_spares_the_reader_of_a_pipe(self):
        """Ctrl-C is for the recorder too, which ends what it writes; a second one ends the reader."""
        with open(self.data, "rb") as file:
            recording = file.read()
        for times in (1, 2):
            process = self.start("-o", self.old, data="-", stdin=subprocess.PIPE)
            waiting.until_caught(process, signal.SIGINT)
            process.stdin.write(recording[:200])
            process.stdin.flush()
            waiting.until_empty(process.stdin)
            process.send_signal(signal.SIGINT)
            waiting.until_not_caught(process, signal.SIGINT)
            if times == 2:
                process.send_signal(signal.SIGINT)
            if times == 2:
                process.stdin.close()
                self.assertEqual(process.wait(waiting.LIMIT), -signal.SIGINT)
            else:
                process.stdin.write(recording[200:])
                process.stdin.close()
                self.assertEqual(process.wait(waiting.LIMIT), 0, process.stderr.read())
                with open(self.old, "rb") as file:
                    self.assertNotEqual(file.read(), b"old")
            process.stderr.close()
        with open(self.old, "w", encoding="utf-8") as file:
            file.write("old")

    def test_while_inspecting(self):
        fifo = os.path.join(self.folder, "fifo.data")
        os.mkfifo(fifo)
        process = subprocess.Popen([BR2PGO, "inspect", fifo], stderr=subprocess.PIPE)
        with open(fifo, "wb"):
            process.send_signal(signal.SIGINT)
            self.assert_ends_by(process, signal.SIGINT)
        os.unlink(fifo)

    def test_at_any_time(self):
        """While a long recording is read, and around the end of it."""
        data = os.path.join(self.folder, "long.data")
        make_recording(data, 20000)
        start = time.monotonic()
        with self.start("-o", self.old, data=data) as process:
            self.assertEqual(process.wait(waiting.LIMIT), 0)
        whole = time.monotonic() - start
        for step in range(12):
            with open(self.old, "w", encoding="utf-8") as file:
                file.write("old")
            number = self.numbers[step % 3]
            process = self.start("-o", self.old, data=data)
            time.sleep(whole * step / 10)
            process.send_signal(number)
            self.assertIn(process.wait(waiting.LIMIT), (0, -number))
            process.stderr.close()
            self.assertEqual(os.listdir(self.out), ["old.gcov"])
            if os.path.getsize(self.old) == 3:
                self.assertEqual(process.returncode, -number)
        os.unlink(data)

    def test_while_temporary_files_are_there(self):
        """Another output waits for the reader of a pipe: the files are removed first."""
        fifo = os.path.join(self.folder, "fifo.edges.csv")
        os.mkfifo(fifo)
        for number in self.numbers:
            process = self.start("-o", self.old, "-o", fifo)
            waiting.until(lambda: len(os.listdir(self.out)) == 2, "a temporary file")
            process.send_signal(number)
            self.assert_ends_by(process, number)
        os.unlink(fifo)

    @unittest.skipIf("thread" in SANITIZE, "nothing is loaded before the thread sanitizer")
    def test_before_a_text_is_put_in_place(self):
        """A page or a shown profile is written beside its place too."""
        profile = os.path.join(self.folder, "shown.prof")
        self.assertEqual(self.run_program("-o", profile).returncode, 0)
        environment = with_preload(BR2_FAULT="rename:1:signal")
        for command in (["report", self.data, "-b", self.app, "--html", self.old],
                        ["show", profile, "-o", self.old]):
            result = subprocess.run([BR2PGO, *command], env=environment, stderr=subprocess.PIPE,
                                    timeout=60, check=False)
            self.assertEqual(result.returncode, -signal.SIGTERM, result.stderr)
            self.assertEqual(os.listdir(self.out), ["old.gcov"])
        os.unlink(profile)

    def test_ignored_signals_stay_ignored(self):
        """As nohup sets them."""
        fifo = os.path.join(self.folder, "fifo.edges.csv")
        os.mkfifo(fifo)
        process = self.start("-o", self.old, "-o", fifo,
                             preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        waiting.until(lambda: len(os.listdir(self.out)) == 2, "a temporary file")
        process.send_signal(signal.SIGHUP)
        with open(fifo, "rb") as file:
            self.assertTrue(file.read().startswith(b"image,"))
        self.assertEqual(process.wait(waiting.LIMIT), 0)
        process.stderr.close()
        os.unlink(fifo)


if __name__ == "__main__":
    if not is_x86():
        print("needs a compiler for x86-64")
        sys.exit(77)
    unittest.main(verbosity=1)
