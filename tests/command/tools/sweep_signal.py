"""Starts a sweep, and sends it a signal when it has kept so many rows and the
next one runs.

usage: sweep_signal.py SIGNAL ROWS DIRECTORY COMMAND...

Prints the exit status when it has ended and none of its runs is left."""
import os
import signal
import sqlite3
import subprocess
import sys
import time

name, rows, directory, *command = sys.argv[1:]
sweep = subprocess.Popen(command + ["-o", directory], stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL)


def kept():
    """None: there is no store yet, or it is just being made."""
    if not os.path.exists(directory + "/sweep.db"):
        return -1
    try:
        store = sqlite3.connect(directory + "/sweep.db")
        return store.execute("SELECT count(*) FROM row").fetchone()[0]
    except sqlite3.OperationalError:
        return -1


def runs():
    """Whose command line has the directory in it."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as line:
                if f"--output={directory}/".encode() in line.read():
                    yield pid
        except OSError:  # it has ended
            pass


while (kept() < int(rows) or not list(runs())) and sweep.poll() is None:
    time.sleep(0.01)
sweep.send_signal(signal.Signals[name])
status = sweep.wait()
while list(runs()):
    time.sleep(0.01)
print(status)
