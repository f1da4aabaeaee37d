"""Kills `run` with SIGKILL at random points and resumes it. Each row that was told
of on standard error must be in run.db, and in the result as it was.

usage: run_killed.py PROGRAM DIRECTORY KILLS SEED

Prints one line per kill; the last is "N kills, M rows saved"."""
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import time

program, work, kills, seed = sys.argv[1:]
REPETITIONS = 6
SERIES = ["pingpong", "yield"]
RUN = [program, "run", "-v", "-w", ",".join(SERIES), "-r", str(REPETITIONS), "-d", "2ms",
       "--warmup", "1ms", "--no-plots", "--workers", "1",
       "--round-trips", "2000", "--yields", "2000"]


def kill_after(directory, rows, delay):
    """Returns the rows that the run had told of, (series, repetition)."""
    run = subprocess.Popen(RUN + ["-o", directory], stderr=subprocess.PIPE,
                           stdout=subprocess.DEVNULL, text=True)
    told = 0
    lines = []
    while told < rows:
        line = run.stderr.readline()
        if not line:
            break
        lines.append(line)
        told += ": repetition " in line and "/op" in line
    time.sleep(delay)
    run.kill()
    lines += run.stderr.readlines()
    run.wait()
    found = (re.search(r": (\w+): repetition (\d+): .*/op", line) for line in lines)
    return {(SERIES.index(row[1]), int(row[2])) for row in found if row}


def saved(directory):
    """The rows in the store: (series, repetition) -> time per operation."""
    store = sqlite3.connect(directory + "/run.db")
    assert store.execute("PRAGMA quick_check").fetchone()[0] == "ok"
    rows = store.execute("SELECT configuration, repetition, result FROM row")
    return {(c, r): json.loads(text)["benchmarks"][0]["real_time"] for c, r, text in rows}


def resume(directory):
    """The rows of the result, as above."""
    subprocess.run([program, "run", "--resume", directory, "-q"], check=True)
    with open(directory + "/result.json", encoding="utf-8") as text:
        rows = json.load(text)["benchmarks"]
    assert not os.path.exists(directory + "/run.db")
    return {(row["sched_bench"]["series"], row["sched_bench"]["repetition"]):
            row["real_time"] for row in rows}


def has_store(directory):
    return os.path.exists(directory + "/run.db")


def one(directory, rows, delay):
    told = kill_after(directory, rows, delay)
    if not has_store(directory):
        # Before the first row, or after the whole result.
        complete = os.path.exists(directory + "/meta.json")
        assert complete or not told, told
        return 0, "complete" if complete else "nothing yet"
    before = saved(directory)
    assert told <= before.keys() and len(before) <= len(told) + 1, (told, before)
    after = resume(directory)
    assert len(after) == REPETITIONS * len(SERIES), after
    assert all(after[row] == before[row] for row in before), (before, after)
    return len(before), "resumed"


draw = random.Random(int(seed))
total = 0
resumed = 0
for kill in range(int(kills)):
    place = f"{work}/{kill}"
    n = draw.randrange(REPETITIONS * len(SERIES))
    rows, end = one(place, n, draw.uniform(0, 0.02))
    print(f"kill {kill}: after {n} rows were told of, {rows} were saved; {end}")
    total += rows
    resumed += end == "resumed"
    shutil.rmtree(place, ignore_errors=True)
assert resumed > int(kills) // 4, "too few kills met a run"
print(f"{kills} kills, {total} rows saved")
