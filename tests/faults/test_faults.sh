#!/bin/sh
# A sample of the faults of tests/faults/: random calls fail in random runs. Prints TAP.
# usage: test_faults.sh BUILD_DIRECTORY
set -u
work=$(mktemp)
trap 'rm -f "$work"' EXIT
. tests/tap.sh

seed=${SB_SEED:-$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')}
echo "# SB_SEED=$seed" >&2
case $1 in
*/release | */debug)
	python3 tests/faults/faults.py "$1" --sample 25 --seed "$seed" >"$work" 2>&1
	status=$?
	report "a sample of faults: no crash, hang, wrong status or lost result" \
		"$([ $status -eq 0 ] && echo yes)" "$(cat "$work")"
	sed -n 's/^[0-9]* faults: /# &/p' "$work"
	;;
*) skips "a sample of faults" "the allocator of this build cannot be exchanged" ;;
esac
echo "1..$n"
