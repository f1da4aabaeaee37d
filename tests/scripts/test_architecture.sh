#!/bin/sh
# The direction of dependency and the one-place-for-each-library rules hold, and
# the lint that says so can tell. Prints TAP.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
lint() {
	(cd "$work/tree" && sh scripts/lint.sh architecture) >"$work/log" 2>&1
}
n=0
result() {
	n=$((n + 1))
	if [ "$2" = "$3" ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		sed 's/^/# /' "$work/log"
	fi
}
# A git that refuses to list files, as it refuses the tree of another owner, changes nothing.
mkdir "$work/tree" "$work/bin"
printf '#!/bin/sh\necho "fatal: detected dubious ownership in repository" >&2\nexit 128\n' >"$work/bin/git"
chmod +x "$work/bin/git"
PATH=$work/bin:$PATH
cp -r core affinity workloads results harness tests scripts "$work/tree"
lint
result "the tree keeps the rules" $? 0

# Every rule is broken at once, each in a file of its own, which the lint must name.
# sees NAME FILE [LINE]: line to append.
broken=$work/broken
sees() {
	[ $# -lt 3 ] || echo "$3" >>"$work/tree/$2"
	echo "$2 $1" >>"$broken"
}
sees "core including affinity" core/wake/idle.c '#include "affinity/topology.h"'
sees "results including the harness" results/files/csv.c '#include "harness/terminal/text.h"'
sees "the mailbox including the worker's loop" core/message/mailbox.c '#include "core/worker/spin.h"'
sees "the terminal including the options" harness/terminal/text.c '#include "harness/cli/options.h"'
sees "the record including the page" results/record/record.c '#include "results/page/page.h"'
sees "a library of workloads including one" workloads/lib/swarm.c '#include "workloads/own/service.h"'
sees "hwloc outside affinity" workloads/own/yield.c '#include <hwloc.h>'
sees "jemalloc in a second file" core/memory/pool.c '#include <jemalloc/jemalloc.h>'
sees "Google Benchmark outside its shim" harness/micro/callgrind.c '#include <benchmark/benchmark.h>'
sees "a bare memory order" core/queue/deque.c 'int x = memory_order_relaxed;'
sees "time behind the platform's back" core/worker/worker.c 'clock_gettime(0, 0);'
sees "a header that is too long" core/trace.h "$(yes '' | head -300 | sed 's|$|/* */|')"
sees "a source that is too long" core/process/submit.c "$(yes '' | head -500 | sed 's|$|/* */|')"
# shellcheck disable=SC2016
sees "a stored reason that is printed as it is" results/files/summary.c \
	'static void f(FILE *out, const struct sb_record *r)
{
	const char *why = r->reason;

	fprintf(out, "%s\n", why);
}'
sees "a title that another function prints as it is" harness/sweep/table.c 'static void show(const char *name)
{
	puts(name);
}
static void g(const struct sb_series *series)
{
	char title[SB_SERIES_TITLE_BYTES];

	sb_series_title(title, series);
	show(title);
}'
for i in $(seq 26); do
	: >"$work/tree/core/wake/file$i.md"
done
sees "a folder with too many files" core/wake:
lint
result "broken rules are a failure" $? 1
while read -r file name; do
	grep -q "^$file" "$work/log"
	result "it sees $name" $? 0
done <"$broken"
echo "1..$n"
