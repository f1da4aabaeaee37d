#!/usr/bin/env python3
"""Runs a command that has to refuse what it is given: with status 3, one line on standard
error that has the pattern and is short, nothing on standard output, and little memory.

usage: cost.py MIB PATTERN COMMAND...

Time has no limit but that of a hang, because the machine may be busy; the line says how
long it took and how much memory that was, in all its processes the largest."""
import re
import resource
import subprocess
import sys
import time

LINE_BYTES = 600
HANG_S = 60


def main():
    most, pattern, command = float(sys.argv[1]), sys.argv[2], sys.argv[3:]
    begin = time.monotonic()
    done = subprocess.run(command, capture_output=True, timeout=HANG_S, stdin=subprocess.DEVNULL)
    seconds = time.monotonic() - begin
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    mib = used.ru_maxrss / 1024
    print(f"{seconds:.2f} s, {used.ru_utime + used.ru_stime:.2f} s of the CPU, {mib:.0f} MiB")
    said = done.stderr.decode(errors="replace")
    print(f"status {done.returncode}: {said[:LINE_BYTES]}")
    return not (
        done.returncode == 3
        and not done.stdout
        and said.count("\n") == 1
        and len(said) <= LINE_BYTES
        and re.search(pattern, said)
        and mib <= most
    )


if __name__ == "__main__":
    sys.exit(main())
