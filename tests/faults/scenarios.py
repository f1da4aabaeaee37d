"""What faults.py runs: the verbs, what is there before, and what may be there after."""
import dataclasses
import fnmatch
import json
import re
import shutil
import sqlite3
import subprocess
from typing import Callable

TOLD = "-d 2ms --warmup 0s --repetitions 1 --no-plots"
QUICK = f"{TOLD} -q"

# Lines that tell something and are no error, of runs in which something is missing.
# And a library's last words, of which the command's own line tells more.
NOTES = re.compile(r"sched-bench: (\S+:\d+: \w+: Assertion |\w[\w-]*: no trace: |no plots: |"
                   "what is measured is not saved before the end: )")


@dataclasses.dataclass
class Scenario:
    name: str  # the verb first
    words: str
    before: tuple = ()  # of what prepare() makes
    is_foreign: bool = False  # a library says something of its own, too
    lines: int = 1  # of errors, at most
    makes: tuple = ()  # files that it makes or replaces; may be patterns
    # Those of them that it need not make.
    maybe: tuple = ("n/stacks*", "n/sweep.row/*", "n/plots/*", "x", "x/*", "s/*",
                    "sched-bench-results/*")
    same: bool = False  # its standard output is always the same
    children: bool = False  # the fault may be in a process that it starts
    statuses: tuple = (0, 2, 4)
    without: dict = dataclasses.field(default_factory=dict)  # kind of fault: why it is left out
    then: Callable = None  # what must be possible afterwards
    caches: bool = False  # it may leave something in the user's cache
    is_slow: bool = False  # not in a sample
    env: dict = dataclasses.field(default_factory=dict)

    @property
    def args(self):
        return self.words.split("|") if "|" in self.words else self.words.split()


TRIES = 20


def measure(program, ground, words, directory):
    """A result of which all is valid; a busy machine may spoil what is so short."""
    for _ in range(TRIES):
        shutil.rmtree(ground / directory, ignore_errors=True)
        done = subprocess.run([program, *words.split(), "-o", directory], cwd=ground,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False)
        if done.returncode == 0:
            return
    if done.returncode != 2:
        raise SystemExit(f"{words}: {done.stderr}")


def prepare(program, ground):
    """Results for scenarios to begin with."""
    ground.mkdir()
    measure(program, ground, f"run -w yield {QUICK}", "a")
    measure(program, ground, f"run -w yield {QUICK} --trace", "b")
    measure(program, ground, f"sweep -w yield -L batch=1,16 {QUICK}", "s")
    shutil.copytree(ground / "s", ground / "half")
    store = sqlite3.connect(ground / "half" / "sweep.db")
    store.execute("DELETE FROM row WHERE configuration = 1")
    store.commit()
    store.close()
    (ground / "job.ini").write_text("[x]\nworkload=yield\nduration=2ms\nwarmup=0s\n"
                                    "repetitions=1\n"
                                    "[global]\nno-plots=yes\n")
    (ground / "old.html").write_text("<html>old</html>\n")


# ---- files ----

def is_made(scenario, name):
    return any(fnmatch.fnmatch(name, pattern) for pattern in scenario.makes)


def why_not_whole(path):
    try:
        if path.suffix == ".json":
            json.loads(path.read_text())
        elif path.suffix == ".html":
            assert path.read_text().rstrip().endswith("</html>"), "it does not end"
        elif path.suffix == ".svg":
            assert path.read_text().rstrip().endswith("</svg>"), "it does not end"
        elif path.suffix in (".csv", ".txt", ".hlog", ".xml"):
            text = path.read_text()
            assert not text or text.endswith("\n"), "it does not end"
        elif path.suffix == ".db":
            store = sqlite3.connect(path)
            assert store.execute("pragma integrity_check").fetchone()[0] == "ok", "it is damaged"
            store.close()
    except (ValueError, AssertionError, sqlite3.Error) as error:
        return str(error)
    return ""


# ---- afterwards ----

def resumes(bench, scenario, place, run, hwloc):
    """--resume goes on with a sweep that a fault has ended, if it had begun."""
    directory = place / "work" / "n"
    if not (directory / "sweep.db").exists():
        return
    done = bench.run(scenario, ["sweep", "--resume", "n"], place)
    nothing = "holds no sweep" in done.err or "no sweep" in done.err
    if done.status == 3 and nothing and run.status == 4:
        return
    # What hwloc could not find out then is there now.
    if hwloc.search(run.stack) and "another machine" in done.err:
        return
    # Rows that have failed stay what they are.
    if done.status not in (0, 2) and (done.status != 4 or b": invalid (" not in done.out):
        yield f"--resume: status {done.status}: {done.err.strip()}"
    elif not (directory / "result.json").exists():
        yield "--resume: there is no result"
    elif (directory / "sweep.row").exists():
        yield "--resume: sweep.row is left"
    else:
        result = json.loads((directory / "result.json").read_text())
        if len(result["benchmarks"]) + len(result["sched_bench"]["invalid"]) != 2:
            yield "--resume: rows are missing"


def run_resumes(bench, scenario, place, _run, _hwloc):
    """--resume goes on with a run of three repetitions that a fault has ended."""
    directory = place / "work" / "n"
    if not (directory / "run.db").exists():
        return
    done = bench.run(scenario, ["run", "--resume", "n", "-q"], place)
    if done.status not in (0, 2):
        yield f"--resume: status {done.status}: {done.err.strip()}"
    elif (directory / "run.db").exists() or not (directory / "result.json").exists():
        yield "--resume: there is no result, or still a store"
    else:
        result = json.loads((directory / "result.json").read_text())
        if len(result["benchmarks"]) + len(result["sched_bench"]["invalid"]) != 3:
            yield "--resume: rows are missing"


# ---- the table ----

RUN_FILES = ("n/*.csv", "n/*.json", "n/*.hlog", "n/report.html")
SWEEP_FILES = (*RUN_FILES, "n/sweep.db*", "n/sweep.lock", "n/stacks*",
               "n/sweep.row/*")  # of a run; --resume removes it

TABLE = [
    Scenario("list workloads", "list workloads", same=True),
    Scenario("list options", "list options --format json", same=True),
    Scenario("list metrics", "list metrics", same=True),
    Scenario("list profiles", "list profiles", same=True),
    Scenario("help", "help", same=True),
    Scenario("help run", "help run", same=True),
    Scenario("manual man", "manual man", same=True),
    Scenario("complete", "complete zsh -- help w", same=True),
    Scenario("topo list", "topo list", same=True),
    Scenario("topo show", "topo show", same=True),
    Scenario("topo show profile", "topo show --profile laptop-6p8e", same=True),
    Scenario("topo show svg", "topo show --svg t.svg", makes=("t.svg",)),
    Scenario("topo plan", "topo plan --format json", same=True),
    Scenario("topo export", "topo export", same=True),
    Scenario("topo fingerprint", "topo fingerprint", same=True),
    Scenario("check", "check"),
    Scenario("calibrate", "calibrate --quick", is_slow=True),
    Scenario("run new", f"run -w yield {QUICK} -o n", makes=RUN_FILES),
    Scenario("run again", f"run -w yield {QUICK} -o a", before=("a",), statuses=(3, 4)),
    Scenario("run job", "run job.ini -q -o n", before=("job.ini",), makes=RUN_FILES),
    Scenario("run trace", f"run -w yield --trace {QUICK} -o n", makes=(*RUN_FILES, "n/trace*")),
    Scenario("run emulated", f"run -w pingpong --profile laptop-6p8e --workers 2 {QUICK} -o n",
             makes=RUN_FILES),
    Scenario("run load", f"run -w service --load 50% {QUICK} -o n", makes=RUN_FILES),
    Scenario("run plots", "run -w yield -d 2ms --warmup 0s --repetitions 1 -q -o n",
             makes=(*RUN_FILES, "n/plots/*"), is_slow=True),
    Scenario("run export", f"run -w yield {QUICK} -o n --export-csv - --export-json x.json",
             makes=(*RUN_FILES, "x.json"), lines=2),  # one for each file that it cannot write
    Scenario("run saved", f"run -w yield {QUICK.replace('--repetitions 1', '-r 3 --forks 1')} -o n",
             makes=(*RUN_FILES, "n/run.db*", "n/run.lock"),
             maybe=(*Scenario.maybe, "n/run.db*", "n/run.lock"), then=run_resumes),
    Scenario("sweep new", f"sweep -w yield -L batch=1,16 {TOLD} -o n", makes=SWEEP_FILES,
             then=resumes),
    Scenario("sweep children", f"sweep -w yield -L batch=1,16 {TOLD} -o n", makes=SWEEP_FILES,
             children=True, then=resumes),
    Scenario("sweep resume", "sweep --resume s", before=("s",), makes=("s/*",)),
    Scenario("sweep half", "sweep --resume half", before=("half",), makes=("half/*",),
             maybe=("half/*",)),
    Scenario("sweep dry", f"sweep -w yield -L batch=1,16 {QUICK} -o n --dry-run"),
    Scenario("ab", "ab|-A|--batch 1|-B|--batch 2|-w|yield|--pairs|12|--metric|ns_per_op|-d|2ms|--warmup|0s",
             makes=("sched-bench-results/*",)),
    Scenario("gate program", "gate --baseline /proc/self/exe -w yield --limit ns_per_op=90% "
             "-d 2ms --warmup 0s --budget 2s --keep-awake no", statuses=(0, 2, 4),
             makes=("sched-bench-results/*",)),
    Scenario("gate result", "gate --baseline a --limit ns_per_op=90% -d 2ms "
             "--warmup 0s --budget 2s --keep-awake no", before=("a",), statuses=(0, 2, 4),
             makes=("sched-bench-results/*",)),
    Scenario("compare", "compare a b", before=("a", "b"), same=True),
    Scenario("micro", "micro --benchmark_filter=deque/push_pop/counted "
             "--benchmark_min_time=0.001", is_foreign=True),
    Scenario("micro out", "micro --benchmark_filter=clock/kernel --benchmark_min_time=0.001 "
             "--benchmark_out=m.json", makes=("m.json",), is_foreign=True,
             without={kind: "Google Benchmark writes the file itself, and not whole or not at all"
                      for kind in ("memory", "write", "read", "open")}),
    Scenario("plot cost", "plot cost a -o c.svg", before=("a",), makes=("c.svg",)),
    Scenario("plot sweep", "plot sweep s -o c.png", before=("s",), makes=("c.png",)),
    Scenario("report html", "report a -o r.html", before=("a",), makes=("r.html",)),
    Scenario("report over", "report a b -o old.html", before=("a", "b", "old.html"),
             makes=("old.html",)),
    Scenario("report sweep", "report s -o r.html", before=("s",), makes=("r.html",)),
    Scenario("report markdown", "report a --format md -o r.md", before=("a",),
             makes=("r.md",)),
    *(Scenario(f"convert {to}", f"convert {source} --to {to} -o x", before=(source,),
               makes=("x", "x/*")) for to, source in (
                   ("gbench", "a"), ("csv", "a"), ("hdr", "a"), ("chrome-trace", "b"),
                   ("benchstat", "a"), ("gh-action", "a"), ("openmetrics", "a"))),
]
