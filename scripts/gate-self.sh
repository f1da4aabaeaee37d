#!/bin/sh
# Gates the project against its own past: in virtual time against the baseline in the tree; then
# what is built here against the commit before, by instruction counts, and by how often two workers
# steal, wake and park. Times are not compared: on a shared machine they decide nothing in half a
# minute.
# usage: gate-self.sh PROGRAM [BASE]
#
# A commit that changes a policy on purpose brings the new baseline along (make gate-baseline).
# What that changes is shown, and is no failure.
#
# BASE: a revision (HEAD~1). GATE_LIMIT: how many more instructions a primitive may
# take (5%). A commit that takes more on purpose says why in its message, on a line
# that begins with "Slower:"; that is shown, and is no failure.
set -u

program=$1
base=${2:-HEAD~1}
limit=${GATE_LIMIT:-5%}

skip() {
	echo "gate-self.sh: skipped: $1"
	exit 0
}

work=$(mktemp -d) || exit 4
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

baseline=tests/virtual/gate.csv
"$program" gate --virtual --baseline $baseline -o "$work/virtual"
status=$?
[ $status -ne 1 ] || echo "gate-self.sh: if that is meant: make gate-baseline, and commit $baseline"
[ $status -eq 0 ] || exit $status

command -v valgrind >/dev/null || skip "valgrind is not installed"
command -v git >/dev/null || skip "git is not installed"
hash=$(git rev-parse --verify --quiet "$base^{commit}") ||
	skip "git finds no commit $base here (a tarball, a shallow clone?)"
if git show "$hash:$baseline" >"$work/before.csv" 2>/dev/null &&
	! cmp -s "$work/before.csv" $baseline; then
	echo "gate-self.sh: the baseline in virtual time has changed since $base:"
	"$program" gate --virtual --baseline "$work/before.csv" --candidate $baseline \
		-o "$work/changes"
fi
git diff --quiet "$hash" -- Makefile core affinity workloads results harness &&
	skip "nothing that is built has changed since $base"

# Builds the commit before; the objects of files that have not changed are taken from here.
old=$work/old
mkdir "$old" && git archive "$hash" | tar -x -C "$old" || exit 4
tar -c --exclude='*tests' --exclude=small --exclude=explore "${program%/*}" | tar -x -C "$old"
git diff --name-only "$hash" | (cd "$old" && xargs -r -d '\n' touch -c)
${MAKE:-make} -s -C "$old" -j "$(nproc)" "$program" >"$work/log" 2>&1 ||
	skip "$base does not build here: $(tail -1 "$work/log")"

# slower STATUS: the same, but 0 for a commit that is slower on purpose.
slower() {
	reason=$(git log -1 --format=%B | sed -n 's/^Slower: *//p')
	[ "$1" -eq 1 ] && [ -n "$reason" ] || return "$1"
	echo "gate-self.sh: slower on purpose: $reason"
}

echo "gate-self.sh: against $base ($hash)"
"$program" gate --counts --limit "$limit" --baseline "$old/$program" -o "$work/counts"
slower $?
status=$?
[ $status -eq 0 ] || exit $status

# One thread is all that is counted; what two workers do to each other is not in it.
"$program" gate --baseline "$old/$program" \
	-w imbalanced-tree --root-children 100 --workers 2 --budget 20s -o "$work/workers" \
	--limit steals_per_op=±50% --limit wakes_per_op=+100% --limit parks_per_op=+100%
slower $?
status=$?
# Too few valid pairs is what a busy machine does.
[ $status -eq 2 ] || exit $status
