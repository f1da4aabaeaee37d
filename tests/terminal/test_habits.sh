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
