#!/bin/sh
# How pictures look, in a browser: one of every kind and more, of results in virtual
# time. Prints TAP.
# usage: test_pictures.sh BUILD_DIRECTORY
set -u
program=$1/sched-bench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh

# without REASON: nothing can be tested.
without() {
	skips "pictures in a browser" "$1"
	echo "1..$n"
	exit 0
}
for need in gnuplot chromium; do
	command -v $need >/dev/null || without "$need is not installed"
done
has_virtual || without "this build has no virtual time"

# made NAME VERB OPTION...: a result with its pictures and its page.
made() {
	result=$1
	shift
	holds "a result: $result" "$program" "$@" --virtual --warmup 0s --no-plots -q -o "$work/$result"
	holds "its pictures" "$program" plot all "$work/$result"
}
made settings sweep -w trickle -L spin-yield=0,64,4096 -L wake=local,global --spin-time 0s \
	--objective wake_ns_p50,cpu_ns_per_op \
	--profile epyc-2s-nps4 --workers 4 -r 6 -d 5ms
made workloads sweep -w skynet,pingpong,yield,hog --leaves 1000 --round-trips 1000 --yields 1000 --victims 100 \
	-L wake=local,global --profile epyc-2s-nps4 --workers 4 -r 6 -d 1ms
made workers sweep -w skynet --leaves 10000 -L workers=1,2,3,4,6,8 --profile xeon-2s -r 6 -d 1ms
made loads sweep -w service -L load=20%,50%,80%,95% --profile xeon-2s --workers 4 -r 6 -d 10ms
made search run -w service --find-slo 'p99<200us' --profile xeon-2s --workers 4 -r 10 -d 20ms
made wide run -w skynet --leaves 100000 --profile epyc-2s-nps4 --workers 128 -r 2 -d 1ms
made nodes run -w skynet --leaves 100000 --profile epyc-2s-nps4 --workers 32 --placement numa -r 2 -d 1ms
made traced run -w skynet,stuck-slot,pingpong --leaves 1000 --round-trips 1000 --trace --series 100us --profile xeon-2s --workers 4 -r 6 -d 2ms
holds "the sweep is drawn by its first objective" grep -q 'p50 of wake' "$work/settings/plots/sweep.gp"
holds "its caption does not name the machine that predicts" grep -q \
	"^set label '4 workers placed on profile" "$work/settings/plots/sweep.gp"
for result in "$work"/*/; do
	[ -d "$result/plots" ] && "$program" report "$result" -o "$result/report.html"
done

kinds=$("$program" plot list | awk '/^  [a-z]/ && $1 != "all" && $1 != "topology" { print $1 }')
set --
for result in settings workloads workers loads search wide nodes traced; do
	set -- "$@" "$work/$result"
done
python3 tests/pictures/tools/pictures.py "$kinds" "$@" >"$work/browser"
while IFS= read -r line; do
	case $line in
	ok*) report "${line#ok * - }" yes ;;
	"not ok"*) report "${line#not ok * - }" no "" ;;
	*) echo "$line" ;;
	esac
done <"$work/browser"
[ "$(tail -1 "$work/browser")" = "# looked at" ] || report "the browser" no "it has ended before its time"
echo "1..$n"
