# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Waiting for what a started program does, in place of some time in which it mostly has done it."""
import fcntl
import struct
import termios
import time

LIMIT = 120  # seconds; what has not happened then never will


def until(happened, what):
    end = time.monotonic() + LIMIT
    while not happened():
        if time.monotonic() > end:
            raise AssertionError(f"waited in vain: {what}")
        time.sleep(0.005)


def _catches(pid, number):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        for line in file:
            if line.startswith("SigCgt:"):
                return bool(int(line.split()[1], 16) >> (number - 1) & 1)
    return False


def until_caught(process, number):
    """The program has a handler for the signal."""
    until(lambda: _catches(process.pid, number), f"a handler of signal {number}")


def until_not_caught(process, number):
    until(lambda: not _catches(process.pid, number), f"no handler of signal {number}")


def _sleeps(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        return file.read().rsplit(")", 1)[1].split()[0] == "S"


def until_asleep(process):
    """The program waits for something itself."""
    until(lambda: _sleeps(process.pid), "a sleeping program")


def until_empty(pipe):
    """All that was written into the pipe is read."""
    until(lambda: struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0\0\0\0"))[0] == 0, "a reader")


def lines_until(stream, text):
    """The lines up to the one that has the text."""
    lines = []
    for line in stream:
        lines.append(line)
        if text in line:
            return lines
    raise AssertionError(f"no line with {text!r}: {''.join(lines)}")
