#!/usr/bin/env python3
"""Types into a real shell, presses Tab, and looks at what the command then gets.
usage: shell.py SHELL DIRECTORY COMPLETION <CASES
DIRECTORY has a `sched-bench` that prints "GOT[its arguments]", unless they are asked for a
completion. A case is a line, "typed | arguments"; "\\t" in it is another Tab. Prints what is wrong."""
import os
import pty
import re
import select
import sys

shell, directory, completion = sys.argv[1:4]
SETUP = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], f". {completion}"),
    "zsh": (["zsh", "-f", "-i"], "unsetopt beep; unsetopt zle_bracketed_paste 2>/dev/null; "
            f"fpath=({directory} $fpath); autoload -Uz compinit; compinit -u -D"),
    "fish": (["fish", "--no-config", "-i"], f"source {completion}"),
}
# Only a shell that hangs takes so long.
PATIENCE_S = 60


class Shell:
    def __init__(self, command):
        pid, self.fd = pty.fork()
        if not pid:
            os.environ.update(PATH=directory + ":" + os.environ["PATH"], TERM="dumb", HOME=directory,
                              XDG_DATA_HOME=directory, PS1="", PROMPT_COMMAND="", COLUMNS="200")
            os.execvp(command[0], command)
        self.seen = ""

    def send(self, text):
        os.write(self.fd, text.encode())

    def wait(self, pattern):
        """The match of what the shell prints; what comes before it is forgotten."""
        while not (found := re.search(pattern, self.seen)):
            if not select.select([self.fd], [], [], PATIENCE_S)[0]:
                sys.exit(f"{shell} does not answer; it said: {self.seen!r}")
            self.seen += os.read(self.fd, 4096).decode(errors="replace")
        self.seen = self.seen[found.end():]
        return found


command, setup = SETUP[shell]
it = Shell(command)
# The command's own output is the answer, not the echo of what was typed.
it.send(setup + "\nsched-bench ready\n")
it.wait(r"GOT\[ready\]")
bad = 0
for case in sys.stdin.read().splitlines():
    typed, expected = case.split(" | ")
    it.send("sched-bench " + typed.replace("\\t", "\t") + "\t\n")
    got = it.wait(r"GOT\[([^\]]*)\]").group(1)
    if got.strip() != expected:
        print(f"{shell}: '{typed}' and Tab: '{got}', expected '{expected}'")
        bad += 1
it.send("exit\n")
sys.exit(bad != 0)
