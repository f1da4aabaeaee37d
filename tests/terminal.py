"""Starts a run on a terminal of its own, where it shows its progress."""
import os
import pty
import subprocess
import threading


def _drain(master):
    """Nobody reads on; a full terminal would stop the run."""
    try:
        while os.read(master, 1000):
            pass
    except OSError:  # the run has ended
        pass


def start(program, workload, mark, directory, *options):
    """100 short repetitions; returns the process when MARK has appeared.

    Standard output goes to DIRECTORY.out."""
    master, terminal = pty.openpty()
    run = subprocess.Popen(
        [program, "run", "-w", workload, "--duration", "100ms", "--warmup",
         "0s", "--repetitions", "100", "--no-plots", "-o", directory, *options],
        stdout=open(directory + ".out", "w"), stderr=terminal)
    os.close(terminal)
    seen = b""
    while mark.encode() not in seen:
        seen += os.read(master, 1000)
    threading.Thread(target=_drain, args=(master,), daemon=True).start()
    return run
