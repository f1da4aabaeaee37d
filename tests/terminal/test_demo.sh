#!/bin/sh
# `demo`, the first run: the answer, one picture, and commands that can be typed as they stand; with
# many workers and with one, with gnuplot and without. Prints TAP.
# usage: test_demo.sh BUILD_DIRECTORY
set -u
program=$(realpath "$1")/sched-bench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh
export LC_ALL=C.UTF-8

# ends STATUS ARGUMENT...
ends() {
	status=$1
	shift
	(cd "$work" && "$program" demo "$@" >out 2>err)
	got=$?
	[ $got -eq "$status" ] || { echo "status $got, expected $status" && cat "$work/err" && false; }
}
has() {
	grep -q -e "$1" "$work/out" || { cat "$work/out" && false; }
}
holds "a demo ends as a run does" ends 0
holds "it names its run" has '^\$ sched-bench run -w skynet '
holds "the answer" has '^skynet: ns_per_op .*6 forks x 3, '
holds "the table" has '^skynet  .*/18 '
holds "the page is where it says" test -s \
	"$work/$(sed -n 's/^    \(sched-bench-results.*html\)$/\1/p' "$work/out")"
if command -v gnuplot >/dev/null; then
	picture=$(sed -n 's/^picture: //p' "$work/out")
	holds "so is the picture" test -s "$work/$picture"
	title=$(sed -n '/^picture: /{n; s/^  //p;}' "$work/out")
	holds "with what it shows" grep -q -F "${title%%;*}" "$work/$picture"
else
	skips "the picture" "there is no gnuplot"
fi

# Each as it is printed, with what makes it short.
next() {
	sed -n '/^    sched-bench /{:a; /\\$/{N; s/\\\n *//; ba;}; s/^ *//; p;}' "$work/out" >"$work/next"
	[ "$(wc -l <"$work/next")" -eq 3 ] || { cat "$work/next" && return 1; }
	while read -r line; do
		case $line in
		*' ab '*) line="$line --metric ns_per_op --pairs 12 -d 2ms --warmup 0s --no-plots" ;;
		*' sweep '*) line="$line --dry-run" ;;
		esac
		(cd "$work" && eval "\"$program\"${line#sched-bench}" >next.out 2>&1 </dev/null) ||
			{ echo "$line" && cat "$work/next.out" && return 1; }
	done <"$work/next"
}
holds "what to do next can be done" next

# lonely: on one CPU, without gnuplot, with an environment that is for other runs.
cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
lonely() {
	mkdir "$work/empty" && (cd "$work" && SCHED_BENCH_FORMAT=json SCHED_BENCH_REPETITIONS=1 \
		SCHED_BENCH_OUTPUT="$work/here" PATH=empty "$taskset" -c "$cpu" "$program" demo >out 2>err)
}
taskset=$(command -v taskset)
holds "on one CPU without gnuplot" lonely
holds "which is said once" test "$(grep -c 'no plots: gnuplot is not installed' "$work/err")" -eq 1
holds "by one worker" has '; 1 worker, '
holds "the environment does not count" has '^skynet: ns_per_op .*6 forks x 3, '
holds "but for the directory" test -s "$work/here/report.html"
holds "no picture, but what to do next" sh -c "! grep -q '^picture' '$work/out' &&
	grep -q 'here/report.html' '$work/out' && grep -q 'sched-bench help questions' '$work/out'"

holds "a directory that has a result" ends 3 -o "$work/here"
holds "is one line" test "$(wc -l <"$work/err")" -eq 1
holds "and nothing comes next" sh -c "! grep -q next '$work/out'"
refuses "a word" 3 "'pingpong' is not expected; .*run -w WORKLOAD" demo pingpong
refuses "an option of run" 3 "unknown option '-w'; run has it, demo has not" demo -w yield
refuses "a directory that is missing" 3 "a value is missing" demo -o
fits() {
	python3 tests/command/tools/terminal.py 80 "$program" demo --help | tr -d '\r' >"$work/help"
	[ -s "$work/help" ] && [ "$(wc -l <"$work/help")" -le 24 ] && [ "$(wc -L <"$work/help")" -le 80 ]
}
holds "help fits 80x24" fits
echo "1..$n"
