#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time and memory of br2pgo beside the tools people use today, on the same recordings, in turn.

  peers.py --br2pgo PROGRAM --recording PERF.DATA --binary BINARY [--sizes 13M,130M,1300M] [--rounds 3]
           [--peers llvm-profgen,create_llvm_prof,perf2bolt,create_gcov] [--llvm-bin DIR] [--scratch DIR]

Each size is the recording's samples repeated, with shifted times, up to so many bytes (make_large.py
beside this). In every round each tool runs once, in turn; medians are printed, with the ratio to br2pgo.
Tools that are not installed are named and left out, a tool that fails is shown as failed. A second table shows how
the time of processors grows with size: the exponent that fits best, 1 is proportional; a third one what each got out of the last recording: functions, samples, and functions that llvm-bolt
calls stale.
"""
import argparse
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time


def commands(args, data, binary, out):
    """What each tool is asked for: (name, output format, command)."""
    llvm = args.llvm_bin
    ours = [args.br2pgo, '-q', data, '-b', binary]
    gcc = ['--gcc-version', '12', '-o', out + '.br2pgo.gcov']
    bolt = ['-o', out + '.br2pgo.fdata']
    yield 'br2pgo', 'LLVM', ours + ['-o', out + '.prof']
    yield 'br2pgo', 'BOLT', ours + bolt
    yield 'br2pgo', 'GCC', ours + gcc
    yield 'br2pgo', 'LLVM + BOLT + GCC', ours + ['-o', out + '.prof'] + bolt + gcc
    yield 'llvm-profgen', 'LLVM', [os.path.join(llvm, 'llvm-profgen'), '--perfdata=' + data,
                                   '--binary=' + binary, '--format=extbinary',
                                   '--output=' + out + '.profgen.prof']
    yield 'create_llvm_prof', 'LLVM', ['create_llvm_prof', '--profile=' + data, '--binary=' + binary,
                                       '--format=binary', '--out=' + out + '.create.prof']
    yield 'perf2bolt', 'BOLT', [os.path.join(llvm, 'perf2bolt'), '-p', data, '-o',
                                out + '.perf2bolt.fdata', binary]
    yield 'create_gcov', 'GCC', ['create_gcov', '--profile=' + data, '--binary=' + binary,
                                 '--gcov=' + out + '.create.gcov', '--gcov_version=1']


def run(command, folder):
    """Wall seconds, CPU seconds, peak memory in MB; None when it failed."""
    start = time.monotonic()
    with open(os.devnull, 'w') as null:
        process = subprocess.Popen(command, stdout=null, stderr=null, cwd=folder)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        return None
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def measure(args, data, binary, folder):
    wanted = ['br2pgo'] + args.peers.split(',')
    tools = [t for t in commands(args, data, binary, os.path.join(folder, 'out')) if t[0] in wanted]
    results = {}
    for tool in tools:
        if shutil.which(tool[2][0]) is None:
            print('not installed: ' + tool[0], file=sys.stderr)
    tools = [t for t in tools if shutil.which(t[2][0]) is not None]
    for _ in range(args.rounds):
        for name, kind, command in tools:
            results.setdefault((name, kind), []).append(run(command, folder))
    return results


def median(values, index):
    return statistics.median(v[index] for v in values)


def print_rows(megabytes, results):
    ours = [v for v in results[('br2pgo', 'LLVM')] if v is not None]
    for (name, kind), values in results.items():
        if None in values or not ours:
            print('| %.0f | %s | %s | failed | | | |' % (megabytes, name, kind))
            continue
        wall = median(values, 0)
        print('| %.0f | %s | %s | %.3f | %.3f | %.0f | %.1f |'
              % (megabytes, name, kind, wall, median(values, 1), median(values, 2),
                 wall / median(ours, 0)))


def exponent(points):
    """The slope of the line that fits the logarithms of (size, time) best."""
    points = [(math.log(x), math.log(max(y, 1e-3))) for x, y in points]
    x_mean, y_mean = (statistics.mean(values) for values in zip(*points))
    return (sum((x - x_mean) * (y - y_mean) for x, y in points)
            / sum((x - x_mean) ** 2 for x, _ in points))


def print_growth(growth):
    print('\n| tool | for | processor time grows with size to the power of |')
    print('|---|---|---|')
    for (name, kind), points in growth.items():
        if len(points) > 1:
            print('| %s | %s | %.2f |' % (name, kind, exponent(points)))


def output_of(command, folder):
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors='replace')
    return done.stdout


def llvm_contents(text):
    """Functions and body samples of an LLVM text profile."""
    lines = [line for line in text.splitlines() if line and not line.startswith('#')]
    functions = sum(not line.startswith(' ') for line in lines)
    bodies = (line.split(': ', 1)[1].split()[0] for line in lines
              if line.startswith(' ') and ': ' in line)
    return functions, sum(int(word) for word in bodies if word.isdigit())


def fdata_contents(path):
    functions, samples = set(), 0
    with open(path) as file:
        for words in (line.split() for line in file):
            if len(words) == 8 and words[0] == '1':
                functions.add(words[1])
            if len(words) == 8:
                samples += int(words[7])
    return len(functions), samples


def stale_functions(args, path, binary, folder):
    text = output_of([os.path.join(args.llvm_bin, 'llvm-bolt'), binary, '-data=' + path, '-o',
                      os.path.join(folder, 'bolted'), '-reorder-blocks=ext-tsp'], folder)
    stale = re.search(r'(\d+) .*function.* have invalid \(possibly stale\) profile', text)
    return stale.group(1) if stale else '0'


def print_contents(args, binary, folder):
    """What each tool got out of the recording."""
    print('\n| file | functions | samples | stale for llvm-bolt |')
    print('|---|---|---|---|')
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        stale = ''
        if name.endswith('.fdata'):
            functions, samples = fdata_contents(path)
            stale = stale_functions(args, path, binary, folder)
        elif name.endswith(('.prof', '.gcov')):
            functions, samples = llvm_contents(output_of([args.br2pgo, 'show', path], folder))
        else:
            continue
        print('| %s | %d | %d | %s |' % (name, functions, samples, stale))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--br2pgo', required=True)
    parser.add_argument('--recording', required=True)
    parser.add_argument('--binary', required=True)
    parser.add_argument('--sizes', default='13M,130M,1300M')
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--peers', default='llvm-profgen,create_llvm_prof,perf2bolt,create_gcov')
    parser.add_argument('--llvm-bin', default='/usr/lib/llvm-19/bin')
    parser.add_argument('--scratch', default=None)
    args = parser.parse_args()
    args.br2pgo = os.path.abspath(args.br2pgo)
    make_large = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'make_large.py')
    print('| MB | tool | for | wall s | cpu s | peak MB | wall / br2pgo |')
    print('|---|---|---|---|---|---|---|')
    growth = {}
    with tempfile.TemporaryDirectory(dir=args.scratch) as folder:
        # llvm-profgen finds the program by its file name in the recording.
        binary = os.path.join(folder, os.path.basename(args.binary))
        shutil.copy(args.binary, binary)
        for size in args.sizes.split(','):
            data = os.path.join(folder, size + '.data')
            subprocess.run([sys.executable, make_large, args.recording, size, data], check=True,
                           stdout=subprocess.DEVNULL)
            results = measure(args, data, binary, folder)
            megabytes = os.path.getsize(data) / 1e6
            print_rows(megabytes, results)
            for tool, values in results.items():
                if None not in values:
                    growth.setdefault(tool, []).append((megabytes, median(values, 1)))
            sys.stdout.flush()
            os.unlink(data)
        print_growth(growth)
        print_contents(args, binary, folder)


if __name__ == '__main__':
    main()
