"""Runs one program once, and reads what it says."""
import csv
import io
import math
import os
import signal
import subprocess
import textwrap
from collections import namedtuple

OK, WRONG, CANNOT, FAILED, LATE = "ok", "wrong", "cannot", "failed", "late"
EXIT_WRONG, EXIT_CANNOT = 1, 77  # of the peers' programs

# values: name -> number. why: of what is not OK; a remark, of what is.
Said = namedtuple("Said", "outcome values why")


def last_line(text):
    """The reason, as a rule, and not a page of it."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return textwrap.shorten(lines[-1], 200) if lines else "it said nothing"


def kill(child):
    """With what it has started."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def execute(argv, limit_s):
    """(status, stdout, stderr); status None: it took too long."""
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, errors="replace",
                          start_new_session=True) as child:
        try:
            out, err = child.communicate(timeout=limit_s)
            return child.returncode, out, err
        except subprocess.TimeoutExpired:
            kill(child)
            return None, "", ""
        except KeyboardInterrupt:
            kill(child)
            raise


def ended_badly(status, err, limit_s):
    if status is None:
        return Said(LATE, {}, f"not done after {limit_s:g} s")
    if status < 0:
        return Said(FAILED, {}, f"ended by {signal.Signals(-status).name}")
    return Said(FAILED, {}, f"status {status}: {last_line(err)}")


def number(text):
    """NaN for what is none: nothing that is measured here is 0 or infinite."""
    try:
        value = float(text)
    except ValueError:
        return math.nan
    return value if 0 < value < math.inf else math.nan


def parse_pairs(out, names):
    """"a 1 b 2" for exactly these names; or None."""
    words = out.split()
    if out.count("\n") != 1 or words[0::2] != list(names):
        return None
    values = {name: number(word) for name, word in zip(names, words[1::2])}
    return values if len(words) == 2 * len(values) and \
        not any(map(math.isnan, values.values())) else None


def read_pairs(status, out, err, names, limit_s):
    """What a peer's program says, or floor."""
    if status == EXIT_WRONG:
        return Said(WRONG, {}, last_line(err))
    if status == EXIT_CANNOT:
        return Said(CANNOT, {}, last_line(err))
    if status != 0:
        return ended_badly(status, err, limit_s)
    values = parse_pairs(out, names)
    if values is None:
        expected = " ".join(f"{name} NUMBER" for name in names)
        return Said(FAILED, {}, f"printed {out.strip()!r}, expected '{expected}'")
    return Said(OK, values, "")


def read_csv(status, out, err, columns, limit_s):
    """What ours says. columns: name of a number -> column of runs.csv."""
    rows = list(csv.DictReader(io.StringIO(out)))
    if len(rows) == 1 and rows[0].get("error_message"):
        why = rows[0]["error_message"]
        return Said(WRONG if "wrong answer" in why else FAILED, {}, why)
    if status != 0:
        return ended_badly(status, err, limit_s)
    if len(rows) != 1:
        return Said(FAILED, {}, f"{len(rows)} rows, expected 1")
    values = {name: number(rows[0].get(column) or "")
              for name, column in columns.items()}
    missing = [columns[name] for name in values if math.isnan(values[name])]
    if missing:
        return Said(FAILED, {}, f"no {missing[0]} in its row")
    return Said(OK, values, rows[0].get("reason") or "")
