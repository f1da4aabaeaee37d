#!/bin/sh
# Every input of tests/fuzz/corpus/ goes through its reader once more: seeds, and
# all that has ever crashed or hung it. Prints TAP, a line for each.
# usage: test_fuzz.sh BUILD_DIRECTORY
set -u
fuzz=$1/tests/fuzz/fuzz
. tests/tap.sh

for target in $("$fuzz" | cut -d ' ' -f 1); do
	for input in tests/fuzz/corpus/"$target"/*; do
		holds "$target: ${input##*/}" timeout 60 "$fuzz" "$target" "$input"
	done
done
echo "1..$n"
