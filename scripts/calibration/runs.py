#!/usr/bin/env python3
"""How often the interval that `run` prints holds what it says, and how often `compare` gives a verdict
for two runs of one program. Default runs of six workloads, in blocks of one minute that alternate, are
made once and kept in DIRECTORY; a second call continues where the first was stopped.

usage: runs.py [--program FILE] [--blocks N] DIRECTORY

Covered: the median of all OS processes of the block, which a run's own are a tenth of, lies within the
interval. Prints a table in Markdown: coverage, the median half-width, valid rows, and the verdicts of
`compare` for neighbouring runs and runs two blocks apart, without and with the spread that
`calibrate --runs` stores, taken from the first two runs of each block.
"""
import argparse
import json
import os
import re
import statistics
import subprocess

WORKLOADS = [
    ("pingpong", ["--workers", "1"]),
    ("pingpong", ["--workers", "2"]),
    ("yield", ["--workers", "1"]),
    ("skynet", ["--workers", "2"]),
    ("fan-in", ["--workers", "2"]),
    ("service", ["--workers", "1", "--load", "50%"]),
]
RUNS = 10  # of a block
NS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


def name_of(args, workload, block, run):
    return os.path.join(args.directory, f"{workload[0]}-{workload[1][1]}-{block}-{run}")


def measure(args, workload, block, run, *options):
    path = name_of(args, workload, block, run)
    if not os.path.exists(os.path.join(path, "result.json")):
        subprocess.run([args.program, "run", "-w", workload[0], *workload[1], "--seed", str(1000 * block + 10 * run + 1),
                        "-q", "--no-plots", "-o", path, *options], check=False, stdout=subprocess.DEVNULL)
    with open(os.path.join(path, "result.json"), encoding="utf-8") as stream:
        result = json.load(stream)
    return {"text": result["sched_bench"]["meta"]["answer"]["text"],
            "rows": [row["sched_bench"] for row in result["benchmarks"]]}


def of_processes(result, metric):
    """The median of each OS process that has two repetitions or more."""
    by_fork = {}
    for row in result["rows"]:
        if metric in row and row["valid"] != "invalid":
            by_fork.setdefault(row["fork"], []).append(row[metric])
    return [statistics.median(values) for values in by_fork.values() if len(values) > 1]


def printed(result):
    """The metric of the first line, and its interval in ns; None if there is none."""
    found = re.search(r": (\w+) [0-9.]+ \w+ \[([0-9.]+) (\w+) \.\. ([0-9.]+) (\w+)\], 95 %", result["text"])
    return found and (found[1], float(found[2]) * NS[found[3]], float(found[4]) * NS[found[5]])


def judge(results):
    """Of one block: of each interval whether it covers, and its half-width."""
    judged = []
    for found in filter(None, map(printed, results)):
        metric, low, high = found
        target = statistics.median([value for result in results for value in of_processes(result, metric)])
        judged.append((low <= target <= high, (high - low) / 2 / target))
    return judged


def verdicts(args, metric, pairs):
    """How many of the pairs `compare` says something of, and how many it calls different."""
    said = different = 0
    for a, b in pairs:
        done = subprocess.run([args.program, "compare", a, b, "--metric", metric, "--format", "json"], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if done.returncode:
            continue
        for finding in json.loads(done.stdout)["findings"]:
            said += finding["difference"] != "open"
            different += finding["difference"] not in ("open", "none")
    return f"{different} of {said} ({len(pairs)} pairs)"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/sched-bench")
    parser.add_argument("--blocks", type=int, default=6)
    parser.add_argument("directory")
    args = parser.parse_args()
    os.makedirs(args.directory, exist_ok=True)
    results = {}
    for block in range(args.blocks):
        for w, workload in enumerate(WORKLOADS):
            results[w, block] = [measure(args, workload, block, run) for run in range(RUNS)]
    print("| workload | metric | intervals | cover | half-width | valid rows | compare: neighbours | compare: two blocks apart |")
    print("|---|---|---|---|---|---|---|---|")
    for w, workload in enumerate(WORKLOADS):
        judged = [found for block in range(args.blocks) for found in judge(results[w, block])]
        widths = [width for _, width in judged] or [float("nan")]
        metric = (printed(results[w, 0][0]) or ["ns_per_op"])[0]
        rows = [row["valid"] for block in range(args.blocks) for result in results[w, block] for row in result["rows"]]
        near = [(name_of(args, workload, block, run), name_of(args, workload, block, run + 1))
                for block in range(args.blocks) for run in range(RUNS - 1)]
        far = [(name_of(args, workload, block, run), name_of(args, workload, block + 2, run))
               for block in range(args.blocks - 2) for run in range(RUNS)]
        print(f"| {workload[0]} {workload[1][1]}w | {metric} | {len(judged)} | "
              f"{sum(covers for covers, _ in judged)} | {100 * statistics.median(widths):.1f} % | "
              f"{rows.count('valid')} of {len(rows)} | {verdicts(args, metric, near)} | {verdicts(args, metric, far)} |")


if __name__ == "__main__":
    main()
