#!/bin/sh
# The command's own threads (generators of load, who looks at the system, who
# reads the workers' counters while they run) beside the workers: a run of each
# kind ends, with numbers. What a sanitizer sees ends it with another status.
# usage: test_threads.sh BUILD_DIRECTORY
set -u
program=$1/sched-bench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0

# runs NAME OPTION...: status 0, or 2 for a row that the machine has spoilt.
runs() {
	n=$((n + 1))
	name=$1
	shift
	"$program" run "$@" --forks 1 --duration 50ms --warmup 20ms --repetitions 2 \
		--no-plots -q -o "$work/$n" 2>"$work/err"
	got=$?
	if { [ $got -eq 0 ] || [ $got -eq 2 ]; } && [ -s "$work/$n/runs.csv" ]; then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name (status $got)"
		sed 's/^/# /' "$work/err" | head -40
	fi
}

runs "an open loop" -w service --rate 2k/s --generators 2 --late 1s
runs "a closed loop" -w service --closed 20 --servers 5
runs "commands completed by another thread" -w yield --handler async \
	--processes 10 --yields 200
runs "submissions from several threads" -w submit --processes 600 --submitters 3
runs "wakes from outside" -w wake-latency --wakes 10 --pause-us 100
runs "workers that poll" -w pingpong --round-trips 1000 --park poll
runs "everything recorded" -w skynet --leaves 1000 --record full
echo "1..$n"
