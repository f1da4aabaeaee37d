#!/usr/bin/env python3
"""The judge must accept a good log, and see each thing that can be wrong with one.
Prints TAP."""
import sys

sys.dont_write_bytecode = True
from judge import Judge  # noqa: E402

# hwloc numbers the third node, which has no CPUs, before the second.
EXPORT = """\
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0"><object type="Machine">
<object type="Package"><object type="NUMANode" os_index="0"/>
<object type="NUMANode" os_index="2"/></object>
<object type="Package"><object type="NUMANode" os_index="1"/></object></object>
<distances2 type="NUMANode" name="NUMALatency" indexing="os">
<indexes length="6">0 1 2 </indexes>
<u64values length="27">10 21 31 21 10 40 31 40 10 </u64values>
</distances2></topology>"""

PLAN = """\
worker,cpu,pu,node,topology
0,0,0,0,native
1,1,1,0,native
2,2,2,2,native
3,3,3,2,native"""

WORKERS = """\
workload,label,repetition,worker,os_cpu,node,spawns
skynet,leaves=1000,0,0,0,0,30060
skynet,leaves=1000,0,1,1,0,22710
skynet,leaves=1000,0,2,2,2,18830
skynet,leaves=1000,0,3,3,2,10540"""

BOUND = """\
workload,label,worker,node,binding,memory,own_pages,other_pages,topology
skynet,leaves=1000,0,0,local,deques,4,0,native
skynet,leaves=1000,0,0,local,worker,12,0,native
skynet,leaves=1000,0,0,local,processes,96,0,native
skynet,leaves=1000,0,0,local,arena,180,0,native
skynet,leaves=1000,1,0,local,deques,4,0,native
skynet,leaves=1000,1,0,local,worker,12,0,native
skynet,leaves=1000,1,0,local,processes,48,0,native
skynet,leaves=1000,1,0,local,arena,90,0,native
skynet,leaves=1000,2,2,local,deques,4,0,native
skynet,leaves=1000,2,2,local,worker,12,0,native
skynet,leaves=1000,2,2,local,processes,32,0,native
skynet,leaves=1000,2,2,local,arena,60,0,native
skynet,leaves=1000,3,2,local,deques,4,0,native
skynet,leaves=1000,3,2,local,worker,12,0,native
skynet,leaves=1000,3,2,local,processes,16,0,native
skynet,leaves=1000,3,2,local,arena,60,0,native"""

ELSEWHERE = "\n".join(
    ",".join(c[:6] + [c[7], c[6], c[8]]) if c[0] == "skynet" else ",".join(c)
    for c in (line.split(",") for line in BOUND.split("\n")))

INTERLEAVED = (BOUND.replace("arena,180,0", "arena,58,122")
               .replace("arena,90,0", "arena,30,60")
               .replace("arena,60,0", "arena,21,39"))

MEMORY = {"local": BOUND, "per-numa": BOUND, "misled-local": BOUND,
          "misled-none": ELSEWHERE, "interleave": INTERLEAVED,
          "huge-missing": BOUND, "huge-uneven": BOUND, "huge": BOUND}


def say(name, what, text):
    return "".join(f"{name}|{what}|{line}\r\n" for line in text.split("\n"))


def good():
    """A log of which nothing can be said against, in parts."""
    log = {"export": say("export", "out", EXPORT) + say("export", "status", "0"),
           "plan": say("plan", "out", PLAN) + say("plan", "status", "0")}
    for name, memory in MEMORY.items():
        log[name] = (say(name, "workers", WORKERS) + say(name, "memory", memory) +
                     say(name, "status", "0"))
    for name in ("huge-missing", "huge-uneven"):
        log[name] += say(name, "err", "sched-bench: no free huge pages")
    log["huge"] += say("huge", "reserved0", "24") + say("huge", "reserved1", "24")
    log["huge"] += say("huge", "least", "20 21")
    log["guest"] = "guest|end|\r\n[    9.7] reboot: Power down"
    return log


# What is wrong, where, and what makes it so. Each must be seen at that place and
# nowhere else.
PROVED = ("local", "per-numa", "misled-local", "huge", "huge-missing",
          "huge-uneven")
DEFECTS = [
    (f"{name}: {what}", name, old, new)
    for name in PROVED for what, old, new in (
        ("a page elsewhere", "0,0,local,deques,4,0", "0,0,local,deques,3,1"),
        ("a page of the last worker elsewhere", "3,2,local,arena,60,0", "3,2,local,arena,59,1"),
        ("all pages elsewhere", "2,2,local,processes,32,0", "2,2,local,processes,0,32"),
        ("no pages", "1,0,local,worker,12,0", "1,0,local,worker,0,0"),
        ("pages not known", "1,0,local,worker,12,0", "1,0,local,worker,,"),
        ("own pages not known", "1,0,local,worker,12,0", "1,0,local,worker,,0"),
        ("a row missing", f"{name}|memory|skynet,leaves=1000,2,2,local,deques,4,0,native\r\n", ""),
        ("the last worker missing", "leaves=1000,3,2,", "leaves=1000,4,2,"),
        ("another node than the worker's", "2,2,local,deques", "2,1,local,deques"),
        ("the workers' nodes by the kernel's numbers", ",2,", ",1,"),
        ("emulated", "native", "emulated"),
        ("a worker on the node without CPUs", "0,2,2,2,18830", "0,2,2,1,18830"),
        ("two workers on a CPU", "0,3,3,2,10540", "0,3,2,2,10540"),
        ("a worker that is not pinned", "0,3,3,2,10540", "0,3,,2,10540"),
        ("three workers", f"{name}|workers|skynet,leaves=1000,0,3,3,2,10540\r\n", ""),
        ("no memory.csv", "|memory|", "|nothing|"),
        ("another header", "own_pages", "pages"),
        ("a status", "status|0", "status|2"),
        ("no status", f"{name}|status|0\r\n", ""),
    )
] + [
    ("not bound: all on the workers' nodes", "misled-none", ELSEWHERE, BOUND),
    ("not bound: one of them all on its node", "misled-none",
     "1,0,local,worker,0,12", "1,0,local,worker,12,0"),
    ("not bound: nothing at all", "misled-none", "deques,0,4", "deques,0,0"),
    ("not bound: not known", "misled-none", "deques,0,4", "deques,,"),
    ("not bound: no memory.csv", "misled-none", "|memory|", "|nothing|"),
    ("not bound: a status", "misled-none", "status|0", "status|4"),
    ("interleaved: all on the workers' nodes", "interleave", INTERLEAVED, BOUND),
    ("interleaved: all elsewhere", "interleave", INTERLEAVED, ELSEWHERE),
    ("interleaved: on two nodes", "interleave", "arena,58,122", "arena,90,90"),
    ("interleaved: on one other", "interleave", "arena,58,122", "arena,1,179"),
    ("interleaved: too little to say", "interleave", "arena,21,39", "arena,2,4"),
    ("huge: no page taken", "huge", "20 21", "24 21"),
    ("huge: no page of the second node taken", "huge", "20 21", "20 24"),
    ("huge: none could be reserved", "huge", "reserved1|24", "reserved1|0"),
    ("huge: nobody watched", "huge", "huge|least|20 21\r\n", ""),
    ("huge: a warning", "huge", "huge|status|0",
     "huge|err|sched-bench: no free huge pages\r\nhuge|status|0"),
    ("huge-missing: no warning", "huge-missing", "no free huge pages", "all is well"),
    ("huge-uneven: no warning", "huge-uneven", "no free huge pages", "all is well"),
    ("plan: not balanced", "plan", "2,2,2,2,native", "2,1,1,0,native"),
    ("plan: a worker on the node without CPUs", "plan", "1,1,1,0,", "1,1,1,1,"),
    ("plan: a worker too few", "plan", "plan|out|3,3,3,2,native\r\n", ""),
    ("plan: a status", "plan", "status|0", "status|3"),
    ("export: a distance", "export", "10 21 31", "10 20 31"),
    ("export: a node missing", "export", '<object type="NUMANode" os_index="2"/>', ""),
    ("export: no distances", "export", "NUMALatency", "Other"),
    ("export: cut off", "export", "export|out|</distances2></topology>\r\n", ""),
    ("guest: ended early", "guest", "guest|end|\r\n", ""),
]
# What the checks are about, in their order.
PLACES = ["export", "plan", "local", "misled-local", "per-numa", "misled-none",
          "interleave", "huge", "huge", "huge-missing", "huge-missing",
          "huge-uneven", "huge-uneven", "guest"]


def failing(log):
    """The places of the checks that found something."""
    results = Judge("".join(log.values()).splitlines(keepends=True)).run()
    assert len(results) == len(PLACES)
    return {place for place, (_, wrong) in zip(PLACES, results) if wrong}


def lines_of(name, text):
    """A whole file in the log, or a piece of one."""
    return say(name, "memory", text) if "\n" in text and "|" not in text else text


def seen(defect):
    """None, or what the judge made of it."""
    _, place, old, new = defect
    log = good()
    broken = log[place].replace(lines_of(place, old), lines_of(place, new))
    if broken == log[place]:
        return "the defect could not be made"
    log[place] = broken
    found = failing(log)
    # Without the nodes' numbers no worker's can be right.
    right = place in found if place == "export" else found == {place}
    return None if right else f"found {sorted(found)}"


def main():
    wrong = failing(good())
    tests = [("the judge accepts a good log", wrong and f"found {sorted(wrong)}")]
    tests += [("it sees " + defect[0], seen(defect)) for defect in DEFECTS]
    for n, (name, complaint) in enumerate(tests, 1):
        print(f"not ok {n} - {name}\n# {complaint}" if complaint else f"ok {n} - {name}")
    return 1 if any(complaint for _, complaint in tests) else 0


if __name__ == "__main__":
    sys.exit(main())
