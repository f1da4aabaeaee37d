#!/bin/sh
# Open loops in virtual time against queueing theory, with the default duration and number of
# repetitions; and rows that are no sample of a steady state say so. With SB_OPEN_LOOP=all queues at 90
# and 95 %, too, which take a minute. Prints TAP.
# usage: test_open_loop.sh BUILD_DIRECTORY
set -u
program=$1/sched-bench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh
has_virtual || {
	skips "open loops in virtual time" "this build has no virtual time"
	echo "1..$n"
	exit 0
}
short=--short
[ "${SB_OPEN_LOOP:-}" != all ] || short=
# shellcheck disable=SC2086
holds "means, intervals and the rate of --find-slo are the theory's" \
	scripts/open-loop-check --program "$program" $short

# service NAME OPTION...: 100 us on one worker.
service() {
	name=$1
	shift
	"$program" run -w service --virtual --profile xeon-2s --workers 1 --no-plots "$@" \
		-o "$work/$name" >"$work/$name.out" 2>"$work/err"
}
says_its_interval() {
	service fixed --service fixed:100us --load 50% &&
		python3 - "$work" <<-'END'
			import csv, re, sys
			rows = list(csv.DictReader(open(sys.argv[1] + "/fixed/runs.csv")))
			text = open(sys.argv[1] + "/fixed.out").read()
			[found] = re.findall(r"completed per second; mean sojourn time ([0-9.]*) us, 95 % interval "
			                     r"\[([0-9.]*) us \.\. ([0-9.]*) us\]", text)
			mean, low, high = map(float, found)
			of = sum(float(row["sojourn_ns_mean"]) for row in rows) / 3e3
			assert low < of < high and abs(mean - of) < 1, (found, of)
			assert all(row["valid"] == "valid" for row in rows), rows
		END
}
holds "the interval of the mean is printed" says_its_interval
# is_suspect NAME REASON: all rows are, for it.
is_suspect() {
	python3 - "$work/$1/runs.csv" "$2" <<-'END'
		import csv, sys
		rows = list(csv.DictReader(open(sys.argv[1])))
		assert all(row["valid"] == "suspect" and sys.argv[2] in row["reason"] for row in rows), [
		    (row["valid"], row["reason"]) for row in rows]
	END
}
too_short() {
	service short --service exp:100us --load 90% -d 5ms &&
		is_suspect short "less than the 5 relaxation times" && is_suspect short "expected --duration "
}
holds "5 ms say nothing of a queue at 90 %, and the duration that does is named" too_short
imprecise() {
	service imprecise --service exp:100us --load 90% -d 500ms && is_suspect imprecise "by its 95 % interval; within 5 % about --duration "
}
holds "nor does a mean whose interval is wide" imprecise
overloaded() {
	service over --service exp:100us --load 120% && is_suspect over "no steady state"
}
holds "an overload has no steady state" overloaded
# What came in the time of the schedule, though most of an overload is completed later.
achieves_its_capacity() {
	python3 - "$work/over/runs.csv" <<-'END'
		import csv, sys
		for row in csv.DictReader(open(sys.argv[1])):
		    capacity, achieved = float(row["capacity_per_s"]), float(row["achieved_per_s"])
		    assert abs(achieved / capacity - 1) < 0.2 < float(row["offered_per_s"]) / capacity, row
	END
}
holds "and is served as fast as the worker can" achieves_its_capacity
echo "1..$n"
