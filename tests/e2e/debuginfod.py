#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is not on the machine comes from debuginfod by build-id: debug information, the program itself, and
what dwz moved away. The server is one here; without DEBUGINFOD_URLS nobody is asked."""
import ctypes
import http.server
import os
import shutil
import subprocess
import sys
import tempfile
import threading

BR2PGO = os.environ["BR2PGO"]
TOOLS = os.environ["TOOLS"]
BUILD_ID = "51ac0123456789abcdef51ac0123456789abcdef"
PROGRAM = r"""
static inline __attribute__((always_inline)) int two(void)
{
    __asm__ volatile("inner: inc %%edx\n"
                     "again: jmp inner" : : : "edx");
    return 2;
}
int total;
void _start(void)
{
    total += two();
}
"""


class Server:
    """Serves a folder; says what was asked for."""
    def __init__(self, folder):
        asked = self.asked = []

        class Handler(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *args):
                super().__init__(*args, directory=folder)

            def do_GET(self):
                asked.append(self.path)
                super().do_GET()

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = "http://127.0.0.1:%d" % self.server.server_address[1]


class Test:
    def __init__(self, folder):
        self.folder = folder
        self.bad = 0
        self.runs = 0
        self.served = os.path.join(folder, "served")
        os.mkdir(self.served)
        self.server = Server(self.served)

    def run(self, *command, check=True):
        return subprocess.run(command, cwd=self.folder, check=check, stdout=subprocess.PIPE, text=True).stdout

    def path(self, name):
        return os.path.join(self.folder, name)

    def serve(self, source, kind, build_id=BUILD_ID):
        place = os.path.join(self.served, "buildid", build_id)
        os.makedirs(place, exist_ok=True)
        shutil.copy(self.path(source), os.path.join(place, kind))

    def convert(self, *args, urls=None):
        """Exit status, output and messages; the client's cache is a new one each time: it remembers misses."""
        self.runs += 1
        environment = {name: value for name, value in os.environ.items() if not name.startswith("DEBUGINFOD")}
        environment["DEBUGINFOD_CACHE_PATH"] = self.path(f"cache{self.runs}")
        environment["HOME"] = self.folder
        if urls is not None:
            environment["DEBUGINFOD_URLS"] = urls
        done = subprocess.run([BR2PGO, "perf.data", "-f", "llvm-text", "-o", "-", *args], cwd=self.folder, env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    def expect(self, what, got, wanted):
        if got != wanted:
            self.bad += 1
            print(f"{what}: expected {wanted!r}, got {got!r}")

    def expect_text(self, what, text, part):
        if part not in text:
            self.bad += 1
            print(f"{what}: expected {part!r} in {text!r}")

    def prepare(self):
        """whole, and without debug information: app; a recording of /nowhere/app."""
        with open(self.path("app.c"), "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        self.run("gcc", "-nostdlib", "-static", "-O1", "-g", f"-Wl,--build-id=0x{BUILD_ID}", "app.c", "-o", "whole")
        self.run("objcopy", "--strip-debug", "whole", "app")
        self.run("objcopy", "--only-keep-debug", "whole", "debug")
        places = {line.split()[2]: int(line.split()[0], 16) for line in self.run("nm", "whole").splitlines()}
        record = f"0x{places['again']:x}/0x{places['inner']:x}/P/-/-/1"
        with open(self.path("description"), "w", encoding="utf-8") as file:
            file.write("event cycles:u sample=IP,TID,TIME,BRANCH_STACK branch=USER,ANY\ncomm pid=7 exec name=app\n"
                       "mmap2 pid=7 addr=0x401000 len=0x1000 off=0x1000 maj=8 min=1 ino=77 name=/nowhere/app\n"
                       f"buildid {BUILD_ID} /nowhere/app\nsample pid=7 : {record} {record}\n")
        self.run(os.path.join(TOOLS, "mkperf"), "-o", "perf.data", "description")

    def test_debug_information(self):
        url = self.server.url
        self.profile = self.convert("-b", "whole")[1]
        self.expect_text("profile", self.profile, "two:4")
        status, _, text = self.convert("-b", "app")
        self.expect("without servers", (status, "DEBUGINFOD" in text, self.server.asked), (3, False, []))
        status, _, text = self.convert("-b", "app", urls=url)
        self.expect("not served", (status, self.server.asked), (3, [f"/buildid/{BUILD_ID}/debuginfo"]))
        self.expect_text("not served", text, f"warning: the servers of DEBUGINFOD_URLS have no debug information of build-id {BUILD_ID}\n")
        self.serve("debug", "debuginfo")
        self.expect("served", self.convert("-b", "app", urls=url), (0, self.profile, ""))
        asked = len(self.server.asked)
        self.expect("not needed", self.convert("-b", "whole", urls=url), (0, self.profile, ""))
        self.expect("not needed", len(self.server.asked), asked)
        status, _, text = self.convert("-b", "app", urls="http://127.0.0.1:1")
        self.expect("nobody there", status, 3)
        self.expect_text("nobody there", text, "warning: the servers of DEBUGINFOD_URLS do not give the debug information of")

    def test_other_build(self):
        self.run("gcc", "-nostdlib", "-static", "-O1", "-g", "-Wl,--build-id=0xabcd", "app.c", "-o", "other")
        self.serve("other", "debuginfo")
        status, _, text = self.convert("-b", "app", urls=self.server.url)
        self.expect("another build", status, 3)
        self.expect_text("another build", text, "which debuginfod gave, is not of the build-id asked for\n")
        self.serve("debug", "debuginfo")

    def test_program(self):
        status, _, text = self.convert()
        self.expect("no program", status, 1)
        self.expect_text("no program", text, "'/nowhere/app'")
        status, _, text = self.convert(urls=self.server.url)
        self.expect("program not served", status, 1)
        self.expect_text("program not served", text, f"have no program of build-id {BUILD_ID}\n")
        self.serve("app", "executable")
        status, profile, _ = self.convert(urls=self.server.url)
        self.expect("program", (status, profile), (0, self.profile))

    def test_dwz(self):
        if shutil.which("dwz") is None:
            print("no dwz: its files not tried")
            return
        for name in ("one", "two"):
            shutil.copy(self.path("whole"), self.path(name))
        self.run("dwz", "-m", "shared", "one", "two")
        os.rename(self.path("shared"), self.path("moved"))
        self.expect("dwz, without servers", self.convert("-b", "one")[0], 3)
        notes = self.run("readelf", "-n", "moved")
        self.serve("moved", "debuginfo", notes.split("Build ID: ")[1].split()[0])
        self.expect("dwz", self.convert("-b", "one", urls=self.server.url), (0, self.profile, ""))


def main():
    try:
        ctypes.CDLL("libdebuginfod.so.1")
    except OSError:
        print("no libdebuginfod")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        test = Test(folder)
        test.prepare()
        test.test_debug_information()
        test.test_other_build()
        test.test_program()
        test.test_dwz()
    return 1 if test.bad else 0


if __name__ == "__main__":
    sys.exit(main())
