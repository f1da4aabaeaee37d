"""Which rounds count, and what they say: medians, ratios, goals. No input, no
output; see tests/scripts/test_peers.sh."""
from collections import namedtuple
from statistics import median

from tables import ACTORS, BEST, BYTES, OURS, SYSTEMS

# What is measured before and after each round, with its unit. A round is
# discarded by those of JUDGED: a 99th percentile is too noisy for that.
FLOOR = ("line_hop", "futex_hop_p50", "futex_hop_p99")
JUDGED = ("line_hop", "futex_hop_p50")
FACTOR = 1.5


class Round:
    """One of one kind of work with so many workers: all systems, once each."""

    def __init__(self, work, workers, number):
        self.work, self.workers, self.number = work, workers, number
        self.before, self.after = {}, {}  # floor: name -> ns
        self.order = []  # of systems
        self.values = {}  # system -> metric -> number
        self.outcome = {}  # system -> (what, why), see run.py
        self.discarded = None  # why

    def floor(self, name):
        return (self.before[name] + self.after[name]) / 2


def why_discarded(round_, medians):
    """None, or in what the machine was another one during this round."""
    for name in JUDGED:
        low, high = sorted((round_.before[name], round_.after[name]))
        if high > FACTOR * low:
            return (f"{name} {round_.before[name]:.4g} ns before,"
                    f" {round_.after[name]:.4g} ns after")
        if high > FACTOR * medians[name] or low < medians[name] / FACTOR:
            return (f"{name} {low:.4g} .. {high:.4g} ns,"
                    f" {medians[name]:.4g} ns in the median of this run")
    return None


def floor_readings(rounds, name):
    """Of the whole run. What is after one round may be before the next: once."""
    readings = {id(reading): reading[name]
                for r in rounds for reading in (r.before, r.after)}
    return list(readings.values())


def judge(rounds):
    """Says of each round whether it is discarded. What came later may change
    that: the median is the run's."""
    medians = {name: median(floor_readings(rounds, name)) for name in JUDGED} \
        if rounds else {}
    for round_ in rounds:
        round_.discarded = why_discarded(round_, medians)


Spread = namedtuple("Spread", "median least largest n")


def spread(values):
    values = list(values)
    return Spread(median(values), min(values), max(values), len(values)) \
        if values else None


class Row:
    """What the rounds that count say about one number of one kind of work."""

    def __init__(self, work, workers, metric, rounds):
        self.work, self.workers, self.metric = work, workers, metric
        self.rounds = [r for r in rounds
                       if r.work == work and r.workers == workers]
        self.kept = [r for r in self.rounds if not r.discarded]
        self.systems = {}
        for name in [OURS] + [system.name for system in SYSTEMS]:
            self.systems[name] = spread(self.of(name).values())
        self.best = self.find_best()
        self.ratio = spread(self.ratios())

    def of(self, system):
        """Round -> its number."""
        return {r.number: r.values[system][self.metric.name]
                for r in self.kept if self.metric.name in r.values.get(system, {})}

    def find_best(self):
        """The peer with the least median, of those with a number in at least
        half of the rounds."""
        found = {s.name: self.systems[s.name].median for s in SYSTEMS
                 if s.kind == ACTORS and self.systems[s.name]
                 and 2 * self.systems[s.name].n >= len(self.kept)}
        return min(found, key=found.get) if found else None

    def against(self):
        """What ours is divided by: a peer, a reading of the floor, or None."""
        goal = self.metric.goal
        if goal and (goal.against in FLOOR or goal.against in self.systems):
            return goal.against
        return self.best

    def ratios(self):
        against, ours = self.against(), self.of(OURS)
        if against in FLOOR:
            theirs = {r.number: r.floor(against) for r in self.kept}
        else:
            theirs = self.of(against) if against else {}
        return [ours[r] / theirs[r] for r in ours if theirs.get(r)]

    def met(self):
        """None without a goal or a number; or whether the median meets it, in
        how many rounds it is met, and of how many."""
        goal = self.metric.goal
        if not goal:
            return None
        values = list(self.of(OURS).values()) if goal.against == BYTES \
            else self.ratios()
        if not values:
            return None
        return (median(values) <= goal.most,
                sum(value <= goal.most for value in values), len(values))

    def goal_as_ratio(self):
        """For the picture; None where there is none."""
        goal = self.metric.goal
        if not goal:
            return None
        if goal.against != BYTES:
            return goal.most
        theirs = self.systems.get(self.best)
        return goal.most / theirs.median if theirs else None


def make_rows(works, workers, rounds):
    """In the order of the tables; one for each number of a kind of work."""
    return [Row(work, w, metric, rounds)
            for work in works for w in workers
            if not work.workers or w in work.workers
            for metric in work.metrics]


def make_tasks_rows(works, workers, rounds):
    """What one worker takes, to what a library of tasks takes."""
    return [Row(work, 1, metric._replace(goal=work.tasks_goal), rounds)
            for work in works if work.tasks_goal and 1 in workers
            for metric in work.metrics]


def count_far_below(rows, most):
    """(how many, of how many): rows that are compared with the best peer, whose
    ratio is at most that."""
    ratios = [row.ratio.median for row in rows
              if row.ratio and row.metric.goal and row.metric.goal.against == BEST]
    return sum(ratio <= most for ratio in ratios), len(ratios)
