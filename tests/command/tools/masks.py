"""Looks at, or changes, the CPUs of a run's threads while it measures.

usage: masks.py look|move-main|move-worker PROGRAM DIRECTORY [OPTION...]

The run is of two workloads. When the first repetition is done: `look` prints
the CPUs of the main thread and ends the run; `move-main` takes all CPUs but the
last one from the main thread, `move-worker` puts one of the workers on another
CPU. Both demand that the run ends with status 2, and that from some repetition
on all rows are invalid for that reason."""
import csv
import os
import signal
import sys

import terminal


def mask_of(thread):
    with open(f"/proc/{thread}/status") as status:
        return next(line.split()[1] for line in status
                    if line.startswith("Cpus_allowed_list:"))


def move_main(process):
    before = mask_of(process)
    os.sched_setaffinity(process, {max(os.sched_getaffinity(process))})
    return (f"the CPUs that may be used changed from {before} to "
            f"{mask_of(process)} during the run")


def move_worker(process):
    everywhere = os.sched_getaffinity(process)
    threads = [int(t) for t in os.listdir(f"/proc/{process}/task")]
    workers = [t for t in threads if len(os.sched_getaffinity(t)) == 1]
    cpu, = os.sched_getaffinity(workers[-1])
    os.sched_setaffinity(workers[-1], {min(everywhere - {cpu})})
    return f"is no longer pinned to CPU {cpu}"


def check_rows(directory, reason):
    with open(directory + "/runs.csv") as file:
        rows = list(csv.DictReader(file))
    valid = [row["valid"] != "invalid" for row in rows]
    assert len(rows) == 200 and valid[0] and not valid[-1], valid
    assert valid == sorted(valid, reverse=True), valid
    for row in rows[valid.index(False):]:
        assert reason in row["error_message"], (reason, row["error_message"])


action, program, directory, *options = sys.argv[1:]
run = terminal.start(program, "yield,skynet", "1/200 ", directory, *options)
try:
    if action == "look":
        print(mask_of(run.pid))
        run.send_signal(signal.SIGINT)
        run.wait(120)
    else:
        move = {"move-main": move_main, "move-worker": move_worker}[action]
        reason = move(run.pid)
        status = run.wait(120)
        assert status == 2, status
        check_rows(directory, reason)
finally:
    run.kill()
