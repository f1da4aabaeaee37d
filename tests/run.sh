#!/bin/sh
# Runs the tests that are named, programs and shell scripts, and counts. The last
# line is "N passed, N failed" (", N skipped" may follow).
# usage: run.sh BUILD_DIRECTORY TEST...
# EMULATOR, if set, is the command that runs programs built for another machine.
set -u
build=$1
shift
log=$build/tests/log
passed=0
failed=0
skipped=0
# A test that hangs is a failure, not a reason to wait for ever.
limit=600
mkdir -p "$build/tests"

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

# run NAME COMMAND...: one test program that prints TAP.
run() {
	name=$1
	shift
	CMOCKA_MESSAGE_OUTPUT=TAP timeout $limit "$@" >"$log" 2>"$log.err"
	status=$?
	# cmocka says "not ok N # SKIP", where TAP has "ok N # SKIP".
	skip=$(grep -cE '^(not )?ok .*# SKIP' "$log")
	ok=$(grep '^ok ' "$log" | grep -vc '# SKIP')
	bad=$(grep '^not ok ' "$log" | grep -vc '# SKIP')
	# A crash, a sanitizer's report or a hang, whatever was printed before.
	if [ $status -ne 0 ] && [ "$bad" -eq 0 ]; then
		bad=1
	fi
	if [ "$bad" -gt 0 ]; then
		echo "FAILED  $name (status $status)"
		sed 's/^/    /' "$log" "$log.err"
	else
		echo "ok      $name: $ok passed$(grep -h -m1 SB_SEED "$log.err" | sed 's/^#/,/')"
		grep -h -E '^(not )?ok .*# SKIP|^# skipped' "$log" "$log.err"
	fi
	passed=$((passed + ok))
	failed=$((failed + bad))
	skipped=$((skipped + skip))
}

# The emulator is a command with arguments.
# shellcheck disable=SC2086
for test in "$@"; do
	case $test in
	*.sh) run "$test" sh "$test" "$commands" ;;
	*) run "${test#"$build"/}" ${EMULATOR-} "$test" ;;
	esac
done
rm -f "$log" "$log.err"
if [ $skipped -gt 0 ]; then
	echo "$passed passed, $failed failed, $skipped skipped"
else
	echo "$passed passed, $failed failed"
fi
[ $failed -eq 0 ]
