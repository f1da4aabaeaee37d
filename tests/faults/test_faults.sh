#!/bin/sh
# A sample of the faults of tests/faults/: random calls fail in random runs; and those
# that once ended wrongly. Prints TAP.
# usage: test_faults.sh BUILD_DIRECTORY
set -u
work=$(mktemp)
trap 'rm -f "$work"' EXIT
. tests/tap.sh

seed=${SB_SEED:-$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')}
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
	;;
*) skips "a sample of faults" "the allocator of this build cannot be exchanged" ;;
esac
echo "1..$n"
