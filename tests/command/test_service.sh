#!/bin/sh
# The workload service: requests, schedules, searches for a rate. Prints TAP.
# usage: test_service.sh BUILD_DIRECTORY
set -u
program=$1/sched-bench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh

# Some runs have others.
export SCHED_BENCH_DURATION=1ms SCHED_BENCH_REPETITIONS=2
quick='--warmup 0s --no-plots'

# Requests. --late is generous, and a round is longer than a busy machine holds up a generator, which
# leaves out what is later than a round.
for load in "" "--closed 3 --generators 2" "--rate 5k/s --late 1s" \
	"--load 30% --late 1s" "--rate 5k/s --arrival fixed --late 1s --generators 2" \
	"--rate 5k/s --arrival bursty:1ms:1ms --late 1s" \
	"--servers 4 --work chase:4KiB" "--work stream:4KiB --service tpcc"; do
	# shellcheck disable=SC2086
	holds "-w service $load" "$program" run -w service $load $quick \
		--duration 300ms -q -o "$work/service$load"
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
	rm -rf "$work/slo"
	"$program" run -w service --find-slo 'p50<1s' --late 1s $quick \
		--duration 10ms -r 3 -o "$work/slo" >"$work/out" 2>"$work/err" &&
		[ "$(grep -cE '/s: .*, met($|; suspect)' "$work/err")" -eq 3 ] &&
		grep -q 'p50<1s: met up to .*/s, the highest rate tried (capacity .*/s; 3 steps' "$work/out" &&
		grep -q 'find_slo": "p50<1s: met up to' "$work/slo/meta.json" &&
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
holds "--find-slo takes a step each repetition, and says between what" again slo_is_searched
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
refuses "a rate and a closed loop" 3 "expected at most one of them" \
	run -w service --rate 1k/s --closed 4
refuses "arrivals of a closed loop" 3 "expected --rate or --load" \
	run -w service --arrival fixed
refuses "a rate of what takes no requests" 3 "(yield) takes requests" \
	run -w yield --rate 1k/s
echo "1..$n"
