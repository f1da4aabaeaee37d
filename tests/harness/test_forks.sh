#!/bin/sh
# `run --forks`: a workload measured by several OS processes, one after the other; what is said of
# them, and what becomes of one that crashes, is refused or is interrupted. Prints TAP.
# usage: test_forks.sh BUILD_DIRECTORY
set -u
program=$1/sched-bench
wrong=$1/tests/sched-bench-wrong
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh
unset SCHED_BENCH_FORKS
quick='-d 2ms --warmup 0s --no-plots'

# measure DIRECTORY ARGUMENT...: 2 is a row that the machine has spoilt.
measure() {
	rm -rf "${work:?}/$1"
	directory=$work/$1
	shift
	# shellcheck disable=SC2086
	"$program" run $quick -o "$directory" "$@" >"$work/out" 2>"$work/err"
	status=$?
	[ $status -eq 0 ] || [ $status -eq 2 ] || { cat "$work/err" && false; }
}
# python DIRECTORY PIECE: of Python, with its rows and the answer; it fails by an exception.
python() {
	python3 -c "
import csv, json, statistics, sys
rows = list(csv.DictReader(open(sys.argv[1] + '/runs.csv')))
result = json.load(open(sys.argv[1] + '/result.json'))
answer = result['sched_bench']['meta']['answer']['text']
$2" "$work/$1"
}

holds "two workloads, in turn" measure a -w pingpong -w yield --round-trips 2000 --yields 2000 \
	--forks 6 -r 2 -v --seed 40
in_turn() {
	sed -n 's/.*: \(pingpong\|yield\): repetition .*op$/\1/p' "$work/err" | uniq | tr '\n' ' ' |
		grep -q '^pingpong yield pingpong yield pingpong yield pingpong yield'
}
holds "a fork of one after a fork of the other" in_turn
holds "rows say which fork they are of" python a '
for name in "pingpong", "yield":
    own = [r for r in rows if r["workload"] == name]
    assert [int(r["repetition"]) for r in own] == list(range(12)), own
    assert [int(r["fork"]) for r in own] == [r // 2 for r in range(12)], own
assert {b["sched_bench"]["fork"] for b in result["benchmarks"]} <= set(range(6))'
holds "nothing of a fork is left" sh -c "[ ! -e '$work/a/run.fork' ] && [ ! -e '$work/a/run.db' ]"
six() {
	measure six -w yield --yields 2000 --forks 6 -r 2 && python six '
assert "95 % interval of the median of forks started during this run; 6 forks x 2, " in answer, answer
own = [[float(r["ns_per_op"]) for r in rows if int(r["fork"]) == f] for f in range(6)]
medians = sorted(statistics.median(v) for v in own)
series = {r["metric"]: r for r in csv.DictReader(open(sys.argv[1] + "/series.csv"))}["ns_per_op"]
assert int(series["n"]) == 6, series
for key, value in ("min", medians[0]), ("max", medians[-1]), ("median", statistics.median(medians)):
    assert abs(float(series[key]) / value - 1) < 1e-9, (key, series, medians)'
}
holds "the interval is that of their medians" again six
reports() { "$program" report "$work/six" -o - | grep -q 'interval of the median of forks'; }
holds "a report has the same" reports
six_lines() {
	"$program" convert "$work/six" --to benchstat -o - >"$work/lines" &&
		[ "$(grep -c '^BenchmarkYield' "$work/lines")" -eq 6 ] && python six '
own = [statistics.median(float(r["ns_per_op"]) for r in rows if int(r["fork"]) == f) for f in range(6)]
lines = [l.split() for l in open("'"$work"'/lines") if l.startswith("BenchmarkYield")]
assert [round(float(l[l.index("ns/op") - 1]) / v, 6) for l, v in zip(lines, own)] == [1] * 6, (lines, own)'
}
holds "and tools that make one of their own get these" six_lines
five() {
	measure five -w yield --yields 2000 --forks 5 -r 1 && python five '
assert "interval" not in answer and "least and largest" in answer and "5 forks x 1" in answer, answer'
}
holds "five have none, and it says so" again five
holds "nor have nine repetitions of one" measure one -w yield --yields 2000 --forks 1 -r 9
holds "and that is said" python one '
assert "interval" not in answer and "least and largest" in answer and "fork" not in answer, answer'
# Before there were forks.
earlier() {
	python3 - "$work/six/result.json" "$work/earlier.json" <<-'EOS'
		import json, sys
		result = json.load(open(sys.argv[1]))
		for row in result["benchmarks"]:
		    del row["sched_bench"]["fork"]
		json.dump(result, open(sys.argv[2], "w"))
	EOS
	"$program" convert "$work/earlier.json" --to csv -o "$work/earlier" &&
		grep -q '^yield[^,]*,ns_per_op,ns,12,' "$work/earlier/series.csv"
}
holds "the rows of an earlier version's result are of one" earlier
holds "each fork has a seed" measure seeds -w skynet --leaves 100 --forks 2 -r 1 --seed 7
holds "and the result the one that was given" python seeds \
	'assert result["sched_bench"]["meta"]["options"]["seed"] == "7"'

# ---- where the host has put the CPUs ----

# readings DIRECTORY: how many there are, and of how many forks.
readings() {
	python "$1" '
line = [(r["fork"], r["line_transfer_ns"]) for r in rows if r["line_transfer_ns"]]
assert len(set(line)) == len({f for f, l in line}), line
assert all(1 < float(l) < 1e5 for f, l in line), line
print(len(line))'
}
# Other threads on these CPUs may leave some forks without.
read_at_two() { measure line -w yield --yields 2000 --forks 6 -r 2 --workers "$1" && [ "$(readings line)" -gt 0 ]; }
if [ "$(nproc)" -gt 1 ]; then
	holds "a fork of two workers reads what a cache line takes" again read_at_two 2
	holds "so does one of one, beside another CPU" again read_at_two 1
else
	skips "a fork reads what a cache line takes" "one CPU may be used"
fi
read_at_one() {
	first=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')
	rm -rf "$work/line"
	# shellcheck disable=SC2086
	taskset -c "$first" "$program" run $quick -w yield --yields 2000 -r 2 -q -o "$work/line"
	[ "$(readings line)" -eq 0 ]
}
holds "one CPU has no other" again read_at_one

# ---- until the interval is narrow ----

narrow() {
	measure narrow -w yield --yields 1000 -r 1 --until-ci 0.1% --forks 41 && grep -q "after 60 forks" "$work/err" &&
		python narrow 'assert len(rows) == 60, len(rows)'
}
holds "--until-ci gives up, and says so" again narrow
# Whatever the machine does: the last look alone has found it narrow, and nine forks are started at least.
looks() {
	measure wide -w yield --yields 1000 -r 2 --until-ci 30% --forks 2 && python wide '
import math
value = [float(r["ns_per_op"]) for r in rows]
median = [statistics.median(value[i:i + 2]) for i in range(0, len(value), 2)]
def is_narrow(n):
    ends = [k for k in range(1, n) if sum(math.comb(n, i) for i in range(k)) / 2**n <= 0.025]
    seen = sorted(median[:n])
    return seen[n - ends[-1]] - seen[ends[-1] - 1] <= 0.3 * statistics.median(seen)
narrow = [n for n in (9, 15, 25, 41, 60) if n <= len(median) and is_narrow(n)]
assert narrow == [len(median)] or not narrow and len(median) == 60, (narrow, len(median))'
}
holds "--until-ci stops when it is narrow" again looks
least() {
	measure least -w yield --yields 1000 -r 1 --until-ci 100% --forks 12 && python least 'assert len(rows) in (15, 25, 41, 60), len(rows)'
}
holds "--until-ci goes on to the look after what is asked for" again least

# ---- what goes wrong ----

limited() {
	rm -rf "${work:?}/limited"
	# shellcheck disable=SC2086
	"$program" run $quick -w skynet --leaves 1000 --max-processes 5 --forks 4 -r 2 -o "$work/limited" \
		>"$work/out" 2>"$work/err"
	[ $? -eq 4 ] && [ "$(grep -c 'max-processes\|limit' "$work/err")" -eq 1 ] && python limited '
assert len(rows) == 8 and all(r["error_message"] for r in rows), rows'
}
holds "a limit ends the run with status 4, and is said once" limited
crashes() {
	rm -rf "${work:?}/crash"
	# shellcheck disable=SC2086
	"$wrong" run $quick -w crashing --forks 4 -r 2 -o "$work/crash" >"$work/out" 2>"$work/err"
	[ $? -eq 2 ] && python crash '
assert len(rows) == 8 and all("crashed: SIGSEGV" in r["error_message"] for r in rows), rows'
}
holds "a crash costs its rows, and says where" crashes
# A row that is wrong is no reason not to try the others; one that takes too long is.
hopeless() {
	rm -rf "${work:?}/$1"
	# shellcheck disable=SC2086
	"$wrong" run $quick -w "$1" --timeout 300ms --forks 5 -r 2 -o "$work/$1" >"$work/out" 2>"$work/err"
	[ $? -eq 2 ] && python "$1" 'assert len(rows) == 10 and all(r["error_message"] for r in rows), rows'
}
holds "wrong answers cost their rows" hopeless wrong
holds "so do rounds without an end" hopeless stuck
interrupted() {
	rm -rf "${work:?}/cut"
	"$program" run -w yield --yields 2000 --forks 40 -r 2 -d 20ms --warmup 0s --no-plots -o "$work/cut" \
		>"$work/out" 2>"$work/err" &
	while [ ! -e "$work/cut/run.db-wal" ] && kill -0 $!; do sleep 0.05; done
	kill -INT $!
	wait $!
	[ $? -eq 2 ] && grep -q 'to measure the rest: sched-bench run --resume' "$work/err" &&
		"$program" run --resume "$work/cut" -q 2>"$work/err" && [ ! -e "$work/cut/run.db" ] &&
		python cut 'assert [int(r["fork"]) for r in rows] == [r // 2 for r in range(80)], rows'
}
holds "--resume measures the forks that are missing" again interrupted
echo "1..$n"
