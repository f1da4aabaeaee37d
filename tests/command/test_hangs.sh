#!/bin/sh
# limit.py, which ends tests that hang. Prints TAP.
# usage: test_limit.sh BUILD_DIRECTORY
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh

# ends STATUS COMMAND...: within two seconds that count.
ends() {
	expected=$1
	shift
	python3 tests/limit.py 2 "$@" 2>"$work/err"
	[ $? -eq "$expected" ]
}
holds "a status is passed on" ends 7 sh -c 'exit 7'
# shellcheck disable=SC2016
holds "so is a signal" ends 137 sh -c 'kill -9 $$'
holds "a command that sleeps is killed" ends 124 sleep 1000
holds "and that is told" grep -q '^# killed: it took 2 s' "$work/err"
leaves_nothing() {
	ends 124 sh -c "sleep 1000 & echo \$! >'$work/pid'; wait"
	# A zombie, at most.
	! grep -qv ') Z ' "/proc/$(cat "$work/pid")/stat" 2>/dev/null
}
holds "with all processes of its session" leaves_nothing
waits_do_not_count() {
	PYTHONPATH=tests python3 -B - <<-'END'
		import limit
		assert limit.longest_wait_s({"1": 0, "2": 0}, {"1": 500000000, "2": 7}) == 0.5
		assert limit.longest_wait_s({}, {}) == 0
		assert limit.longest_wait_s({"1": 0}, {"1": 9000000000}) == limit.INTERVAL_S
	END
}
holds "waiting for a CPU does not count" waits_do_not_count
echo "1..$n"
