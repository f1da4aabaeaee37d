#!/usr/bin/env python3
"""Compares what two builds of sched-bench write for the same command line and seed:
which files, the columns of each CSV file, the keys of each JSON file, and all values
that do not depend on time. Prints each difference.

usage: same-results.py OLD/sched-bench NEW/sched-bench
Exit status: 0 no difference; 1 differences; 2 one of them fails."""
import csv
import json
import os
import subprocess
import sys
import tempfile

RUN = ["run", "-w", "pingpong,yield,skynet,service", "--round-trips", "2000",
       "--yields", "2000", "--leaves", "1000", "--workers", "1", "--seed", "7",
       "-r", "2", "-d", "1ms", "--warmup", "0s", "--trace"]
# Of these every value must be the same; of all else names alone.
EXACT = {"workload", "workers", "repetition", "settings", "name", "text", "label",
         "family_index", "repetitions", "repetition_index", "time_unit", "topology",
         "emulated", "series", "row", "schema", "histogram_layout"}
# They name the build and the moment.
MOVES = {"output", "export-json", "export-csv"}


def measure(program, directory):
    made = subprocess.run([program, *RUN, "-o", directory,
                           "--export-json", directory + ".json"],
                          stdout=subprocess.DEVNULL, check=False)
    if made.returncode not in (0, 2):
        sys.exit(2)


def shape(value, path, out):
    """Every path of the document, with the value where it must be the same. Which
    histograms and percentiles there are depends on how much was timed."""
    if ".histograms." in path or "_ns_p" in path:
        return
    if isinstance(value, dict):
        for key, part in value.items():
            shape(part, path + "." + key, out)
    elif isinstance(value, list):
        # Lists of numbers, as histograms, are as long as they are.
        for part in value if any(isinstance(v, dict) for v in value) else []:
            shape(part, path + "[]", out)
        out.add(path + "[]")
    else:
        last = path.rsplit(".", 1)[-1]
        exact = last in EXACT or (".options." in path and last not in MOVES)
        out.add(f"{path} = {value}" if exact else path)


def facts(directory):
    """File -> what is in it that does not depend on time."""
    found = {}
    for folder, _, names in os.walk(directory):
        for name in sorted(names):
            path = os.path.join(folder, name)
            key = os.path.relpath(path, directory)
            found[key] = set()
            if name.endswith(".csv"):
                with open(path, newline="", encoding="utf-8") as file:
                    found[key] = {"column " + c for c in next(csv.reader(file))}
            elif name.endswith(".json") and name != "trace.json":
                with open(path, encoding="utf-8") as file:
                    shape(json.load(file), "", found[key])
    return found


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as work:
        sides = []
        for program, name in zip(sys.argv[1:], ("old", "new")):
            measure(program, os.path.join(work, name))
            os.rename(os.path.join(work, name + ".json"),
                      os.path.join(work, name, "export.json"))
            sides.append(facts(os.path.join(work, name)))
    old, new = sides
    differences = 0
    for file in sorted(set(old) | set(new)):
        if file not in old or file not in new:
            print(f"{file}: only {'old' if file in old else 'new'}")
            differences += 1
            continue
        for mark, some in (("-", old[file] - new[file]), ("+", new[file] - old[file])):
            for what in sorted(some):
                print(f"{file}: {mark} {what}")
                differences += 1
    print(f"{len(new)} files, {sum(map(len, new.values()))} names and values,"
          f" {differences} differences")
    sys.exit(differences > 0)


main()
