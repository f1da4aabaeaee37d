"""Runs the command on a terminal of its own and presses Ctrl-C.

usage: interrupt.py PROGRAM WORKLOAD MARK DIRECTORY [HUP | PAUSE...]

Sends SIGINT (HUP: SIGHUP) when MARK has appeared, and once more after each pause
(seconds).
Standard output goes to DIRECTORY.out. Prints the exit status."""
import signal
import sys
import time

import terminal

program, workload, mark, directory, *pauses = sys.argv[1:]
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it
run = terminal.start(program, workload, mark, directory)
hang_up = pauses == ["HUP"]
run.send_signal(signal.SIGHUP if hang_up else signal.SIGINT)
for pause in pauses if not hang_up else []:
    time.sleep(float(pause))
    run.send_signal(signal.SIGINT)
print(run.wait())
