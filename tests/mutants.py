"""Mistakes put into a copy of the C code, one at a time, each of which a check
must catch: `make mutants`.

usage: mutants.py [NAME...]     (all of them without a name)
       mutants.py --kind KIND   (all that a check of that kind must catch)
       mutants.py --texts       (only whether each text stands once; instantly)

A mutant is a text that stands once in a file, and what replaces it. A check is
`KIND:TEST`: the test program of that kind of build must fail, or hang. Kinds:
plain (as `make check`), small (rings of 4 slots, assertions, delays in race
windows), virtual (in virtual time), asan, tsan and tsan-small (under
ThreadSanitizer). `gate:WORK on MACHINE,METRIC`: a gate of that work in virtual time must
call that metric regressed; so mistakes of policy are caught, which break nothing.
`explore:SCENARIO`: a schedule of that scenario must fail within EXPLORE_S seconds, from
seed 1 on. `torture:` and `torture-asan:`: a round of the torture driver must fail within as
long, from seed 1 on. Any other check is tried up to TRIES times: a race needs its moment. A
test hangs when it takes several times as long as without the mistake.

Prints TAP. Where several checks are named, one of them has to catch it, and the
line says which did."""
import os
import re
import shutil
import subprocess
import sys
import time

TRIES = 8
EXPLORE_S = 60
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TREE = os.path.join(ROOT, "build", "mutants")


class Mutant:
    def __init__(self, name, file, old, new, *checks):
        self.name, self.file, self.old, self.new = name, file, old, new
        self.checks = checks


KINDS = {
    "plain": ("release", "tests"),
    "small": ("release", "small/tests"),
    "virtual": ("release", "virtual/tests"),
    "asan": ("asan", "tests"),
    "tsan": ("tsan", "tests"),
    "tsan-small": ("tsan", "small/tests"),
    "gate": ("release", "sched-bench"),
    "explore": ("release", "explore/explore"),
    "torture": ("release", "torture/torture"),
    "torture-asan": ("asan", "torture/torture"),
}

# Of these kinds there is one program, and one try.
ONE_PROGRAM = ("gate", "explore", "torture", "torture-asan")
TORTURE = ("torture:", "torture-asan:")


def run(command, **options):
    return subprocess.run(command, cwd=TREE, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, **options)


def drop_what_is_gone():
    """A source that has been moved must not be compiled twice."""
    for folder, folders, files in os.walk(TREE):
        if folder == TREE and "build" in folders:
            folders.remove("build")
        for file in files:
            copy = os.path.join(folder, file)
            if not os.path.exists(os.path.join(ROOT, os.path.relpath(copy, TREE))):
                os.remove(copy)


def copy_tree():
    os.makedirs(TREE, exist_ok=True)
    drop_what_is_gone()
    for name in ("Makefile", "README.md", "core", "workloads", "results", "harness",
                 "affinity", "tests", "scripts"):
        source, copy = os.path.join(ROOT, name), os.path.join(TREE, name)
        if os.path.isdir(source):
            for folder, _, files in os.walk(source):
                there = os.path.join(TREE, os.path.relpath(folder, ROOT))
                os.makedirs(there, exist_ok=True)
                for file in files:
                    update(os.path.join(folder, file),
                           os.path.join(there, file))
        else:
            update(source, copy)


def update(source, copy):
    """Copies what differs, so that make rebuilds no more than it must."""
    with open(source, "rb") as file:
        content = file.read()
    if os.path.exists(copy):
        with open(copy, "rb") as file:
            if file.read() == content:
                return
    shutil.copy(source, copy)


def build(kind, test):
    mode, place = KINDS[kind]
    target = f"build/{mode}/{place}" if kind in ONE_PROGRAM else f"build/{mode}/{place}/{test}"
    made = run(["make", "-s", f"MODE={mode}", target])
    return target, made


def workload_of(check):
    """The workload of a gate's work: the gate runs all works of that one."""
    work = check[len("gate:"):].split(" on ")[0]
    with open(os.path.join(ROOT, "harness", "compare", "suite.def")) as file:
        return re.search(rf'WORK\("{work}", *"([^"]+)"', file.read()).group(1)


def command_of(check, target, seconds=EXPLORE_S):
    if check.startswith("explore:"):
        return ["./" + target, "--seed", "1", "--schedules", "1000000000",
                "--seconds", str(seconds), check[len("explore:"):]]
    if check.startswith(TORTURE):
        return ["./" + target, "--seed", "1", "--seconds", str(seconds), "--shrink", "0"]
    if not check.startswith("gate:"):
        return ["./" + target]
    result = os.path.join(TREE, "build", "gate")
    shutil.rmtree(result, ignore_errors=True)
    return ["./" + target, "gate", "--virtual", "--baseline", "tests/virtual/gate.csv",
            "--output", result, "--workload", workload_of(check), "--format", "csv"]


def has_caught(check, done):
    if check.startswith("explore:"):
        return "\nnot ok " in "\n" + done.stdout
    if not check.startswith("gate:"):
        return done.returncode != 0
    workload, metric = check[len("gate:"):].split(",")
    return done.returncode == 1 and any(
        line.startswith(f"{workload},{metric},") and ",regressed," in line
        for line in done.stdout.splitlines())


def measure_limit(check):
    """Seconds after which a test hangs; it has to pass without a mistake."""
    target, made = build(*check.split(":"))
    start = time.monotonic()
    done = None if made.returncode else run(command_of(check, target, 3), timeout=300)
    if not done or done.returncode or has_caught(check, done):
        sys.exit(f"mutants.py: {check} fails without a mistake")
    if check.startswith(("explore:",) + TORTURE):
        return 3 * EXPLORE_S
    if check.startswith("gate:"):
        return 300 # its runs have a limit of their own, in CPU time
    return 3 * (time.monotonic() - start) + 5


def test_fails(check, target, limit):
    """The seed is the try's number, so that a run can be repeated."""
    tries = 1 if check.split(":")[0] in ONE_PROGRAM else TRIES
    for attempt in range(1, tries + 1):
        try:
            done = run(command_of(check, target), timeout=limit,
                       env=dict(os.environ, SB_SEED=str(attempt)))
        except subprocess.TimeoutExpired:
            return f"hangs, try {attempt}"
        if has_caught(check, done):
            found = re.search(r"\d+ (schedules|rounds), [\d.]+ s", done.stdout)
            return found.group() if found else f"try {attempt}"
    return None


def caught_by(check, limit):
    """How a check caught the mutant, None if it did not."""
    target, made = build(*check.split(":"))
    if made.returncode:
        return "SETUP: " + made.stdout[-400:]
    return test_fails(check, target, limit)


def try_mutant(mutant, limits):
    path = os.path.join(TREE, mutant.file)
    with open(path) as file:
        text = file.read()
    if text.count(mutant.old) != 1:
        return False, f"the text stands {text.count(mutant.old)} times"
    with open(path, "w") as file:
        file.write(text.replace(mutant.old, mutant.new))
    try:
        for check in mutant.checks:
            how = caught_by(check, limits[check])
            if how:
                return not how.startswith("SETUP"), f"{check}, {how}"
        return False, "not caught by " + ", ".join(mutant.checks)
    finally:
        with open(path, "w") as file:
            file.write(text)


def check_texts(mutants):
    """Code changes; a mistake that can no longer be made checks nothing."""
    wrong = 0
    for mutant in mutants:
        with open(os.path.join(ROOT, mutant.file)) as file:
            times = file.read().count(mutant.old)
        if times != 1:
            print(f"{mutant.file}: {mutant.name}: its text stands {times} times")
            wrong += 1
    return wrong != 0


def main(names):
    from mutants_list import MUTANTS
    if names == ["--texts"]:
        return check_texts(MUTANTS)
    kind = names[1] + ":" if names[:1] == ["--kind"] else None
    chosen = [m for m in MUTANTS if not names or m.name in names or
              kind and any(c.startswith(kind) for c in m.checks)]
    failed = 0
    copy_tree()
    limits = {check: measure_limit(check)
              for check in {c for m in chosen for c in m.checks}}
    for n, mutant in enumerate(chosen, 1):
        ok, how = try_mutant(mutant, limits)
        failed += not ok
        print(f"{'ok' if ok else 'not ok'} {n} - {mutant.file}: "
              f"{mutant.name} ({how})", flush=True)
    print(f"1..{len(chosen)}")
    return failed != 0


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    sys.modules["mutants"] = sys.modules["__main__"]
    sys.exit(main(sys.argv[1:]))
