#!/bin/sh
# The clock, and the verb calibrate. Prints TAP.
# usage: test_calibrate.sh BUILD_DIRECTORY
set -u
program=$1/sched-bench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh

quick='--duration 1ms --warmup 0s --repetitions 2 --no-plots'

cpu=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')

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
			               "condvar_wake_ns", "wake_call_ns",
			               "sleep_cpu_ns", "steal_ns"}
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
only_atomics() {
	"$program" calibrate --only atomic --format csv >"$work/calibrate.csv" &&
		[ "$(cut -d, -f1 "$work/calibrate.csv" | tr '\n' ' ')" = "name atomic_add_ns " ]
}
holds "calibrate --only measures that part alone" only_atomics
refuses "a model of one part" 3 "--only: a model needs all parts" \
	calibrate --only atomic --save-model
refuses "calibrate with a word" 3 "'fast' is not expected" calibrate fast
refuses "an option of runs without --runs" 3 "--workers: expected it with --runs" \
	calibrate --workers 2
echo "1..$n"
