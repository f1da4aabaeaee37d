"""Runs the command on a terminal of its own and presses Ctrl-C.

usage: interrupt.py PROGRAM WORKLOAD MARK DIRECTORY [PAUSE...]

Sends SIGINT when MARK has appeared, and once more after each pause (seconds).
Standard output goes to DIRECTORY.out. Prints the exit status."""
import os
import pty
import signal
import subprocess
import sys
import time

program, workload, mark, directory, *pauses = sys.argv[1:]
master, terminal = pty.openpty()
run = subprocess.Popen(
    [program, "run", "-w", workload, "--duration", "100ms", "--warmup", "0s",
     "--repetitions", "100", "--no-plots", "-o", directory],
    stdout=open(directory + ".out", "w"), stderr=terminal)
os.close(terminal)
seen = b""
while mark.encode() not in seen:
    seen += os.read(master, 1000)
run.send_signal(signal.SIGINT)
for pause in pauses:
    time.sleep(float(pause))
    run.send_signal(signal.SIGINT)
print(run.wait())
