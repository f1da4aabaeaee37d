"""Writes what came out: every measurement (CSV), the tables (text, Markdown),
the picture of the ratios (gnuplot). Files are whole or not there."""
import csv
import os
import shutil
import subprocess
import textwrap

from ratios import FLOOR, count_far_below, floor_readings, spread
from run import CANNOT, OK
from tables import OURS, SYSTEMS, TASKS

NONE = "-"
# The second goal of the comparison, for more than half of its rows.
FAR_BELOW = 0.35


def figure(value):
    """Three digits; thousands with a comma."""
    return f"{value:,.0f}" if value >= 999.5 else f"{value:.3g}"


def ranged(s):
    return f"{figure(s.median)} [{figure(s.least)} .. {figure(s.largest)}]" if s else NONE


def replace(path, text):
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + ".new", path)


# ---- every single measurement ----

COLUMNS = ("round", "workers", "work", "order", "system", "metric", "value",
           "unit", "outcome", "remark", "discarded")


def lines_of(round_):
    """In the order in which they were measured."""
    start = (round_.number, round_.workers, round_.work.name)
    units = {m.name: m.unit for m in round_.work.metrics}
    end = round_.discarded or ""
    for name in FLOOR:
        yield *start, 0, "floor", name, repr(round_.before[name]), "ns", OK, "", end
    for place, system in enumerate(round_.order, 1):
        said, why = round_.outcome[system]
        values = round_.values.get(system, {})
        for metric, value in values.items():
            yield *start, place, system, metric, repr(value), units[metric], said, why, end
        if not values:
            yield *start, place, system, "", "", "", said, why, end
    for name in FLOOR:
        yield (*start, len(round_.order) + 1, "floor", name,
               repr(round_.after[name]), "ns", OK, "", end)


def write_csv(path, rounds):
    with open(path + ".new", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)  # RFC 4180, with its line ends
        writer.writerow(COLUMNS)
        for round_ in rounds:
            writer.writerows(lines_of(round_))
    os.replace(path + ".new", path)


# ---- tables ----

def row_name(row):
    """Of which of several numbers, too."""
    several = len(row.work.metrics) > 1
    return f"{row.work.name} {row.metric.name}" if several else row.work.name


def compared_with(row):
    against = row.against()
    if not against:
        return NONE
    if against in FLOOR:
        return f"{against} {ranged(spread(r.floor(against) for r in row.kept))}"
    return f"{against} {ranged(row.systems[against])}"


def verdict(row):
    met = row.met()
    if not row.metric.goal:
        return NONE
    if not met:
        return "not measured"
    return f"{'met' if met[0] else 'NOT MET'} ({met[1]} of {met[2]})"


def goals_table(rows):
    yield ("work", "workers", "unit", "ours", "compared with", "ratio", "goal", "verdict")
    for row in rows:
        goal = row.metric.goal
        yield (row_name(row), str(row.workers), row.metric.unit,
               ranged(row.systems[OURS]), compared_with(row), ranged(row.ratio),
               goal.text() if goal else NONE, verdict(row))


def systems_table(rows, names):
    tasks = {s.name for s in SYSTEMS if s.kind == TASKS}
    yield ("work", "workers", "unit",
           *(f"{name} (tasks)" if name in tasks else name for name in names))
    for row in rows:
        yield (row_name(row), str(row.workers), row.metric.unit,
               *(ranged(row.systems[name]) for name in names))


def plain(table):
    """Columns of text; the last rows of a table are as wide as its widest."""
    table = list(table)
    widths = [max(map(len, column)) for column in zip(*table)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip()
                     for line in table)


def escape(text):
    """For Markdown: a cell may hold anything."""
    return "".join("\\" + c if c in "\\`*_<>[]|#" else c for c in text)


def markdown(table):
    lines = ["| " + " | ".join(map(escape, line)) + " |" for line in table]
    lines.insert(1, "|" + "---|" * lines[0].count(" | ") + "---|")
    return "\n".join(lines)


def far_below(rows):
    """The goal of all rows together."""
    count, of = count_far_below(rows, FAR_BELOW)
    if of:
        yield f"ratio to the best peer at most {FAR_BELOW:g}: {count} of {of} rows"


def remarks(sitting):
    """What the tables alone do not say, a line each."""
    rounds = sitting.rounds
    yield sitting.machine
    kept = sum(not r.discarded for r in rounds)
    yield (f"{len(rounds)} rounds, {kept} of them count; seed {sitting.seed}; "
           f"CPUs {', '.join(map(str, sitting.cpus))}")
    for name in FLOOR:
        if rounds:
            yield f"floor, {name}: {ranged(spread(floor_readings(rounds, name)))} ns"
    for name in sitting.names:
        yield f"{name}: {sitting.versions[name]}"
    for name, why in sitting.left_out.items():
        yield f"left out: {name}: {why}"
    for row, missing in sitting.short:
        yield f"too few rounds: {row}: {missing}"
    for round_ in rounds:
        if round_.discarded:
            yield f"discarded: {describe(round_)}: {round_.discarded}"
    yield from mishaps(rounds)


def describe(round_):
    s = "" if round_.workers == 1 else "s"
    return f"{round_.work.name}, {round_.workers} worker{s}, round {round_.number}"


def mishaps(rounds):
    """What was said instead of a number; the same thing once."""
    told = {}
    for r in rounds:
        for system, (outcome, why) in r.outcome.items():
            if outcome != OK:
                key = (outcome, system, r.work.name, r.workers, why)
                told[key] = told.get(key, 0) + 1
    for (outcome, system, work, workers, why), times in told.items():
        often = "" if outcome == CANNOT else f" in {times} of its rounds"
        yield f"{outcome}: {system}: {work}, {workers} worker(s){often}: {why}"


HEADLINE = "Ours and what people would pick instead"
LEGEND = ("Wall time per operation in ns, or bytes per process; less is better. "
          "median [least .. largest] of the rounds. Ratio: ours divided by the best "
          "peer, or by the floor, of the same round; below 1 ours needs less. "
          "Verdict: of the median; in brackets, in how many rounds.")


def write_tables(folder, sitting, rows, tasks_rows):
    tables = (list(goals_table(rows + tasks_rows)), list(systems_table(rows, sitting.names)))
    lines = [*far_below(rows), *remarks(sitting)]
    text = "\n\n".join([HEADLINE, textwrap.fill(LEGEND, 100), *map(plain, tables), "\n".join(lines)]) + "\n"
    page = "\n\n".join([f"# {HEADLINE}", LEGEND, *map(markdown, tables),
                        "\n".join(f"- {escape(line)}" for line in lines)]) + "\n"
    replace(os.path.join(folder, "table.txt"), text)
    replace(os.path.join(folder, "table.md"), page)
    return text


# ---- the picture ----

SCRIPT = """\
set terminal pngcairo noenhanced size 1100,{height} font 'sans-serif,12' linewidth 1.5
set output '{file}'
set encoding utf8
set title "Ours divided by the best peer, or by the floor, of the same round\\n\
median of the rounds, least to largest; to the left ours needs less"
set logscale x
set xtics (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
set xrange [{low}:{high}]
set yrange [{bottom}:0.3]
set ytics ({labels})
set grid x lc rgb '#e0e0e0' lt 1
set key below
set arrow from 1, graph 0 to 1, graph 1 nohead lc rgb '#404040' lw 1.2
set arrow from 0.5, graph 0 to 0.5, graph 1 nohead lc rgb '#404040' lw 1.2 dt 2
$met << EOD
{met}
EOD
$not_met << EOD
{not_met}
EOD
$no_goal << EOD
{no_goal}
EOD
$goals << EOD
{goals}
EOD
plot $goals using 2:($1-0.35):(0):(0.7) with vectors nohead lc rgb '#8060c0' lw 2 title 'goal', \\
  $met using 2:1:3:4 with xerrorbars pt 7 lc rgb '#1b7837' title 'met', \\
  $not_met using 2:1:3:4 with xerrorbars pt 5 lc rgb '#b2182b' title 'not met', \\
  $no_goal using 2:1:3:4 with xerrorbars pt 6 lc rgb '#606060' title 'no goal'
"""


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def label(row):
    s = "" if row.workers == 1 else "s"
    return f"{row_name(row)}, {row.workers} worker{s} \u00f7 {row.against()}"


def gnuplot_script(path, rows):
    """A dot for each row with a ratio; gnuplot wants none of its sets empty."""
    data = {"met": [], "not_met": [], "no_goal": [], "goals": []}
    labels, edges = [], [0.4, 1.25]
    for place, row in enumerate(rows):
        s = row.ratio
        met = row.met()
        kind = "no_goal" if not met else "met" if met[0] else "not_met"
        data[kind].append(f"{-place} {s.median!r} {s.least!r} {s.largest!r}")
        labels.append(f"{quoted(label(row))} {-place}")
        edges += [s.least, s.largest]
        if row.goal_as_ratio():
            data["goals"].append(f"{-place} {row.goal_as_ratio()!r}")
            edges.append(row.goal_as_ratio())
    filled = {name: "\n".join(lines or ["NaN NaN NaN NaN"]) for name, lines in data.items()}
    return SCRIPT.format(file=path.replace("'", "''"), height=150 + 24 * len(rows),
                         low=min(edges) / 1.3, high=max(edges) * 1.3,
                         bottom=0.7 - len(rows), labels=", ".join(labels), **filled)


def write_plot(folder, rows):
    """None, or why there is no picture."""
    rows = [row for row in rows if row.ratio]
    path = os.path.join(folder, "ratios.png")
    if not rows:
        return "no row has a ratio"
    if not shutil.which("gnuplot"):
        return "there is no gnuplot (Debian: gnuplot-nox)"
    made = subprocess.run(["gnuplot"], input=gnuplot_script(path + ".new", rows),
                          text=True, capture_output=True, check=False)
    if made.returncode or made.stderr.strip():
        return "gnuplot: " + (made.stderr.strip().splitlines() or ["failed"])[-1]
    os.replace(path + ".new", path)
    return None
