"""hostile.py - for test_hostile.sh: results and stores with hostile texts, and what outputs may have.

usage: hostile.py make FROM TO | rows STORE | terminal FILE... | html FILE | markdown FILE
       | csv DIRECTORY | openmetrics FILE | slurm SCRIPT DIRECTORY
"""
import csv
import glob
import html.parser
import json
import re
import shlex
import sqlite3
import sys

TEXT = ("{}cmd|'x'!A0 <script>alert(1)</script> ](javascript:x) `touch X` @user \"q\" \\ \x1b[31m\x9b31m"
        "\u202e\n::error::\r\t'; system(\"touch X\") #\x7f%d")
STARTS = "=+-@\t\r'"


def hostile(n):
    return TEXT.format(STARTS[n % len(STARTS)])


def make(source, target):
    """All texts that the command does not interpret."""
    with open(source + "/result.json", encoding="utf-8") as file:
        document = json.load(file)
    own = document["sched_bench"]
    n = 0
    for group in ("machine", "run", "clock", "answer"):
        for key in own["meta"][group]:
            n += 1
            own["meta"][group][key] = hostile(n)
    for row in document["benchmarks"]:
        row["sched_bench"].update(valid="suspect", reason=hostile(1)[:300])
        row["sched_bench"]["workload"] = row["sched_bench"]["operation"] = hostile(2)
    for series in own["series"]:
        series["workload"] = series["operation"] = hostile(2)
        for i, setting in enumerate(series["settings"]):
            setting.update(name=hostile(i), text=hostile(i + 1), swept=True)
            setting.pop("number", None)
    own["workload_metrics"] = [{"name": "evil", "unit": "'; system(\"touch X\") #", "better": "lower",
                                "meaning": hostile(3)}]
    with open(target, "w", encoding="utf-8") as file:
        json.dump(document, file)


def rows(path):
    with sqlite3.connect(path) as store:
        store.execute("UPDATE row SET result = NULL, reason = ?", (hostile(0)[:300],))
        store.commit()


def check(holds, what):
    if not holds:
        sys.exit(f"{what!r}")


def terminal(*paths):
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for line in file.read().split("\n"):
                check(not re.search("[\0-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", line), line)


class Page(html.parser.HTMLParser):
    scripts = 0

    def handle_starttag(self, tag, attrs):
        self.scripts += tag == "script"
        check(not any(name.startswith("on") or "javascript:" in (value or "")
                      for name, value in attrs if name in ("href", "src") or name.startswith("on")), attrs)


def page(path):
    parser = Page()
    with open(path, encoding="utf-8") as file:
        parser.feed(file.read())
    check(parser.scripts <= 1, parser.scripts)


def markdown(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for pattern in (r"(?<!\\)\]\(javascript", r"(?<!\\)`touch", "<script", "@user", "[\0-\x09\x0b-\x1f\x7f-\x9f\u202e]"):
        check(not re.search(pattern, text), pattern)


def is_number(cell):
    try:
        float(cell)
        return True
    except ValueError:
        return False


def tables(directory):
    texts = set()
    for path in glob.glob(directory + "/*.csv"):
        with open(path, newline="", encoding="utf-8") as file:
            for row in csv.reader(file):
                for cell in row:
                    check(not cell or cell[0] not in "=+-@\t\r" or is_number(cell), (path, cell))
                    texts.add(re.sub(r"^'(?='*[=+\-@\t\r])", "", cell))
    check(any(text.startswith("+cmd|'x'!A0 <script>") for text in texts), "no reason is as it was")


def openmetrics(path):
    sample = re.compile(r'\w+(\{(\w+="(\\[n"\\]|[^"\\\n])*",?)*\})? [-+0-9.eEinfa]+$|# ')
    with open(path, encoding="utf-8") as file:
        for line in file.read().rstrip("\n").split("\n"):
            check(sample.match(line), line)


def slurm(path, directory):
    """As Slurm and the shell read the script."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    given = {}
    for line in lines:
        if line.startswith("#SBATCH "):
            name, _, value = shlex.split(line[8:])[0].partition("=")
            given[name] = value
    check(given["--output"].replace("%%", "%") == directory + "/%a.out", given)
    chunks = [line for line in lines if line.startswith("chunks=")]
    check(shlex.split(chunks[0]) == ["chunks=" + directory], chunks)


globals()[{"html": "page", "csv": "tables"}.get(sys.argv[1], sys.argv[1])](*sys.argv[2:])
