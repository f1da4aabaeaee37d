#!/usr/bin/env python3
"""Measures ours and what people would pick instead, interleaved, on the same CPUs.

A round is one kind of work with so many workers: the floor of the machine, then
every system once, in an order drawn from the seed, then the floor again. All
kinds of work take turns. A round in which the machine was another one is
discarded and made again, in the next turn. README.md of this folder says what is
measured, and how to read what comes out.
"""
import argparse
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import output
import ratios
import run
from tables import FLOOR_BUILD, FLOOR_WAKES, OURS, SYSTEMS, WORKS

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILT = os.path.join(ROOT, "build", "peers")
COMMAND = os.path.join(ROOT, "build", "release", "sched-bench")
# A round that is discarded is made again, but not for ever.
ATTEMPTS = 3
# As sched-bench's, but for 1: something was wrong, or is missing.
EXIT_INCOMPLETE, EXIT_USAGE, EXIT_ENVIRONMENT = 1, 2, 4


class Trouble(Exception):
    """One line for the user."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


# ---- what is asked for ----

class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Trouble(EXIT_USAGE, f"{message} (--help lists the options)")


def whole(text):
    if not text.isdecimal() or not 1 <= int(text) <= 10 ** 6:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1, not '{text}'")
    return int(text)


def seconds(text):
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 0 < value <= 86400:
        raise argparse.ArgumentTypeError(f"expected seconds, not '{text}'")
    return value


def listed(parse):
    """Several of them, by commas; each once."""
    def parse_list(text):
        values = [parse(word) for word in text.split(",")]
        if len(set(values)) < len(values):
            raise argparse.ArgumentTypeError(f"'{text}' has something twice")
        return values
    return parse_list


def cpu(text):
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected the number of a CPU, not '{text}'")
    return int(text)


def one_of(names):
    def parse(text):
        if text not in names:
            raise argparse.ArgumentTypeError(
                f"there is no '{text}'; expected some of {','.join(names)}")
        return text
    return parse


def read_options(argv):
    parser = Parser(prog="peers.py", description=__doc__.split("\n", 1)[0])
    add = parser.add_argument
    add("--rounds", type=whole, metavar="N",
        help="rounds that count, of each kind of work [5; 2 with --quick]")
    add("--works", type=listed(one_of([w.name for w in WORKS])), metavar="A,B",
        help="kinds of work [all]: " + " ".join(w.name for w in WORKS))
    add("--peers", type=listed(one_of([s.name for s in SYSTEMS])), metavar="A,B",
        help="peers [all that are installed]: " + " ".join(s.name for s in SYSTEMS))
    add("--workers", type=listed(whole), metavar="A,B", default=[1, 2],
        help="how many workers [1,2]")
    add("--cpus", type=listed(cpu), metavar="A,B",
        help="CPUs to use, the first worker's first [those that it may use]")
    add("--seed", type=whole, metavar="N", default=1, help="of the orders [1]")
    add("--limit", type=seconds, metavar="S", default=60,
        help="longest that a program may take [60]")
    add("--out", metavar="DIR", default=os.path.join(BUILT, "result"),
        help="where the result goes [build/peers/result]")
    add("--programs", metavar="DIR",
        help="build nothing: take floor, sched-bench and each peer from here, by name")
    add("--quick", action="store_true", help="little work, to try it: no numbers to keep")
    return parser.parse_args(argv)


def choose_cpus(options):
    """As many as the workers need, and two for the floor and an outside thread."""
    allowed = sorted(os.sched_getaffinity(0))
    needed = max(2, *options.workers)
    cpus = options.cpus or allowed[:needed]
    foreign = [c for c in cpus if c not in allowed]
    if foreign:
        raise Trouble(EXIT_ENVIRONMENT, f"--cpus: CPU {foreign[0]} may not be used here")
    if len(cpus) < needed:
        raise Trouble(EXIT_ENVIRONMENT, f"{needed} CPUs are needed, not {len(cpus)}")
    return cpus[:needed]


# ---- what is there ----

def filled(command, **more):
    """The words of a command of the tables."""
    places = {"{out}": BUILT, "{here}": HERE, **more}
    for place, text in places.items():
        command = command.replace(place, shlex.quote(text))
    return shlex.split(command)


def build(command, name):
    """None, or why it did not work. All of what it says is kept."""
    made = subprocess.run(filled(command), cwd=ROOT, text=True, check=False,
                          stdin=subprocess.DEVNULL, errors="replace",
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    log = os.path.join(BUILT, name + ".log")
    with open(log, "a", encoding="utf-8") as file:
        file.write(f"{command}\n{made.stdout}")
    if made.returncode == 0:
        return None
    errors = [line for line in made.stdout.splitlines() if "error" in line.lower()]
    why = errors[0] if errors else run.last_line(made.stdout)
    return f"does not build: {why.strip()} ({os.path.relpath(log, ROOT)})"


def is_built(system):
    """Whether its program is newer than whatever it may be made of."""
    program = os.path.join(BUILT, system.name)
    around = os.path.dirname(filled(system.source)[0])
    if not os.path.isfile(program):
        return False
    files = [os.path.join(around, name) for name in os.listdir(around)
             if not name.startswith("README")]
    files += [name for name in (os.path.join(HERE, "build.sh"),
                                os.path.join(BUILT, "newest", "packages")) if os.path.exists(name)]
    return os.path.getmtime(program) > max(map(os.path.getmtime, files))


def build_system(system, sitting):
    """None, or why it is left out."""
    if not os.path.exists(filled(system.source)[0]):
        return f"there is no {os.path.relpath(filled(system.source)[0], ROOT)}"
    if not shutil.which(system.tool):
        return f"there is no {system.tool} (Debian: {system.package})"
    if is_built(system):
        return None
    sitting.tell(f"building {system.name}")
    log = os.path.join(BUILT, system.name + ".log")
    if os.path.exists(log):
        os.remove(log)
    why = build(system.build, system.name)
    if why:
        return f"{why}; Debian: {system.package}"
    for command in system.also:
        why = build(command, system.name)
        if why:
            sitting.tell(f"{system.name}: {why}")
    return None


def version_of(command):
    try:
        said = subprocess.run(filled(command), cwd=ROOT, text=True, check=False,
                              stdin=subprocess.DEVNULL, capture_output=True)
    except OSError:
        return "of unknown version"
    return said.stdout.strip().splitlines()[0] if said.stdout.strip() \
        else "of unknown version"


class Sitting:
    """One run of this program: who takes part, and what was measured."""

    def __init__(self, options):
        self.options = options
        self.seed = options.seed
        self.random = random.Random(options.seed)
        self.cpus = choose_cpus(options)
        self.names, self.versions, self.left_out = [], {}, {}
        self.program = {}  # name -> words, or floor's
        self.rounds = []
        self.absent = set()  # (system, work, workers): it is not asked again
        self.short = []
        self.begun = time.monotonic()
        self.machine = describe_machine()
        self.works = [w for w in WORKS if not options.works or w.name in options.works]

    def tell(self, text):
        print(f"[{time.monotonic() - self.begun:5.0f} s] {text}", file=sys.stderr, flush=True)

    def add(self, name, program, version):
        self.names.append(name)
        self.program[name] = program
        self.versions[name] = version


def describe_machine():
    model = "a processor without a name"
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    system = os.uname()
    return f"{model}, {os.cpu_count()} CPUs, {system.sysname} {system.release}"


def find_given(sitting, folder):
    """Programs that somebody has built."""
    for name, given in [("floor", "floor"), (OURS, "sched-bench")]:
        if not os.access(os.path.join(folder, given), os.X_OK):
            raise Trouble(EXIT_USAGE, f"--programs: there is no program {given} in {folder}")
    sitting.program["floor"] = [os.path.join(folder, "floor")]
    sitting.add(OURS, [os.path.join(folder, "sched-bench")], "given by --programs")
    for system in asked_for(sitting):
        path = os.path.join(folder, system.name)
        if os.access(path, os.X_OK):
            sitting.add(system.name, [path], "given by --programs")
        else:
            sitting.left_out[system.name] = f"there is no program {system.name} in {folder}"


def asked_for(sitting):
    wanted = sitting.options.peers
    return [s for s in SYSTEMS if not wanted or s.name in wanted]


def build_all(sitting):
    os.makedirs(BUILT, exist_ok=True)
    why = build(FLOOR_BUILD, "floor")
    if why:
        raise Trouble(EXIT_ENVIRONMENT, f"floor.c {why}")
    if not os.access(COMMAND, os.X_OK):
        raise Trouble(EXIT_ENVIRONMENT, f"there is no {os.path.relpath(COMMAND)}; "
                                        "make builds it")
    sitting.program["floor"] = [os.path.join(BUILT, "floor")]
    sitting.add(OURS, [COMMAND], version_of(shlex.quote(COMMAND) + " --version") + ", revision "
                + version_of("git describe --always --dirty --abbrev=12"))
    for system in asked_for(sitting):
        why = build_system(system, sitting)
        if why:
            sitting.left_out[system.name] = why
        else:
            sitting.add(system.name, filled(system.command),
                        f"{system.title}, {version_of(system.version)}")


# ---- a round ----

def pinned(workers, outside, sitting):
    """As many CPUs as workers; and one for who comes from outside, if there
    would be but one."""
    count = max(workers, 2 if outside else 1)
    return ["taskset", "-c", ",".join(map(str, sitting.cpus[:count]))]


def amount(work, options):
    return work.quick_n if options.quick else work.n


def measure_peer(sitting, work, workers, system):
    n = amount(work, sitting.options)
    fewer = {s.name: s.fewer for s in SYSTEMS}[system].get(work.name, n)
    argv = [*pinned(workers, work.outside, sitting), *sitting.program[system],
            work.name, str(workers), str(min(n, fewer))]
    status, out, err = run.execute(argv, sitting.options.limit)
    return run.read_pairs(status, out, err, [m.name for m in work.metrics],
                          sitting.options.limit)


def our_options(workers, cpus):
    """All but the workload. One round to warm up, one that counts: each takes
    longer than a millisecond. The peers record nothing, either. The thread that
    submits a round's first processes is always one from outside."""
    words = ["--workers", str(workers), "--cpus", ",".join(map(str, cpus[:workers]))]
    if workers == 1:
        words += ["--generator-cpus", str(cpus[1])]
    return words + ["--record", "off", "--duration", "1ms", "--repetitions", "1",
                    "--no-plots", "--quiet", "--export-csv", "-"]


def measure_ours(sitting, work, workers):
    words = work.ours(amount(work, sitting.options)).split()
    if "--warmup" not in words:
        words += ["--warmup", "1ms"]
    with tempfile.TemporaryDirectory() as folder:
        argv = [*pinned(workers, True, sitting), *sitting.program[OURS], "run", "-w", *words,
                *our_options(workers, sitting.cpus),
                "--output", os.path.join(folder, "result")]
        status, out, err = run.execute(argv, sitting.options.limit)
    return run.read_csv(status, out, err, {m.name: m.column for m in work.metrics},
                        sitting.options.limit)


def measure_floor(sitting):
    wakes = FLOOR_WAKES // 10 if sitting.options.quick else FLOOR_WAKES
    argv = [*sitting.program["floor"], str(sitting.cpus[0]), str(sitting.cpus[1]), str(wakes)]
    status, out, err = run.execute(argv, sitting.options.limit)
    said = run.read_pairs(status, out, err, ratios.FLOOR, sitting.options.limit)
    if said.outcome != run.OK:
        raise Trouble(EXIT_ENVIRONMENT, f"floor: {said.why}")
    return said.values


def take_part(sitting, work, workers):
    names = sitting.names if work.peers else [OURS]
    return [name for name in names
            if (name, work.name, workers) not in sitting.absent]


def make_round(sitting, work, workers, number, before):
    """before: a reading of the floor from just now."""
    round_ = ratios.Round(work, workers, number)
    round_.before = before
    round_.order = take_part(sitting, work, workers)
    sitting.random.shuffle(round_.order)
    for system in round_.order:
        said = measure_ours(sitting, work, workers) if system == OURS \
            else measure_peer(sitting, work, workers, system)
        round_.values[system] = said.values
        round_.outcome[system] = (said.outcome, said.why)
        if said.outcome in (run.CANNOT, run.LATE):
            sitting.absent.add((system, work.name, workers))
    round_.after = measure_floor(sitting)
    return round_


def tell_round(sitting, round_):
    words = []
    for name in sitting.names:
        outcome = round_.outcome.get(name)
        if outcome and outcome[0] != run.OK:
            words.append(f"{name} {outcome[0]}")
        elif outcome:
            words.append(f"{name} " + "/".join(output.figure(v)
                                               for v in round_.values[name].values()))
    floors = " ".join(f"{name} {output.figure(round_.before[name])}, "
                      f"{output.figure(round_.after[name])}" for name in ratios.JUDGED)
    sitting.tell(f"{output.describe(round_)}: {'  '.join(words)}  ({floors})")
    for name, (outcome, why) in round_.outcome.items():
        if outcome not in (run.OK, run.CANNOT):
            sitting.tell(f"  {name}: {outcome}: {why}")


def judge(sitting):
    """Says which rounds are discarded now, and which are no longer."""
    before = {id(r): r.discarded for r in sitting.rounds}
    ratios.judge(sitting.rounds)
    for r in sitting.rounds:
        if bool(r.discarded) != bool(before[id(r)]):
            sitting.tell(f"  {'discarded' if r.discarded else 'counts after all'}: "
                         f"{output.describe(r)}" + (f": {r.discarded}" if r.discarded else ""))


# ---- all of them ----

def make_folder(path):
    """Before anything is measured."""
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise Trouble(EXIT_ENVIRONMENT, f"--out: {path}: {error.strerror}") from error
    if not os.access(path, os.W_OK):
        raise Trouble(EXIT_ENVIRONMENT, f"--out: {path}: cannot be written to")


def missing_rounds(sitting, work, workers):
    """How many that count, and how many attempts are left."""
    mine = [r for r in sitting.rounds if r.work == work and r.workers == workers]
    kept = sum(not r.discarded for r in mine)
    return (sitting.options.rounds - kept,
            ATTEMPTS * sitting.options.rounds - len(mine))


def plan(sitting):
    """(work, workers) of which a round is to be made in this turn."""
    every = [(work, w) for work in sitting.works for w in sitting.options.workers
             if not work.workers or w in work.workers]
    return [pair for pair in every
            if min(missing_rounds(sitting, *pair)) > 0]


def make_rounds(sitting):
    turn = 0
    while plan(sitting):
        turn += 1
        pairs = plan(sitting)
        sitting.tell(f"turn {turn}: {len(pairs)} rounds")
        floor = measure_floor(sitting)
        for work, workers in pairs:
            round_ = make_round(sitting, work, workers, turn, floor)
            floor = round_.after
            sitting.rounds.append(round_)
            tell_round(sitting, round_)
            judge(sitting)


def note_short(sitting):
    """Kinds of work with fewer rounds than were asked for."""
    for work in sitting.works:
        for workers in sitting.options.workers:
            if work.workers and workers not in work.workers:
                continue
            missing, _ = missing_rounds(sitting, work, workers)
            if missing > 0:
                wanted = sitting.options.rounds
                sitting.short.append((f"{work.name}, {workers} worker(s)",
                                      f"{wanted - missing} of {wanted} count"))


def write_result(sitting):
    folder = sitting.options.out
    of = (sitting.works, sitting.options.workers, sitting.rounds)
    rows, tasks_rows = ratios.make_rows(*of), ratios.make_tasks_rows(*of)
    output.write_csv(os.path.join(folder, "peers.csv"), sitting.rounds)
    print(output.write_tables(folder, sitting, rows, tasks_rows))
    no_plot = output.write_plot(folder, rows)
    print(f"result: {folder} (peers.csv, table.txt, table.md"
          + (f"; no ratios.png: {no_plot})" if no_plot else ", ratios.png)"))


def is_complete(sitting):
    """Enough rounds, no wrong answer, and ours has all of its numbers. A peer that
    fails costs its own value, which the tables say."""
    return not sitting.short and all(
        outcome == run.OK or (name != OURS and outcome != run.WRONG)
        for r in sitting.rounds for name, (outcome, _) in r.outcome.items())


def main(argv):
    options = read_options(argv)
    options.rounds = options.rounds or (2 if options.quick else 5)
    sitting = Sitting(options)
    if not plan(sitting):
        raise Trouble(EXIT_USAGE, "none of these kinds of work is done by so many workers")
    make_folder(options.out)
    if options.programs:
        find_given(sitting, os.path.abspath(options.programs))
    else:
        build_all(sitting)
    for name, why in sitting.left_out.items():
        sitting.tell(f"left out: {name}: {why}")
    sitting.tell(f"seed {sitting.seed}, CPUs {','.join(map(str, sitting.cpus))}; "
                 + ", ".join(sitting.names))
    try:
        make_rounds(sitting)
    except KeyboardInterrupt:
        sitting.tell("interrupted; what is complete is written")
    finally:
        note_short(sitting)
        write_result(sitting)
    return 0 if is_complete(sitting) else EXIT_INCOMPLETE


def interrupt(*_):
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, interrupt)
    signal.signal(signal.SIGHUP, interrupt)
    try:
        sys.exit(main(sys.argv[1:]))
    except Trouble as trouble:
        print(f"peers.py: {trouble}", file=sys.stderr)
        sys.exit(trouble.status)
