#!/bin/sh
# A sample of the faults of tests/faults/, and those that once ended wrongly. The sample is the
# same each time, or a change would be blamed for what another has left: SB_SEED and
# `make faults` look for more. Prints TAP.
# usage: test_faults.sh BUILD_DIRECTORY
set -u
work=$(mktemp)
trap 'rm -f "$work"' EXIT
. tests/tap.sh

seed=${SB_SEED:-1}
echo "# SB_SEED=$seed" >&2

# faults NAME ARGUMENT...: none of them ends wrongly.
faults() {
	name=$1
	shift
	python3 tests/faults/faults.py "$build" "$@" >"$work" 2>&1
	status=$?
	report "$name" "$([ $status -eq 0 ] && echo yes)" "$(cat "$work")"
	sed -n 's/^[0-9]* faults: /# &/p' "$work"
}

case $1 in
*/release | */debug)
	build=$1
	faults "a sample of faults: no crash, hang, wrong status or lost result" --sample 25 --seed "$seed"
	faults "a store that cannot be read is not called damaged" \
		--verb "sweep resume" --kind read --stride 7
	faults "rows that cannot be saved are one line" --verb "run saved" --kind open --stride 103
	faults "nor are there more without memory" --verb "run saved" --kind memory --stride 1517
	;;
*) skips "a sample of faults" "the allocator of this build cannot be exchanged" ;;
esac
echo "1..$n"
