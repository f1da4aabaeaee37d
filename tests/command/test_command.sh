#!/bin/sh
# The command as a user meets it: help, errors and their exit status, the result
# directory, formats, masks. Prints TAP.
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
	"$program" help --help | sed -n 's/^  \([a-z]*\) .*/\1/p' >"$work/topics"
	[ "$(wc -l <"$work/topics")" -gt 10 ] || return
	while read -r topic; do
		"$program" help "$topic" >"$work/topic" && grep -q '^# ' "$work/topic" || return
	done <"$work/topics"
	"$program" help validity | cmp - results/record/README.md
}
holds "help TOPIC is a text, each of those that are listed" topics
refuses "a topic that does not exist" 3 "did you mean 'validity'" help validty
refuses "help of nothing like it" 3 "no verb or topic 'xyzzy'" help xyzzy
refuses "an option of another verb" 3 "unknown option '-L'; sweep has it, run has not" run -L batch=1
refuses "in a group of letters, too" 3 "sweep has it, run has not" run -qL batch=1
for what in workloads options metrics policies validity profiles; do
	holds "list $what" "$program" list $what
	"$program" list $what --json >"$work/list.json"
	holds "list $what --json is JSON" is_json "$work/list.json"
done

# check: every probe a line, and as JSON; a loaded machine may warn of anything.
holds "help of check fits a screen" fits 50 check --help
holds "check" "$program" check
check_is_right() {
	"$program" check --format json >"$work/check.json" || return 1
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
refuses "check has no CSV" 3 "expected pretty|json" check --format csv
refuses "check takes no words" 3 "check: 'all' is not expected" check all
refuses "check has no workloads" 3 "unknown option '-w'" check -w yield
refuses "a percentage without its sign" 3 "expected none|PERCENT, PERCENT from 0.1% to 100%" \
	run -w yield --until-ci 1
refuses "a warm-up that is neither" 3 "from 0ns to 1h, or auto" run -w yield --warmup steady

# Repetitions until the median is known, but no more than may be.
repeats() {
	# shellcheck disable=SC2086
	"$program" run -w yield --yields 1000 $quick -q -o "$work/$1" $2 2>"$work/err" &&
		python3 - "$work/$1" <<-EOF
			import csv, sys
			rows = list(csv.DictReader(open(sys.argv[1] + "/runs.csv")))
			assert $3, len(rows)
			assert [int(r["repetition"]) for r in rows] == list(range(len(rows)))
			assert all(r["ns_per_op"] for r in rows)
		EOF
}
narrow() {
	repeats narrow "--until-ci 0.1% --max-repetitions 7" "len(rows) == 7" &&
		grep -q "after 7 repetitions" "$work/err"
}
holds "--until-ci gives up, and says so" narrow
# An interval as wide as the median is no news, but six are needed for any.
holds "--until-ci stops when it is narrow" repeats wide "--until-ci 100% --duration 20ms" "6 <= len(rows) < 100"
holds "--until-ci makes what is asked for" repeats least "--until-ci 100% -r 12" "len(rows) >= 12"
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
refuses "unknown list" 3 "expected workloads" list everything
refuses "unknown option, with a suggestion" 3 "did you mean --spin-yield" \
	run -w yield --spin-yeild 3
refuses "unknown workload, with a suggestion" 3 "did you mean 'pingpong'" \
	run -w pingpng
refuses "bad value" 3 "'12x'.*expected a count from 0 to 1000000" \
	run -w yield --spin-tight 12x
refuses "value out of range" 3 "'65'.*from 1 to 64" run -w yield --steal-cap 65
refuses "an unknown policy, with a suggestion" 3 \
	"'spce'.*expected default|spec; did you mean 'spec'" run -w yield --policy spce
refuses "no workload" 3 "no workload" run
refuses "too many workers" 3 "expected fewer, or --oversubscribe" \
	run -w yield --workers 4000
refuses "result directory cannot be made" 3 "cannot be written" \
	run -w yield -o /dev/null/results
refuses "result directory cannot be written" 3 "cannot be written" \
	run -w yield -o /proc

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
		-o "$work/spec" && "$program" list policies --json >"$work/policies.json" &&
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
# Requests. --late is generous: a loaded machine is no error here.
for load in "" "--closed 3 --generators 2" "--rate 5k/s --late 1s" \
	"--load 30% --late 1s" "--rate 5k/s --arrival fixed --late 1s --generators 2" \
	"--rate 5k/s --arrival bursty:1ms:1ms --late 1s" \
	"--servers 4 --work chase:4KiB" "--work stream:4KiB --service tpcc"; do
	# shellcheck disable=SC2086
	holds "-w service $load" "$program" run -w service $load $quick \
		--duration 30ms -q -o "$work/service$load"
done
service_has_its_metrics() {
	python3 - "$work/service--rate 5k/s --late 1s/runs.csv" <<-'EOF'
		import csv, sys
		for row in csv.DictReader(open(sys.argv[1])):
		    n = float(row["operations"])
		    assert n == float(row["sojourn_timed"]) == float(row["lateness_timed"]), row
		    assert float(row["lost"]) == 0, row
		    assert float(row["wait_ns_mean"]) + float(row["service_ns_mean"]) \
		        - float(row["sojourn_ns_mean"]) < 1, row
		    assert float(row["wait_ns_mean"]) >= float(row["lateness_ns_mean"]), row
		    assert n == float(row["ideal_timed"]) == float(row["replayed_timed"]), row
		    assert float(row["replayed_ns_mean"]) > float(row["service_ns_mean"]) - 1, row
	EOF
}
holds "its metrics fit together" service_has_its_metrics
# shellcheck disable=SC2086
missed_schedules_are_invalid() {
	"$program" run -w service --rate 5k/s --late 0s $quick --duration 30ms -q \
		-o "$work/late"
	[ $? -eq 2 ] && grep -q 'of their schedule' "$work/late/runs.csv"
}
holds "a missed schedule has no numbers, and says so" missed_schedules_are_invalid
# shellcheck disable=SC2086
lost_requests_are_counted() {
	"$program" run -w service --servers 1 --mailbox-bound 1 --closed 64 \
		--service fixed:200us $quick --duration 30ms -q -o "$work/lost" &&
		grep -q 'requests were lost' "$work/lost/runs.csv"
}
holds "refused requests are lost, and counted" lost_requests_are_counted
# shellcheck disable=SC2086
slo_is_searched() {
	"$program" run -w service --find-slo 'p50<1s' --late 1s $quick \
		--duration 10ms -r 3 -o "$work/slo" >"$work/out" 2>"$work/err" &&
		[ "$(grep -cE '/s: .*, met($|; suspect)' "$work/err")" -eq 3 ] &&
		grep -q 'p50<1s: highest rate between .* (met) and' "$work/out" &&
		grep -q 'find_slo": "p50<1s: highest' "$work/slo/meta.json" &&
		python3 - "$work/slo" <<-'EOF'
			import csv, json, sys
			series = json.load(open(sys.argv[1] + "/result.json"))["sched_bench"]["series"][0]
			rates = [row["offered_per_s"] for row in csv.DictReader(open(sys.argv[1] + "/runs.csv"))]
			[of] = [row for row in csv.DictReader(open(sys.argv[1] + "/series.csv"))
			        if row["metric"] == "offered_per_s"]
			assert series["answer_row"] == 3
			assert of["n"] == "1" and of["median"] == rates[2] and len(set(rates)) == 3, (of, rates)
		EOF
}
holds "--find-slo takes a step each repetition, and says between what" slo_is_searched
# Where workers would have all cores, a schedule has one of its own.
# shellcheck disable=SC2086
generator_has_a_core() {
	"$program" run -w service --rate 1k/s $quick -o "$work/core" >"$work/out" 2>"$work/err"
	cpu=$(sed -n 's/.*leave none for the generator; it has CPU .* (as --generator-cpus \(.*\)),.*/\1/p' "$work/err")
	[ "$(wc -l <"$work/err")" -eq 1 ] && [ -n "$cpu" ] || return 1
	"$program" run -w service --rate 1k/s --generator-cpus "$cpu" $quick -o "$work/same" \
		>"$work/out" 2>"$work/err"
	[ ! -s "$work/err" ] || return 1
	"$program" run -w service --rate 1k/s --workers 1 $quick -o "$work/own" 2>"$work/err" >&2
	"$program" run -w service $quick -o "$work/loop" 2>>"$work/err" >&2
	! grep -q "none for the generator" "$work/err" && python3 - "$work" <<-'EOF'
		import json, sys
		of = {n: json.load(open(f"{sys.argv[1]}/{n}/result.json"))["sched_bench"]["series"][0]
		         ["placement"] for n in ("core", "same", "own", "loop")}
		assert of["core"] == of["same"], of
		assert of["core"] != of["loop"], of
	EOF
}
# shellcheck disable=SC2086
shared_cpus_are_told() {
	all=$(nproc)
	"$program" run -w service --rate 1k/s --workers "$all" $quick -o "$work/crowded" \
		>"$work/out" 2>"$work/err"
	[ "$(wc -l <"$work/err")" -eq 1 ] &&
		grep -q "$all workers leave no CPU for the generator.*--workers $((all - 1)) leaves" \
			"$work/err" || return 1
	first=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
	taskset -c "$first" "$program" run -w service --rate 1k/s $quick -o "$work/one-cpu" \
		>"$work/out" 2>"$work/err"
	[ "$(wc -l <"$work/err")" -eq 1 ] && grep -q "shares the only CPU.*--closed 2" "$work/err"
}
if [ "$(lscpu -p=core 2>/dev/null | grep -v '^#' | sort -u | wc -l)" -gt 1 ] && [ "$(nproc)" -gt 1 ]; then
	holds "a generator has a core of its own" generator_has_a_core
	holds "or it is told that it has none" shared_cpus_are_told
else
	skips "a generator has a core of its own" "there is one core"
fi
refuses "a workload as a verb" 3 "unknown verb 'service'; did you mean 'run -w service'?" service
refuses "an objective that is none" 3 "'p98<1ms'.*expected mean, p50" \
	run -w service --find-slo 'p98<1ms'
refuses "a service time that is none" 3 "'exp:50'.*expected exp:T" \
	run -w service --service exp:50
refuses "work that is none" 3 "'chase:64'.*expected spin" \
	run -w service --work chase:64
refuses "a rate that is none" 3 "'200k'.*expected a rate above 0" \
	run -w service --rate 200k
refuses "a load that is none" 3 "'0%'.*expected a share" \
	run -w service --load 0%
refuses "an arrival that is none" 3 "'poison'.*expected poisson, fixed" \
	run -w service --rate 1k/s --arrival poison
refuses "a rate and a closed loop" 3 "expected one of them" \
	run -w service --rate 1k/s --closed 4
refuses "arrivals of a closed loop" 3 "expected --rate or --load" \
	run -w service --arrival fixed
refuses "a rate of what takes no requests" 3 "(yield) takes requests" \
	run -w yield --rate 1k/s

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

cpu=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')
# shellcheck disable=SC2086
holds "under taskset it succeeds" taskset -c "$cpu" "$program" run -w yield \
	--yields 100 $quick -q -o "$work/one"
only_cpu() {
	[ "$(cut -d, -f4,5 "$work/one/workers.csv" | sort -u)" = "$(printf '0,%s\nworker,os_cpu' "$cpu")" ]
}
holds "under taskset it uses only that CPU" only_cpu

# Generators and workers apart, on this machine.
cores=$("$program" topo plan --format csv | grep -c ',worker,')
generator_is_pinned() {
	[ "$(python3 tests/command/tools/masks.py look "$program" "$work/pinned" \
		--generator-cpus "$cpu")" = "$cpu" ]
}
no_worker_there() {
	! cut -d, -f5 "$work/pinned/workers.csv" | grep -qx "$cpu" &&
		grep -q "\"generator_cpus\": \"$cpu\"" "$work/pinned/meta.json"
}
emulated_is_not_pinned() {
	[ "$(python3 tests/command/tools/masks.py look "$program" "$work/loose" \
		--profile 'core:3 pu:1' --generator-cpus 1)" = \
		"$(awk '/^Cpus_allowed_list:/ { print $2 }' /proc/self/status)" ] &&
		grep -q '"generator_cpus": "1"' "$work/loose/meta.json"
}
mask_is_restored() {
	mkdir "$work/bin" &&
		printf '#!/bin/sh\ntaskset -cp $$ | sed "s/.*: //" >"%s"\n' \
			"$work/gnuplot-mask" >"$work/bin/gnuplot" &&
		chmod +x "$work/bin/gnuplot" &&
		PATH="$work/bin:$PATH" "$program" run -w yield --yields 100 \
			--duration 1ms --warmup 0s -r 1 -q -o "$work/restored" \
			--generator-cpus "$cpu" &&
		[ "$(cat "$work/gnuplot-mask")" = "$(taskset -cp $$ | sed 's/.*: //')" ]
}
if [ "$cores" -gt 1 ]; then
	holds "--generator-cpus pins the thread that submits" generator_is_pinned
	holds "no worker is on its core, and meta.json names it" no_worker_there
	holds "children after the run have the whole mask again" mask_is_restored
else
	skips "--generator-cpus on this machine" "it has one core"
fi
holds "nothing is pinned in an emulated run" emulated_is_not_pinned

# What a run stands on changes while it measures.
outside_is_refused() {
	other=$(taskset -cp $$ | sed 's/.*[ ,-]//')
	taskset -c "$cpu" "$program" run -w yield --generator-cpus "$other" \
		2>"$work/err"
	[ $? -eq 3 ] && [ "$(wc -l <"$work/err")" -eq 1 ] &&
		grep -q -- "--generator-cpus: .*CPU $other, which is not there or may" \
			"$work/err"
}
if [ "$(nproc)" -gt 1 ]; then
	holds "generator CPUs outside of the mask are refused" outside_is_refused
	holds "fewer usable CPUs: from then on invalid" \
		python3 tests/command/tools/masks.py move-main "$program" "$work/moved"
	holds "the terminal says so, too" grep -q \
		"repetition 99: invalid (the CPUs that may be used changed from" \
		"$work/moved.out"
	holds "the same in an emulated run" python3 tests/command/tools/masks.py move-main \
		"$program" "$work/moved-emulated" --profile 'core:2 pu:1'
	holds "a worker that is moved: from then on invalid" \
		python3 tests/command/tools/masks.py move-worker "$program" "$work/moved-worker"
else
	skips "CPUs that change during a run" "there is only one"
fi

# A profile that is not this machine.
emulated() {
	# shellcheck disable=SC2086
	"$program" run --profile 'pack:2 numa:2 core:4 pu:2' -w skynet \
		--leaves 1000 --victim near $quick -o "$work/emulated" \
		>"$work/summary" && grep -q '^emulated: ' "$work/summary" &&
		python3 - "$work/emulated" <<-'EOF'
			import csv, json, sys
			def read(name):
			    return list(csv.DictReader(open(f"{sys.argv[1]}/{name}.csv")))
			for name in "runs", "workers", "steals", "spins", "latency":
			    assert all(r["topology"] == "emulated" for r in read(name)), name
			workers = read("workers")
			assert len(workers) == 2 * 16
			assert all(w["os_cpu"] == "" for w in workers)
			assert {w["node"] for w in workers} == {"0", "1", "2", "3"}
			assert {s["distance"] for s in read("steals")} == {"node", "remote"}
			meta = json.load(open(sys.argv[1] + "/meta.json"))
			assert meta["run"]["topology"] == "emulated"
			assert meta["profile"]["cores"] == "16"
		EOF
}
holds "a profile is emulated, and every file says so" emulated
# shellcheck disable=SC2086
holds "a profile under taskset" taskset -c "$cpu" "$program" run -w yield \
	--profile spr-2s-snc4 --workers per-numa --yields 100 $quick -q -o "$work/spr"
not_elsewhere() {
	grep -q ',native$' "$work/one/runs.csv" && ! grep -q emulated "$work/one"/*.csv
}
holds "a run on this machine does not" not_elsewhere
for placement in compact scatter numa distrib; do
	# shellcheck disable=SC2086
	holds "--placement $placement" "$program" run -w yield --yields 100 \
		--placement $placement --no-smt $quick -q -o "$work/at $placement"
done
only_that_cpu() {
	# shellcheck disable=SC2086
	"$program" run -w yield --yields 100 --cpus "$cpu" $quick -q -o "$work/cpus" &&
		[ "$(cut -d, -f4,5 "$work/cpus/workers.csv" | sort -u)" = \
			"$(printf '0,%s\nworker,os_cpu' "$cpu")" ]
}
holds "--cpus uses only that CPU" only_that_cpu

# topo: what machine, and where workers would go.
holds "topo list" "$program" topo list
for profile in $("$program" topo list | cut -d' ' -f1) \
	"pack:2 numa:2 l3:2 core:4 pu:2" tests/topologies/*.xml; do
	for part in show plan export fingerprint "show --svg -" \
		"plan --format json --placement numa"; do
		# shellcheck disable=SC2086
		holds "topo $part --profile $profile" "$program" topo $part \
			--profile "$profile"
	done
done
plan_is_right() {
	"$program" topo plan --profile 'pack:2 numa:2 l3:2 core:4 pu:2' \
		--placement numa --workers 8 --format json >"$work/plan.json" &&
		python3 - "$work/plan.json" <<-'EOF'
			import json, sys
			plan = json.load(open(sys.argv[1]))
			assert plan["topology"] == "emulated"
			workers = plan["workers"]
			assert [w["cpu"] for w in workers] == [0, 2, 16, 18, 32, 34, 48, 50]
			assert [w["node"] for w in workers] == [0, 0, 1, 1, 2, 2, 3, 3]
			assert [(r["distance"], r["same"]) for r in plan["rings"]] == [
			    ("self", "pu"), ("smt", "core"), ("cache", "cache"),
			    ("node", "node"), ("remote", None)]
			assert workers[2]["cache"] == workers[3]["cache"]
			assert workers[2]["node"] != workers[0]["node"]
			assert plan["node_distances"] is None
		EOF
}
holds "topo plan says where, and whom to steal from" plan_is_right
rings_have_distances() {
	"$program" topo plan --profile ring-4s --workers per-numa |
		grep -q '^     0  remote at 21: 1 3 | remote at 31: 2$'
}
holds "topo plan has the machine's distances" rings_have_distances
round_trip() {
	"$program" topo export --profile laptop-6p8e >"$work/laptop.xml" &&
		[ "$("$program" topo fingerprint --profile "$work/laptop.xml")" = \
			"$("$program" topo fingerprint --profile laptop-6p8e)" ]
}
holds "topo export reads back" round_trip
is_svg() {
	"$program" topo show --profile ring-4s --svg "$work/ring.svg" &&
		python3 - "$work/ring.svg" <<-'EOF'
			import sys
			import xml.etree.ElementTree as tree
			words = [e.text for e in tree.parse(sys.argv[1]).iter() if e.text]
			assert "ring-4s (emulated)" in words
			assert sum("worker" in w for w in words) == 48
		EOF
}
holds "topo show --svg draws every worker" is_svg
mask_is_kept() {
	[ "$(taskset -c "$cpu" "$program" topo plan --format csv)" = \
		"$(printf 'worker,cpu,pu,core,cache,node,os_node,package,kind,role,topology\n0,%s,' "$cpu")$(
			taskset -c "$cpu" "$program" topo plan --format csv |
				tail -1 | cut -d, -f3-)" ]
}
holds "topo plan of this machine keeps to the mask" mask_is_kept
generators_are_planned() {
	"$program" topo plan --profile 'core:3 pu:2' --generator-cpus 3 \
		--workers per-pu --format json >"$work/generators.json" &&
		python3 - "$work/generators.json" <<-'EOF'
			import json, sys
			plan = json.load(open(sys.argv[1]))
			assert [w["cpu"] for w in plan["workers"]] == [0, 4, 1, 5]
			assert [(g["cpu"], g["core"]) for g in plan["generators"]] == [(3, 1)]
		EOF
}
holds "topo plan --generator-cpus keeps workers off the core" generators_are_planned
generators_are_shown() {
	set -- --profile 'core:3 pu:2' --generator-cpus 3
	"$program" topo plan "$@" | grep -q '^     G        3        3        1 ' &&
		"$program" topo plan "$@" --format csv |
		grep -q '^,3,3,1,.*,generator,emulated$' &&
		"$program" topo show "$@" |
		grep -q 'Core 1: CPU 2 \[kept free\], CPU 3 \[generator\]$' &&
		"$program" topo show "$@" --svg - | grep -q '>CPU 3 \[generator\]<'
}
holds "topo shows generators in every form" generators_are_shown
refuses "a generator CPU that is not there" 3 "--generator-cpus: .*CPU 4000" \
	run -w yield --generator-cpus 4000
refuses "generators leave nothing" 3 "--generator-cpus: leaves no CPU for workers" \
	topo plan --profile 'core:1 pu:2' --generator-cpus 0
refuses "only generators' cores are left" 3 "--cpus: names only cores" \
	topo plan --profile 'core:2 pu:2' --generator-cpus 0 --cpus 1
refuses "too many workers for the rest" 3 "more than the 2 processing units" \
	topo plan --profile 'core:2 pu:2' --generator-cpus 0 --workers 3
# What is there already and no file is written to, and stays what it is.
pipe_is_written() {
	mkfifo "$work/pipe" && : >"$work/target" && ln -s target "$work/link" || return 1
	"$program" topo show --profile ring-4s --svg "$work/link" &&
		test -L "$work/link" && cmp -s "$work/ring.svg" "$work/target" || return 1
	timeout 60 cat "$work/pipe" >"$work/piped.svg" &
	"$program" topo show --profile ring-4s --svg "$work/pipe" && wait $! &&
		test -p "$work/pipe" && cmp -s "$work/ring.svg" "$work/piped.svg"
}
holds "topo show --svg writes into a pipe, and through a link" pipe_is_written
this_machine_is_this_one() {
	"$program" topo plan --format csv >"$work/plan.csv" &&
		HWLOC_SYNTHETIC='numa:2 pu:1' "$program" topo plan --format csv |
		cmp -s - "$work/plan.csv"
}
holds "hwloc's environment does not make this machine another one" this_machine_is_this_one
odd_name() {
	name=$(printf '%s/odd\377.xml' "$work")
	"$program" topo export --profile ring-4s >"$name" &&
		"$program" topo plan --profile "$name" --format json >"$work/odd.json" &&
		is_json "$work/odd.json"
}
holds "a name that is no text is no error in JSON" odd_name
refuses "a name with a line break is one line" 3 'no.x0asuch' topo plan --profile "no
such"
refuses "an option that this part does not use" 3 "does not use it" topo show --format json
refuses "export has no workers" 3 "does not use it" topo export --workers 2
refuses "more workers than can be run" 3 "expected at most" \
	run -w yield --profile 'core:4001 pu:1'
if [ -c /dev/full ]; then
	full_is_said() {
		"$program" topo list >/dev/full 2>"$work/err"
		[ $? -eq 4 ] && grep -q 'standard output' "$work/err"
	}
	holds "a list that cannot be printed is status 4" full_is_said
else
	echo "# skipped: a full device: there is no /dev/full"
fi
refuses "unknown part of topo" 3 "did you mean 'show'" topo sho
refuses "an option that topo has not" 3 "unknown option '--wake'" topo plan --wake local
refuses "an option that only topo has" 3 "unknown option '--svg'" run -w yield --svg x
refuses "topo with a word too many" 3 "'ring-4s' is not expected" topo show ring-4s
refuses "a picture that cannot be written" 3 "cannot be written" topo show --svg /proc/x.svg
refuses "no room for the workers" 3 "more than the 4 processing units" \
	topo plan --profile 'core:4 pu:1' --workers 5
refuses "no caches to count" 3 "without a cache" topo plan --profile 'core:4 pu:1' \
	--workers per-l3

# The clock: which one, and what is known about it.
clock_is() {
	# shellcheck disable=SC2086
	"$program" run -w yield --yields 100 --clock "$1" $quick -q -o "$work/clock-$1" &&
		python3 - "$work/clock-$1/meta.json" "$1" <<-'EOF'
			import json, sys
			clock = json.load(open(sys.argv[1]))["clock"]
			counter = clock["source"] != "clock_gettime"
			assert {"source", "read_ns", "step_ns"} <= clock.keys(), clock
			assert counter != ("reason" in clock), clock
			assert not (counter and sys.argv[2] == "gettime"), clock
			assert not counter or {"hz", "error_ppm", "cpus", "offset_ns",
			                       "offset_bound_ns"} <= clock.keys(), clock
		EOF
}
holds "--clock auto says what it found" clock_is auto
holds "--clock gettime is the kernel's" clock_is gettime
# Insisting works where auto has found that it would, and only there. On a busy
# machine either may change its mind.
insists() {
	# shellcheck disable=SC2086
	"$program" run -w yield --yields 100 --clock tsc $quick -q -o "$work/tsc" 2>"$work/err"
	got=$?
	[ $got -eq 0 ] || { [ $got -eq 4 ] && [ "$(wc -l <"$work/err")" -eq 1 ] &&
		grep -q "^sched-bench: --clock: the processor's counter .* cannot be trusted: ." "$work/err"; }
}
holds "--clock tsc has it, or says why not" insists
refuses "--clock sundial" 3 "expected auto|tsc|gettime" run -w yield --clock sundial

# calibrate: the rows that one CPU is enough for, and those for two.
calibrates() {
	"$program" calibrate --quick --format json >"$work/calibrate.json" &&
		python3 - "$work/calibrate.json" <<-'EOF'
			import json, os, sys
			c = json.load(open(sys.argv[1]))
			assert {"clock", "cpus", "quick", "disturbed", "note", "costs"} <= c.keys()
			assert {"source", "reason", "is_counter"} <= c["clock"].keys()
			names = {r["name"] for r in c["costs"]}
			wanted = {"clock_read_ns", "clock_step_ns", "atomic_add_ns",
			          "thread_yield_ns", "context_switch_ns", "work_units_per_us",
			          "operation_ns", "record_ns", "record_percent"}
			if c["cpus"] > 1:
			    wanted |= {"line_transfer_ns", "futex_wake_ns",
			               "condvar_wake_ns", "steal_ns"}
			if c["clock"]["is_counter"]:
			    wanted |= {"clock_hz", "clock_error_ppm", "clock_offset_ns",
			               "clock_offset_bound_ns"}
			assert wanted <= names, wanted - names
			assert c["cpus"] == len(os.sched_getaffinity(0))
			for r in c["costs"]:
			    assert {"of", "unit", "meaning", "samples"} <= r.keys(), r
			    assert r["samples"] >= 1, r
			    assert r["min"] <= r["q1"] <= r["median"] <= r["q3"] <= r["max"], r
			    assert r["name"].startswith("record") or r["median"] >= 0, r
			of = {r["of"] for r in c["costs"] if r["name"] == "record_ns"}
			assert of == {f"{work} {level}"
			              for work in ("yield", "pingpong")
			              for level in ("counters", "sampled:64",
			                            "full")}, of
		EOF
}
holds "calibrate --format json has every key" calibrates
calibrates_on_one() {
	taskset -c "$cpu" "$program" calibrate --quick --format csv >"$work/calibrate.csv" &&
		[ "$(head -1 "$work/calibrate.csv")" = \
			name,of,unit,samples,median,min,q1,q3,p99,max ] &&
		grep -q '^context_switch_ns,' "$work/calibrate.csv" &&
		! grep -q '^futex_wake_ns,' "$work/calibrate.csv"
}
every_row_has_its_cells() {
	"$program" calibrate --quick --format csv >"$work/calibrate.csv" &&
		python3 -c 'import csv, sys; assert {len(r) for r in csv.reader(sys.stdin)} == {10}' \
			<"$work/calibrate.csv"
}
holds "calibrate --format csv is CSV" every_row_has_its_cells
holds "calibrate on one CPU leaves out what takes two" calibrates_on_one
refuses "calibrate with a word" 3 "'fast' is not expected" calibrate fast
refuses "an option that calibrate has not" 3 "unknown option '--workers'" \
	calibrate --workers 2

truncate -s 1G "$work/huge.xml"
printf '<?xml version="1.0"?>\n<topology version="2.0"><object' >"$work/cut.xml"
refuses "a huge file" 3 "larger than 64 MiB" run -w yield --profile "$work/huge.xml"
refuses "malformed XML" 3 "is not XML" run -w yield --profile "$work/cut.xml"
refuses "a missing file" 3 "there is no file" run -w yield --profile "$work/none.xml"
refuses "unknown profile, with a suggestion" 3 "did you mean 'graviton3'" \
	run -w yield --profile graviton
refuses "bad synthetic description" 3 "no synthetic description" \
	run -w yield --profile "pack:2 zebra:2"
refuses "a CPU that is not there" 3 "--cpus: .*CPU 4000" run -w yield --cpus 4000
refuses "bad location" 3 "--cpus: .*has no known type" run -w yield --cpus zebra:0

invalid() {
	# shellcheck disable=SC2086
	"$wrong" run -w "$1" $quick --timeout 200ms -o "$work/$1" >"$work/out" 2>&1
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
