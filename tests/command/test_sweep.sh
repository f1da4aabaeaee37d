#!/bin/sh
# The verb `sweep`: what it refuses, what its result has, that runs which crash or
# hang cost their own rows, and that nothing is lost when it is killed. Prints TAP.
# usage: test_sweep.sh BUILD_DIRECTORY
set -u
program=$1/sched-bench
wrong=$1/tests/sched-bench-wrong
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh

# refuses NAME PATTERN ARGUMENTS...: status 3, exactly one line on standard error
# that has the pattern, nothing on standard output.
refuses() {
	name=$1 pattern=$2
	shift 2
	"$program" sweep "$@" >"$work/out" 2>"$work/err"
	got=$?
	if [ $got -eq 3 ] && [ "$(wc -l <"$work/err")" -eq 1 ] &&
		[ ! -s "$work/out" ] && grep -q -- "$pattern" "$work/err"; then
		report "$name" yes
	else
		report "$name" no "status $got; $(cat "$work/err" "$work/out")"
	fi
}

quick='-d 2ms --warmup 0s --no-plots'

# sql DIRECTORY STATEMENT: what it gives, a line each.
sql() {
	python3 - "$1/sweep.db" "$2" <<-'EOS'
		import sqlite3, sys
		store = sqlite3.connect(sys.argv[1])
		for row in store.execute(sys.argv[2]):
		    print(*row, sep="|")
		store.commit()
	EOS
}

fits() {
	"$program" sweep --help >"$work/help" && [ "$(wc -l <"$work/help")" -le 100 ] &&
		[ "$(wc -L <"$work/help")" -le 125 ]
}
holds "help fits two screens" fits

# What is refused, before anything starts.
refuses "nothing to go through" "nothing to go through" -w yield
refuses "no workload" "no workload" -L batch=1,2
refuses "a combination that run would refuse is named" \
	"skynet steal=half batch=99999: --batch: '99999'.*from 0 to 65535" \
	-w skynet -L steal=half,one -L batch=1,99999
refuses "so is one that this machine cannot have" \
	"yield workers=3999: --workers: 3999 is more than" -w yield -L workers=1,3999
refuses "and one whose parameter is wrong" "skynet leaves=0: --leaves" \
	-w skynet -P leaves=0..1000:1000
refuses "a unit that is missing" "tick-time=10: --tick-time: '10'" \
	-w yield -L tick-time=10us,10
refuses "a misspelt name" "did you mean spin-yield" -w yield -L spin-yeild=1,2
refuses "an option that has no values to go through" "--quiet cannot be gone through" \
	-w yield -L quiet=yes,no
refuses "a flag that is neither yes nor no" "--no-smt: 'maybe'.*yes or no" \
	-w yield -L no-smt=yes,maybe
refuses "an option both fixed and gone through" "--batch is given" \
	-w yield -L batch=1,2 --batch 3
refuses "values where a range is expected" "; -L has values" -w yield -P workers=1,2
refuses "a range where values are expected" "; -P has ranges" -w yield -L workers=1..2
refuses "the same twice" "batch is gone through twice" -w yield -L batch=1,2 -P batch=1..4
refuses "an objective that is no metric" "did you mean ns_per_op" \
	-w yield -L batch=1,2 --objective ns_per_opp
refuses "a part of metrics' names" "did you mean .*_ns_p99, .*_ns_p99, " \
	-w yield -L batch=1,2 --objective p99
refuses "an objective that has no better side" "steal_attempts is neither" \
	-w yield -L batch=1,2 --objective steal_attempts
refuses "--resume of nothing" "holds no sweep" --resume "$work"
refuses "--resume of no directory" "a directory is missing" --resume

# The plan.
plans() {
	"$program" sweep -w skynet -L batch=1,16 -P spin-yield=0..8:log2 -o "$work/dry" \
		--dry-run "$@"
}
is_a_plan() {
	plans --seed 5 >"$work/plan1" && plans --seed 5 >"$work/plan2" &&
		plans --seed 6 >"$work/plan3" || return 1
	grep -q "11 configurations x 9 repetitions = 99 rows; about 2 min" "$work/plan1" &&
		grep -q "^    9  skynet batch=16 spin-yield=8$" "$work/plan1" &&
		cmp "$work/plan1" "$work/plan2" && ! cmp -s "$work/plan1" "$work/plan3" &&
		[ ! -e "$work/dry" ]
}
holds "--dry-run shows the plan, which the seed fixes, and starts nothing" is_a_plan

# tells PATTERN ARGUMENT...: the plan is told, with one line on standard error that
# has the pattern; with "" none.
tells() {
	pattern=$1
	shift
	"$program" sweep -w yield --dry-run "$@" >"$work/plan" 2>"$work/err" || return 1
	if [ "$pattern" ]; then
		[ "$(wc -l <"$work/err")" -eq 1 ] && grep -q -- "$pattern" "$work/err"
	else
		[ ! -s "$work/err" ]
	fi
}
holds "spin-time may hide spin-yield" tells \
	"--spin-time may hide spin-yield in 2 of 2 configurations.*--spin-time 0s shows it" \
	-L spin-yield=0,12
holds "and spin-tight, where it is not 0" tells "hide spin-tight in 5 of 7" \
	-P spin-tight=0..1 -L spin-time=0,20us,50us
holds "not without it" tells "" -L spin-yield=0,12 --spin-time 0
holds "so with a policy without it" tells "" -P spin-tight=0..1 --policy spec
holds "nor does it hide itself" tells "" -L spin-time=0,20us,50us
holds "polling hides all of them" tells "--park poll hides spin-time in 3 of 3" \
	-L spin-time=0,20us --park poll
holds "other sweeps are not told" tells "" -L batch=1,2
# The sweep itself is told, too; and its picture is over the time.
has_thresholds() {
	# shellcheck disable=SC2086
	"$program" sweep -w trickle --count 20 --period-us 50 -L spin-time=0,20us,50us \
		-L spin-yield=0,12 $quick -r 1 -q -o "$work/t" 2>"$work/err" &&
		[ "$(wc -l <"$work/err")" -eq 1 ] && grep -q "may hide spin-yield in 4 of 6" "$work/err" &&
		"$program" plot thresholds "$work/t" --over spin-time -o - >"$work/time.svg" &&
		grep -q "spin-time" "$work/time.svg"
}
if command -v gnuplot >/dev/null; then
	holds "a sweep of spin-time has its picture" has_thresholds
else
	skips "a sweep of spin-time has its picture" "gnuplot is not installed"
fi

# A job file says the same as the command line.
cat >"$work/job.ini" <<-'EOS'
	[spins]
	workload=yield
	batch=1,16
	spin-yield=0..8:log2
	duration=2ms
	warmup=0s
EOS
is_the_same_plan() {
	"$program" sweep "$work/job.ini" --dry-run >"$work/plan1" &&
		"$program" sweep -w yield -L batch=1,16 -P spin-yield=0..8:log2 -d 2ms \
			--warmup 0s --dry-run >"$work/plan2" &&
		grep -q "^11 configurations" "$work/plan1" && cmp "$work/plan1" "$work/plan2"
}
holds "a job file's lists are gone through" is_the_same_plan
is_overruled() {
	"$program" sweep "$work/job.ini" --batch 3 --dry-run | grep -q "^6 configurations"
}
holds "an option of the command line comes before a job's list" is_overruled
printf '[two]\nworkload=yield\n' >>"$work/job.ini"
refuses "a sweep of two jobs" "2 jobs are given; expected one" "$work/job.ini" --dry-run

# What comes of it.
sweeps() {
	# shellcheck disable=SC2086
	"$program" sweep -w yield --yields 1000 -L batch=1,16 -L tick-time=10us,200us \
		$quick "$@" >"$work/out" 2>"$work/err"
}
has_rows() {
	rm -rf "$work/a"
	sweeps -r 2 -o "$work/a" --seed 3 || return 1
	[ ! -s "$work/err" ] || return 1
	python3 - "$work/a" "$work/out" <<-'EOS'
		import csv, json, sys
		directory, out = sys.argv[1:]
		result = json.load(open(directory + "/result.json"))
		rows = result["benchmarks"]
		assert len(rows) == 8 and not result["sched_bench"]["invalid"]
		labels = {r["label"] for r in rows}
		assert len(labels) == 4, labels
		assert any("batch=1 tick-time=200us" in l for l in labels), labels
		assert {r["repetition_index"] for r in rows} == {0, 1}
		assert len(list(csv.DictReader(open(directory + "/runs.csv")))) == 8
		meta = json.load(open(directory + "/meta.json"))
		assert meta["options"]["repetitions"] == "2", meta["options"]
		assert meta["options"]["batch"] == "swept"
		assert meta["options"]["yields"] if "yields" in meta["options"] else True
		assert meta["sweep"]["seed"] == "3" and meta["sweep"]["configurations"] == "4"
		assert len(set(meta["sweep"]["order"].split())) == 8
		assert "-Lbatch=1,16" in meta["run"]["command_line"]
		assert "--output=" + directory in meta["run"]["command_line"]
		text = open(out).read()
		assert "4 configurations x 2 repetitions = 8 rows" in text
		assert "no recommendation: 2 repetitions are too few" in text, text
		assert "tick-time" in text and "CPU/op" in text and "/2 " in text, text
	EOS
}
holds "a sweep: every combination in every file, too few repetitions to recommend" again has_rows
swept_settings() {
	sql "$work/a" "SELECT result FROM row LIMIT 1" | grep -q '"repetitions":1' &&
		python3 - "$work/a/result.json" <<-'EOS'
			import sys
			text = open(sys.argv[1]).read().replace("\n", "").replace(" ", "")
			assert text.count('"swept":true') >= 8, text.count('"swept":true')
			assert '"number":10000' in text
		EOS
}
holds "what varies is marked among the settings, with its number" swept_settings
in_order() {
	sql "$work/a" "SELECT configuration || '.' || repetition FROM row ORDER BY rowid" |
		paste -sd' ' >"$work/done"
	python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["sweep"]["order"])' \
		"$work/a/meta.json" | cmp - "$work/done"
}
holds "rows ran in the order of the plan" in_order
refuses "a directory that holds a result" "already holds a result" \
	-w yield -L batch=1,2 -o "$work/a"

# Of a policy that is swept every value is a setting, but what is given.
policies() {
	rm -rf "$work/p"
	# shellcheck disable=SC2086
	"$program" sweep -w yield --yields 100 -L policy=spec,default --wake local $quick \
		-r 1 -q -o "$work/p" && python3 - "$work/p" <<-'EOS'
			import csv, json, sys
			labels = [dict(w.split("=") for w in r["label"].split())
			          for r in csv.DictReader(open(sys.argv[1] + "/runs.csv"))]
			rows = {label["policy"]: label for label in labels}
			assert rows["spec"]["hold-time"] == "0s", rows
			assert rows["default"]["hold-time"] == "50us", rows
			assert rows["spec"]["continue"] == "front", rows
			assert "wake" not in rows["spec"], rows
			options = json.load(open(sys.argv[1] + "/meta.json"))["options"]
			assert options["policy"] == options["hold-time"] == "swept", options
			assert options["wake"] == "local", options
		EOS
}
holds "a policy is gone through, with its values" again policies
refuses "an unknown policy" "yield policy=spce: --policy: 'spce'.*did you mean 'spec'" \
	-w yield -L policy=default,spce

# With five repetitions there is a recommendation; these two are worlds apart.
recommends() {
	rm -rf "$work/b"
	# shellcheck disable=SC2086
	"$program" sweep -w yield --yields 200 -L handler=async,immediate $quick -r 5 \
		--objective cpu_ns_per_op -o "$work/b" >"$work/out" 2>&1 || return 1
	grep -q "^yield: best cpu_ns_per_op: handler=immediate, [0-9.]* [nu]s\.$" "$work/out" &&
		grep -q "^  All others are worse, by at least [0-9.e+]* %" "$work/out" &&
		grep -q "^immediate .* best " "$work/out" && grep -q "^ *async .* worse " "$work/out" &&
		python3 -c 'import json, sys
meta = json.load(open(sys.argv[1]))
assert ": best cpu_ns_per_op: handler=immediate" in meta["answer"]["text"]
assert "--objective=cpu_ns_per_op" in meta["run"]["command_line"], meta["run"]' "$work/b/meta.json"
}
holds "a recommendation, with its confidence, also in the result" again recommends

refuses "three objectives" "'wall_s' is one too many; expected at most 2" \
	-w yield -L batch=1,2 --objective ns_per_op,cpu_ns_per_op,wall_s

# Runs that go wrong.
spoils() {
	rm -rf "$work/w"
	# shellcheck disable=SC2086
	"$wrong" sweep -w wrong,crashing,deaf,yield --yields 1000 -L batch=1,16 $quick -r 1 \
		--kill-after 3s -o "$work/w" >"$work/out" 2>"$work/err"
	[ $? -eq 2 ] && [ ! -s "$work/err" ] && python3 - "$work/w" <<-'EOS'
		import json, sys
		result = json.load(open(sys.argv[1] + "/result.json"))
		assert {r["sched_bench"]["workload"] for r in result["benchmarks"]} == {"yield"}
		assert len(result["benchmarks"]) == 2
		why = {}
		for row in result["sched_bench"]["invalid"]:
		    why.setdefault(row["workload"], []).append(row["reason"])
		assert all(len(rows) == 2 for rows in why.values()), why
		assert "wrong answer" in why["wrong"][0], why
		assert "killed after 3s" in why["deaf"][0], why
		assert "it said: deaf" in why["deaf"][0], why
		assert len(why) == 3, why
	EOS
}
holds "a wrong answer, a crash and a hang cost their own rows" again spoils
sanitized() {
	grep -q -e '-fsanitize' "$(dirname "$wrong")/../flags" 2>/dev/null
}
if sanitized; then
	n=$((n + 1))
	echo "ok $n - stacks # SKIP crashes are the sanitizer's in this build"
else
	stacks() {
		sql "$work/w" "SELECT stderr FROM row WHERE signal = 11 LIMIT 1" >"$work/crash"
		sql "$work/w" "SELECT stderr FROM row WHERE signal = 3 LIMIT 1" >"$work/hang"
		[ "$(grep -c 'stack of thread' "$work/crash")" -eq 1 ] &&
			grep -q "SIGSEGV" "$work/crash" && grep -q "sb_worker_run" "$work/crash" &&
			[ "$(grep -c 'stack of thread' "$work/hang")" -ge 3 ] &&
			grep -q "sb_worker_run" "$work/hang" && grep -q "(main+" "$work/hang" &&
			grep -q "crashed: SIGSEGV (.*) in sb_worker_run < sb_worker_loop" "$work/out"
	}
	holds "the crash has its stack, the hang those of all threads" stacks
fi

# Killed in the middle.
lost_nothing() {
	rm -rf "$work/k"
	# shellcheck disable=SC2086
	python3 tests/command/tools/sweep_signal.py SIGKILL 3 "$work/k" "$program" sweep -w yield \
		--yields 1000 -L batch=1,16 -r 4 $quick >"$work/status"
	[ "$(cat "$work/status")" = -9 ] && [ ! -e "$work/k/result.json" ] || return 1
	sql "$work/k" "SELECT * FROM row" >"$work/before"
	"$program" sweep --resume "$work/k" -q && [ ! -e "$work/k/plots" ] || return 1
	sql "$work/k" "SELECT * FROM row" >"$work/after"
	[ "$(sql "$work/k" "SELECT count(*) FROM row JOIN planned USING (configuration, repetition)")" = 8 ] &&
		[ -s "$work/before" ] &&
		head -c "$(stat -c %s "$work/before")" "$work/after" | cmp - "$work/before" &&
		[ "$(grep -c '"run_name"' "$work/k/result.json")" = 8 ] &&
		[ ! -e "$work/k/sweep.row" ]
}
holds "kill -9 and --resume: every row once, those that were there unchanged" again lost_nothing
measures_nothing() {
	sql "$work/k" "SELECT max(started), count(*) FROM row" >"$work/before"
	rm "$work/k/result.json"
	# The same command line is the same sweep; and nothing is left to do.
	# shellcheck disable=SC2086
	"$program" sweep -w yield --yields 1000 -L batch=1,16 -r 4 $quick --resume -q \
		-o "$work/k" || return 1
	sql "$work/k" "SELECT max(started), count(*) FROM row" | cmp - "$work/before" &&
		[ -s "$work/k/result.json" ]
}
holds "--resume of a whole sweep measures nothing, and writes its result" measures_nothing

# Invalid rows are made up for by whole repetitions, half of those planned at most; where all rows of a
# configuration are invalid, none is expected to help. In virtual time no other row is invalid.
loses() {
	rm -rf "$work/e"
	# shellcheck disable=SC2086
	"$program" sweep -w yield --yields 100 -L batch=1,16 --virtual --profile desktop-2ccd $quick -r 4 -q \
		-o "$work/e" || return 1
	sql "$work/e" "UPDATE row SET result = NULL, reason = 'lost' WHERE configuration = 1 AND repetition < $1"
	rm "$work/e/result.json"
	"$program" sweep --resume "$work/e" >"$work/out"
	[ "$(sql "$work/e" "SELECT (SELECT count(*) FROM row), (SELECT count(*) FROM planned)")" = \
		"$((2 * (4 + $2)))|$((2 * (4 + $2)))" ] &&
		grep -q "\"extra_repetitions\": *\"$2\"" "$work/e/meta.json"
}
made_up() {
	loses 1 1 && grep -q "^yield, 5 repetitions, 1 of them to make up for invalid rows; " "$work/out" &&
		grep -q " 4.*/5" "$work/out" && loses 2 2 && loses 3 2 && loses 4 0 &&
		grep -q "; not judged, and may be better: batch=16 (0 of 4 rows)" "$work/out"
}
goes_on() {
	loses 3 2 || return 1
	rm "$work/e/result.json"
	"$program" sweep --collect "$work/e" --no-plots -q
	[ "$(sql "$work/e" "SELECT count(*) FROM row")" = 12 ]
}

# Headline, table, facts, page and picture agree, whichever rows are missing. The rows are the same each
# time, because times are virtual; a seeded draw removes some of them from the store.
agrees() {
	rm -rf "$work/c"
	cp -r "$work/whole" "$work/c"
	python3 - "$work/c/sweep.db" "$1" <<-'EOS'
		import random, sqlite3, sys
		store = sqlite3.connect(sys.argv[1])
		draw = random.Random(1)
		for row in store.execute("SELECT configuration, repetition FROM row").fetchall():
		    if draw.random() < float(sys.argv[2]):
		        store.execute("UPDATE row SET result = NULL, reason = 'removed' WHERE configuration = ? AND repetition = ?", row)
		store.commit()
	EOS
	"$program" sweep --collect "$work/c" --objective "$2" --no-plots >"$work/terminal" 2>"$work/err"
	"$program" report "$work/c" -o "$work/c/report.md" || return 1
	if command -v gnuplot >/dev/null; then
		"$program" plot sweep "$work/c" -o "$work/c/sweep.svg" || return 1
		python3 tests/command/tools/contest.py "$work/c" "$work/terminal" "$work/c/sweep.svg"
	else
		python3 tests/command/tools/contest.py "$work/c" "$work/terminal"
	fi
}
whole() {
	"$program" sweep -w service --load 30% --service exp:20us -L spin-time=0ns,20us,40us,60us --virtual \
		--profile desktop-2ccd -d 5ms --warmup 0s --no-plots -r 5 -q -o "$work/whole" || return 1
	rm "$work/whole/result.json"
}
agree() {
	rm -rf "$work/whole"
	whole || return 1
	for share in 0.00 0.15 0.30; do
		agrees "$share" "$1" || return 1
	done >"$work/headlines"
	cat "$work/headlines" "$work/err"
	grep -q "not judged" "$work/headlines" && grep -q "may be as good" "$work/headlines"
}
if has_virtual; then
	holds "invalid rows are made up for by whole repetitions" made_up
	holds "which a store keeps" goes_on
	holds "headline, table, page and picture of a sweep agree" agree sojourn_ns_p90
	holds "so they do with two objectives" agree sojourn_ns_p50,cpu_ns_per_op
else
	skips "rows that are missing, and what is said then" "this build has no virtual time"
fi

# SQLite would go on writing to the removed file.
sees_removal() {
	"$program" sweep -w yield -L batch=1,16 -r 1000 -d 10ms --warmup 0s --no-plots -q \
		-o "$work/gone" 2>"$work/err" &
	while [ ! -e "$work/gone/sweep.db-wal" ]; do sleep 0.1; done
	rm "$work/gone/sweep.db"
	wait $!
	[ $? -eq 4 ] && [ "$(wc -l <"$work/err")" -eq 1 ] && grep -q 'has been removed' "$work/err"
}
holds "a store that is removed during the sweep ends it" sees_removal

# In order, by Ctrl-C.
ends_in_order() {
	rm -rf "$work/i"
	# shellcheck disable=SC2086
	python3 tests/command/tools/sweep_signal.py SIGINT 1 "$work/i" "$program" sweep -w yield \
		--yields 1000 -L batch=1,16 -r 50 -d 400ms --warmup 0s --no-plots >"$work/status"
	[ "$(cat "$work/status")" = 2 ] && [ "$(sql "$work/i" "PRAGMA quick_check")" = ok ] &&
		python3 - "$work/i/result.json" \
			"$(sql "$work/i" "SELECT count(*) FROM row")" <<-'EOS'
				import json, sys
				result = json.load(open(sys.argv[1]))
				invalid = result["sched_bench"]["invalid"]
				assert len(result["benchmarks"]) == int(sys.argv[2]) >= 1
				assert len(result["benchmarks"]) + len(invalid) == 100
				assert {row["reason"] for row in invalid} == {"not measured"}, invalid
			EOS
}
holds "Ctrl-C: what is complete is written, what is missing is marked" again ends_in_order
collects() {
	before=$(sql "$work/i" "SELECT count(*) FROM row")
	rm "$work/i/result.json"
	"$program" sweep --collect "$work/i" --no-plots -q
	[ $? -eq 2 ] && [ -s "$work/i/result.json" ] &&
		[ "$(sql "$work/i" "SELECT count(*) FROM row")" = "$before" ]
}
holds "--collect writes the result at any time, and runs nothing" collects

# Who may not go on with it.
# shellcheck disable=SC2086
refuses "--resume with another command line" "expected -Lbatch=1,16; this one has -Lbatch=1,17" \
	-w yield --yields 1000 -L batch=1,17 -r 50 -d 400ms --warmup 0s --resume -o "$work/i"
second_sweep() {
	python3 - "$work/i/sweep.lock" "$program" sweep --resume "$work/i" 2>"$work/err" <<-'END'
		import fcntl, subprocess, sys
		with open(sys.argv[1], "w") as lock:
		    fcntl.lockf(lock, fcntl.LOCK_EX)
		    sys.exit(subprocess.run(sys.argv[2:]).returncode)
	END
	[ $? -eq 3 ] && grep -q "another sweep is using" "$work/err"
}
holds "two sweeps with one store" second_sweep
sql "$work/k" "UPDATE plan SET value = 'another processor' WHERE key = 'machine'"
refuses "--resume on another machine" "another machine: expected another processor" \
	--resume "$work/k"
sql "$work/a" "UPDATE plan SET value = 'version 0' WHERE key = 'build'"
refuses "--resume with another build" "another build.*expected version 0.*--other-build" \
	--resume "$work/a"
holds "unless that is asked for" "$program" sweep --resume "$work/a" --other-build -q \
	--no-plots

# Stores that are none.
# spoil COMMAND...: makes a copy of the store and spoils it.
copy() {
	rm -rf "$work/s"
	mkdir "$work/s"
	cp "$work/b/sweep.db" "$work/s/"
}
copy
sql "$work/s" "PRAGMA user_version = 2"
refuses "a store of a newer schema" "has version 2 of its schema; expected 1" \
	--resume "$work/s"
copy
truncate -s 20000 "$work/s/sweep.db"
refuses "a store that is cut short" "is damaged or cut short" --resume "$work/s"
copy
truncate -s 0 "$work/s/sweep.db"
refuses "an empty store" "is not the store of a sweep" --resume "$work/s"
copy
yes "not a database" | head -c 8192 >"$work/s/sweep.db"
refuses "a store that is not ours" "is not the store of a sweep" --collect "$work/s"
echo "1..$n"
