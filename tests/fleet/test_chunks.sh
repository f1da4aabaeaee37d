#!/bin/sh
# Parts of a sweep, run apart and put together: the rows of the sweep that was run at once, each
# once, also after one part was killed; and what cannot be put together.
# usage: test_chunks.sh BUILD_DIRECTORY
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh

program=$(realpath "$1")/sched-bench
same=$PWD/scripts/same-virtual.py
rows=$PWD/tests/fleet/rows.py
cd "$work" || exit 1
quick='-d 1ms --warmup 0s --no-plots'

# chunk K/N DIRECTORY OPTION...: that part of a sweep alone.
chunk() {
	part=$1 directory=$2
	shift 2
	# shellcheck disable=SC2086
	"$program" sweep "$@" $quick --chunk "$part" -o "$directory" >"$directory.out"
}

# ---- real time ----
real='-w yield --yields 100 -L batch=1,16,32 -r 6 --seed 40'
# shellcheck disable=SC2086
rounds() {
	rm -rf r1 r2 r3
	for k in 1 2 3; do
		chunk $k/3 r$k $real && python3 "$rows" r$k 6 --rounds 2 || return 1
	done
}
holds "in real time a chunk is of whole repetitions" rounds
# A row may be invalid, when others use this machine, too.
together() {
	"$program" sweep --merge r3 r1 r2 -q --no-plots -o real || [ $? -eq 2 ] || return 1
	python3 "$rows" real 18 --rounds 6 --seed 40
}
holds "put together: all rows, once, with their seeds" together
too_few() {
	"$program" sweep --merge r3 r1 -q --no-plots -o few 2>few.err
	[ $? -eq 2 ] && python3 "$rows" few 12 --rounds 4
}
holds "without one of them, its rows are missing" too_few
rest() {
	"$program" sweep --resume few -q || [ $? -eq 2 ] || return 1
	python3 "$rows" few 18 --rounds 6 --seed 40
}
holds "and are run by --resume" rest
stopped() {
	# shellcheck disable=SC2086
	"$program" sweep $real $quick --chunk 1/2 -o s1 >/dev/null 2>&1 &
	pid=$!
	until [ -s s1/sweep.db ] && python3 "$rows" s1 1 --at-least; do sleep 0.1; done
	kill -9 $pid
	wait $pid
	"$program" sweep --resume s1 -q && python3 "$rows" s1 9 --rounds 3
}
holds "a chunk that was killed is resumed, and is no more than its rows" stopped

# As a batch system does: the signal reaches the process of the row, and then the sweep's.
signalled() {
	# shellcheck disable=SC2086
	"$program" sweep $real -d 300ms --warmup 0s --no-plots -q -o s2 >/dev/null 2>&1 &
	pid=$!
	until [ -s s2/sweep.db ] && python3 "$rows" s2 1 --at-least && pkill -TERM -f 'output=s2/sweep.row'; do sleep 0.1; done
	sleep 0.05
	kill -TERM $pid
	wait $pid
	[ "$(python3 -c 'import sqlite3; print(sum("interrupted" in r[0] for r in sqlite3.connect("s2/sweep.db").execute("SELECT coalesce(result, reason) FROM row")))')" -eq 0 ]
}
holds "a signal for all processes of a job: the row that ran is not kept" signalled

# ---- what cannot be put together ----
# shellcheck disable=SC2086
refuses "a chunk that is none" 3 "expected K/N" sweep $real --chunk 4/3 -o x
# shellcheck disable=SC2086
refuses "more chunks than repetitions" 3 "at most 6, as many as there are repetitions" sweep $real --chunk 1/7 -o x
refuses "no directory" 3 "directories are missing" sweep --merge -o x
refuses "a directory without a sweep" 3 "holds no sweep" sweep --merge nowhere -o x
refuses "a row that is there twice" 3 "has been taken from another directory" sweep --merge r1 r2 r1 -o x
# shellcheck disable=SC2086
other() { chunk 2/3 o2 $real --event-budget 7; }
holds "a chunk of another sweep" other
refuses "is refused" 3 "of another sweep: it has --event-budget=7" sweep --merge r1 o2 -o x
elsewhere() { cp -r r2 e2 && python3 "$rows" e2 6 --machine elsewhere; }
holds "a chunk of another machine" elsewhere
refuses "is refused, too" 3 "e2 was begun with another machine: elsewhere" sweep --merge r1 e2 -o x
# shellcheck disable=SC2086
refuses "a chunk and a cluster" 3 "expected one of them" sweep $real --chunk 1/2 --on slurm -o x
# shellcheck disable=SC2086
refuses "chunks without a cluster" 3 "only with --on" sweep $real --chunks 4 -o x
# shellcheck disable=SC2086
refuses "types of nodes without a cluster" 3 "only with --on" sweep $real --nodes-as series -o x
holds "a merge that failed leaves nothing" [ ! -e x ]

# ---- virtual time ----
if has_virtual; then
	virtual='-w skynet --leaves 1000 --virtual --profile desktop-2ccd -L steal=half,one -L batch=1,16 -r 12'
	# shellcheck disable=SC2086
	at_once() { "$program" sweep $virtual $quick -q -o whole; }
	holds "virtual time: 48 rows at once" at_once
	# shellcheck disable=SC2086
	apart() {
		for k in 1 2 3 4 5; do
			chunk $k/5 v$k $virtual || return 1
		done
		python3 "$rows" v2 10 --machine elsewhere
		"$program" sweep --merge v4 v1 v2 v3 v5 -q --no-plots -o merged
	}
	holds "in five chunks, of two machines" apart
	holds "put together: the same to the byte" python3 "$same" whole merged
else
	skips "virtual time" "this build has none"
fi

echo "1..$n"
