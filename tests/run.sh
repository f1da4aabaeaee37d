#!/bin/sh
# Runs the tests that are named, programs and shell scripts, and counts. The last
# line is "N passed, N failed" (", N skipped" may follow). At a time run as many as there
# are processors, and one more, since most wait now and then.
# usage: run.sh BUILD_DIRECTORY TEST...
# itself: run.sh --one RESULTS NAME COMMAND...
# SB_TEST_COMPLETE, if set: a test that is skipped because a package is not
# installed is a failure.
# EMULATOR, if set, is the command that runs programs built for another machine.
set -u
# A test that hangs is a failure, not a reason to wait for ever: in seconds in which it
# does not wait for a CPU (limit.py).
limit=600

# one RESULTS NAME COMMAND...: one test that prints TAP; its counts go into a file
# of that directory.
one() {
	results=$1 name=$2 begin=$(date +%s)
	shift 2
	log=$(mktemp "$results/log.XXXXXX")
	CMOCKA_MESSAGE_OUTPUT=TAP python3 tests/limit.py $limit "$@" >"$log" 2>"$log.err"
	status=$?
	# cmocka says "not ok N # SKIP", where TAP has "ok N # SKIP".
	skip=$(grep -cE '^(not )?ok .*# SKIP' "$log")
	ok=$(grep '^ok ' "$log" | grep -vc '# SKIP')
	bad=$(grep '^not ok ' "$log" | grep -vc '# SKIP')
	if [ -n "${SB_TEST_COMPLETE-}" ]; then
		bad=$((bad + $(grep -c '# SKIP .* is not installed' "$log")))
	fi
	# A crash, a sanitizer's report or a hang, whatever was printed before.
	if [ $status -ne 0 ] && [ "$bad" -eq 0 ]; then
		bad=1
	fi
	if [ "$bad" -gt 0 ]; then
		echo "FAILED  $name (status $status)"
		sed 's/^/    /' "$log" "$log.err"
	else
		echo "ok      $name: $ok passed, $(($(date +%s) - begin)) s$(grep -h -m1 SB_SEED "$log.err" | sed 's/^#/,/')"
		grep -h -E '^(not )?ok .*# SKIP|^# skipped' "$log" "$log.err"
	fi >"$log.told"
	echo "$ok $bad $skip" >"$log.count"
	# What two tests tell must not mix.
	flock "$results" cat "$log.told"
}

if [ "$1" = --one ]; then
	shift
	one "$@"
	exit
fi
build=$1
shift
mkdir -p "$build/tests"
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

# The shell tests find the command where they look for it.
commands=$build
if [ -n "${EMULATOR-}" ]; then
	commands=$build/emulated
	mkdir -p "$commands/tests"
	for program in sched-bench tests/sched-bench-wrong; do
		printf '#!/bin/sh\nexec %s "%s" "$@"\n' "$EMULATOR" \
			"$PWD/$build/$program" >"$commands/$program"
		chmod +x "$commands/$program"
	done
fi

# The emulator is a command with arguments.
for test in "$@"; do
	case $test in
	*.sh) echo "$test sh $test $commands" ;;
	*.py) echo "$test $test" ;;
	*) echo "${test#"$build"/} ${EMULATOR-} $test" ;;
	esac
done | xargs -r -P $(($(nproc) + 1)) -L 1 sh "$0" --one "$results"

cat "$results"/*.count | {
	passed=0 failed=0 skipped=0
	while read -r ok bad skip; do
		passed=$((passed + ok))
		failed=$((failed + bad))
		skipped=$((skipped + skip))
	done
	if [ $skipped -gt 0 ]; then
		echo "$passed passed, $failed failed, $skipped skipped"
	else
		echo "$passed passed, $failed failed"
	fi
	[ $failed -eq 0 ]
}
