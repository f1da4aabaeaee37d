#!/usr/bin/env python3
"""How often `ab` reports a difference between two equal sides, and how often it finds a slowdown of 3 %.

usage: ab.py [--program FILE] [--equal N] [--slow N]

Prints two rows of a table in Markdown. N series of each kind: pingpong, yield and skynet in turn.
"""
import argparse
import json
import subprocess
import tempfile

WORKLOADS = [("pingpong", "1"), ("yield", "1"), ("skynet", "2")]


def finds(args, number, side_b):
    """Whether `ab` says that the sides differ; None if it says nothing."""
    workload, workers = WORKLOADS[number % len(WORKLOADS)]
    with tempfile.TemporaryDirectory() as directory:
        done = subprocess.run([args.program, "ab", "-A", "", "-B", side_b, "-w", workload, "--workers", workers,
                               "--pairs", "20", "-d", "60ms", "--warmup", "40ms", "--metric", "ns_per_op", "--seed",
                               str(number + 1), "--format", "json", "-q", "--no-plots", "-o", directory + "/r"],
                              check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    if done.returncode:
        return None
    return json.loads(done.stdout)["findings"][0]["difference"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/sched-bench")
    parser.add_argument("--equal", type=int, default=60)
    parser.add_argument("--slow", type=int, default=21)
    args = parser.parse_args()
    print("| `ab`, 20 pairs of 60 ms | series | decided | a difference |")
    print("|---|---|---|---|")
    for name, side_b, count in (("equal sides", "", args.equal), ("B 3 % slower", "--slowdown 3%", args.slow)):
        found = [finds(args, number, side_b) for number in range(count)]
        decided = [verdict for verdict in found if verdict and verdict != "open"]
        print(f"| {name} | {count} | {len(decided)} | {sum(verdict != "none" for verdict in decided)} |", flush=True)


if __name__ == "__main__":
    main()
