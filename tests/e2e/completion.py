#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The completion scripts, in the shells they are for: every command offers the options that its --help lists and
no others, options their words, arguments the right files. bash's function is called, and then a terminal is
typed at; fish is asked; zsh is typed at. A shell that is not there is skipped by name."""
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

BR2PGO = os.path.realpath(os.environ["BR2PGO"])
FILES = ["a.prof", "b.textprof", "c.gcov", "notes.txt", "perf data"]


def run(*words, **options):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=60,
                          **options)


def commands():
    text = run(BR2PGO, "--help").stdout
    return re.findall(r"^br2pgo (\w+), ", text, re.M)


def options_of(command):
    return sorted(re.findall(r"^  (?:-\w, |    )(--[\w-]+)", run(BR2PGO, command, "--help").stdout, re.M))


def formats():
    listed = run(BR2PGO, "--help").stdout.split("\nFormats:\n")[1].split("\n\n")[0]
    return sorted(line.split()[0] for line in listed.splitlines())


def bash_words(*words):
    """What bash's function offers for the last of the words; '=' is a word of its own."""
    result = run("bash", "--norc", "-c", 'source ../c.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _br2pgo;'
                 '((${#COMPREPLY[@]} == 0)) || printf "%s\\n" "${COMPREPLY[@]}"', "bash", "br2pgo", *words)
    return sorted(result.stdout.split("\n")[:-1]) if result.stderr == "" else result.stderr


def fish_words(line):
    result = run("fish", "--no-config", "-c", "source ../c.fish; complete -C $argv[1]", line)
    return sorted(word.split("\t")[0] for word in result.stdout.splitlines())


class Terminal:
    """A shell at a terminal of its own; the tab key completes."""

    def __init__(self, words, setup):
        pid, self.terminal = pty.fork()
        if pid == 0:
            os.environ.update(TERM="dumb", PS1="> ", PROMPT="> ", HOME=os.getcwd(), LC_ALL="C")
            os.execvp(words[0], words)
        self.type(setup + "; echo rea''dy\n", "ready\r")

    def type(self, text, wanted):
        """True when the text is answered with what is wanted; half a minute is more than any shell takes."""
        os.write(self.terminal, text.encode())
        got, end = "", time.monotonic() + 30
        while wanted not in got and time.monotonic() < end:
            if select.select([self.terminal], [], [], 1)[0]:
                got += os.read(self.terminal, 4096).decode(errors="replace")
        return wanted in got or f"{text!r}: {got!r}"

    def close(self):
        os.close(self.terminal)


def check(problems, what, got, wanted):
    if got != wanted:
        problems.append(f"{what}: {got}, not {wanted}")


def check_bash(problems):
    names = commands()
    for command in names:
        wanted = options_of(command)
        check(problems, f"bash: {command} --", bash_words(command, "--"), wanted)
        check(problems, f"bash: {command} -v --", bash_words(command, "-v", "--"), wanted)
    check(problems, "bash: first", bash_words(""), sorted(names + FILES))
    check(problems, "bash: first", bash_words("ins"), ["inspect"])
    for words in (["--format", ""], ["show", "a.prof", "-f", ""], ["merge", "--format", "="]):
        check(problems, f"bash: {words}", bash_words(*words), formats())
    check(problems, "bash: =", bash_words("--format", "=", "llvm-t"), ["llvm-text"])
    check(problems, "bash: --names", bash_words("--names", ""), ["all", "auto", "none", "selected"])
    check(problems, "bash: --section", bash_words("report", "--section", "cod"), ["code"])
    check(problems, "bash: --section", bash_words("report", "--section", "code,cov"), ["code,coverage"])
    said = run(BR2PGO, "report", "notes.txt", "--section", "none").stderr
    listed = re.search(r"its sections are (.*)", said)
    check(problems, "bash: --section", bash_words("report", "--section", ""),
          sorted(listed[1].split(", ")) if listed else said)
    check(problems, "bash: --threads", bash_words("-j", ""), [])
    check(problems, "bash: --binary", bash_words("-b", "n"), ["notes.txt"])
    check(problems, "bash: --sysroot", bash_words("--sysroot", ""), [])
    check(problems, "bash: inspect", bash_words("inspect", "p"), ["perf data"])
    check(problems, "bash: show", bash_words("show", ""), FILES[:3])
    check(problems, "bash: show", bash_words("show", "n"), ["notes.txt"])
    check(problems, "bash: diff", bash_words("diff", ""), FILES)
    program = bash_words("record", "-o", "x", "bas")
    check(problems, "bash: record", "bash" in program, True)
    check(problems, "bash: record --", bash_words("record", "--depth", "8", "-"), options_of("record"))
    check(problems, "bash: the program's", bash_words("record", "-o", "x", "./app", "n"), ["notes.txt"])
    check(problems, "bash: the program's", bash_words("record", "--depth", "=", "8", "./app", "--"), [])
    check(problems, "bash: --compat", bash_words("--compat", "perf"), ["perf2bolt"])
    check(problems, "bash: --compat", bash_words("--compat", "perf2bolt", "-p", "n"), ["notes.txt"])
    terminal = Terminal(["bash", "--norc", "--noprofile", "-i"], "source ../c.bash")
    check(problems, "bash, typed", terminal.type("br2pgo insp\t", "inspect "), True)
    check(problems, "bash, typed", terminal.type("pe\t", "perf\\ data "), True)
    check(problems, "bash, typed", terminal.type("\x15br2pgo --format=llvm-te\t", "llvm-text "), True)
    terminal.close()


def check_fish(problems):
    for command in commands():
        got = [word for word in fish_words(f"br2pgo {command} --") if word.startswith("--")]
        check(problems, f"fish: {command} --", got, options_of(command))
    check(problems, "fish: first", fish_words("br2pgo ins"), ["inspect"])
    check(problems, "fish: -f", fish_words("br2pgo show a.prof -f "), formats())
    check(problems, "fish: --section", fish_words("br2pgo report --section code,cov"), ["code,coverage"])
    check(problems, "fish: --threads", fish_words("br2pgo -j "), [])
    check(problems, "fish: --binary", fish_words("br2pgo -b n"), ["notes.txt"])
    check(problems, "fish: inspect", fish_words("br2pgo inspect p"), ["perf data"])
    check(problems, "fish: program", "bash" in fish_words("br2pgo record bas"), True)


def check_zsh(problems):
    terminal = Terminal(["zsh", "-f", "-i"], "autoload -U compinit; compinit -D -u; source ../c.zsh")
    for typed, wanted in (("br2pgo insp\t", "inspect "), ("pe\t", "perf\\ data "),
                          ("\x15br2pgo report --sec\t", "--section="), ("cove\t", "coverage"),
                          ("\x15br2pgo show a.prof -f llvm-t\t", "llvm-text "),
                          ("\x15br2pgo show c\t", "c.gcov "),
                          ("\x15br2pgo merge --gcc-v\t", "--gcc-version="),
                          ("\x15br2pgo --compat perf\t", "perf2bolt "),
                          ("\x15br2pgo record --dep\t", "--depth=")):
        check(problems, "zsh, typed", terminal.type(typed, wanted), True)
    terminal.close()


def main():
    problems, checked = [], []
    with tempfile.TemporaryDirectory(prefix="br2pgo-completion-") as scratch:
        for shell in ("bash", "zsh", "fish"):
            with open(os.path.join(scratch, "c." + shell), "w", encoding="utf-8") as file:
                file.write(run(BR2PGO, "--completion", shell).stdout)
        os.mkdir(os.path.join(scratch, "files"))
        os.chdir(os.path.join(scratch, "files"))
        for name in FILES:
            with open(name, "w", encoding="utf-8"):
                pass
        for shell, function in (("bash", check_bash), ("fish", check_fish), ("zsh", check_zsh)):
            if shutil.which(shell):
                function(problems)
                checked.append(shell)
            else:
                print(f"skipped: {shell} is not here")
        os.chdir("/")
    print("\n".join(problems))
    print(f"{', '.join(checked)}: {len(problems)} problems")
    return 1 if problems or "bash" not in checked else 0


if __name__ == "__main__":
    sys.exit(main())
