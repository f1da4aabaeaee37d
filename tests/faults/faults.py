#!/usr/bin/env python3
"""Lets calls of the command fail, one at a time, over all its verbs, and judges how it ends.

usage: faults.py BUILD [--sample SECONDS] [--verb TEXT] [--kind NAME] [--most N] [--stride N]

Each scenario of scenarios.py runs once without a fault, which counts its calls of each kind
(kinds.def), and then with the n-th call failing, for n = 1, 2, 3 ...: alone, and with
all that follow. Of many calls, the first FIRST are tried and then --most of those that follow,
at even distances; --stride N tries every N-th instead. --sample tries random ones for so long.

A run is right if it ends with a documented status and at most one line that is no note, leaves
what was there as it was or replaces it whole, and leaves nothing else behind."""
import argparse
import collections
import concurrent.futures
import fnmatch
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import limit  # noqa: E402
import scenarios  # noqa: E402

FIRST = 200
HANG_S = 60.0
FOREVER = 2**63
KINDS = re.findall(r"^KIND\((\w+),", (HERE / "kinds.def").read_text(), re.M)
COUNTS = struct.Struct(f"={len(KINDS) + 1}Q")

HWLOC = re.compile(r"\A(?:.*/(?:faults\.so|libc\.so)\b.*\n)*.*/libhwloc\b")

Case = collections.namedtuple("Case", "scenario kind n on")
Run = collections.namedtuple("Run", "status out err counts stack hung left")


class Bench:
    """The programs, and what the scenarios begin with."""

    def __init__(self, build, scratch):
        self.program = str(pathlib.Path(build, "sched-bench").resolve())
        self.library = str(pathlib.Path(build, "tests", "faults.so").resolve())
        self.scratch = pathlib.Path(scratch)
        self.ground = self.scratch / "ground"
        scenarios.prepare(self.program, self.ground)

    def place(self, scenario):
        """A directory of a run's own, with what was there before."""
        place = pathlib.Path(tempfile.mkdtemp(dir=self.scratch))
        (place / "tmp").mkdir()
        (place / "work").mkdir()
        for name in scenario.before:
            source = self.ground / name
            if source.is_dir():
                shutil.copytree(source, place / "work" / name)
            else:
                shutil.copy(source, place / "work" / name)
        return place

    def run(self, scenario, args, place, fault=None):
        """In place; fault: "KIND FIRST LAST"."""
        env = {**os.environ, "TMPDIR": str(place / "tmp"), "HOME": str(place / "tmp"),
               "XDG_CACHE_HOME": str(place / "tmp"), **scenario.env}
        if fault:
            (place / "counts").write_bytes(bytes(COUNTS.size))
            env |= {"LD_PRELOAD": self.library, "SB_FAULTS": f"{place}/counts {fault}",
                    "SB_FAULTS_STACK": str(place / "stack")}
            if scenario.children:
                env["SB_FAULTS_CHILDREN"] = "1"
        with open(place / "out", "wb") as out, open(place / "err", "wb") as err:
            child = subprocess.Popen([self.program, *args], cwd=place / "work", env=env,
                                     stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                     start_new_session=True)
            hung = wait(child)
        left = list(limit.processes_of(child.pid))
        limit.kill(child.pid)
        counts = COUNTS.unpack((place / "counts").read_bytes()) if fault else ()
        stack = (place / "stack").read_text() if (place / "stack").exists() else ""
        return Run(child.returncode, (place / "out").read_bytes(),
                   (place / "err").read_text(errors="replace"), counts, stack, hung, left)


def wait(child):
    """Whether it had to be killed: see limit.py."""
    used_s, before = 0.0, {}
    while used_s < HANG_S:
        try:
            child.wait(limit.INTERVAL_S)
            return False
        except subprocess.TimeoutExpired:
            after = limit.waits_of(child.pid)
            used_s += limit.INTERVAL_S - limit.longest_wait_s(before, after)
            before = after
    limit.kill(child.pid)
    child.wait()
    return True


# ---- how it may end ----

def snapshot(directory):
    return {str(path.relative_to(directory)): path.read_bytes()
            for path in sorted(directory.rglob("*")) if path.is_file()}


def said(scenario, run, usual):
    """What it says on standard error that it does not say without a fault, and that is no note."""
    return [line for line in run.err.splitlines()
            if shape(line) not in usual and not scenarios.NOTES.match(line)
            and (line.startswith("sched-bench: ") or not scenario.is_foreign)]


def shape(line):
    return re.sub(r"[0-9][0-9.]*", "0", line)


def judge_end(scenario, run, plain, usual):
    """What a row of a sweep has failed by is told in its table."""
    lines = said(scenario, run, usual)
    usual_error = run.status == plain.status
    other = HWLOC.search(run.stack) and "another machine" in run.err
    if run.hung:
        yield "it hangs"
    elif run.status < 0:
        yield f"killed by {signal.Signals(-run.status).name}"
    elif run.status not in scenario.statuses and not other:
        yield f"status {run.status}"
    if run.left:
        yield "it leaves processes"
    if any(not line.startswith("sched-bench: ") for line in lines):
        yield "what it says is not its own"
    elif len(lines) > scenario.lines:
        yield f"{len(lines)} lines"
    elif run.status in (3, 4) and not lines and not scenario.is_foreign and b": invalid (" not in run.out and not usual_error:
        yield "an error without a line"


def judge_files(scenario, run, place, before, usual):
    work = place / "work"
    after = snapshot(work)
    for name in sorted(set(before) | set(after)):
        if name in before and name not in after:
            yield f"{name} is lost"
        elif name not in before and not scenarios.is_made(scenario, name):
            yield f"{name} is left"
        elif before.get(name) != after[name]:
            if name in before and not scenarios.is_made(scenario, name):
                yield f"{name} is changed"
            why = scenarios.why_not_whole(work / name)
            if why:
                yield f"{name}: {why}"
    for name in snapshot(place / "tmp"):
        if not scenario.caches:
            yield f"temporary file {name} is left"
    if run.status == 0 and not said(scenario, run, usual):
        yield from (f"done, but there is no {name}" for name in scenario.makes
                    if not fnmatch.filter(after, name) and name not in scenario.maybe)


def judge_same(scenario, run, plain, usual):
    """One that is done has done the same, or says why not. hwloc goes on without what it
    could not find out, and tells nobody."""
    if scenario.same and not HWLOC.search(run.stack) and run.status == 0 and run.out != plain.out and run.err == plain.err:
        yield "done, but its output is another"


class Verdict:
    def __init__(self, case, run, wrongs):
        self.case, self.run, self.wrongs = case, run, wrongs


class Trial:
    """A scenario, and how it ends without a fault."""

    def __init__(self, bench, scenario):
        self.bench, self.scenario = bench, scenario
        self.plain, self.usual, self.counts, self.lock = None, (), {}, threading.Lock()
        self.why_out = ""

    def count(self):
        """The run without a fault, once."""
        with self.lock:
            if not self.plain:
                self.run_plain()

    def run_plain(self):
        scenario, place = self.scenario, self.bench.place(self.scenario)
        self.plain = self.bench.run(scenario, scenario.args, place, "none 0 0")
        self.usual = {shape(line) for line in self.plain.err.splitlines()}
        self.counts = dict(zip(KINDS, self.plain.counts))
        shutil.rmtree(place)
        if self.plain.status not in scenario.statuses:
            self.why_out = f"without a fault, status {self.plain.status}: {self.plain.err.strip()}"
            self.counts = dict.fromkeys(KINDS, 0)

    def attempt(self, case):
        scenario, place = self.scenario, self.bench.place(self.scenario)
        last = FOREVER if case.on else case.n
        before = snapshot(place / "work")
        run = self.bench.run(scenario, scenario.args, place, f"{case.kind} {case.n} {last}")
        wrongs = [*judge_end(scenario, run, self.plain, self.usual),
                  *judge_files(scenario, run, place, before, self.usual),
                  *judge_same(scenario, run, self.plain, self.usual)]
        if scenario.then and not wrongs:
            wrongs += scenario.then(self.bench, scenario, place, run, HWLOC)
        shutil.rmtree(place)
        return Verdict(case, run, wrongs)


# ---- which calls ----

def calls(count, options):
    if options.stride:
        return range(1, count + 1, options.stride)
    rest = max(0, count - FIRST)
    step = max(1, -(-rest // max(1, options.most)))
    return [*range(1, min(count, FIRST) + 1), *range(FIRST + 1, count + 1, step)]


def kinds_of(trial, options):
    return [kind for kind in KINDS if trial.counts[kind] and kind not in trial.scenario.without
            and options.kind in ("", kind)]


def cases_of(trial, options):
    for kind in kinds_of(trial, options):
        for n in calls(trial.counts[kind], options):
            yield Case(trial.scenario, kind, n, False)
            # The rarer of the two: much of it is the same.
            if n <= 8 or n % 4 == 0:
                yield Case(trial.scenario, kind, n, True)


def sampled(trials, options):
    """For ever: any scenario, any kind that it has, any call of that."""
    chance = random.Random(options.seed)
    while True:
        yield chance.choice(trials), chance.getrandbits(32)


def pick(trial, options, seed):
    """One case, or None."""
    trial.count()
    chance, kinds = random.Random(seed), kinds_of(trial, options)
    if not kinds:
        return None
    kind = chance.choice(kinds)
    return Case(trial.scenario, kind, chance.randint(1, trial.counts[kind]), chance.random() < 0.4)


# ---- the runs, and what is said of them ----

class Tally:
    def __init__(self, trials):
        self.trials = trials
        self.rows = collections.defaultdict(collections.Counter)
        self.wrong = collections.defaultdict(list)
        self.lock = threading.Lock()

    def add(self, bench, verdict):
        case, run = verdict.case, verdict.run
        row = collections.Counter(faults=1 if run.counts[-1] else 0,
                                  not_reached=0 if run.counts[-1] else 1)
        row["hung" if run.hung else "crashed" if run.status < 0 else f"={run.status}"] += 1
        row["wrong"] += bool(verdict.wrongs)
        with self.lock:
            self.rows[case.scenario.name, case.kind] += row
            if verdict.wrongs:
                self.wrong[case.scenario.name, case.kind, verdict.wrongs[0],
                           where(bench, run.stack)].append(verdict)


def where(bench, stack):
    """The innermost functions of the program itself."""
    names = re.findall(r"([^/\n]*)\(([^)]*)\)", stack)
    frames = [f"{library}:{symbol.split('+')[0]}" if "sched-bench" not in library else
              resolve(bench, symbol) for library, symbol in names[1:]]
    return " < ".join(frame for frame in frames if not frame.startswith("faults.so"))[:400]


def resolve(bench, symbol):
    name, _, offset = symbol.partition("+")
    if name:
        return name
    out = subprocess.run(["addr2line", "-fe", bench.program, offset], capture_output=True,
                         text=True, check=False).stdout.split("\n")
    return f"{out[0]} ({os.path.basename(out[1])})" if len(out) > 1 else symbol


def tell(tally, options):
    for (name, kind, wrong, place), verdicts in sorted(tally.wrong.items()):
        one = verdicts[0]
        also = f" and {len(verdicts) - 1} more" if len(verdicts) > 1 else ""
        print(f"not ok: {name}: {kind} {one.case.n}{' on' if one.case.on else ''}{also}: "
              f"{'; '.join(one.wrongs)[:300]} (status {one.run.status})")
        print(f"    at {place}")
        for line in one.run.err.splitlines()[:6]:
            print(f"    {line[:200]}")
    ends = ["=0", "=2", "=3", "=4", "other", "crashed", "hung", "wrong"]
    print(f"{'scenario':28} {'kind':8} {'faults':>6} " + " ".join(f"{e:>7}" for e in ends))
    total = collections.Counter()
    for (name, kind), row in tally.rows.items():
        row["other"] = sum(n for key, n in row.items() if key[0] == "=" and key not in ends)
        print(f"{name:28} {kind:8} {row['faults']:6} " + " ".join(f"{row[e]:7}" for e in ends))
        total += row
    print(f"{total['faults']} faults: {total['crashed']} crashes, {total['hung']} hangs, "
          f"{total['wrong']} ends that are wrong")
    for trial in tally.trials:
        for kind, why in trial.scenario.without.items():
            print(f"# left out: {trial.scenario.name}, {kind}: {why}")
        if trial.why_out:
            print(f"# left out: {trial.scenario.name}: {trial.why_out}")
    return total


def all_cases(trials, options):
    for trial in trials:
        trial.count()
        yield from ((trial, case) for case in cases_of(trial, options))


def run_all(bench, options):
    lock = threading.Lock()
    trials = [Trial(bench, scenario) for scenario in scenarios.TABLE
              if scenario.name.startswith(options.verb)
              and not (options.sample and scenario.is_slow)]
    tally = Tally(trials)
    end = time.monotonic() + options.sample if options.sample else None
    pairs = sampled(trials, options) if end else all_cases(trials, options)

    def work():
        while not end or time.monotonic() < end:
            with lock:
                trial, case = next(pairs, (None, None))
            if end:
                case = pick(trial, options, case)
            if not trial:
                return
            if case:
                tally.add(bench, trial.attempt(case))

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for future in [pool.submit(work) for _ in range(os.cpu_count())]:
            future.result()
    return tally


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("build")
    parser.add_argument("--sample", type=float, default=0)
    parser.add_argument("--verb", default="")
    parser.add_argument("--kind", default="", choices=["", *KINDS])
    parser.add_argument("--most", type=int, default=100)
    parser.add_argument("--stride", type=int, default=0)
    parser.add_argument("--seed", type=int,
                        default=int(os.environ.get("SB_SEED", 0)) or random.getrandbits(31))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(options.build, scratch)
        total = tell(run_all(bench, options), options)
    sys.exit(1 if total["wrong"] or not total["faults"] else 0)


if __name__ == "__main__":
    main()
