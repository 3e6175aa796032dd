#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time and memory of br2pgo beside the tools people use today, on the same recordings, in turn.

  peers.py --br2pgo PROGRAM --recording PERF.DATA --binary BINARY [--sizes 13M,130M,1300M] [--rounds 3]
           [--peers llvm-profgen,perf2bolt,create_gcov] [--llvm-bin DIR] [--scratch DIR]

Each size is the recording's samples repeated, with shifted times, up to so many bytes (make_large.py
beside this). In every round each tool runs once, in turn; medians are printed, with the ratio to br2pgo.
Tools that are not installed are named and left out. What a tool made of the recording is checked
only for being there: a tool that fails is shown as failed.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time


def commands(args, data, binary, out):
    """What each tool is asked for: (name, output format, command)."""
    llvm = args.llvm_bin
    yield 'br2pgo', 'LLVM', [args.br2pgo, '-q', data, '-b', binary, '-o', out + '.prof']
    yield 'br2pgo', 'edges', [args.br2pgo, '-q', data, '-b', binary, '-o', out + '.edges.csv']
    yield 'llvm-profgen', 'LLVM', [os.path.join(llvm, 'llvm-profgen'), '--perfdata=' + data,
                                   '--binary=' + binary, '--format=extbinary',
                                   '--output=' + out + '.profgen']
    yield 'perf2bolt', 'BOLT', [os.path.join(llvm, 'perf2bolt'), '-p', data, '-o', out + '.fdata',
                                binary]
    yield 'create_gcov', 'GCC', ['create_gcov', '--profile=' + data, '--binary=' + binary,
                                 '--gcov=' + out + '.gcov', '--gcov_version=1']


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


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--br2pgo', required=True)
    parser.add_argument('--recording', required=True)
    parser.add_argument('--binary', required=True)
    parser.add_argument('--sizes', default='13M,130M,1300M')
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--peers', default='llvm-profgen,perf2bolt,create_gcov')
    parser.add_argument('--llvm-bin', default='/usr/lib/llvm-19/bin')
    parser.add_argument('--scratch', default=None)
    args = parser.parse_args()
    args.br2pgo = os.path.abspath(args.br2pgo)
    make_large = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'make_large.py')
    print('| MB | tool | for | wall s | cpu s | peak MB | wall / br2pgo |')
    print('|---|---|---|---|---|---|---|')
    with tempfile.TemporaryDirectory(dir=args.scratch) as folder:
        # llvm-profgen finds the program by its file name in the recording.
        binary = os.path.join(folder, os.path.basename(args.binary))
        shutil.copy(args.binary, binary)
        for size in args.sizes.split(','):
            data = os.path.join(folder, size + '.data')
            subprocess.run([sys.executable, make_large, args.recording, size, data], check=True,
                           stdout=subprocess.DEVNULL)
            results = measure(args, data, binary, folder)
            print_rows(os.path.getsize(data) / 1e6, results)
            sys.stdout.flush()
            os.unlink(data)


main()
