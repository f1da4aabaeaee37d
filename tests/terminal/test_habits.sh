#!/bin/sh
# Mistakes and habits of other tools' users are answered with status 3, nothing on standard
# output, and one line that names the option or verb to use; the tables are mistakes.txt and
# habits.txt. In a job file likewise. Prints TAP.
# usage: test_habits.sh BUILD_DIRECTORY
set -u
program=$1/sched-bench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh

# answers FILE: each line of such a table.
answers() {
	while IFS= read -r line; do
		typed=${line%% | *}
		# shellcheck disable=SC2086
		case $line in
		'' | '#'*) ;;
		*) refuses "$typed" 3 "${line#* | }" $typed ;;
		esac
	done <"$1"
}
answers tests/terminal/mistakes.txt
answers tests/terminal/habits.txt

# in_job ENTRY: a job file with that entry.
in_job() {
	printf '[a]\nworkload=pingpong\n%s\n' "$1" >"$work/job.ini"
	echo "$work/job.ini"
}
refuses "in a job file" 3 "job.ini:3:1: unknown option 'numjobs'; here it is workers=N|" \
	run "$(in_job numjobs=4)"
refuses "a letter within a group" 3 "unknown option '-n'; here it is --repetitions" run -qn 5

# What is given twice: lists go on, and a value that is said again is no other; the command line comes
# before the job file, and what sched-bench makes for its own runs is not refused.
shows() {
	expected=$1
	shift
	"$program" run --show-job "$@" | grep -qx "$expected"
}
holds "a list may be given in parts" shows 'workload=pingpong,yield' -w pingpong -w yield
holds "the same value may be said again" shows 'batch=4' -w pingpong --batch 4 --batch=4 -q --quiet
holds "the command line comes before a job file" shows 'batch=8' "$(in_job batch=4)" --batch 8
holds "and before the environment" env SCHED_BENCH_BATCH=4 "$program" run -w pingpong --batch 8 --show-job
sides() {
	"$program" ab -w yield --yields 100 --batch 4 -A '--batch 8' -B '--batch 16 --yields 50' -d 1ms --warmup 1ms \
		--pairs 12 --no-plots -q -o "$work/ab" --metric ns_per_op
	[ $? -ne 3 ] && [ -s "$work/ab/result.json" ]
}
holds "a side comes before both" sides

# The page of a result is named instead of it.
mkdir "$work/r"
: >"$work/r/result.json"
echo '<html>' >"$work/r/report.html"
refuses "a page is no result" 3 "this file is not the result; expected its directory, '$work/r'" \
	report "$work/r/report.html"

# Ours that the tables of habits name exist, or nobody would be sent there.
knows_ours() {
	"$program" list options >"$work/options"
	sed -n 's/^HABIT("[^"]*", *"\([^"]*\)".*/\1/p; /^HABIT(/{n
		s/^ *"\([^"]*\)".*/\1/p
	}' harness/cli/habits.def | tr ' ' '\n' | sort -u >"$work/ours"
	[ "$(wc -l <"$work/ours")" -gt 20 ] || return
	while read -r name; do
		case $name in
		'' | benchmark_*) ;;
		*) grep -q -e "--$name\b" "$work/options" || { echo "$name" && return 1; } ;;
		esac
	done <"$work/ours"
	sed -n 's/^VERB_HABIT("[^"]*", "\([^" ]*\).*/\1/p' harness/cli/habits.def >"$work/verbs"
	[ "$(wc -l <"$work/verbs")" -gt 10 ] || return
	while read -r verb; do
		"$program" "$verb" --help >"$work/out" || return
	done <"$work/verbs"
}
holds "options and verbs that habits lead to are there" knows_ours
echo "1..$n"
