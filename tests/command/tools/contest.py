"""Whether headline, table, facts, page, Markdown and picture of a sweep say the same.

usage: contest.py DIRECTORY TERMINAL [SVG]

Everything is parsed from what people read. Of each objective: the table is in the order of the
estimates; the headline's leader has the least estimate of those that are neither worse nor open; it is
called best if and only if all others are worse; each that is not worse is named as what its mark says;
whoever lacks rows is named with how many it has.
"""

import html
import json
import re
import sys

directory, terminal, *pictures = sys.argv[1:]
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
text = open(terminal).read()
meta = json.load(open(directory + "/meta.json"))


def number(words):
    value, unit = words.split()[:2]
    return float(value) * UNITS[unit]


def parse(answer):
    """A headline as word, leader, value and what is said of others, by name."""
    match = re.match(r"(?:\S+: )?(best|lowest|highest)( judged)? (.+?): (\S+=\S+), ([\d.]+ \w+)(.*)", answer, re.S)
    assert match, answer
    word, judged, noun, leader, value, rest = match.groups()
    said = {}
    rows = {}
    own = re.match(r" \((\d+) of (\d+) rows\)", rest)
    if own:
        rows[leader] = (int(own[1]), int(own[2]))
    for what, mark in ("not judged, and may be better", "?"), ("may be as good", "~"), ("worse, with rows missing", "worse"):
        part = re.search("; " + what + r": ([^;]*)", rest)
        for name in part[1].split(", ") if part else []:
            name, _, few = name.strip().rstrip(".").partition(" (")
            said[name] = mark
            if few:
                rows[name] = tuple(int(n) for n in re.findall(r"\d+", few))
    return word, bool(judged), leader, value, said, rows, noun


if "no recommendation" in text:
    assert "ranking" not in meta and not re.search(r"\bmark\b", text), text
    sys.exit(0)
line = next(l for l in text.splitlines() if re.match(r"\w+: (best|lowest) ", l))
answers = re.split(r"; (?=best |lowest |compromise)", line.split(": ", 1)[1])
answers = [a for a in answers if not a.startswith("compromise")]

# The table of the terminal: the estimates and marks, in order.
start = next(i for i, l in enumerate(text.splitlines()) if "; medians; " in l)
heads = re.split(r"  +", text.splitlines()[start + 1].strip())
table = []
for row in text.splitlines()[start + 2:]:
    cells = re.split(r"  +", row.strip())
    if len(cells) < len(heads) - 1:
        break
    table.append((heads[0] + "=" + cells[0], cells))
assert len(table) == int(meta["sweep"]["configurations"]), table
marked = [i for i, h in enumerate(heads) if h == "mark"]
assert len(marked) == len(answers), (heads, answers)

for o, (at, answer) in enumerate(zip(marked, answers)):
    word, judged, leader, value, said, rows, _ = parse(answer)
    mark = {name: cells[at].split()[0] for name, cells in table}
    estimate = {name: number(cells[at - 1]) for name, cells in table if cells[at - 1] != "-"}
    few = {name: tuple(map(int, cells[at].split()[1].split("/"))) for name, cells in table if "/" in cells[at]}
    order = [estimate.get(name, float("inf")) for name, _ in table]
    assert o or order == sorted(order), order
    assert " ".join(dict(table)[leader][at - 1].split()[:2]) == value, (value, table)
    for name, m in mark.items():
        assert m in ("worse", "?") or estimate[leader] <= estimate[name], (answer, table)
        if name != leader and m != "worse":
            assert said.get(name) == m, (name, m, answer)
    assert mark[leader] == ("best" if word == "best" else "~"), (answer, mark)
    assert (word == "best") == all(m == "worse" for n, m in mark.items() if n != leader), (answer, mark)
    assert judged == ("?" in mark.values()), (answer, mark)
    assert few == rows, (few, rows, answer)
    for name, cells in table:
        fact = next(v for k, v in meta["ranking"].items() if k.endswith(" " + name)).split(" | ")
        assert fact[2 * o].endswith(" " + cells[at - 1]) and fact[2 * o + 1] == cells[at], (fact, cells)

# Page and Markdown have the same headline and facts.
page = html.unescape(open(directory + "/report.html").read())
markdown = re.sub(r"\\(.)", r"\1", open(directory + "/report.md").read())
for form in page, markdown:
    assert line in form, line
    for fact in meta["ranking"].values():
        assert all(cell in form for cell in fact.split(" | ")), fact

# The picture's title is the headline of the first objective, with words for the metric.
for picture in pictures:
    label = re.findall(r">([^<>]+)<", html.unescape(open(picture).read()))
    title = re.sub(r"\s+", " ", " ".join(label))
    found = re.search(r"(Best|Lowest)( judged)? .*? (?=Sweep:)", title)
    assert found, title[:500]
    told = found[0].strip()
    noun = parse(answers[0])[6]
    # It is shortened in its middle where it is long.
    head, _, tail = told.partition("\u2026")
    full = answers[0].rstrip(".").replace(noun, "NOUN", 1)
    if tail:
        own = re.match(r"(\w+(?: judged)?) .*?: (?=\S+=)", head)
        head = head.replace(head[len(own[1]) + 1:own.end() - 2], "NOUN", 1)
        assert full.startswith(head[0].lower() + head[1:]) and full.endswith(tail), (told, full)
    else:
        assert parse(told[0].lower() + told[1:])[:6] == parse(answers[0])[:6], (told, answers[0])
print(line)
