#!/bin/sh
# A sample of the faults of tests/faults/: random calls fail in random runs. Prints TAP.
# usage: test_faults.sh BUILD_DIRECTORY
set -u
. tests/tap.sh

seed=${SB_SEED:-$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')}
echo "# SB_SEED=$seed" >&2
case $1 in
*/release | */debug)
	holds "no fault of a sample is a crash, a hang, a wrong status or a lost result" \
		python3 tests/faults/faults.py "$1" --sample 25 --seed "$seed"
	;;
*) skips "faults" "this build cannot have its allocator exchanged" ;;
esac
echo "1..$n"
