#!/bin/sh
# The command as a user meets it: help, errors and their exit status, the result
# directory, formats. Prints TAP.
# usage: test_command.sh BUILD_DIRECTORY
set -u
program=$1/sched-bench
wrong=$1/tests/sched-bench-wrong
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh

is_json() {
	python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$1"
}

quick='--duration 1ms --warmup 0s --repetitions 2 --no-plots'

# fits LINES ARGUMENT...
fits() {
	lines=$1
	shift
	"$program" "$@" >"$work/help" && [ "$(wc -l <"$work/help")" -le "$lines" ] &&
		[ "$(wc -L <"$work/help")" -le 125 ]
}
holds "help fits a screen" fits 50 --help
holds "help of topo fits a screen" fits 50 topo --help
holds "help of calibrate fits a screen" fits 50 calibrate --help
holds "help of run fits two screens" fits 100 run --help
holds "help of gate fits two screens" fits 100 gate --help
holds "no arguments: help" "$program"
holds "version" "$program" --version
helps() {
	"$program" help sweep >"$work/help" && "$program" sweep --help | cmp - "$work/help"
}
holds "help VERB is VERB --help" helps
topics() {
	"$program" help --help | sed -n '/^  questions /d; /^  glossary /d; s/^  \([a-z][a-z]*\) .*/\1/p' >"$work/topics"
	[ "$(wc -l <"$work/topics")" -gt 10 ] || return
	head -1 results/record/README.md >"$work/title"
	while read -r topic; do
		"$program" help "$topic" >"$work/topic" && grep -q '^# ' "$work/topic" || return
	done <"$work/topics"
	"$program" help validity >"$work/topic" && head -1 "$work/topic" | cmp - "$work/title" &&
		grep -q '^## ' "$work/topic" && ! grep -q '^| file |\|^## To add' "$work/topic"
}
holds "help TOPIC is a text, each of those that are listed" topics
unhidden() {
	"$program" list workloads --format json >"$work/workloads.json" &&
		"$program" list options --format json >"$work/options.json" &&
		python3 - "$work" <<-'EOF'
			import json, sys
			workloads, options = (json.load(open(f"{sys.argv[1]}/{name}.json")) for name in ("workloads", "options"))
			taken = {o["name"].lstrip("-") for o in options if {"run", "sweep", "gate", "explore"} & set(o["verbs"])}
			own = [(w["name"], p["name"]) for w in workloads for p in w["parameters"]]
			assert len(own) > 50 and not [o for o in own if o[1].lstrip("-") in taken], own
		EOF
}
holds "no option hides a workload's parameter" unhidden
column() {
	"$program" help CPU/op | grep -q '^CPU/op, in sched-bench help summary:$'
}
holds "help of a column with a slash" column
refuses "a topic that does not exist" 3 "did you mean 'validity'" help validty
refuses "help of nothing like it" 3 "nothing is called 'xyzzy'" help xyzzy
refuses "two letters exchanged" 3 "unknown verb 'rnu'; did you mean 'run'" rnu
refuses "help of a misspelt verb" 3 "'swep'; did you mean 'sweep'" help swep
refuses "an option of another verb" 3 "unknown option '-L'; sweep has it, run has not" run -L batch=1
refuses "an option of several verbs: run comes first" 3 "run has it, ab has not" ab --slowdown 5%
refuses "in a group of letters, too" 3 "sweep has it, run has not" run -qL batch=1
lists() {
	"$program" list "$1" >"$work/list.txt" && [ -s "$work/list.txt" ] &&
		"$program" list "$1" --format json >"$work/list.json" &&
		"$program" list "$1" --format csv >"$work/list.csv" &&
		python3 - "$work" <<-'EOF'
			import csv, json, re, sys
			rows = json.load(open(sys.argv[1] + "/list.json"))
			table = list(csv.DictReader(open(sys.argv[1] + "/list.csv")))
			assert rows and len(rows) == len(table)
			for row, line in zip(rows, table):
			    assert set(row) <= set(line) and line["name"] == row["name"]
			    for key, cell in line.items():
			        value = row.get(key, "")
			        cell = re.sub(r"^'(?='*[=+\-@\t\r])", "", cell)  # see results/text/README.md
			        same = cell == value if isinstance(value, str) else json.loads(cell) == value
			        assert same, (key, cell, value)
		EOF
}
for what in $("$program" list --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
	holds "list $what: text, JSON and CSV say the same" lists "$what"
done
refuses "a list that does not exist" 3 "did you mean 'metrics'" list metrcs
refuses "JSON is asked for with --format" 3 "here it is --format json" list metrics --json

# check: every probe a line, and as JSON; a loaded machine may warn of anything.
holds "help of check fits a screen" fits 50 check --help
holds "check" "$program" check
check_is_right() {
	"$program" check --format json >"$work/check.json" || return 1
	"$program" check --format csv | head -1 | grep -qx 'name,state,found,spoils,mend' || return 1
	"$program" check --strict --format json >"$work/strict.json"
	python3 - $? "$work/check.json" "$work/strict.json" <<-'EOF'
		import json, sys
		rows, strict = (json.load(open(name)) for name in sys.argv[2:])
		assert len(rows) == len(strict) == len({r["name"] for r in rows}) > 15
		assert all(r["state"] in ("ok", "warn", "unknown") for r in rows + strict)
		assert all(bool(r["mend"]) == (r["state"] == "warn") for r in rows)
		warns = any(r["state"] == "warn" for r in strict)
		assert sys.argv[1] == ("4" if warns else "0"), sys.argv[1]
	EOF
}
holds "check: JSON, and --strict exits with 4 if it warns" check_is_right
refuses "check takes no words" 3 "check: 'all' is not expected" check all
refuses "check has no workloads" 3 "unknown option '-w'" check -w yield
refuses "a percentage without its sign" 3 "expected none|PERCENT, PERCENT from 0.1% to 100%" \
	run -w yield --until-ci 1
refuses "an interval of one fork" 3 "until-ci: '5%' .*expected several --forks" \
	run -w yield --until-ci 5% --forks 1
refuses "an interval in virtual time" 3 "until-ci: '5%' .*expected several --forks" \
	run -w yield --until-ci 5% --virtual
refuses "several forks of a trace" 3 "forks: '2' .*expected 1 with --virtual, --find-slo, --trace" \
	run -w yield --forks 2 --trace
refuses "a warm-up that is neither" 3 "from 0ns to 1h, or auto" run -w yield --warmup steady

# repeats DIRECTORY OPTIONS CONDITION: what holds of the rows.
repeats() {
	rm -rf "${work:?}/$1"
	# shellcheck disable=SC2086
	SCHED_BENCH_DURATION=1ms SCHED_BENCH_WARMUP=0s SCHED_BENCH_REPETITIONS=2 \
		"$program" run -w yield --yields 1000 --no-plots -q -o "$work/$1" $2 2>"$work/err" &&
		python3 - "$work/$1" <<-EOF
			import csv, sys
			rows = list(csv.DictReader(open(sys.argv[1] + "/runs.csv")))
			assert $3, len(rows)
			assert [int(r["repetition"]) for r in rows] == list(range(len(rows)))
			assert all(r["ns_per_op"] for r in rows)
		EOF
}
holds "--warmup auto ends" repeats rest "--warmup auto" "len(rows) == 2"
sees_the_system() {
	repeats seen "--park poll" "len(rows) == 2" && python3 - "$work/seen" <<-'EOF'
		import csv, sys
		workers = list(csv.DictReader(open(sys.argv[1] + "/workers.csv")))
		runs = list(csv.DictReader(open(sys.argv[1] + "/runs.csv")))
		names = ("vol_ctxsw", "invol_ctxsw", "minor_faults", "major_faults")
		own = lambda r, name: [int(w[name]) for w in workers if w["repetition"] == r["repetition"]]
		assert all(sum(own(r, name)) == int(r[name]) for r in runs for name in names)
		assert all(r["host_steal_pct"] and r["clock_step_ms"] for r in runs)
		assert all(r["valid"] in ("valid", "suspect") for r in runs)
		assert all((r["valid"] == "suspect") == bool(r["reason"]) for r in runs)
	EOF
}
holds "the system's view of each worker is in the files" sees_the_system

refuses "unknown verb" 3 "unknown verb 'walk'" walk
refuses "unknown list" 3 "expected workloads, .* or topics" list everything
names_are_searched() {
	"$program" help metrics | grep -q '^ns_per_op ' &&
		"$program" help queue50 | grep -q 'time in queues, from Ready to Running' &&
		"$program" help p99 | grep -q '99 % of the events' &&
		"$program" help runtime | grep -q 'here it is --duration' &&
		"$program" help sojourn_ns | grep -q 'Metric sojourn_ns_p99 '
}
holds "help finds words of lists, explanations and texts" names_are_searched
refuses "unknown option, with a suggestion" 3 "did you mean --spin-yield" \
	run -w yield --spin-yeild 3
refuses "the beginning of several options" 3 \
	"did you mean --spin-tight, --spin-yield or --spin-time?$" run -w yield --spin 3
refuses "a word of another tool with one dash" 3 "unknown option '-cpuprofile'" \
	run -w yield -cpuprofile x
refuses "no value" 3 "^sched-bench: -r: a value is missing; expected a count from 1 to 1000$" \
	run -w yield -r
refuses "a time where a workload belongs" 3 "'3'; -w names a workload, --warmup is a time$" run -w 3
refuses "a trace on requests that there are not" 3 "none of the chosen workloads takes requests$" \
	run -w yield --trace-on 'sojourn>5ms'
refuses "unknown workload, with a suggestion" 3 "did you mean 'pingpong'" \
	run -w pingpng
refuses "bad value" 3 "'12x'.*expected a count from 0 to 1000000" \
	run -w yield --spin-tight 12x
refuses "value out of range" 3 "'65'.*from 1 to 64" run -w yield --steal-cap 65
# Options that do nothing without another say which.
refuses "an option whose other one is missing" 3 "^sched-bench: --look-ahead: only with --virtual$" \
	run -w yield --look-ahead 20ns
refuses "the same in a sweep" 3 "chunks: only with --on$" sweep -w yield -L batch=1,2 --chunks 3
refuses "the same in a gate" 3 "slowdowns: only with --selftest$" gate --slowdowns 2%
printf '[one]\nworkload=yield\nlook-ahead=20ns\n' >"$work/alone.ini"
refuses "the same in a job" 3 "look-ahead: only with --virtual$" run "$work/alone.ini"
refuses "the default is no exception" 3 "look-ahead: only with --virtual$" \
	run -w yield --look-ahead 50ns
refuses "an option that needs one of several" 3 \
	"only with --trace or --trace-on or --record-actors$" run -w yield --trace-events 64
holds "one of them is enough" "$program" run -w yield --trace-events 64 --record-actors x --show-job
holds "but its help is printed" "$program" run --look-ahead 20ns --help
environment_may_have_it() {
	SCHED_BENCH_LOOK_AHEAD=20ns "$program" run -w yield --show-job >"$work/alone"
}
holds "in the environment it may be meant for other runs" environment_may_have_it
in_environment() {
	env "$1=3" "$program" run -w yield >"$work/out" 2>&1
	[ $? -eq 3 ] && [ "$(wc -l <"$work/out")" -eq 1 ] && grep -q "$2" "$work/out"
}
holds "a misspelt option in the environment" in_environment \
	SCHED_BENCH_SPIN_YEILD "did you mean SCHED_BENCH_SPIN_YIELD?$"
holds "one in small letters" in_environment \
	SCHED_BENCH_spin_yield "did you mean SCHED_BENCH_SPIN_YIELD?$"
holds "a parameter in the environment" in_environment \
	SCHED_BENCH_LEAVES "expected --leaves on the command line"
holds "an option of another verb in the environment is left alone" \
	env SCHED_BENCH_PAIRS=3 "$program" run -w yield --show-job
refuses "a part of another tool's flags" 3 "'-count=5'; here it is --repetitions N" \
	run -w yield -count=5
refuses "a parameter of other workloads in a sweep" 3 "none of the chosen .*'leaves'$" \
	sweep -w yield -L leaves=10,100
refuses "a dry run with another cluster" 3 "'pbs'.*expected slurm" \
	sweep -w yield -L batch=1,2 --on pbs --dry-run
mkdir "$work/held" && : >"$work/held/result.json"
refuses "a result where a kind of picture belongs" 3 "its kind is missing; expected all $work/held" \
	plot "$work/held"
refuses "a dry run into a result" 3 "already holds a result" \
	sweep -w yield -L batch=1,2 -o "$work/held" --dry-run
refuses "--show-job refuses what a run refuses" 3 "'5k'.*is not valid" \
	run -w service --rate 5k --show-job
refuses "an unknown policy, with a suggestion" 3 \
	"'spce'.*expected default|spec; did you mean 'spec'" run -w yield --policy spce
refuses "no workload" 3 "no workload" run
refuses "too many workers" 3 "expected at most that, or --oversubscribe" \
	run -w yield --workers 4000
refuses "result directory cannot be made" 3 "cannot be written" \
	run -w yield -o /dev/null/results
refuses "result directory cannot be written" 3 "cannot be written" \
	run -w yield -o /dev/null/here

print_json() {
	# shellcheck disable=SC2086
	"$program" run -w skynet --leaves 1000 $quick -o "$work/json" \
		--format json >"$work/result.json"
}
holds "run --format json" print_json
holds "it prints one JSON document" is_json "$work/result.json"
for file in result.json meta.json; do
	holds "$file is JSON" is_json "$work/json/$file"
done
holds "what it prints is result.json" cmp "$work/result.json" "$work/json/result.json"
for file in runs.csv workers.csv yields.csv steals.csv spins.csv latency.csv memory.csv report.html; do
	holds "$file is there" test -s "$work/json/$file"
done
holds "no temporary file is left" sh -c "! ls '$work/json' | grep -q tmp"
refuses "a result is not overwritten" 3 "already holds a result" \
	run -w yield -o "$work/json"

run_three() {
	# shellcheck disable=SC2086
	"$program" run -w pingpong,yield,skynet --round-trips 1000 \
		--yields 1000 --leaves 100 $quick -o "$work/all" >"$work/summary"
}
holds "three workloads in one run" run_three
holds "the summary has a line for each" \
	sh -c "[ \$(grep -cE ' (2|1\+1|0\+2)/2  ' '$work/summary') -eq 3 ]"
# shellcheck disable=SC2086
holds "yields completed by another thread" "$program" run -w yield \
	--handler async --processes 10 --yields 200 $quick -q -o "$work/async"
# shellcheck disable=SC2086
holds "more workers than cores" "$program" run -w skynet --leaves 1000 \
	--workers 16 --oversubscribe $quick -q -o "$work/over"
for policy in "--deque chase-lev" "--steal one" "--steal 3" "--victim near" \
	"--victim last" "--mailbox-bound 100" "--tick-time 0s --event-time 0s" \
	"--continue front --gather no" "--dead-max 64KiB" \
	"--arena per-numa" "--arena shared" "--membind interleave" "--membind none" \
	"--huge-pages transparent" "--huge-pages explicit"; do
	# shellcheck disable=SC2086
	holds "$policy" "$program" run -w skynet --leaves 1000 $policy $quick \
		-q -o "$work/policy$policy"
done
# A policy's values are in the result and in the job file as if they were given.
has_the_policys_values() {
	# shellcheck disable=SC2086
	"$program" run -w yield --yields 100 --policy spec --hold-time 50us $quick -q \
		-o "$work/spec" && "$program" list policies --format json >"$work/policies.json" &&
		python3 - "$work" <<-'EOF'
			import json, sys
			policies = {p["name"]: p["options"]
			            for p in json.load(open(sys.argv[1] + "/policies.json"))}
			meta = json.load(open(sys.argv[1] + "/spec/meta.json"))
			options, sources = meta["options"], meta["option_sources"]
			assert policies["default"] == {} and len(policies["spec"]) == 6, policies
			for name, value in policies["spec"].items():
			    given = name == "hold-time"
			    assert options[name] == ("50us" if given else value), (name, options)
			    assert sources[name] == ("command line" if given else "policy"), name
			assert options["policy"] == "spec" and options["tick"] == "61"
		EOF
}
holds "--policy: every value is in the result, and what is given wins" has_the_policys_values
shows_the_policys_values() {
	"$program" run -w yield --policy spec --wake local --show-job >"$work/spec.ini" &&
		! grep -q policy "$work/spec.ini" && grep -qx wake=local "$work/spec.ini" &&
		grep -qx gather=no "$work/spec.ini" &&
		"$program" run "$work/spec.ini" --show-job | cmp - "$work/spec.ini"
}
holds "--show-job has a policy's values, not its name" shows_the_policys_values

# A warning is a line; what the machine has is no error.
huge_pages() {
	free=$(cat /sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages 2>/dev/null || echo 0)
	# shellcheck disable=SC2086
	"$program" run -w yield --yields 100 --huge-pages explicit $quick -q \
		-o "$work/huge" 2>"$work/stderr" || return 1
	[ "$free" -gt 0 ] || {
		[ "$(wc -l <"$work/stderr")" -eq 1 ] &&
			grep -q 'no free huge pages of 2 MiB' "$work/stderr"
	}
}
holds "without huge pages --huge-pages says what it uses" huge_pages

# What each level leaves out is empty, and the parts of the time are all of it.
records() {
	# shellcheck disable=SC2086
	"$program" run -w skynet --leaves 1000 --record "$1" $quick -q \
		-o "$work/record $1" && python3 - "$work/record $1" "$1" <<-'EOF'
			import csv, sys
			def read(name):
			    return list(csv.DictReader(open(f"{sys.argv[1]}/{name}.csv")))
			level = sys.argv[2]
			parts = ("work scheduler harness steal_ok steal_failed spin blocked"
			         " unaccounted").split()
			for row in read("runs") + read("workers"):
			    assert row["steps"] != ""
			    for name in "busy_ns", "spin_ns", "busy_pct", "blocked_pct":
			        assert (row[name] == "") == (level == "off"), name
			    if row["work_pct"]:
			        total = sum(float(row[p + "_pct"]) for p in parts)
			        assert abs(total - 100) < 0.001, total
			for row in read("runs"):
			    timed = level in ("full", "sampled:2")
			    for name in "ready_to_running", "step_time", "lifetime":
			        assert (row[name + "_ns_p50"] != "") == timed, name
			    assert (row["work_pct"] != "") == timed
			    assert (row["steal_attempts"] == "") == (level == "off")
			    assert (row["steals_per_op"] == "") == (level == "off")
			    if level == "full":
			        assert row["step_time_timed"] == row["steps"]
			        assert row["work_pct_error"] == "0"
			assert (read("latency") == []) == (level in ("off", "counters"))
			assert (read("spins") == []) == (level == "off")
		EOF
}
for level in off counters sampled:2 full; do
	holds "--record $level" records $level
done

yields_by_command() {
	# shellcheck disable=SC2086
	"$program" run -w timers --processes 100 --yields 1000 --record "$1" $quick \
		-q -o "$work/yields-$1" && python3 - "$work/yields-$1" <<-'EOF'
			import csv, json, sys
			def read(name):
			    return list(csv.DictReader(open(f"{sys.argv[1]}/{name}.csv")))
			yields, workers, runs = read("yields"), read("workers"), read("runs")
			def total(rows, *keys):
			    sums = {}
			    for row in rows:
			        key = tuple(row[k] for k in keys)
			        sums[key] = sums.get(key, 0) + int(row.get("count") or row["yields"])
			    return {k: n for k, n in sums.items() if n}
			assert total(yields, "repetition", "worker") == total(workers, "repetition", "worker")
			by_name = total(yields, "repetition", "name")
			for row in runs:
			    at = row["repetition"]
			    assert int(row["yields_sleep"]) == by_name[at, "sleep"] > 0, row
			    assert int(row["yields_other"]) == by_name.get((at, ""), 0), row
			    names = [k for k in row if k.startswith("yields_")]
			    assert sum(int(row[k]) for k in names) == int(row["yields"]), row
			rows = json.load(open(f"{sys.argv[1]}/result.json"))["benchmarks"]
			assert sum(w.get("yields_by_command", {}).get("sleep", 0) for r in rows
			           for w in r["sched_bench"]["workers"]) == sum(
			    int(r["count"]) for r in yields if r["command"] == "248")
		EOF
}
for level in off full; do
	holds "yields are counted by command, --record $level" yields_by_command $level
done

for workload in "hog --victims 100" "timers --processes 100 --yields 1000" \
	"population --processes 1000"; do
	# shellcheck disable=SC2086
	holds "-w $workload" "$program" run -w $workload $quick -q \
		-o "$work/of $workload"
done
refuses "a time without its unit" 3 "'300'.*expected a time with its unit" \
	run -w short-handlers --work 300
refuses "a time beyond its bound" 3 "'11s'.*of at most 10s" \
	run -w stuck-slot --after 11s

# Each operation of these three is timed once, and nobody else's. In stuck-slot
# every third is one of a long step.
times_are_told() {
	# shellcheck disable=SC2086
	"$program" run -w trickle --count 5 --period-us 100 -w wake-latency \
		--wakes 5 --pause-us 100 -w stuck-slot --messages 6 --every 3 \
		--after 20us -w submit -w yield --yields 100 $quick \
		-q -o "$work/told" || return 1
	python3 - "$work/told" <<-'EOF'
		import csv, sys
		for row in csv.DictReader(open(sys.argv[1] + "/runs.csv")):
		    name = row["name"].split("/")[0]
		    timed = name in ("trickle", "wake-latency", "stuck-slot")
		    long = int(row["operations"]) // 3 if name == "stuck-slot" else 0
		    assert row["wake_timed"] == (row["operations"] if timed else "0"), row
		    assert (row["wake_ns_p50"] != "") == (int(row["wake_timed"]) >= 20), row
		    assert row["wake_long_step_timed"] == str(long), row
		    assert (row["submit_ns_per_op"] != "") == (name == "submit"), row
		    if name == "submit":
		        assert float(row["submit_ns_per_op"]) <= float(row["ns_per_op"]), row
	EOF
}
holds "what a workload times itself is in the results" times_are_told
for wake in local affine global; do
	# shellcheck disable=SC2086
	holds "--wake $wake" "$program" run -w pingpong --pairs 20 \
		--round-trips 100 --wake $wake $quick -q -o "$work/wake-$wake"
done
for park in condvar futex poll; do
	# shellcheck disable=SC2086
	holds "--park $park" "$program" run -w pingpong --pairs 20 \
		--round-trips 100 --park $park $quick -q -o "$work/park-$park"
done
# shellcheck disable=SC2086
holds "--self-message" "$program" run -w pingpong --self-message yes \
	--round-trips 1000 $quick -q -o "$work/self"

invalid() {
	# shellcheck disable=SC2086
	"$wrong" run -w "$1" $quick --timeout 1s -o "$work/$1" >"$work/out" 2>&1
	got=$?
	[ $got -eq 2 ] && grep -q "invalid ($2" "$work/out" &&
		python3 - "$work/$1" <<-'EOF'
			import csv, json, sys
			rows = list(csv.DictReader(open(sys.argv[1] + "/runs.csv")))
			result = json.load(open(sys.argv[1] + "/result.json"))
			assert len(rows) == 2
			assert all(r["valid"] == "invalid" for r in rows)
			assert all(r["real_time"] == r["ns_per_op"] == "" for r in rows)
			assert result["benchmarks"] == []
			assert len(result["sched_bench"]["invalid"]) == 2
		EOF
}
holds "a wrong answer: status 2 and no numbers" invalid wrong "wrong answer: it never"
holds "a round without end: status 2 and no numbers" invalid stuck "a round did not end"

# It is in the table, and no table is empty.
shows_no_numbers() {
	# shellcheck disable=SC2086
	"$wrong" run -w wrong $quick -o "$work/none" >"$work/out"
	grep -qE '^wrong +- +- +- +0/2 ' "$work/out" && ! grep -q '^workload .*stolen' "$work/out"
}
holds "a workload without numbers is in the summary" shows_no_numbers
refuses "a workload twice" 3 "workload 'yield' is named twice; expected each once" run -w yield,yield

saves_what_is_complete() {
	# Twice at once is what a wrapper makes of one Ctrl-C.
	status=$(python3 tests/command/tools/interrupt.py "$program" yield "1/100 " "$work/int" 0)
	hung_up=$(python3 tests/command/tools/interrupt.py "$program" yield "1/100 " "$work/hup" HUP)
	[ "$hung_up" -eq 2 ] && grep -q "invalid (interrupted)" "$work/hup.out" || return 1
	[ "$status" -eq 2 ] && grep -q "invalid (interrupted)" "$work/int.out" &&
		grep -qE " ([1-9][0-9]*|0\+[1-9][0-9]*)(\+[0-9]+)?/100 " "$work/int.out" && is_json "$work/int/result.json"
}
holds "Ctrl-C saves what is complete" saves_what_is_complete
second_ends() {
	status=$(python3 tests/command/tools/interrupt.py "$wrong" deaf "$(printf "deaf\r")" "$work/deaf" 0.6)
	[ "$status" -eq -2 ] && [ ! -e "$work/deaf/result.json" ]
}
holds "a second Ctrl-C ends the program" second_ends

if command -v gnuplot >/dev/null; then
	"$program" run -w pingpong --round-trips 1000 --duration 1ms --warmup 0s \
		-r 2 -q -o "$work/plots"
	for plot in cost latency-ready-to-running latency-send-to-step \
		steals-pingpong spins-pingpong; do
		[ "$plot" = steals-pingpong ] && [ "$(nproc)" -eq 1 ] && continue
		holds "plot $plot" test -s "$work/plots/plots/$plot.svg" \
			-a -s "$work/plots/plots/$plot.png"
	done
	holds "the pictures are in the page" grep -q '<svg' "$work/plots/report.html"
else
	skips plots "gnuplot is not installed"
fi
echo "1..$n"
