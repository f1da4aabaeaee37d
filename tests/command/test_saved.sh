#!/bin/sh
# `run` saves each repetition: a kill loses the one under way, --resume measures
# the others. Prints TAP.
# usage: test_saved.sh BUILD_DIRECTORY
set -u
program=$1/sched-bench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh

seed=${SB_TEST_SEED:-$(date +%s)}
echo "# seed $seed (SB_TEST_SEED sets it)"
mkdir "$work/killed"
holds "kill -9 at 20 random points" \
	python3 tests/command/tools/run_killed.py "$program" "$work/killed" 20 "$seed"

# sql DIRECTORY STATEMENT: its result, a line for each row.
sql() {
	python3 - "$1/run.db" "$2" <<-'EOS'
		import sqlite3, sys
		store = sqlite3.connect(sys.argv[1])
		for row in store.execute(sys.argv[2]):
		    print(*row, sep="|")
		store.commit()
	EOS
}

# interrupted DIRECTORY ARGUMENT...: a run that Ctrl-C ends after its first rows.
interrupted() {
	directory=$1
	shift
	"$program" run "$@" --no-plots -o "$directory" >/dev/null 2>"$work/err" &
	while [ ! -e "$directory/run.db-wal" ] && kill -0 $!; do sleep 0.05; done
	kill -INT $!
	wait $!
	[ $? -eq 2 ]
}

cat >"$work/jobs.ini" <<-'EOS'
	[global]
	repetitions=100
	duration=2ms
	warmup=0s
	[small]
	workload=pingpong
	round-trips=1000
	[large]
	workload=yield,pingpong
EOS

goes_on_after_ctrl_c() {
	interrupted "$work/c" "$work/jobs.ini" || return 1
	[ "$(wc -l <"$work/err")" -eq 1 ] && grep -q "run --resume $work/c" "$work/err" &&
		[ -s "$work/c/result.json" ] || return 1
	sql "$work/c" "DELETE FROM row WHERE repetition > 1"
	sql "$work/c" "UPDATE plan SET value = replace(value, '100', '3') WHERE key = 'job'"
	"$program" run --resume "$work/c" -q 2>"$work/err" && [ ! -s "$work/err" ] || return 1
	python3 - "$work/c" <<-'EOS'
		import csv, json, os, sys
		rows = list(csv.DictReader(open(sys.argv[1] + "/runs.csv")))
		assert len(rows) == 9, rows
		assert {row["valid"] for row in rows} <= {"valid", "suspect"}, rows
		assert [row["label"].split()[-1] for row in rows] == \
		    3 * ["job=small"] + 6 * ["job=large"], [row["label"] for row in rows]
		meta = json.load(open(sys.argv[1] + "/meta.json"))
		assert "jobs.ini" in meta["run"]["command_line"], meta["run"]
		assert not [name for name in os.listdir(sys.argv[1]) if name.startswith("run.")]
	EOS
}
holds "Ctrl-C, and --resume: the same jobs, every row once, and no store is left" \
	goes_on_after_ctrl_c

refuses "a complete run has nothing to go on with" 3 "holds a complete result" \
	run --resume "$work/c"
refuses "--resume of nothing" 3 "holds no run (no run.db)" run --resume "$work"
refuses "--resume of no directory" 3 "a directory is missing" run --resume
refuses "--resume of two" 3 "one directory has been named" run --resume "$work/c" "$work/d"
printf '[a]\nworkload=yield\nresume=1\n' >"$work/resume.ini"
refuses "--resume in a job file" 3 "belongs on the command line" run "$work/resume.ini"

interrupted "$work/i" -w pingpong -r 1000 -d 2ms --warmup 0s
refuses "another run does not take its place" 3 "already holds a" \
	run -w yield -o "$work/i"
rm "$work/i/result.json" "$work/i/meta.json"
refuses "nor when nothing else is left" 3 "already holds a run; expected a new one" \
	run -w yield -o "$work/i"
refuses "a resumed run has its options" 3 "--repetitions is not expected" \
	run --resume "$work/i" -r 3
refuses "and the parameters of its workload" 3 "--pairs is not expected" \
	run --resume "$work/i" --pairs 3
sql "$work/i" "UPDATE plan SET value = replace(value, '1000', '2') WHERE key = 'job'"
sql "$work/i" "UPDATE plan SET value = 'x' || value WHERE key = 'build'"
refuses "another build" 3 "begun with another build.*--other-build" run --resume "$work/i"
holds "--other-build goes on all the same" \
	"$program" run --resume "$work/i" --other-build -q --no-plots

# Rows of one search or of one share of the capacity have one capacity.
measures_anew() {
	interrupted "$work/s" -w service --load 50% -r 100 -d 20ms --warmup 0s || return 1
	sql "$work/s" "UPDATE plan SET value = replace(value, '100', '3') WHERE key = 'job'"
	"$program" run --resume "$work/s" -q || [ $? -eq 2 ] || return 1
	python3 - "$work/s/runs.csv" <<-'EOS'
		import csv, sys
		rows = [row["capacity_per_s"] for row in csv.DictReader(open(sys.argv[1]))]
		assert len(rows) == 3 and len(set(rows) - {""}) <= 1, rows
	EOS
}
holds "a part of a series whose capacity was measured is measured anew" measures_anew

has_its_trace() {
	interrupted "$work/t" -w pingpong --round-trips 1000 --trace -r 300 -d 2ms --warmup 0s ||
		return 1
	sql "$work/t" "DELETE FROM row WHERE repetition > 1"
	sql "$work/t" "UPDATE plan SET value = replace(value, '300', '2') WHERE key = 'job'"
	"$program" run --resume "$work/t" -q && [ -s "$work/t/trace.json" ]
}
holds "a trace that is missing is made" has_its_trace

# Saving is not measuring: a run that cannot save its rows keeps them.
goes_on_without() {
	"$program" run -w pingpong --round-trips 1000 -r 100 -d 10ms --warmup 0s --no-plots \
		-q -o "$work/gone" 2>"$work/err" &
	while [ ! -e "$work/gone/run.db-wal" ] && kill -0 $!; do sleep 0.05; done
	rm "$work/gone/run.db"
	wait $! && [ "$(wc -l <"$work/err")" -eq 1 ] &&
		grep -q 'not saved before the end: .* has been removed' "$work/err" &&
		[ "$(wc -l <"$work/gone/runs.csv")" -eq 101 ]
}
holds "a store that is removed costs no row" goes_on_without

# LeakSanitizer cannot be traced.
one_row_is_not_saved() {
	ASAN_OPTIONS=detect_leaks=0 strace -f -o "$work/calls" "$program" run -w yield --yields 1000 -r 1 -d 2ms \
		--warmup 0s --no-plots -q -o "$work/one" && ! grep -q 'open.*run\.db' "$work/calls"
}
if command -v strace >/dev/null; then
	holds "a run of one row makes no store" one_row_is_not_saved
else
	skips "a run of one row makes no store" "strace is not installed"
fi
echo "1..$n"
