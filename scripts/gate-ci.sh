#!/bin/sh
# Gates a branch against where it left its target: builds the merge base and the
# head in worktrees, and runs the head's `gate` on both.
# usage: gate-ci.sh [TARGET [HEAD]] [-- options of gate...]
#
# TARGET: a branch or revision (origin/main). HEAD: a revision (HEAD). The options
# are those of `sched-bench gate`; the exit status is its own: 0 the same, 1
# regressed, 2 cannot tell, 3 a wrong input, 4 a build that fails.
#
# GATE_OUTPUT     directory for the result, which must hold none yet (gate-result)
# GATE_UNDECIDED  "pass": undecided is said, and is no failure, nor is it in junit.xml
# MAKEFLAGS       as ever: MAKEFLAGS=-j4 gate-ci.sh
set -u

fail() {
	echo "gate-ci.sh: $2" >&2
	exit "$1"
}

target=origin/main
head=HEAD
if [ $# -gt 0 ] && [ "$1" != -- ]; then
	target=$1
	shift
fi
if [ $# -gt 0 ] && [ "$1" != -- ]; then
	head=$1
	shift
fi
if [ $# -gt 0 ] && [ "$1" = -- ]; then
	shift
fi

command -v git >/dev/null || fail 4 "git is not installed; expected it, to check out both sides"
# A shallow clone may end before the two meet.
head=$(git rev-parse --verify --quiet "$head^{commit}") ||
	fail 3 "there is no such head; expected a revision"
base=$(git merge-base "$target" "$head") ||
	fail 3 "'$target' and $head have no common commit here; expected a clone with history (fetch-depth: 0)"

work=$(mktemp -d) || fail 4 "no temporary directory"
# shellcheck disable=SC2317
# It is a trap.
cleanup() {
	for side in base head; do
		git worktree remove --force "$work/$side" 2>/dev/null
	done
	rm -rf "$work"
	git worktree prune
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# build SIDE REVISION: in $work/SIDE.
build() {
	git worktree add --quiet --detach "$work/$1" "$2" ||
		fail 4 "$1 ($2) cannot be checked out"
	if ! make -C "$work/$1" all >"$work/$1.log" 2>&1; then
		tail -n 20 "$work/$1.log" >&2
		fail 4 "$1 ($2) cannot be built"
	fi
}

if [ "$base" = "$head" ]; then
	echo "gate-ci.sh: $head is part of $target: there is nothing to gate"
	exit 0
fi
echo "gate-ci.sh: baseline $base, candidate $head"
build base "$base"
build head "$head"
program=build/release/sched-bench
[ "${GATE_UNDECIDED:-}" != pass ] || set -- --undecided skip "$@"
"$work/head/$program" gate \
	--baseline "$work/base/$program" --candidate "$work/head/$program" \
	--output "${GATE_OUTPUT:-gate-result}" "$@"
status=$?
if [ $status -eq 2 ] && [ "${GATE_UNDECIDED:-}" = pass ]; then
	echo "gate-ci.sh: undecided: not counted as a failure (GATE_UNDECIDED=pass)"
	status=0
fi
exit $status
