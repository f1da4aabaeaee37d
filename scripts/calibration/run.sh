#!/bin/sh
# Measures how often the statements of sched-bench with a probability or an error are right, on this
# machine, which has to be quiet: about an hour and a half. Prints the table in Markdown.
# usage: run.sh [PROGRAM [DIRECTORY]]    (DIRECTORY: the results, which another call then continues)
set -eu
here=$(dirname "$0")
program=${1:-build/release/sched-bench}
directory=${2:-build/calibration}
mkdir -p "$directory"
model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
echo "$(date +%F), $("$program" --version | head -n 1), $model, $(nproc) CPUs, Linux $(uname -r)"
printf '\n## Intervals of runs, and comparisons of two runs\n\n'
"$here/runs.py" --program "$program" "$directory"
printf '\n## Paired comparisons\n\n'
"$here/ab.py" --program "$program"
printf '\n## Open loops in virtual time\n\n```\n'
"$here/../open-loop-check" --program "$program" || echo "open-loop-check failed"
printf '```\n\n## Disturbances\n\n'
"$here/disturbances.py" --program "$program" || echo "disturbances.py failed"
