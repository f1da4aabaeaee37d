#!/usr/bin/env python3
"""Is a trace.json what its readers demand, and does it agree with itself?

Nothing is taken from the program that wrote it but what the file says: the rules
are those of the Trace Event Format, of Perfetto's importer and of speedscope's.

usage: check_trace.py [--steps N] [--steals] [--drops] TRACE.JSON
  --steps N  the first series has so many steps, and nothing is dropped
  --steals   somebody has stolen, and the arrows of that are there
  --drops    some events have been dropped, and are counted
"""
import argparse
import collections
import json
import sys
from fractions import Fraction

# The phases that are used, and what each must have beside the common keys.
PHASES = {
    "M": {"args"}, "B": {"cat"}, "E": {"cat"}, "X": {"dur", "cat"}, "i": {"s"},
    "s": {"cat", "id"}, "f": {"cat", "id", "bp"},
}
WANTS = {"ready", "yield", "idle", "done", "error"}
ACTIVITIES = {"busy", "search", "parked"}
problems = []


def wrong(text, event=None):
    problems.append(text + (f": {event}" if event else ""))


def no_repeated_keys(pairs):
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        wrong(f"a key twice: {keys}")
    return dict(pairs)


def nanoseconds(us):
    """Times are exact to the nanosecond, so sums of them are compared exactly."""
    ns = Fraction(us) * 1000
    if ns.denominator != 1 or ns < 0:
        wrong(f"not a whole number of nanoseconds: {us}")
    return int(ns)


def check_form(events):
    for event in events:
        phase = event.get("ph")
        if phase not in PHASES:
            wrong("unknown phase", event)
            continue
        for key in {"pid", "tid", "ts", "name"} | PHASES[phase]:
            if key not in event:
                wrong(f"{key} is missing", event)
        if event["pid"] == 0 or event["tid"] == 0:
            wrong("pid or tid 0 is the idle process", event)
        if phase == "i" and event["s"] != "t":
            wrong("a moment of another scope than its thread", event)
        if phase == "f" and event["bp"] != "e":
            wrong("an arrow's end does not bind to the enclosing slice", event)
        event["ns"] = nanoseconds(event["ts"])
        if phase == "X":
            event["end"] = event["ns"] + nanoseconds(event["dur"])


def check_threads(events, tids):
    """Named once, known in the summary, and in one process each."""
    names = collections.Counter()
    process_of = {}
    for event in events:
        if event["name"] == "thread_name":
            names[event["tid"]] += 1
        if process_of.setdefault(event["tid"], event["pid"]) != event["pid"]:
            wrong("a tid in two processes", event)
    if set(names) != tids or set(process_of) != tids or max(names.values()) > 1:
        wrong(f"threads {sorted(process_of)}, named {dict(names)}, "
              f"summary {sorted(tids)}")


def check_order(events):
    last = collections.defaultdict(int)
    for event in events:
        if event["ns"] < last[event["tid"]]:
            wrong("time goes back on its thread", event)
        last[event["tid"]] = event["ns"]


def check_slices(events, summary):
    """Activities follow each other without gap, steps lie in busy ones, apart.

    In doubles, too: that is how speedscope adds ts and dur."""
    inside, ended, step = {}, {}, {}
    steps = collections.Counter()
    for event in events:
        tid = event["tid"]
        phase = event["ph"]
        if phase == "M":
            continue
        if phase == "E":
            if tid not in inside or inside[tid]["name"] != event["name"]:
                wrong(f"ends not what is begun: {inside.get(tid)}", event)
            if tid in step and step[tid]["end"] >= event["ns"]:
                wrong(f"ends before the step in it: {step[tid]}", event)
            inside.pop(tid, None)
            ended[tid] = event
        elif phase == "B":
            if event["name"] not in ACTIVITIES or tid in inside:
                wrong(f"an activity in {inside.get(tid)}", event)
            if tid in ended and ended[tid]["ns"] != event["ns"]:
                wrong(f"a gap after {ended[tid]}", event)
            inside[tid] = event
        elif tid not in inside:
            wrong("outside of all slices", event)
        elif phase == "X":
            end = float(event["ts"]) + float(event["dur"])
            if inside[tid]["name"] != "busy":
                wrong(f"a step in {inside[tid]}", event)
            if tid in step and step[tid]["end_us"] >= float(event["ts"]):
                wrong(f"overlaps with {step[tid]}", event)
            if event["args"]["wants"] not in WANTS or not event["args"]["pid"]:
                wrong("not a step's outcome", event)
            step[tid] = {**event, "end_us": end}
            steps[tid] += 1
    if inside:
        wrong(f"never ended: {inside}")
    for worker in summary:
        seen, counted = steps[worker["tid"]], worker["steps"]
        if seen != counted if not worker["dropped_events"] else seen > counted:
            wrong(f"{seen} steps in slices, {counted} counted: {worker}")
    return steps


def check_processes(events):
    """A process takes one step at a time, whoever takes it; and ends once."""
    steps = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X" and event["cat"] == "step":
            steps[event["pid"], event["args"]["pid"]].append(event)
    for slices in steps.values():
        slices.sort(key=lambda event: event["ns"])
        for a, b in zip(slices, slices[1:]):
            # The clocks of two cores may differ by a little.
            if a["end"] > b["ns"] + 1000:
                wrong(f"two steps of one process at once: {a}", b)
            if a["args"]["wants"] == "done":
                wrong("a step after the last", b)


def check_arrows(events):
    begun, ended = {}, {}
    for event in events:
        if event["ph"] not in "sf":
            continue
        side = begun if event["ph"] == "s" else ended
        key = event["cat"], event["id"]
        if key in side:
            wrong("an arrow twice", event)
        side[key] = event
    if begun.keys() != ended.keys():
        wrong(f"arrows with one end: {sorted(begun.keys() ^ ended.keys())[:9]}")
    for key in begun.keys() & ended.keys():
        a, b = begun[key], ended[key]
        if a["ns"] > b["ns"]:
            wrong(f"an arrow into the past: {a}", b)
        # What is sent may go on where it was, behind the step that sent it.
        is_same = a["tid"] == b["tid"] and a["cat"] != "slow"
        if is_same or a["pid"] != b["pid"]:
            wrong(f"an arrow that should not be: {a}", b)
    return collections.Counter(category for category, _ in begun)


def check_steals(events, summary):
    """Those in the trace against the matrix that the workers have counted."""
    stolen = collections.Counter()
    for event in events:
        if event["name"] == "steal" and event["ph"] == "i" and \
                event["args"]["queue"] == "deque":
            stolen[event["tid"], event["args"]["victim"]] += event["args"]["items"]
    for worker in summary:
        for victim, items in enumerate(worker["stolen_items"]):
            seen = stolen[worker["tid"], victim]
            if seen != items if not worker["dropped_events"] else seen > items:
                wrong(f"{seen} items in steals from {victim}, {items} counted: "
                      f"{worker}")
    return sum(stolen.values())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int)
    parser.add_argument("--steals", action="store_true")
    parser.add_argument("--drops", action="store_true")
    parser.add_argument("trace")
    args = parser.parse_args()
    with open(args.trace, encoding="utf-8") as file:
        trace = json.load(file, parse_float=Fraction,
                          object_pairs_hook=no_repeated_keys)
    events = trace["traceEvents"]
    workers = [worker for series in trace["sched_bench"]["series"]
               for worker in series["workers"]]
    check_form(events)
    check_threads(events, {worker["tid"] for worker in workers})
    check_order(events)
    steps = check_slices(events, workers)
    check_processes(events)
    arrows = check_arrows(events)
    items = check_steals(events, workers)
    dropped = sum(worker["dropped_events"] for worker in workers)

    first = trace["sched_bench"]["series"][0]["pid"]
    of_first = sum(n for tid, n in steps.items() if tid // 10000 == first)
    if args.steps is not None and (of_first != args.steps or dropped):
        wrong(f"{of_first} steps, {dropped} events dropped; expected {args.steps}")
    if args.steals and (not items or not arrows["steal"]):
        wrong(f"{items} items stolen, {arrows['steal']} arrows of steals")
    if args.drops != bool(dropped):
        wrong(f"{dropped} events dropped")
    print(f"{len(events)} events, {sum(steps.values())} steps, {items} items "
          f"stolen, {dict(arrows)} arrows, {dropped} dropped")
    for problem in problems[:10]:
        print(problem)
    sys.exit(bool(problems))


main()
