#!/usr/bin/env python3
"""Whether repetitions that a disturbance has made slower are valid, and whether others are not: twelve
disturbances, four workloads, two lengths. One worker on the first CPU; the last CPU is the neighbour's and
the load generator's. The machine has to be quiet; about 20 minutes.

usage: disturbances.py [--program FILE] [--rows N] [--only TEXT] [--lengths MS,MS]

The disturbance comes and goes while a run measures; repetitions in which it does are left out. Harmed: more than
3 % slower than the median of the undisturbed, and slower than 19 of 20 of them. Unharmed: at most 3 % slower.
Unclear: between. 2/9 in the table: 2 of 9 are valid. The goal (else exit status 1): no harmed one is, and 95 % of
the unharmed ones are.
"""
import argparse
import collections
import contextlib
import csv
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

CPUS = sorted(os.sched_getaffinity(0))
WORKER, OTHER = CPUS[0], CPUS[-1]
WORKLOADS = [("pingpong --round-trips 20000", "ns_per_op"), ("skynet --leaves 10000", "ns_per_op"),
             (f"service --load 50% --generator-cpus {OTHER}", "sojourn_ns_mean"), ("savina-concdict", "ns_per_op")]
KINDS = ("harmed", "unclear", "unharmed")
FILE = tempfile.NamedTemporaryFile()  # it is removed at the end
QUOTA = f"/sys/fs/cgroup/cpu/sched-bench-disturbances-{os.getpid()}"
MARGIN = 0.05  # of a repetition's time, as it is not known exactly when it began


class Program:
    """A command of the shell that runs on a CPU, and is stopped while it should not disturb."""

    def __init__(self, cpu, command):
        self.process = subprocess.Popen(["taskset", "-c", str(cpu), "sh", "-c", command], start_new_session=True,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.5)  # until it has its memory
        self.turn(False, None)
        self.end = lambda: os.killpg(self.process.pid, signal.SIGKILL)

    def turn(self, on, _):
        os.killpg(self.process.pid, signal.SIGCONT if on else signal.SIGSTOP)


class Stops:
    """Stops the command for a time, again and again."""

    def __init__(self, stop_s, every_s):
        self.pid = None
        self.end = lambda: self.turn(False, None)
        threading.Thread(target=self.run, args=(stop_s, every_s - stop_s), daemon=True).start()

    def run(self, *pauses):
        while True:
            pid = self.pid
            for number, pause in zip((signal.SIGSTOP, signal.SIGCONT), pauses):
                with contextlib.suppress(ProcessLookupError, TypeError):  # it has ended, or none is disturbed
                    os.kill(pid, number)
                time.sleep(pause)

    def turn(self, on, pid):
        self.pid = pid if on else None


class Quota:
    """Allows the command 60 ms of each 100 ms."""

    def __init__(self):
        os.mkdir(QUOTA)
        self.end = lambda: os.rmdir(QUOTA)

    def turn(self, on, pid):
        for name, value in (("cgroup.procs", pid), ("cpu.cfs_quota_us", 60000 if on else -1)):
            with open(f"{QUOTA}/{name}", "w", encoding="ascii") as stream:
                stream.write(str(value))


def python(code):
    return f"exec {sys.executable} -c '{code}'"


BUSY = "while :; do :; done"
PART = """import time
while not time.sleep(0.017):
    end = time.monotonic() + 0.003
    while time.monotonic() < end: pass"""
COPY = """one, two = bytearray(200 << 20), bytearray(200 << 20)
while True: one[:] = two; two[:] = one"""
WRITE = """import random
data, page = bytearray(64 << 20), bytes(4096)
while True: at = random.randrange(len(data) - 4096); data[at:at + 4096] = page"""
TIMER = """import signal
signal.signal(signal.SIGALRM, lambda number, frame: None)
signal.setitimer(signal.ITIMER_REAL, 1e-4, 1e-4)
while True: signal.pause()"""
DISTURBANCES = [
    ("busy program on the worker's CPU", lambda: Program(WORKER, BUSY)),
    ("3 ms of every 20 on it", lambda: Program(WORKER, python(PART))),
    ("busy program with nice 19 on it", lambda: Program(WORKER, f"exec nice -n 19 sh -c '{BUSY}'")),
    ("stops of 5 ms, every 100 ms", lambda: Stops(0.005, 0.1)),
    ("stops of 20 ms, every 200 ms", lambda: Stops(0.02, 0.2)),
    ("stops of 100 ms, every 400 ms", lambda: Stops(0.1, 0.4)),
    ("copies of 400 MB on the other CPU", lambda: Program(OTHER, python(COPY))),
    ("writes to 64 MB at random on it", lambda: Program(OTHER, python(WRITE))),
    ("forks on the worker's CPU", lambda: Program(WORKER, "while :; do /bin/true; done")),
    ("writes to a disk on it", lambda: Program(WORKER, f"while :; do dd if=/dev/zero of={FILE.name} bs=1M count=1 conv=fsync; done")),
    ("a timer of 10 kHz on it", lambda: Program(WORKER, python(TIMER))),
    ("CPU quota of 60 %", Quota),
]


def measure(args, workload, length_ms, disturbance, directory):
    """The rows of a run, each with the part of its time in which it was disturbed; None: not known."""
    process = subprocess.Popen([args.program, "run", "-w", *workload.split(), "--cpus", str(WORKER), "--workers", "1",
                                "--forks", "1", "-r", args.rows, "-d", f"{length_ms}ms", "--no-plots", "-v",
                                "-o", directory], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    ends, changes, over = {}, [(0, False)], threading.Event()

    def turn():
        while not over.wait(4 * length_ms / 1000):
            changes.append((time.monotonic(), not changes[-1][1]))
            disturbance.turn(changes[-1][1], process.pid)
        disturbance.turn(False, process.pid)

    turner = threading.Thread(target=turn)
    turner.start()
    for line in process.stderr:
        found = re.search(r": repetition (\d+): \d+ rounds", line)
        if found:
            ends[int(found[1])] = time.monotonic()
    over.set()
    turner.join()
    process.wait()
    with open(f"{directory}/runs.csv", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    for number, row in enumerate(rows):
        end, begin = ends.get(number), ends.get(number - 1)
        row["part"] = sum(max(0, min(end, after) - max(begin, at)) for (at, on), (after, _) in
                          zip(changes, changes[1:] + [(end, False)]) if on) / (end - begin) if end and begin else None
    return rows


def count(rows, metric, reasons):
    """How many undisturbed and disturbed repetitions there are of each kind and verdict."""
    counts = (collections.Counter(), collections.Counter())
    quiet = sorted(float(row[metric]) for row in rows if row["part"] is not None and row["part"] < MARGIN)
    for row in rows:
        if row["valid"] == "invalid":
            counts[1]["invalid", False] += 1
        elif quiet and row["part"] is not None and not MARGIN <= row["part"] <= 1 - MARGIN:
            value, bound = float(row[metric]), 1.03 * quiet[len(quiet) // 2]
            kind = "unharmed" if value <= bound else "harmed" if value > quiet[len(quiet) * 19 // 20] else "unclear"
            counts[row["part"] > 0.5][kind, row["valid"] == "valid"] += 1
            reasons.update(re.findall(r"(?:^|; )(\S+ \S+)", row["reason"]) if kind == "unharmed" else [])
    return counts


def text(counts):
    return " · ".join([f"{counts[kind, True]}/{counts[kind, True] + counts[kind, False]}" for kind in KINDS] +
                      [str(counts["invalid", False])])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in {"program": "build/release/sched-bench", "rows": "24", "lengths": "130,400", "only": ""}.items():
        parser.add_argument("--" + name, default=default)
    args = parser.parse_args()
    cells = [(*workload, int(length)) for workload in WORKLOADS for length in args.lengths.split(",")]
    sums, reasons = [collections.Counter(), collections.Counter()], collections.Counter()
    print(f"Disturbed repetitions: valid ones of the {', the '.join(KINDS)}; how many are invalid.\n\n| |",
          *(f"{workload.split()[0]} {length} ms |" for workload, _, length in cells))
    print("|---" * (1 + len(cells)) + "|")
    for name, make in [one for one in DISTURBANCES if args.only in one[0]]:
        try:
            disturbance = make()
        except OSError as error:  # a quota needs root, and control groups of version 1
            print(f"| {name} | {error} |")
            continue
        print(f"| {name} |", end="", flush=True)
        for workload, metric, length in cells:
            with tempfile.TemporaryDirectory() as directory:
                counts = count(measure(args, workload, length, disturbance, directory + "/r"), metric, reasons)
            sums = [sums[0] + counts[0], sums[1] + counts[1]]
            print(f" {text(counts[1])} |", end="", flush=True)
        disturbance.end()
        print()
    both = sums[0] + sums[1]
    valid, unharmed = both["unharmed", True], both["unharmed", True] + both["unharmed", False]
    print(f"\nAll disturbed ones: {text(sums[1])}. Undisturbed ones: {text(sums[0])}. Valid: {both['harmed', True]} that are "
          f"harmed, and {valid} of {unharmed} that are not; the reasons of others: {dict(reasons.most_common())}")
    return both["harmed", True] > 0 or valid < 0.95 * unharmed


if __name__ == "__main__":
    sys.exit(main())
