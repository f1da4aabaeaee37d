#!/bin/sh
# Checks the models of tests/models with Spin, exhaustively for small bounds,
# and that each deliberate mistake in them is found. Prints TAP.
set -u
if ! command -v spin >/dev/null; then
	echo "ok 1 - models # SKIP spin is not installed"
	echo "1..1"
	exit 0
fi
models=$(dirname "$0")/models
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0

# verify MODEL FLAGS...: "none", "found" or what went wrong, in $errors.
verify() {
	model=$1
	shift
	errors="spin or the compiler failed"
	cp "$models/$model.pml" "$work"
	(cd "$work" && spin "$@" -a "$model.pml" >log 2>&1 &&
		${CC:-gcc} -O2 -w -DSAFETY -DCOLLAPSE -DMEMLIM=3000 -o pan pan.c >>log 2>&1 &&
		./pan -m200000 >log 2>&1) || return
	states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' "$work/log")
	if grep -q 'max search depth too small\|out of memory' "$work/log"; then
		errors="search not complete"
	elif grep -q 'errors: 0' "$work/log"; then
		errors=none
	else
		errors=found
	fi
}

# expect MODEL none|found FLAGS...
expect() {
	model=$1 expected=$2
	shift 2
	verify "$model" "$@"
	n=$((n + 1))
	if [ "$errors" = "$expected" ]; then
		echo "ok $n - $model $* ($states states, errors: $errors)"
	else
		echo "not ok $n - $model $* (errors: $errors, expected $expected)"
		sed 's/^/# /' "$work/log"
	fi
}

# mistakes MODEL "FLAGS" MISTAKE...
mistakes() {
	model=$1 flags=$2
	shift 2
	for mistake; do
		# shellcheck disable=SC2086
		expect "$model" found $flags "-D$mistake"
	done
}

expect word none -DPRODUCERS=3
expect word none -DPRODUCERS=3 -DENDS
mistakes word "" IGNORE_WAKEUP QUEUE_ALWAYS SPLIT_POST SPLIT_TAKE \
	NOT_REVERSED IN_FRONT IGNORE_BACKLOG
mistakes word -DENDS SPLIT_COMPLETE
for ext in 1 2 3; do
	expect idle none -DEXT=$ext
done
expect idle found -DNO_RESCAN
expect idle found -DNO_CHAIN
expect idle found -DNO_LOCAL
expect idle found -DWAIT_TOKEN
for first in LATER NEVER; do
	expect timekeeper none -DFIRST=$first
done
for mistake in NO_TELL NO_SECOND NO_AGAIN; do
	expect timekeeper found -DFIRST=LATER -D$mistake
done
expect timekeeper found -DFIRST=NEVER -DNO_PUBLISH
expect relation none
for mistake in LOOK_FIRST LEAVE_IT NO_RECHECK; do
	expect relation found -D$mistake
done
echo "1..$n"
