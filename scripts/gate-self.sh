#!/bin/sh
# Gates the project against its own past: what is built here against the commit
# before, by instruction counts, which fail it, and by a short `ab`, which is only
# shown: times on a shared machine decide nothing in half a minute.
# usage: gate-self.sh PROGRAM [BASE]
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

command -v valgrind >/dev/null || skip "valgrind is not installed"
hash=$(git rev-parse --verify --quiet "$base^{commit}") ||
	skip "there is no commit $base here (a shallow clone?)"
git diff --quiet "$hash" -- Makefile core affinity workloads results harness &&
	skip "nothing that is built has changed since $base"

work=$(mktemp -d) || exit 4
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# Where the commit before is built, and kept for the next time.
cache=${XDG_CACHE_HOME:-${HOME:-/nowhere}/.cache}
mkdir -p "$cache" 2>/dev/null && [ -w "$cache" ] || cache=$work/cache
export XDG_CACHE_HOME="$cache"

echo "gate-self.sh: against $base ($hash)"
"$program" gate --counts --limit "$limit" --baseline "$hash" -o "$work/counts"
status=$?
reason=$(git log -1 --format=%B | sed -n 's/^Slower: *//p')
if [ $status -eq 1 ] && [ -n "$reason" ]; then
	echo "gate-self.sh: slower on purpose: $reason"
	status=0
fi
# The commit before may not build here, or the repository not be written to.
[ $status -ne 4 ] || skip "there is nothing to compare with: see above"
[ $status -eq 0 ] || exit $status

built=$cache/sched-bench/builds/$hash-release/sched-bench
for workload in "pingpong --round-trips 100000" "skynet --leaves 10000"; do
	# shellcheck disable=SC2086
	# The workload's parameter is a word of its own.
	"$program" ab -A "$built" -B "$program" -w $workload --workers 1 -d 30ms --warmup 10ms \
		--metric cpu_ns_per_op --pairs 20 -o "$work/$(echo "$workload" | tr -d ' ')"
	status=$?
	# Too few valid pairs is what a busy machine does.
	[ $status -eq 0 ] || [ $status -eq 2 ] || exit $status
done
