# What the shell tests have in common: sourced by them, from the root of the
# tree. Prints TAP; the plan is the test's own last line: echo "1..$n".
# shellcheck shell=sh disable=SC2154
n=0
# Runs that only have to be there measure in their own process, unless the test says otherwise.
export SCHED_BENCH_FORKS=1

# Numbers have points in what the command writes, whatever the user's locale is; the command itself runs in that.
awk() {
	LC_ALL=C command awk "$@"
}

# report NAME OK DETAILS: one line, and of what is wrong the beginning.
report() {
	n=$((n + 1))
	if [ "$2" = yes ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		printf '%s\n' "$3" | sed '/^$/d; s/^/# /' | head -40
	fi
}

# holds NAME COMMAND...: the command succeeds.
holds() {
	name=$1
	shift
	if details=$("$@" 2>&1); then
		report "$name" yes
	else
		report "$name" no "$details"
	fi
}

# again COMMAND...: succeeds in one of three tries; rows without numbers are the machine's doing,
# when others use it, too.
again() {
	"$@" || "$@" || "$@"
}

# has_virtual: this build has virtual time.
has_virtual() {
	! "$program" run -w yield --virtual --profile xeon-2s --workers 1 -r 1 --yields 10 -q --no-plots \
		-o "$work/probe" 2>&1 | grep -q 'no virtual time'
}

# skips NAME REASON: what cannot be tested here.
skips() {
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}

# refuses NAME STATUS PATTERN ARGUMENT...: the program (of $program, $work) fails
# with exactly one line on standard error, which has the pattern, and nothing on
# standard output.
refuses() {
	name=$1 status=$2 pattern=$3
	shift 3
	"$program" "$@" >"$work/out" 2>"$work/err"
	got=$?
	if [ $got -eq "$status" ] && [ "$(wc -l <"$work/err")" -eq 1 ] &&
		[ ! -s "$work/out" ] && grep -q -- "$pattern" "$work/err"; then
		report "$name" yes
	else
		report "$name" no "status $got, expected $status; $(cat "$work/err" "$work/out")"
	fi
}
