#!/usr/bin/env python3
"""Checks a file by the grammar of OpenMetrics 1.0 and by the rules that its text adds.

openmetrics.py FILE [RUNS.csv LATENCY.csv]   with the tables: has it their numbers?
"""
import csv
import math
import re
import statistics
import sys

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
NUMBER = r"(?:[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?[Ii]nf|NaN)"
TEXT = r'(?:[^\n"\\]|\\.)*'
LABEL = rf'[a-zA-Z_][a-zA-Z0-9_]*="{TEXT}"'
DESCRIPTOR = re.compile(rf"# (TYPE|UNIT|HELP) ({NAME}) ({TEXT})")
SAMPLE = re.compile(rf"({NAME})(?:\{{((?:{LABEL}(?:,{LABEL})*)?)\}})? ({NUMBER})")
SUFFIXES = {"gauge": [""], "histogram": ["_bucket", "_count", "_sum"]}


def unescape(text):
    return re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], text)


def parse(path):
    text = open(path, encoding="utf-8", newline="").read()
    assert "\r\n" not in text and text.endswith("\n# EOF\n"), "the end"
    families = {}
    current = None
    for line in text.split("\n")[:-2]:
        if line.startswith("#"):
            kind, name, rest = DESCRIPTOR.fullmatch(line).groups()
            if kind == "TYPE":
                assert name not in families, f"{name} is interleaved"
                current = families[name] = {"TYPE": rest, "samples": []}
                last = name
                assert rest in SUFFIXES
            else:
                assert name == last and kind not in current and not current["samples"], line
                current[kind] = rest
            continue
        match = SAMPLE.fullmatch(line)
        assert match, line
        name, labels, value = match.groups()
        assert name in [last + s for s in SUFFIXES[current["TYPE"]]], line
        pairs = re.findall(rf'([a-zA-Z0-9_]+)="({TEXT})"', labels)
        assert len(pairs) == len({key for key, _ in pairs}), "a label twice"
        current["samples"].append((name[len(last):], {k: unescape(v) for k, v in pairs}, value))
    return families


def check_histogram(name, samples):
    series = {}
    for suffix, labels, value in samples:
        key = tuple(sorted((k, v) for k, v in labels.items() if k != "le"))
        series.setdefault(key, []).append((suffix, labels.get("le"), value))
    for key, lines in series.items():
        buckets = [(float(le), int(v)) for s, le, v in lines if s == "_bucket"]
        count = [int(v) for s, _, v in lines if s == "_count"]
        assert sum(s == "_sum" for s, _, _ in lines) == 1
        assert buckets == sorted(buckets) and buckets[-1] == (math.inf, count[0]), name
        assert len({le for le, _ in buckets}) == len(buckets)
        assert all("." in le or "e" in le or le == "+Inf" for s, le, _ in lines if s == "_bucket")
        assert all(float(le) == float(repr(float(le))) for s, le, _ in lines if s == "_bucket")


def check(families):
    names = set()
    for name, family in families.items():
        unit = family.get("UNIT")
        assert not unit or name.endswith("_" + unit), name
        assert family["samples"] and family["HELP"]
        keys = [(s, tuple(sorted(labels.items()))) for s, labels, _ in family["samples"]]
        assert len(keys) == len(set(keys)), f"{name}: two samples are the same"
        assert not any("nan" in v.lower() for _, _, v in family["samples"])
        for suffix in SUFFIXES[family["TYPE"]]:
            assert name + suffix not in names, f"{name + suffix} is ambiguous"
            names.add(name + suffix)
        if family["TYPE"] == "histogram":
            check_histogram(name, family["samples"])


def of_series(family, labels):
    return [(s, l, v) for s, l, v in family["samples"]
            if (l["workload"], l["settings"], l["workers"]) == labels]


def compare(families, runs, latencies):
    rows = {}
    for row in csv.DictReader(open(runs, newline="")):
        rows.setdefault((row["workload"], row["label"], row["workers"]), []).append(row)
    for labels, of_one in rows.items():
        for verdict in ("valid", "suspect", "invalid"):
            (sample,) = [v for _, l, v in of_series(families["sched_bench_repetitions"], labels)
                         if l["verdict"] == verdict]
            assert int(sample) == sum(row["valid"] == verdict for row in of_one)
        for name, metric, ours in (("time_per_op_seconds", "ns_per_op", 1e9), ("busy_ratio", "busy_pct", 100),
                                   ("ops_per_second", "ops_per_s", 1), ("steps", "steps", 1),
                                   ("ready_to_running_p99_9_seconds", "ready_to_running_ns_p99_9", 1e9),
                                   ("arena_bytes", "arena_bytes", 1)):
            values = [float(row[metric]) for row in of_one if row[metric]]
            samples = of_series(families["sched_bench_" + name], labels)
            assert len(samples) == bool(values)
            if values:
                assert math.isclose(float(samples[0][2]), statistics.median(values) / ours, rel_tol=1e-6)
    compared = 0
    below = {}
    for row in csv.DictReader(open(latencies, newline="")):
        key = (row["workload"], row["label"], row["histogram"])
        below.setdefault(key, []).append((int(row["high"]), int(row["count"])))
    for (workload, label, histogram), counts in below.items():
        for s, labels, value in families[f"sched_bench_{histogram}_seconds"]["samples"]:
            if s == "_bucket" and (labels["workload"], labels["settings"]) == (workload, label):
                bound = float(labels["le"]) * 1e9
                assert int(value) == sum(n for high, n in counts if high <= bound + 0.01), (histogram, labels)
                compared += 1
    assert compared


found = parse(sys.argv[1])
check(found)
if len(sys.argv) > 2:
    compare(found, sys.argv[2], sys.argv[3])
