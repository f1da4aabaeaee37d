#!/usr/bin/env python3
"""Checks the rows in the store of a sweep.

usage: rows.py DIRECTORY ROWS [--at-least] [--rounds N] [--seed S] [--machine NAME]

--rounds: so many repetitions, each of all configurations. --seed: of the sweep, of which each row
has its own. --machine: afterwards, the store is one of that machine."""
import argparse
import json
import sqlite3
import sys

parser = argparse.ArgumentParser()
parser.add_argument("directory")
parser.add_argument("rows", type=int)
parser.add_argument("--at-least", action="store_true")
parser.add_argument("--rounds", type=int)
parser.add_argument("--seed", type=int)
parser.add_argument("--machine")
given = parser.parse_args()
store = sqlite3.connect(given.directory + "/sweep.db", timeout=60)


def one(query):
    return store.execute(query).fetchone()[0]


def expect(what, found, expected):
    if found != expected:
        sys.exit(f"{given.directory}: {what}: {found}; expected {expected}")


count = one("SELECT count(*) FROM row")
if given.at_least:
    sys.exit(count < given.rows)
expect("rows", count, given.rows)
if given.rounds is not None:
    expect("rounds", one("SELECT count(DISTINCT repetition) FROM row"), given.rounds)
    expect("configurations in each", one("SELECT count(*) FROM configuration") * given.rounds, count)
if given.seed is not None:
    for repetition, text in store.execute("SELECT repetition, result FROM row"):
        options = json.loads(text)["sched_bench"]["meta"]["options"]
        expect("seed", int(options["seed"]), given.seed + repetition)
if given.machine:
    store.execute("UPDATE plan SET value = ? WHERE key = 'machine'", (given.machine,))
    store.commit()
