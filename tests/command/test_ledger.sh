#!/bin/sh
# The spin ledger of a run against a sweep of spin thresholds, in virtual time: what is predicted for
# twelve thresholds from one of them is what the sweep has, within the bounds that are given here. The
# steal ledger names what was made to be named, and says nothing of good runs.
# usage: test_ledger.sh BUILD_DIRECTORY
set -u
program=$1/sched-bench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh
has_virtual || {
	skips "ledgers" "this build has no virtual time"
	echo "1..$n"
	exit 0
}
# compared WORK NAME WORKERS [OPTION...]: service needs more than 20 ms, or its errors are those of a seed.
compared() {
	only=$1 of=$2 workers=$3
	shift 3
	scripts/spin-check --program "$program" --only "$only" --csv "$work/$of.csv" --virtual \
		--profile xeon-2s --workers "$workers" -r 2 "$@" >"$work/$of.table"
}
say_it() {
	"$program" run -w trickle --virtual --profile xeon-2s --workers 2 -r 2 -d 20ms --no-plots \
		-o "$work/said" | grep -q '^trickle: .* spin.*(predicted from its gaps)$'
}
# within NAME METRIC PERCENT [YIELDS]: the errors at all thresholds, or those up to so many yields.
within() {
	awk -F, -v metric="$2" -v most="$3" -v yields="${4-1024}" 'NR > 1 && $3 == metric && $2 <= yields {
		n++; bad += $6 > most || $6 < -most }
		END { exit !n || bad }' "$work/$1.csv" || {
		cat "$work/$1.table"
		return 1
	}
}
holds "trickle, on two workers" compared trickle trickle 2 -d 20ms
holds "its parks are predicted within 1 %" within trickle parks_per_op 1
holds "its CPU time within 12 %" within trickle cpu_ns_per_op 12
holds "what wakes add within 5 %" within trickle latency_ns_mean 5
holds "service at 30 %, on two workers" compared 30% service 2 -d 400ms
holds "its parks within 16 %" within service parks_per_op 16
holds "its CPU time within 9 %" within service cpu_ns_per_op 9
holds "what wakes add within 21 %" within service latency_ns_mean 21
holds "service at 70 %, on one worker" compared 70% one 1 --service exp:10us -d 400ms --record full
holds "its parks within 12 %, up to 64 yields" within one parks_per_op 12 64
holds "its CPU time within 5 %" within one cpu_ns_per_op 5
holds "what wakes add within 15 %, up to 64 yields" within one latency_ns_mean 15 64
holds "service at 70 %, on two" compared 70% two 2 -d 400ms
holds "its parks within 16 %, up to 32 yields" within two parks_per_op 16 32
holds "its CPU time within 10 %" within two cpu_ns_per_op 10
holds "skynet, on two" compared skynet skynet 2 --record full
holds "its parks within 18 %, up to 8 yields" within skynet parks_per_op 18 8
holds "its CPU time within 5 %" within skynet cpu_ns_per_op 5
holds "a run says what another threshold would have meant" say_it
holds "a run has its ledger" "$program" run -w trickle --virtual --profile xeon-2s --workers 2 -r 2 -d 20ms \
	-q -o "$work/run"
holds "as a picture" grep -q 'spinning at all would have meant' "$work/run/plots/spin-ledger-trickle.gp"
holds "and on the page" grep -q 'spinning at all would have meant' "$work/run/report.html"
holds "an existing result has it, too" "$program" convert "$work/run" --to csv -o "$work/csv"
holds "the very same" cmp "$work/run/spin_ledger.csv" "$work/csv/spin_ledger.csv"

# ran NAME WORKLOAD [OPTION...]
ran() {
	name=$1
	shift
	"$program" run -w "$@" --virtual --profile xeon-2s --workers 2 -r 2 -d 5ms -o "$work/$name" >"$work/$name.out" 2>&1
}
# told NAME TEXT; untold NAME
told() { grep -q "$2" "$work/$1.out"; }
untold() { ! grep -Eq 'stolen processes|a worker was idle for' "$work/$1.out"; }
holds "a hold without its bound, on two workers" ran held stuck-slot --hold-time 1s
holds "is named" told held 'a worker was idle for .* of the time that steps held messages (median 1.00 ms)'
holds "processes that are stolen over and over" ran wandering savina-fjthrput --messages 100
holds "are named" told wandering 'had been stolen more than 8 times'
holds "skynet" ran skynet skynet --leaves 10000 --no-plots
holds "has neither" untold skynet
holds "nor has fan-in" ran fan-in fan-in --messages 500 --no-plots
holds "of which nothing is told" untold fan-in
holds "a picture" grep -q 'had been stolen more than 8 times' "$work/wandering/plots/steal-ledger-savina-fjthrput.gp"
holds "the page" grep -q 'had been stolen more than 8 times' "$work/wandering/report.html"
holds "an existing result has the steal ledger, too" "$program" convert "$work/held" --to csv -o "$work/steals"
holds "the very same" cmp "$work/held/steal_ledger.csv" "$work/steals/steal_ledger.csv"
echo "1..$n"
