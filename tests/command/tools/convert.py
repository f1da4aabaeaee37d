#!/usr/bin/env python3
"""Checks what convert makes of a result, against the result's runs.csv.

convert.py gbench|benchstat|smaller|bigger FILE RUNS.csv [METRICS.json]
"""
import csv
import json
import math
import re
import statistics
import sys

runs = list(csv.DictReader(open(sys.argv[3], newline="")))
measured = [row for row in runs if row["valid"] != "invalid"]
better = {m["name"]: m["better"] for m in json.load(open(sys.argv[4]))} if len(sys.argv) > 4 else {}
series = {}
for run in measured:
    series.setdefault((run["name"], run["label"]), []).append(run)


def is_same(a, b):
    """What was only copied has every digit."""
    return float(a) == float(b)


def is_close(a, b):
    """What was computed in another order has its last ones different."""
    return math.isclose(float(a), float(b), rel_tol=1e-9, abs_tol=1e-12)


def gbench(path):
    document = json.load(open(path))
    assert set(document) == {"context", "benchmarks"}
    assert document["context"]["json_schema_version"] == 1 and document["context"]["date"]
    rows = document["benchmarks"]
    assert "sched_bench" not in json.dumps([list(row) for row in rows])
    repetitions = [row for row in rows if row["run_type"] == "iteration"]
    assert len(repetitions) == len(measured)
    for row, run in zip(repetitions, measured):
        assert row["name"] == row["run_name"] == run["name"] and row["time_unit"] == "ns"
        assert row["repetition_index"] == int(run["repetition"])
        for key, column in (("real_time", "real_time"), ("cpu_time", "cpu_time"), ("steps", "steps"),
                            ("items_per_second", "items_per_second"), ("iterations", "iterations")):
            assert is_same(row[key], run[column]), key
        assert all(not isinstance(v, float) or math.isfinite(v) for v in row.values())
    of = {"mean": (statistics.mean, "time"), "median": (statistics.median, "time"),
          "stddev": (statistics.stdev, "time"),
          "cv": (lambda v: statistics.stdev(v) / statistics.mean(v), "percentage")}
    aggregates = [row for row in rows if row["run_type"] == "aggregate"]
    expected = [(name, runs_of) for (name, _), runs_of in series.items() if len(runs_of) > 1]
    assert len(aggregates) == 4 * len(expected)
    for i, row in enumerate(aggregates):
        name, runs_of = expected[i // 4]
        how, unit = of[row["aggregate_name"]]
        assert row["name"] == f"{name}_{row['aggregate_name']}" and row["run_name"] == name
        assert row["aggregate_unit"] == unit and row["iterations"] == len(runs_of)
        assert "repetition_index" not in row
        for key in ("real_time", "cpu_time", "items_per_second"):
            assert is_close(row[key], how([float(run[key]) for run in runs_of])), key
    names = [row["name"] for row in rows]
    assert names.index(aggregates[0]["name"]) == len(series[expected[0][0], measured[0]["label"]])


def benchstat(path):
    lines = open(path, encoding="utf-8", newline="").read().split("\n")
    assert lines.pop() == "" and lines[0] == "pkg: sched-bench"
    results = []
    units = {}
    for line in lines:
        if line.startswith("Benchmark"):
            results.append(line.split(" "))
        elif line.startswith("Unit "):
            name, value = re.fullmatch(r"Unit (\S+) better=(lower|higher)", line).groups()
            assert name not in units
            units[name] = value
        else:
            assert re.match(r"# |[a-z][^\sA-Z:]*: \S", line), line
    assert units["ns/op"] == "lower" and units["op/s"] == "higher"
    assert len(results) == len(measured)
    for fields, run in zip(results, measured):
        assert re.fullmatch(r"Benchmark[^a-z\s][\x21-\x7e]*-" + run["workers"], fields[0]), fields[0]
        assert int(fields[1]) == float(run["operations"]) > 0
        assert len(fields) % 2 == 0
        values = dict(zip(fields[3::2], fields[2::2]))
        assert len(values) == len(fields) // 2 - 1 and set(values) <= set(units)
        assert is_same(values["ns/op"], run["ns_per_op"]) and is_same(values["op/s"], run["ops_per_s"])
        if run["ready_to_running_ns_p99_9"]:
            assert is_close(values["ready-to-running-p99-9-ns"], run["ready_to_running_ns_p99_9"])
    assert sum(line.startswith("# suspect: ") for line in lines) == sum(r["valid"] == "suspect" for r in runs)
    assert sum(line.startswith("# invalid: ") for line in lines) == sum(r["valid"] == "invalid" for r in runs)


def action(path, wanted):
    entries = json.load(open(path))
    assert isinstance(entries, list)
    expected = [(f"{name} {metric}", [float(run[metric]) for run in of_one if run[metric]])
                for (name, _), of_one in series.items() for metric in better if better[metric] == wanted]
    expected = [(name, values) for name, values in expected if values]
    assert [entry["name"] for entry in entries] == [name for name, _ in expected]
    for entry, (_, values) in zip(entries, expected):
        assert isinstance(entry["value"], (int, float)) and is_close(entry["value"], statistics.median(values))
        assert isinstance(entry["unit"], str) and entry["unit"] and isinstance(entry["extra"], str)
        if len(values) > 1:
            low, high = entry["range"].split(" .. ")
            assert is_close(low, min(values)) and is_close(high, max(values))


what, path = sys.argv[1:3]
if what == "gbench":
    gbench(path)
elif what == "benchstat":
    benchstat(path)
else:
    action(path, {"smaller": "lower is better", "bigger": "higher is better"}[what])
