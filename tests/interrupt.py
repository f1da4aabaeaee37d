"""Runs the command on a terminal of its own and presses Ctrl-C.

usage: interrupt.py PROGRAM WORKLOAD MARK DIRECTORY [PAUSE...]

Sends SIGINT when MARK has appeared, and once more after each pause (seconds).
Standard output goes to DIRECTORY.out. Prints the exit status."""
import signal
import sys
import time

import terminal

program, workload, mark, directory, *pauses = sys.argv[1:]
run = terminal.start(program, workload, mark, directory)
run.send_signal(signal.SIGINT)
for pause in pauses:
    time.sleep(float(pause))
    run.send_signal(signal.SIGINT)
print(run.wait())
