#!/bin/sh
# A repetition that was stopped or disturbed says so, and by what: a signal, a frozen cgroup, a
# quota, another program; threads of its own that it has asked for disturb it by no fault. Prints
# TAP. The stops are long, but nothing is asserted of how long.
# usage: test_stops.sh BUILD_DIRECTORY
set -u
program=$1/sched-bench
work=$(mktemp -d)
freezer=/sys/fs/cgroup/freezer/sched-bench-test-$$
quota=/sys/fs/cgroup/cpu/sched-bench-test-$$
trap 'rmdir "$freezer" "$quota" 2>/dev/null; rm -rf "$work"' EXIT
. tests/tap.sh

# Whether process $1 has had 10 ticks of CPU time and its first thread sleeps, or it ended.
works() {
	! [ -e "/proc/$1/stat" ] || awk '{
		sub(/.*[)] /, "")
		exit !($1 == "Z" || ($1 == "S" && $12 + $13 >= 10))
	}' "/proc/$1/stat"
}

# begin COMMAND...: starts a run by that command, as $pid, and waits until it works.
# Its first thread sees a stop while it waits for a round to end: the rounds are
# long, or it would be preempted between two of them on a busy machine.
begin() {
	rm -rf "$work/run"
	"$@" "$program" run -w yield --yields 10000000 --duration 2s --repetitions 1 \
		--warmup 0s --no-plots -q -o "$work/run" 2>"$work/err" &
	pid=$!
	until works $pid; do
		sleep 0.01
	done
}

# ends REASON: the row is not valid, because of that, and of no other stop.
ends() {
	wait "$pid"
	python3 - "$work/run" "$1" <<-'EOF'
		import csv, sys
		[row] = csv.DictReader(open(sys.argv[1] + "/runs.csv"))
		reasons = {"was stopped", "quota was used up"}
		assert row["valid"] in ("suspect", "invalid"), row
		assert sys.argv[2] in row["reason"], row["reason"]
		for other in reasons - {sys.argv[2]}:
		    assert other not in row["reason"], row["reason"]
	EOF
}

is_stopped() {
	begin "$@"
	kill -STOP $pid
	sleep 2
	kill -CONT $pid
	ends "was stopped"
}
holds "a stopped process" is_stopped env
if chrt -f 10 true 2>/dev/null; then
	holds "a stopped process with real-time priority" is_stopped chrt -f 10
else
	skips "a stopped process with real-time priority" "chrt -f is not allowed"
fi

# In rows as short as those of a fork: each has a stop that is too short for the first thread to see.
is_stopped_briefly() {
	rm -rf "$work/brief"
	"$program" run -w yield --forks 1 -r 8 -d 130ms --warmup 0s --no-plots -q -o "$work/brief" 2>"$work/err" &
	pid=$!
	while kill -STOP $pid 2>/dev/null; do
		sleep 0.02
		kill -CONT $pid
		sleep 0.06
	done
	wait $pid
	python3 - "$work/brief" <<-'EOF'
		import csv, sys
		rows = list(csv.DictReader(open(sys.argv[1] + "/runs.csv")))
		assert not [row for row in rows if row["valid"] == "valid"], rows
		assert [row for row in rows if "nor parked" in row["reason"]], rows
	EOF
}
holds "stops of 20 ms in rows of 130 ms" again is_stopped_briefly

is_frozen() {
	begin env
	echo $pid >"$freezer/cgroup.procs"
	echo FROZEN >"$freezer/freezer.state"
	sleep 2
	echo THAWED >"$freezer/freezer.state"
	ends "was stopped"
}
if mkdir "$freezer" 2>/dev/null && [ -e "$freezer/freezer.state" ]; then
	holds "a frozen cgroup" again is_frozen
else
	skips "a frozen cgroup" "no freezer of version 1 may be used"
fi

# shellcheck disable=SC2016
is_throttled() {
	echo 30000 >"$quota/cpu.cfs_quota_us" &&
		begin sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$quota" &&
		ends "quota was used up"
}
if mkdir "$quota" 2>/dev/null && [ -e "$quota/cpu.cfs_quota_us" ]; then
	holds "a quota" again is_throttled
else
	skips "a quota" "no cpu controller of version 1 may be used"
fi

cpus=$(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0))[:2], sep=",")')
one=${cpus%,*}
case $cpus in
*,*) ;;
*)
	skips "another program, and own threads" "there is one CPU"
	echo "1..$n"
	exit 0
	;;
esac

# on_two OPTION...: a run on two CPUs.
on_two() {
	rm -rf "$work/run"
	taskset -c "$cpus" "$program" run "$@" -d 300ms -r 2 --warmup 0s --no-plots -o "$work/run" >"$work/out" 2>&1
}

# is_named OPTION...: each row beside a busy program is suspect for that, and for no thread of sched-bench.
is_named() {
	taskset -c "$one" sh -c 'while :; do :; done' &
	neighbour=$!
	on_two --workers 2 "$@"
	kill $neighbour
	wait $neighbour 2>/dev/null
	python3 - "$work/run" <<-'EOF'
		import csv, sys
		for row in csv.DictReader(open(sys.argv[1] + "/runs.csv")):
		    assert row["valid"] == "suspect", row["valid"]
		    assert "other programs took the CPUs" in row["reason"], row["reason"]
		    assert "own threads" not in row["reason"], row["reason"]
	EOF
}
holds "a busy program beside pingpong" again is_named -w pingpong --pairs 64 --round-trips 10000
holds "a busy program beside skynet" again is_named -w skynet --leaves 100000

# shares TEXT OPTION...: the threads that submit share CPUs with workers by that text, "" if not, and no row is suspect for
# it.
shares() {
	text=$1
	shift
	on_two "$@" && "$program" report "$work/run" -o "$work/page.html" &&
		python3 - "$work" "$text" <<-'EOF'
			import csv, json, sys
			work, text = sys.argv[1:]
			for row in csv.DictReader(open(work + "/run/runs.csv")):
			    assert "own threads" not in row["reason"], row["reason"]
			    assert "Little" not in row["reason"], row["reason"]
			meta = json.load(open(work + "/run/result.json"))["sched_bench"]["meta"]
			said = list(meta.get("conditions", {}).values())
			assert said == [text] * bool(text), said
			assert (text in open(work + "/page.html").read()) and (text in open(work + "/out").read())
		EOF
}
holds "threads that submit" shares "2 submitting threads share 2 CPUs with 2 workers" -w submit --workers 2
holds "beside one worker" shares "2 submitting threads share 2 CPUs with 1 worker" -w submit --workers 1
holds "the thread that measures" shares "1 submitting thread shares 2 CPUs with 2 workers" -w burst --workers 2
holds "a generator" shares "1 submitting thread shares 2 CPUs with 2 workers" -w service --workers 2
holds "a thread with a CPU of its own" shares "" -w wake-latency --workers 1
echo "1..$n"
