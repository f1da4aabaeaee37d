#!/usr/bin/env python3
"""Compares two results of virtual time: all but the facts of the host is the same, to the byte.

usage: same-virtual.py A B     (result directories, or files result.json)

Prints the places that differ; exit status 0: none, 1: some, 3: an argument is wrong.
"""
import json
import os
import sys

# Of Google Benchmark's context everything; of ours the host, the build, the command line, and
# what is written where.
META = ("sched_bench", "meta")
OUTPUT = ("output", "output-root", "no-plots", "quiet", "format")
HOST = {("context",), META + ("machine",), META + ("run",), META + ("clock",)}
HOST |= {META + (group, option) for option in OUTPUT for group in ("options", "option_sources")}


def load(path):
    if os.path.isdir(path):
        path = os.path.join(path, "result.json")
    try:
        with open(path, encoding="utf-8") as stream:
            return json.load(stream)
    except (OSError, ValueError) as error:
        print(f"same-virtual.py: {path}: {error}", file=sys.stderr)
        sys.exit(3)


def differences(a, b, where=()):
    if where in HOST:
        return
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted(a.keys() | b.keys()):
            yield from differences(a.get(key), b.get(key), where + (key,))
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b)):
            yield from differences(x, y, where + (str(i),))
    elif json.dumps(a) != json.dumps(b):
        yield ".".join(where), a, b


def main():
    if len(sys.argv) != 3:
        print(__doc__.strip(), file=sys.stderr)
        return 3
    found = list(differences(load(sys.argv[1]), load(sys.argv[2])))
    for where, a, b in found[:20]:
        print(f"{where}: {str(a)[:60]} and {str(b)[:60]}")
    if len(found) > 20:
        print(f"... {len(found)} differences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
