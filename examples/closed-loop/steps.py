# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Steps that are not done again while their command and what they read are the same."""
import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import subprocess
import threading


class StepFailed(Exception):
    """A command did not do what it should; the text says which and how."""


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


class Steps:
    """Runs commands, keeps their output in `log`, and remembers beside each file what it was made from."""

    def __init__(self, log, jobs):
        self.log = log
        self.jobs = jobs
        self.lock = threading.Lock()

    def run(self, command, folder=None, environment=None):
        """Standard output of a command."""
        variables = dict(os.environ, LC_ALL="C", **(environment or {}))
        done = subprocess.run(command, cwd=folder, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, errors="replace", check=False)
        with self.lock, open(self.log, "a", encoding="utf-8") as file:
            file.write(f"$ {shlex.join(command)}\n{done.stderr}exit {done.returncode}\n")
        if done.returncode != 0:
            lines = (done.stderr + done.stdout).strip().splitlines() or ["says nothing"]
            why = next((line for line in lines if re.search(r"\berror\b", line, re.I)), lines[-1]).strip()
            raise StepFailed(f"{os.path.basename(command[0])}: exit {done.returncode}: {why[:160]}")
        return done.stdout

    def make(self, output, command, inputs=(), **options):
        """Runs the command, which writes `output` from `inputs`, unless that was done. Gives `output`."""
        stamp = output + ".made"
        key = hashlib.sha256(json.dumps([command, [digest(path) for path in inputs]]).encode()).hexdigest()
        if os.path.exists(output) and os.path.exists(stamp):
            with open(stamp, encoding="utf-8") as file:
                if file.read() == key:
                    return output
        for path in output, stamp:
            if os.path.exists(path):
                os.unlink(path)
        os.makedirs(os.path.dirname(output), exist_ok=True)
        self.run(command, **options)
        if not os.path.exists(output):
            raise StepFailed(f"{os.path.basename(command[0])}: no {os.path.basename(output)}, and no error")
        with open(stamp, "w", encoding="utf-8") as file:
            file.write(key)
        return output

    def make_all(self, makes):
        """Several independent ones: (output, command, inputs)."""
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            return list(pool.map(lambda one: self.make(*one), makes))
