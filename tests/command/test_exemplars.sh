#!/bin/sh
# Causes made on purpose: the slowest events name each of them as the first. In virtual time
# exactly; on this machine for one of the slowest at least, because others may disturb it, too.
# Prints TAP. Nothing is asserted of how long anything took.
# usage: test_exemplars.sh BUILD_DIRECTORY
set -u
program=$1/sched-bench
wrong=$1/tests/sched-bench-wrong
work=$(mktemp -d)
neighbours=
trap 'calm 2>/dev/null; rm -rf "$work"' EXIT
. tests/tap.sh

cpus=$(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)))')
first_cpu=${cpus%% *}
last_cpu=${cpus##* }

# measured DIRECTORY PROGRAM OPTION...: a run; 2: the machine has spoilt a row.
measured() {
	directory=$work/$1 command=$2
	shift 2
	rm -rf "$directory"
	"$command" run "$@" --warmup 0s -r 1 --no-plots -q -o "$directory" >"$work/out" 2>"$work/err"
	status=$?
	[ $status -eq 0 ] || [ $status -eq 2 ] || {
		cat "$work/out" "$work/err"
		return 1
	}
}

# names DIRECTORY LATENCY HOW-MANY CAUSE PATTERN: that is the cause of so many of the slowest at
# least (all, if it is "all"), and is told so, in exemplars.json, and on the page.
names() {
	python3 - "$work/$1" "$2" "$3" "$4" "$5" <<-'EOP'
		import html, json, re, sys
		directory, latency, least, cause, pattern = sys.argv[1:]
		[series] = json.load(open(directory + "/exemplars.json"))
		slowest = series[latency]
		assert slowest
		took = [e["took_ns"] for e in slowest]
		assert took == sorted(took, reverse=True), took
		named = [e for e in slowest if e["cause"] == cause]
		for e in slowest:
		    print(e["took_ns"], e["cause"], "-", e["because"])
		assert len(named) >= (len(slowest) if least == "all" else int(least)), len(named)
		for e in named:
		    assert re.search(pattern, e["because"]), (pattern, e["because"])
		page = html.unescape(open(directory + "/report.html").read())
		assert slowest[0]["because"] in page, slowest[0]["because"]
	EOP
}

# ---- a long step in front ----

# shellcheck disable=SC2086
step_in_front() {
	measured step "$program" -w stuck-slot --after 4ms --messages 20 --workers 1 --record full \
		--hold-time 1s $virtual --duration 1ms &&
		names step send_to_step all 'step in front' \
			"^waited 4.00 ms behind pid [0-9]*'s step on worker 0(; not visible until the step ended)?$"
}
# shellcheck disable=SC2086
idle_worker() {
	measured idle "$program" -w stuck-slot --after 4ms --messages 20 --workers 2 \
		--record full --exemplars 64 $virtual --duration 1ms &&
		names idle send_to_step 15 asleep '^worker [01] was parked; it took '
}
# Two workers, or a worker and the generator, take turns on one CPU. With so few victims those that
# wait longest are those whose worker does not have it.
# shellcheck disable=SC2086
virtual_neighbour() {
	measured vneighbour "$program" -w hog --victims 1000 --workers 2 --oversubscribe $alone --profile "core:1 pu:1" --record full \
		--duration 50ms &&
		names vneighbour submit_to_step 15 'no CPU' \
			'^the thread of worker [01] waited for a CPU for [0-9.]* [mu]s of [0-9.]* [mu]s'
}
# shellcheck disable=SC2086
virtual_late() {
	measured vlate "$program" -w service --service bimodal:0.99:1us:8ms --rate 500/s \
		--arrival fixed --workers 1 $alone --profile "core:1 pu:1" --duration 500ms --exemplars 64 &&
		names vlate sojourn 4 'late generator' '^the generator was [0-9.]* [mu]s late, of '
}
# The event that ended the trace is in it, though later ones were slower.
# shellcheck disable=SC2086
virtual_recorder() {
	measured vrecorder "$program" -w service --service bimodal:0.99:5us:2ms --rate 5k/s \
		--workers 1 $virtual --duration 100ms --trace-on 'sojourn>1ms' || return 1
	python3 tests/command/tools/check_trace.py --drops "$work/vrecorder/trace.json" &&
		python3 - "$work/vrecorder/trace.json" <<-'EOP'
			import json, sys
			events = json.load(open(sys.argv[1]))["traceEvents"]
			slow = [e for e in events if e["name"] == "slow" and e["ph"] == "i"
			        and e["args"]["latency"] == "sojourn"]
			assert any(e["args"]["took_us"] > 1000 for e in slow), slow
			assert any(e["ts"] < slow[-1]["ts"] - 1000 for e in events), slow
		EOP
}
virtual='--virtual --profile laptop-6p8e'
alone='--virtual --model laptop-6p8e'
# shellcheck disable=SC2086
if measured probe "$program" -w yield --yields 1000 $virtual --duration 1ms >"$work/probe.out"; then
	holds "virtual time: a message waits for the step that has sent it" step_in_front
	holds "virtual time: or for a worker that sleeps, beside a long step" idle_worker
	holds "virtual time: a neighbour on the worker's CPU" virtual_neighbour
	holds "virtual time: a generator that is late" virtual_late
	holds "virtual time: --trace-on keeps what ended the trace" virtual_recorder
else
	skips "virtual time: a long step" "this build has none"
fi
long_step() {
	measured long "$program" -w stuck-slot --after 1ms --messages 60 --exemplars 60 --workers 1 --record full \
		--hold-time 1s -d 200ms && names long send_to_step 1 'step in front' \
		"behind pid [0-9]*'s step on worker 0"
}
holds "a long step in front" again long_step

# ---- a process that is stopped ----

# The CPU time of process $1 in ticks.
ticks() {
	awk '{ sub(/.*[)] /, ""); print $12 + $13 }' "/proc/$1/stat" 2>/dev/null
}

stopped() {
	rm -rf "$work/stopped"
	"$program" run -w service --service fixed:10us --rate 20k/s -d 3s --warmup 0s -r 1 \
		--no-plots -q -o "$work/stopped" >"$work/out" 2>"$work/err" &
	pid=$!
	while [ "$(ticks $pid || echo 99)" -lt 40 ] 2>/dev/null; do
		sleep 0.01
	done
	kill -STOP $pid
	sleep 1
	kill -CONT $pid
	wait $pid
	names stopped sojourn 1 stopped 'the process was stopped for '
}
holds "a process that was stopped" again stopped

# The generator is late for three stops of 20 ms, and is not the cause. All requests are kept, however busy the machine is.
stopped_briefly() {
	rm -rf "$work/brief"
	"$program" run -w service --service fixed:10us --rate 300/s -d 3s --warmup 0s -r 1 --exemplars 1000 \
		--no-plots -q -o "$work/brief" >"$work/out" 2>"$work/err" &
	pid=$!
	while [ "$(ticks $pid || echo 99)" -lt 6 ] 2>/dev/null; do
		sleep 0.01
	done
	for _ in 1 2 3; do
		kill -STOP $pid
		sleep 0.02
		kill -CONT $pid
		sleep 0.1
	done
	wait $pid
	names brief sojourn 1 stopped 'the process was stopped for '
}
holds "a process that was stopped for 20 ms" again stopped_briefly

# ---- a neighbour on the CPU ----

# busy CPU: loops on that CPU, all of which run by now, until calm.
busy() {
	: >"$work/busy"
	for _ in 1 2 3 4 5 6; do
		python3 -c 'import os, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
print("busy", flush=True)
while True:
    pass' "$1" >>"$work/busy" &
		neighbours="$neighbours $!"
	done
	while [ "$(wc -l <"$work/busy")" -lt 6 ]; do
		sleep 0.02
	done
}
# shellcheck disable=SC2086
calm() {
	[ -z "$neighbours" ] || kill $neighbours
	wait $neighbours 2>/dev/null
	neighbours=
}
# Nearly all of the time is inside a step, so that a neighbour that takes the CPU interrupts one.
with_neighbour() {
	busy "$last_cpu"
	measured neighbour "$program" -w hog --hog-ns 50000 --cpus "$last_cpu" --workers 1 --record full \
		-d 500ms
	rc=$?
	calm
	[ $rc -eq 0 ] && names neighbour step_time 1 'no CPU' \
		'the thread of worker 0 waited for a CPU for '
}
# The worker has waited for its CPU, as the kernel counts: only then there was a neighbour.
had_neighbour() {
	python3 - "$work/neighbour" <<-'EOP'
		import json, sys
		[row] = json.load(open(sys.argv[1] + "/result.json"))["benchmarks"]
		delay = row["sched_bench"]["run_delay_pct"]
		print("the worker waited for a CPU for %g %% of the time" % delay)
		sys.exit(delay < 20)
	EOP
}
neighbour_is_named() {
	with_neighbour || ! had_neighbour || with_neighbour || ! had_neighbour || with_neighbour
}
if [ -r /proc/thread-self/schedstat ]; then
	holds "a neighbour on the worker's CPU" neighbour_is_named
	had_neighbour >"$work/out" || echo "# $(cat "$work/out"): nothing was tested"
else
	skips "a neighbour on the worker's CPU" "the kernel does not count how long threads wait"
fi

# ---- page faults ----

faulting() {
	measured faulting "$wrong" -w faulting --workers 1 --record full --exemplars 128 \
		-d 200ms &&
		names faulting step_time 1 'page faults' '^page faults: [0-9]* in '
}
holds "a storm of page faults" again faulting

# ---- a generator that is late ----

late() {
	busy "$first_cpu"
	measured late "$program" -w service --service fixed:1us --rate 1k/s --workers 1 \
		--cpus "$last_cpu" --generator-cpus "$first_cpu" --exemplars 128 -d 1s
	rc=$?
	calm
	[ $rc -eq 0 ] && names late sojourn 1 'late generator' '^the generator was '
}
if [ "$first_cpu" != "$last_cpu" ]; then
	holds "a generator that is late" again late
else
	skips "a generator that is late" "it would share its CPU with the worker"
fi

# ---- the flight recorder ----

recorded() {
	measured recorder "$program" -w stuck-slot --after 4ms --messages 20 --workers 1 \
		--record full -d 100ms --trace-on 'send_to_step>1ms' || return 1
	python3 tests/command/tools/check_trace.py --drops "$work/recorder/trace.json" &&
		grep -q '"name":"slow"' "$work/recorder/trace.json" &&
		grep -q '"because":"[a-z]' "$work/recorder/trace.json"
}
holds "--trace-on: the trace ends after what was slow, which is marked, with an arrow" recorded
not_recorded() {
	measured end "$program" -w yield --yields 1000 --workers 1 -d 20ms --trace-on 'step_time>1h' &&
		cat "$work/err" && grep -q 'nothing did; the trace is of the end' "$work/err" &&
		[ -s "$work/end/trace.json" ]
}
holds "--trace-on: nothing is as slow" not_recorded
for bad in 'sojourn' 'sojourn>5' 'sojourn<5ms' 'sojourns>5ms' '>5ms'; do
	refuses "--trace-on $bad" 3 'sojourn>5ms), of sojourn send_to_step ' run -w yield --trace-on "$bad" -o "$work/bad"
done
refuses "--trace-on without latencies" 3 'none with --record off' \
	run -w yield --record counters --trace-on 'step_time>5ms' -o "$work/bad"

# ---- what is kept ----

none_kept() {
	measured none "$program" -w yield --yields 1000 --workers 1 -d 20ms --exemplars 0 &&
		[ ! -e "$work/none/exemplars.json" ]
}
holds "--exemplars 0: none" none_kept
few_kept() {
	measured few "$program" -w yield --yields 1000 --workers 1 -d 20ms --exemplars 3 &&
		python3 - "$work/few" <<-'EOP'
			import json, sys
			[series] = json.load(open(sys.argv[1] + "/exemplars.json"))
			assert len(series["step_time"]) == 3, series
		EOP
}
holds "--exemplars 3: three" few_kept
same_again() {
	"$program" report "$work/few" -o "$work/again.html" >/dev/null &&
		grep -o '<section id="slowest">.*' "$work/again.html" >/dev/null
}
holds "report: from result.json" same_again
echo "1..$n"
