#!/usr/bin/env python3
"""Runs a command and kills it when it hangs: after so many seconds in which it did not
wait for a CPU. A busy machine only makes it wait, so load alone never reaches the limit.

usage: limit.py SECONDS COMMAND...

The status is the command's, or 124. The command's session is looked at once a second;
what its thread that waited longest has waited for a CPU (schedstats: the second number
of /proc/PID/task/TID/schedstat) does not count."""
import os
import signal
import subprocess
import sys

INTERVAL_S = 1.0
HUNG = 124


def processes_of(session):
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session:
            yield name


def waits_of(session):
    """Nanoseconds that each thread has waited for a CPU."""
    waits = {}
    for process in processes_of(session):
        try:
            for thread in os.listdir(f"/proc/{process}/task"):
                with open(f"/proc/{process}/task/{thread}/schedstat", encoding="ascii") as file:
                    waits[thread] = int(file.read().split()[1])
        except (OSError, IndexError):
            continue
    return waits


def longest_wait_s(before, after):
    waits = [wait - before.get(thread, 0) for thread, wait in after.items()]
    return min(INTERVAL_S, 1e-9 * max(waits, default=0))


def kill(session):
    for process in processes_of(session):
        try:
            os.kill(int(process), signal.SIGKILL)
        except OSError:
            continue


def main(limit_s, command):
    child = subprocess.Popen(command, start_new_session=True)
    used_s, before = 0.0, {}
    while used_s < limit_s:
        try:
            status = child.wait(INTERVAL_S)
            return status if status >= 0 else 128 - status
        except KeyboardInterrupt:
            kill(child.pid)
            return 128 + signal.SIGINT
        except subprocess.TimeoutExpired:
            after = waits_of(child.pid)
            used_s += INTERVAL_S - longest_wait_s(before, after)
            before = after
    kill(child.pid)
    child.wait()
    print(f"# killed: it took {limit_s:g} s without waiting for a CPU", file=sys.stderr)
    return HUNG


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), sys.argv[2:]))
