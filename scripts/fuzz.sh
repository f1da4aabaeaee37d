#!/bin/sh
# Runs AFL++ on each target of tests/fuzz/, from its corpus and from what earlier
# runs have found, and counts the inputs that crash or hang; they lie in
# build/fuzz/TARGET/.
# usage: fuzz.sh PROGRAM SECONDS [TARGET...]
set -eu
program=$1 seconds=$2
shift 2
case $seconds in
'' | *[!0-9]* | 0*)
	echo "fuzz.sh: SECONDS is '$seconds'; expected a count above 0" >&2
	exit 3
	;;
esac
targets=$("$program" | cut -d ' ' -f 1 | tr '\n' ' ')
# shellcheck disable=SC2086
[ $# -gt 0 ] || set -- $targets

# Cores and governors are as they are; a crash needs no core file.
export AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_SKIP_CPUFREQ=1 \
	AFL_NO_AFFINITY=1 AFL_NO_UI=1 AFL_AUTORESUME=1

# stat NAME FILE: a number of AFL++'s.
stat() {
	sed -n "s/^$1 *: //p" "$2"
}

# In memory, where there is such a place: outputs are synced.
files=/dev/shm
[ -w $files ] || files=/tmp
files=$files/sched-bench-fuzz.$$
trap 'rm -rf "$files"' EXIT
# The program gives a machine's description up after 30 s: a hang takes longer.
status=0
for target in "$@"; do
	if [ ! -d "tests/fuzz/corpus/$target" ]; then
		echo "fuzz.sh: '$target' is no target; expected one of: $targets" >&2
		exit 3
	fi
	out=build/fuzz/$target
	mkdir -p "$out" "$files"
	if ! TMPDIR=$files afl-fuzz -i "tests/fuzz/corpus/$target" -o "$out" \
		-m none -t 40000 -V "$seconds" -- "$program" "$target" >"$out/log" 2>&1; then
		tail -20 "$out/log" >&2
		exit 4
	fi
	rm -rf "$files"
	stats=$out/default/fuzzer_stats
	crashes=$(stat saved_crashes "$stats") hangs=$(stat saved_hangs "$stats")
	printf '%-10s %9s runs, %5s inputs with paths of their own, %s crashes, %s hangs\n' \
		"$target" "$(stat execs_done "$stats")" "$(stat corpus_count "$stats")" \
		"$crashes" "$hangs"
	[ "$crashes$hangs" = 00 ] || status=1
done
[ $status -eq 0 ] || echo "The inputs: build/fuzz/TARGET/default/{crashes,hangs}/; see tests/fuzz/README.md"
exit $status
