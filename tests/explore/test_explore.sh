#!/bin/sh
# explore: workloads under many schedules. One seed is one schedule; one that ends badly is told,
# with the command that repeats it. Prints TAP.
# usage: test_explore.sh BUILD_DIRECTORY
set -u
program=$1/sched-bench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh

if "$program" explore -w yield --schedules 1 2>&1 | grep -q 'no virtual time'; then
	echo "ok 1 - explore # SKIP this build has no virtual time"
	echo "1..1"
	exit 0
fi

seed=${SB_SEED:-$(date +%s)}
echo "# SB_SEED=$seed"
holds "all small workloads" "$program" explore --schedules 5 --seed "$seed"
for policy in "--deque chase-lev" "--wake global" "--handover queue" "--record off"; do
	# shellcheck disable=SC2086
	holds "$policy" "$program" explore -w skynet,storm,pingpong --schedules 5 --seed "$seed" $policy
done

# shows SEED: what a schedule does.
shows() {
	"$program" explore -w skynet --schedules 1 --seed "$1" --show | sed 's/, [0-9.]* s$//'
}
shows 7 >"$work/7"
shows 7 >"$work/again"
shows 8 >"$work/8"
holds "one seed is one schedule" cmp "$work/7" "$work/again"
differ() {
	! cmp -s "$work/7" "$work/8"
}
holds "another seed is another" differ
holds "its operations are shown by thread" grep -q '^ \{50,\}[a-z]* ' "$work/7"

# bad OPTION...: a schedule ends badly.
bad() {
	status=0
	"$program" explore -w storm --schedules 3 --seed 5 "$@" >"$work/out" 2>&1 || status=$?
	cat "$work/out"
	[ $status -eq 1 ]
}
holds "too few processes end a schedule badly" bad --max-processes 2
holds "which is said" grep -q 'storm .* seed 5: exit status 2' "$work/out"
holds "and why" grep -q 'a process failed: Resource temporarily unavailable' "$work/out"
repeats() {
	again=$(sed -n 's/^again: sched-bench explore //p' "$work/out") && [ "$again" ] || return 1
	# shellcheck disable=SC2086
	! "$program" explore $again >"$work/repeated" 2>&1 &&
		grep -q 'seed 5: exit status 2' "$work/repeated"
}
holds "and it is repeated by the command that is printed" repeats
holds "a hang is found" bad -w hog --hog-ns 1000000000 --timeout 1ms
refuses "no schedule" 3 "expected a count from 1" explore --schedules 0
refuses "a workload that does not exist" 3 "unknown workload 'nothing'" explore -w nothing
refuses "a word" 3 "workloads are named with -w" explore skynet
refuses "a wrong file, which is no mistake of the scheduler" 3 "trace:none.*No such file" \
	explore -w service --arrival trace:none --schedules 2
refuses "a parameter of no workload that runs" 3 "leaves" explore -w storm --leaves 10

echo "1..$n"
