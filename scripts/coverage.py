#!/usr/bin/env python3
"""Merges what gcov says about all objects of a build, and prints which share of
the lines of one folder was run, the lines that were not, and the total.
usage: coverage.py BUILD_DIRECTORY FOLDER/ PERCENT
Exit status 1: less than PERCENT."""
import collections
import json
import os
import subprocess
import sys

build, folder, least = sys.argv[1], sys.argv[2], float(sys.argv[3])


def objects():
    for directory, _, files in os.walk(build):
        for name in sorted(files):
            if name.endswith(".gcda"):
                yield os.path.join(directory, name)


def read_all():
    """file -> line -> how often it was run, in any build and any object. A line
    counts if one object has code for it."""
    lines = collections.defaultdict(collections.Counter)
    for path in objects():
        text = subprocess.run(["gcov", "--json-format", "--stdout", path],
                              stdout=subprocess.PIPE, check=True).stdout
        for document in text.splitlines():
            for file in json.loads(document)["files"]:
                name = os.path.normpath(file["file"])
                if not name.startswith(folder):
                    continue
                for line in file["lines"]:
                    lines[name][line["line_number"]] += line["count"]
    return lines


def percent(run, total):
    return 100 * run / total if total else 100.0


def main():
    lines = read_all()
    total = run = 0
    missed = []
    for name in sorted(lines):
        counts = lines[name]
        ran = sum(1 for n in counts.values() if n)
        print(f"{name:<28} {ran:5} of {len(counts):5} lines"
              f"  {percent(ran, len(counts)):6.1f} %")
        missed += [f"{name}:{n}" for n in sorted(counts) if not counts[n]]
        total += len(counts)
        run += ran
    if missed:
        print("not run:")
    for place in missed:
        name, number = place.rsplit(":", 1)
        with open(name, encoding="utf-8") as file:
            text = file.read().splitlines()[int(number) - 1].strip()
        print(f"  {place:<28} {text}")
    print(f"{folder}: {percent(run, total):.1f} % of {total} lines")
    return 0 if total and percent(run, total) >= least else 1


sys.exit(main())
