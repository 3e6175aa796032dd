#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How close an edge table comes to the exact counts of the same run: score_edges.py TRUTH TABLE

TRUTH is an edge table too, as record_steps --truth writes, or one of rows
  E,from,to,count,mispredicted   a taken edge; 0 = outside the image
  B,start,last,count,kind        a straight run; kind 1: it ends in a conditional branch
Prints one figure a line:
  edge_overlap      sum of the smaller of both shares over all taken edges: 1 = the same
  cond_error        mean |taken probability - truth|, weighted by how often the branch ran
  cond_coverage     share of conditional branches' executions for which the table has a probability
  mispredict_error  mean |misprediction rate - truth| over taken edges, weighted by count
  wrong_edges       share of the table's taken edges that never happened
"""
import collections
import csv
import sys

FIGURES = ("edge_overlap", "cond_error", "cond_coverage", "mispredict_error", "wrong_edges")


class Edges:
    """Taken edges {(from, to): (count, mispredicted)}, conditional branches {from: executions} and
    {from: taken probability}, kinds {(from, to): kind}."""

    def __init__(self):
        self.taken, self.runs, self.probability, self.kinds = {}, collections.Counter(), {}, {}

    def total(self):
        return sum(count for count, _ in self.taken.values()) or 1

    def derive_probabilities(self):
        """From exact counts: taken / executions."""
        out = collections.Counter()
        for (source, _), (count, _) in self.taken.items():
            out[source] += count
        self.probability = {a: min(1.0, out[a] / n) for a, n in self.runs.items()}


def read_rows(rows):
    """The truth of rows E and B."""
    edges = Edges()
    for row in rows:
        if row[0] == "E":
            pair = int(row[1], 16), int(row[2], 16)
            if all(pair):
                edges.taken[pair] = int(row[3]), int(row[4])
        elif row[4] == "1":
            edges.runs[int(row[2], 16)] += int(row[3])
    edges.derive_probabilities()
    return edges


def read_table(rows):
    edges = Edges()
    for row in csv.DictReader(rows):
        if not row["from"] or not row["to"]:
            continue
        pair, kind, count = (int(row["from"], 16), int(row["to"], 16)), row["kind"], int(row["count"])
        edges.kinds[pair] = kind
        if kind in ("cond", "fallthrough"):
            edges.runs[pair[0]] += count
        if kind == "fallthrough":
            if row["probability"]:
                edges.probability.setdefault(pair[0], 1 - float(row["probability"]))
            continue
        edges.taken[pair] = count, int(row["mispredicted"])
        if kind == "cond" and row["probability"]:
            edges.probability[pair[0]] = float(row["probability"])
    return edges


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        lines = file.read().splitlines()
    if lines and lines[0].startswith("image,"):
        return read_table(lines)
    return read_rows(csv.reader(lines))


def score(truth, table):
    """{figure: value}."""
    all_truth, all_table = truth.total(), table.total()
    both = [pair for pair in table.taken if pair in truth.taken]
    seen = [a for a in truth.runs if a in table.probability]
    covered = sum(truth.runs[a] for a in seen)
    weight = sum(truth.taken[pair][0] for pair in both)

    def rate(edges, pair):
        count, missed = edges.taken[pair]
        return missed / count if count else 0
    return {
        "edge_overlap": sum(min(truth.taken[p][0] / all_truth, table.taken[p][0] / all_table)
                            for p in both),
        "cond_error": sum(truth.runs[a] * abs(table.probability[a] - truth.probability[a])
                          for a in seen) / (covered or 1),
        "cond_coverage": covered / (sum(truth.runs.values()) or 1),
        "mispredict_error": sum(truth.taken[p][0] * abs(rate(table, p) - rate(truth, p))
                                for p in both if table.taken[p][0]) / (weight or 1),
        "wrong_edges": sum(n for p, (n, _) in table.taken.items()
                           if p not in truth.taken) / all_table,
    }


def main():
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    for name, value in score(read(sys.argv[1]), read(sys.argv[2])).items():
        print(f"{name} {value:.6f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
