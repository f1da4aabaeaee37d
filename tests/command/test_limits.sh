#!/bin/sh
# The command where a user's limits are low, or the input is as long as it may
# be. Prints TAP.
# usage: test_limits.sh BUILD_DIRECTORY
set -u
program=$1/sched-bench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh

# ---- large machines ----

# in_bounds ARGUMENT...: 1 GB, and a multiple of the time that it takes.
in_bounds() {
	prlimit --as=1073741824 --cpu=30 "$program" "$@" >"$work/out"
}
case $1 in
*/release*)
	while read -r shape arguments; do
		# shellcheck disable=SC2086
		holds "16384 processing units: $shape, topo $arguments" \
			in_bounds topo $arguments --profile "$(echo "$shape" | tr _ ' ')"
	done <<-'EOF'
		pu:16384 plan --placement distrib
		pack:16384_pu:1 plan --format json
		pack:2_core:8192_pu:1 plan --format csv --placement numa
		numa:128_core:64_pu:2 plan --placement scatter
		numa:4096_core:4_pu:1 fingerprint
		pack:128_numa:4_l3:4_core:8_pu:1 show
	EOF
	holds "16384 processing units: run" in_bounds run -w yield --workers 2 \
		--profile 'pack:128 core:128 pu:1' --duration 1ms --warmup 0s --repetitions 1 \
		--no-plots -q -o "$work/large"
	;;
*)
	skips "16384 processing units" "not the release build"
	;;
esac

# ---- a small stack ----

# with_small_stack ARGUMENT...: done, if need be with rows that are invalid, as
# they may be on a loaded machine.
with_small_stack() {
	prlimit --stack=131072 "$program" "$@" >"$work/out"
	[ $? -le 2 ]
}
quick='--duration 1ms --warmup 0s --repetitions 2 --no-plots -q'

case $1 in
*/release*)
	for workload in yield savina-quicksort service; do
		# shellcheck disable=SC2086
		holds "a stack of 128 KiB: run -w $workload" \
			with_small_stack run -w $workload $quick -o "$work/$workload"
	done
	# shellcheck disable=SC2086
	holds "a stack of 128 KiB: --load" \
		with_small_stack run -w service --load 50% $quick -o "$work/load"
	# shellcheck disable=SC2086
	holds "a stack of 128 KiB: --trace" \
		with_small_stack run -w yield --trace $quick -o "$work/trace"
	holds "a stack of 128 KiB: report" \
		with_small_stack report "$work/yield" -o "$work/report.html"
	holds "a stack of 128 KiB: check" with_small_stack check
	holds "a stack of 128 KiB: topo" \
		with_small_stack topo show --profile epyc-2s-nps4
	holds "a stack of 128 KiB: sweep" \
		with_small_stack sweep -w yield -L batch=1,2 --dry-run
	;;
*) skips "a stack of 128 KiB" "this build has larger frames" ;;
esac

# ---- memory ----

# peak_kib NAME OPTION...: the most memory that such a run of pingpong had.
peak_kib() {
	directory=$work/$1
	shift
	python3 - "$program" "$directory" "$@" <<-'EOS'
		import resource, subprocess, sys
		program, directory, *options = sys.argv[1:]
		subprocess.run([program, "run", "-w", "pingpong", "--round-trips", "1000", "-d", "1ms",
		                "--warmup", "0s", "--no-plots", "-q", "-o", directory, *options],
		               check=True)
		print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
	EOS
}
repetitions_are_small() {
	few=$(peak_kib r10 -r 10) && many=$(peak_kib r400 -r 400) || return 1
	echo "$few KiB with 10, $many KiB with 400"
	[ $((many - few)) -lt $((390 * 34)) ]
}
# virtual_kib WORKERS
virtual_kib() {
	peak_kib "v$1" -r 1 --record off --virtual --model xeon-2s \
		--profile 'pack:8 numa:4 l3:4 l2:8 core:1 pu:1' --workers "$1"
}
# 64 KiB for the worker, 13 for its queues and buffers, 4 for the second page of its stack, which ticks need, 49 for
# its part of the result, most of it what it counts of each of the others as a thief, and 20 for the memory of the
# processes that it stole once, as most of them do.
virtual_workers_are_small() {
	few=$(virtual_kib 64) && many=$(virtual_kib 256) || return 1
	echo "$few KiB with 64, $many KiB with 256"
	[ $((many - few)) -lt $((192 * (64 + 13 + 4 + 49 + 20))) ]
}
case $1 in
*/release*) holds "a repetition keeps less than 34 KiB of memory" repetitions_are_small ;;
*) skips "a repetition keeps less than 34 KiB of memory" "this build allocates otherwise" ;;
esac
case $1 in
*/release | */release-clang)
	holds "a virtual worker has less than 150 KiB of memory" virtual_workers_are_small
	;;
*)
	skips "a virtual worker has less than 150 KiB of memory" \
		"this build has no virtual time, or allocates otherwise"
	;;
esac

# ---- long texts ----

# long START CHARACTER END: START, 900,000 times CHARACTER, END.
long() {
	printf '%b' "$1"
	head -c 900000 /dev/zero | tr '\0' "$2"
	printf '%b' "$3"
}

printf '[a]\nx="   \n' >"$work/job"
refuses "an open quote before blanks" 3 ':2:3: the value has no end' run "$work/job"
long '[a]\nx="' ' ' '' >"$work/job"
refuses "and 900,000 of them" 3 ':2:3: the value has no end' run "$work/job"
long '[a]\nworkload="' x '"\n' >"$work/job"
refuses "a long value is not shown whole" 3 ":2:10: unknown workload 'xxx" run "$work/job"
holds "but its beginning and its end" test "$(wc -c <"$work/err")" -lt 3000

# ---- inputs without an end ----

for input in "$work" /dev/zero /dev/urandom /dev/full; do
	refuses "the job file $input" 3 'expected a job file' run "$input"
	refuses "the trace $input" 3 'cannot be opened' run -w service --arrival "trace:$input"
	[ -d "$input" ] ||
		refuses "the profile $input" 3 'neither a file nor a directory' \
			run -w yield --profile "$input"
	refuses "the result $input" 3 . compare "$input" "$input"
	refuses "the baseline $input" 3 . gate -w yield --baseline "$input"
done
# A pipe without a writer never opens otherwise.
mkfifo "$work/pipe"
refuses "the job file that is an empty pipe" 3 'no job' run "$work/pipe"
refuses "a trace that is one" 3 . run -w service --arrival "trace:$work/pipe"
refuses "a result that is one" 3 'not a file' compare "$work/pipe" "$work/pipe"
from_a_pipe() {
	printf '[a]\nworkload=yield\n' | "$program" run /dev/stdin --show-job | grep -q '^workload=yield$'
}
holds "a job file from a pipe" from_a_pipe

# ---- a byte order mark, which some editors write ----

mark=$(printf '\357\273\277')
quick='-r 1 -d 1ms --warmup 0s --no-plots -q'
marked_job() { printf '%s[a]\nworkload=yield\n' "$mark" >"$work/job" && "$program" run "$work/job" --show-job | grep -q '^workload=yield$'; }
marked_pipe() { printf '%s[a]\nworkload=yield\n' "$mark" | "$program" run /dev/stdin --show-job | grep -q '^workload=yield$'; }
# shellcheck disable=SC2086
marked() {
	name=$1
	shift
	"$program" run "$@" $quick -o "$work/$name" 2>"$work/err" || [ $? -eq 2 ] || { cat "$work/err" && return 1; }
}
marked_result() {
	{ printf %s "$mark" && cat "$work/trace.mark/result.json"; } >"$work/marked.json" && "$program" report "$work/marked.json" -o "$work/marked.html"
}
holds "in a job file" marked_job
holds "in one from a pipe" marked_pipe
printf '%s10us\n' "$mark" >"$work/times"
holds "in a trace" marked trace.mark -w service --arrival "trace:$work/times"
printf '%s# sched-bench actors 1\nspawn 0 0\nstep 0 0 0 1\n' "$mark" >"$work/actors"
holds "in a recording" marked actors.mark -w replay --actors "$work/actors"
holds "in a result" marked_result
printf '\357\273[a]\nworkload=yield\n' >"$work/job"
refuses "half of one is none" 3 ':1:1: ' run "$work/job"

# ---- quietly ----

# quiet VERB OPTION...: -q leaves the summary out, but not why the status is 2.
quiet() {
	verb=$1
	shift
	# shellcheck disable=SC2086
	"${program%/*}/tests/sched-bench-wrong" "$verb" -w wrong "$@" $quick -o "$work/quiet-$verb" >"$work/out" 2>"$work/err"
	[ $? -eq 2 ] && [ ! -s "$work/out" ] && grep -q '^sched-bench: wrong.* are invalid: ' "$work/err"
}
holds "quietly, run says why its status is not 0" quiet run
holds "and so does sweep" quiet sweep -L batch=1
echo "1..$n"
