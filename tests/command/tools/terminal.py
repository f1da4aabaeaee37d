"""Starts a run on a terminal of its own, where it shows its progress.

usage: terminal.py COLUMNS[,COLUMNS] PROGRAM ARGUMENT...

Runs it with standard output and error on a terminal of that many columns, which
becomes as narrow as the second number says once the first line of progress has
appeared. Prints all that it wrote, and exits as it does."""
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
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


def resize(terminal, columns):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ,
                struct.pack("HHHH", 24, columns, 0, 0))


def record(command, columns, then=None):
    """Returns the exit status and the bytes on the terminal."""
    master, terminal = pty.openpty()
    resize(master, columns)
    run = subprocess.Popen(command, stdout=terminal, stderr=terminal)
    os.close(terminal)
    seen = b""
    try:
        while more := os.read(master, 65536):
            seen += more
            if then and b"/" in seen:
                resize(master, then)
                then = None
    except OSError:  # the other end is closed
        pass
    return run.wait(), seen


if __name__ == "__main__":
    sizes = [int(n) for n in sys.argv[1].split(",")]
    status, text = record(sys.argv[2:], *sizes)
    sys.stdout.buffer.write(text)
    sys.exit(status)
