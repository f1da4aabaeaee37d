#!/usr/bin/env python3
"""Judges what the guest of tests/numa/guest.sh printed on its console. Prints TAP.

usage: judge.py LOG

A run proves where its memory lies with memory.csv, in which sched-bench wrote
down what the kernel answered. The proof holds if all of it that the workers have
is on their own nodes. One run must not prove it: nothing binds its memory there,
and what its process has inherited leads elsewhere.
"""
import csv
import sys
import xml.etree.ElementTree as xml

# The machine of check.sh, by the kernel's numbers. Each CPU's node; the node
# that has none is the third.
HOME = {0: 0, 1: 0, 2: 1, 3: 1}
DISTANCES = [10, 21, 31, 21, 10, 40, 31, 40, 10]
KINDS = ("deques", "worker", "processes", "arena")
# Fewer pages may happen to avoid a node.
INTERLEAVED_PAGES = 24


class Scenario:
    """What one scenario printed: lines by what they are."""

    def __init__(self):
        self.lines = {}

    def add(self, what, text):
        self.lines.setdefault(what, []).append(text)

    def text(self, what):
        return self.lines.get(what, [])

    def table(self, what):
        return list(csv.DictReader(self.text(what)))

    def failure(self):
        if self.text("status") == ["0"]:
            return []
        if not self.text("status"):
            return ["the guest did not get through this"]
        return ["status " + " ".join(self.text("status"))] + self.text("err")


def read(log):
    """The scenarios of a log by name; lines that are none's are the kernel's."""
    guest = {}
    for line in log:
        part = line.rstrip("\r\n").split("|", 2)
        if len(part) == 3:
            guest.setdefault(part[0], Scenario()).add(part[1], part[2])
    return guest


def counted(cell):
    return int(cell) if cell and cell.isdigit() else None


class Judge:
    def __init__(self, log):
        self.guest = read(log)
        self.results = []
        self.logical = {}

    def scenario(self, name):
        return self.guest.get(name, Scenario())

    def check(self, name, look, *what):
        try:
            complaints = look(*what)
        except (KeyError, TypeError, ValueError, xml.ParseError) as error:
            complaints = [f"cannot be read: {error!r}"]
        self.results.append((name, complaints))

    def nodes(self):
        """hwloc numbers nodes in the order in which they are in the tree."""
        export = self.scenario("export")
        if export.failure():
            return export.failure()
        tree = xml.fromstring("\n".join(export.text("out")))
        nodes = [int(o.get("os_index")) for o in tree.iter("object")
                 if o.get("type") == "NUMANode"]
        self.logical = {os: logical for logical, os in enumerate(nodes)}
        if sorted(nodes) != [0, 1, 2]:
            return [f"expected nodes 0, 1 and 2, found {nodes}"]
        for matrix in tree.iter("distances2"):
            if matrix.get("name") == "NUMALatency":
                order = [int(n) for n in matrix.findtext("indexes").split()]
                found = [int(n) for n in matrix.findtext("u64values").split()]
                if (order, found) == ([0, 1, 2], DISTANCES):
                    return []
                return [f"distances of nodes {order}: {found}"]
        return ["no distances"]

    def home(self, cpu):
        """hwloc's number of the CPU's node."""
        return self.logical.get(HOME.get(cpu))

    def spread(self, rows, cpu_column):
        """Four workers on four CPUs, and their nodes are those CPUs'."""
        cpus = sorted(counted(row[cpu_column]) for row in rows)
        wrong = [] if cpus == sorted(HOME) else [f"workers on CPUs {cpus}"]
        for row in rows:
            home = self.home(counted(row[cpu_column]))
            if home is None or counted(row["node"]) != home:
                wrong.append(f"worker {row['worker']} on node {row['node']}, "
                             f"its CPU is on {home}")
        return wrong

    def plan(self):
        plan = self.scenario("plan")
        return plan.failure() or self.spread(plan.table("out"), "pu")

    def layout(self, run):
        """What memory.csv must be, whatever it says of pages."""
        workers, memory = run.table("workers"), run.table("memory")
        wrong = run.failure() or self.spread(workers, "os_cpu")
        node = {row["worker"]: row["node"] for row in workers}
        expected = sorted((w, kind) for w in node for kind in KINDS)
        found = sorted((row["worker"], row["memory"]) for row in memory)
        if found != expected:
            wrong.append(f"memory.csv: expected {expected}, found {found}")
        for row in memory:
            what = f"{row['memory']} of worker {row['worker']}"
            if row["topology"] != "native":
                wrong.append(f"{what}: topology {row['topology']}")
            if row["node"] != node.get(row["worker"]):
                wrong.append(f"{what}: node {row['node']}")
            if None in (counted(row["own_pages"]), counted(row["other_pages"])):
                wrong.append(f"{what}: pages are not known")
        return wrong

    def proof(self, name):
        """All that each worker has is on its own node, and there is some."""
        run = self.scenario(name)
        wrong = self.layout(run)
        for row in run.table("memory"):
            if row["own_pages"] == "0" or row["other_pages"] != "0":
                wrong.append(f"{row['memory']} of worker {row['worker']}: "
                             f"{row['own_pages']} pages on its node, "
                             f"{row['other_pages']} elsewhere")
        return wrong

    def no_proof(self, name):
        """The same look must find each kind of every worker's elsewhere."""
        run = self.scenario(name)
        wrong = self.layout(run)
        for row in run.table("memory"):
            if not counted(row["other_pages"]):
                wrong.append(f"{row['memory']} of worker {row['worker']} is on its "
                             "node, though nothing was bound to it")
        return wrong

    def interleaved(self, name):
        """A third on each node: of two nodes, a half would be the own one's."""
        run = self.scenario(name)
        wrong = self.layout(run)
        if wrong:
            return wrong
        for row in run.table("memory"):
            if row["memory"] != "arena":
                continue
            own, other = int(row["own_pages"]), int(row["other_pages"])
            if own + other < INTERLEAVED_PAGES:
                wrong.append(f"only {own + other} pages of worker {row['worker']}")
            elif not 0.25 < own / (own + other) < 0.42:
                wrong.append(f"worker {row['worker']}: {own} pages on its node, "
                             f"{other} elsewhere")
        return wrong

    def huge_pages_taken(self):
        pools = self.scenario("huge")
        before = pools.text("reserved0") + pools.text("reserved1")
        least = " ".join(pools.text("least")).split()
        if len(before) != 2 or len(least) != 2:
            return ["the guest did not get through this"]
        return self.warnings("huge") + [
            f"node {node}: {before[node]} reserved, never fewer free than "
            f"{least[node]}" for node in (0, 1)
            if not int(least[node]) < int(before[node])]

    def warnings(self, name):
        return [line for line in self.scenario(name).text("err")
                if "huge" in line.lower()]

    def warned(self, name):
        return [] if self.warnings(name) else ["no warning"]

    def ended(self):
        return [] if "guest" in self.guest else ["no last line"]

    def run(self):
        """Pairs of what was looked at and what is wrong with it."""
        self.check("three NUMA nodes with these distances", self.nodes)
        self.check("a plan puts two workers on each node with CPUs", self.plan)
        self.check("bound, all memory is on the workers' nodes",
                   self.proof, "local")
        self.check("so it is when the process inherits another node",
                   self.proof, "misled-local")
        self.check("and then with an arena for each node, too",
                   self.proof, "per-numa")
        self.check("not bound, it is not: the proof fails as it has to",
                   self.no_proof, "misled-none")
        self.check("interleaved, it is on all three nodes",
                   self.interleaved, "interleave")
        self.check("in huge pages it is on the workers' nodes",
                   self.proof, "huge")
        self.check("they are taken from both nodes, without a warning",
                   self.huge_pages_taken)
        self.check("when there are none, it is there, too",
                   self.proof, "huge-missing")
        self.check("and a warning says so",
                   self.warned, "huge-missing")
        self.check("so it is when only one node has huge pages",
                   self.proof, "huge-uneven")
        self.check("and a warning says so, too",
                   self.warned, "huge-uneven")
        self.check("the guest came to its end", self.ended)
        return self.results


def main(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        log = file.readlines()
    failed = False
    for n, (name, complaints) in enumerate(Judge(log).run(), 1):
        print("not ok" if complaints else "ok", n, "-", name)
        for complaint in complaints:
            print("#", complaint)
        failed = failed or bool(complaints)
    if failed:
        print(f"# {path}:")
        for line in log:
            if not line.startswith("export|"):
                print("#  ", line.rstrip()[:200])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
