#!/bin/sh
# Traces of runs that are known: trace.json is what its readers demand, agrees with
# itself and with what the workers count (check_trace.py), and is drawn.
# usage: test_trace.sh BUILD_DIRECTORY
set -u
program=$1/sched-bench
here=$(dirname "$0")/tools
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0

result() {
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		sed 's/^/# /' "$work/err" "$work/out" | head -40
	fi
}

# traced DIRECTORY OPTION...: a run with a trace; 2: the machine has spoilt a row.
traced() {
	directory=$work/$1
	shift
	"$program" run "$@" --trace -d 20ms --warmup 0s -r 1 --no-plots -q \
		-o "$directory" >"$work/out" 2>"$work/err"
	status=$?
	[ $status -eq 0 ] || [ $status -eq 2 ]
}

# check DIRECTORY OPTION...: as check_trace.py says.
check() {
	directory=$work/$1
	shift
	python3 "$here/check_trace.py" "$@" "$directory/trace.json" \
		>"$work/out" 2>>"$work/err"
}

# Two messages, and so two steps, make a round trip; both of the pair have a first
# step, without one, and pong has a last, with the message that ends it.
traced one -w pingpong --pairs 1 --round-trips 500 --workers 1 &&
	check one --steps 1003
result $? "one worker's pingpong: two steps for each round trip, and three"

# Long enough for the other worker to get a processor. Wakes are not certain:
# core/test_trace and test_trace have those.
traced steals -w storm --processes 2000 --work-ns 50000 --workers 2 \
	--oversubscribe && check steals --steals
result $? "one spawns, two work: steals as in the matrix, and their arrows"

traced full -w skynet -w pingpong --round-trips 5000 --leaves 10000 \
	--workers 2 --oversubscribe --trace-events 300 &&
	check full --drops
result $? "full rings: what went is counted; two workloads in one file"

traced poll -w pingpong --round-trips 500 --workers 2 --oversubscribe \
	--park poll --trace-events 100000 && check poll
result $? "workers that poll"

traced emulated -w yield --yields 500 --profile laptop-6p8e --workers 3 &&
	check emulated && grep -q '(emulated)' "$work/emulated/trace.json"
result $? "an emulated run says so"

traced names -w service --service 'fixed:1us' --closed 4 --workers 1 &&
	check names && python3 - "$work/names/trace.json" >"$work/out" <<'EOP'
import json
import sys

trace = json.load(open(sys.argv[1]))
series = trace["sched_bench"]["series"][0]
# Tracing costs something, and the file says how much.
assert series["operations"] > 0, series
assert series["ns_per_op_traced"] > 0 and series["ns_per_op_measured"] > 0, series
assert "--closed 4" in trace["otherData"]["command_line"], trace["otherData"]
assert trace["displayTimeUnit"] == "ns"
EOP
result $? "requests; the command and the cost of tracing are in the file"

"$program" run -w yield --yields 500 -d 20ms --warmup 0s -r 1 --no-plots -q \
	-o "$work/without" >"$work/out" 2>"$work/err"
[ -s "$work/without/runs.csv" ] && [ ! -e "$work/without/trace.json" ]
result $? "no trace without --trace"

# What is traced is no row.
for directory in one without; do
	[ "$(wc -l <"$work/$directory/runs.csv")" -eq 2 ] || false
done && python3 - "$work/one/workers.csv" "$work/one/runs.csv" >"$work/out" <<'EOP'
import csv
import sys

workers = list(csv.DictReader(open(sys.argv[1])))
runs = list(csv.DictReader(open(sys.argv[2])))
# In rounds of 1003 steps, and 1000 operations; the traced one is none of these.
assert len(workers) == len(runs) == 1
assert int(workers[0]["steps"]) % 1003 == 0, workers[0]["steps"]
assert int(workers[0]["steps"]) // 1003 == int(runs[0]["rounds"]), runs[0]
EOP
result $? "the traced round is not in the measured ones"

"$program" run -w yield --trace --trace-events 3 -q -o "$work/wrong" \
	>"$work/out" 2>"$work/err"
[ $? -eq 3 ] && grep -q 'trace-events.*16' "$work/err" && [ ! -e "$work/wrong" ]
result $? "a ring that is too small is refused"

if command -v gnuplot >/dev/null; then
	"$program" run -w skynet --leaves 1000 --workers 2 --oversubscribe \
		--trace -d 20ms --warmup 0s -r 1 -q -o "$work/drawn" \
		>"$work/out" 2>"$work/err"
	[ -s "$work/drawn/plots/timeline-skynet.svg" ] &&
		[ -s "$work/drawn/plots/timeline-skynet.png" ] &&
		grep -q 'tracing' "$work/drawn/plots/timeline-skynet.svg" # lines wrap
	result $? "the timeline is drawn"
else
	echo "# skipped: the timeline, without gnuplot"
fi

echo "1..$n"
