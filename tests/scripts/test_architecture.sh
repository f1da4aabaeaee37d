#!/bin/sh
# The direction of dependency and the one-place-for-each-library rules hold, and
# the lint that says so can tell. Prints TAP.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
copy() {
	rm -rf "$work/tree"
	mkdir -p "$work/tree"
	cp -r core affinity workloads results harness tests scripts "$work/tree"
	(cd "$work/tree" && git init -q .)
}
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
if ! command -v git >/dev/null; then
	echo "ok 1 - architecture # SKIP git is not installed"
	echo "1..1"
	exit 0
fi
copy
lint
result "the tree keeps the rules" $? 0
# break NAME FILE LINE: the lint must see it.
break_rule() {
	copy
	echo "$3" >>"$work/tree/$2"
	lint
	result "it sees $1" $? 1
}
break_rule "core including affinity" core/wake/idle.c '#include "affinity/topology.h"'
break_rule "results including the harness" results/files/csv.c '#include "harness/terminal/text.h"'
break_rule "the mailbox including the worker's loop" core/message/mailbox.c '#include "core/worker/spin.h"'
break_rule "the terminal including the options" harness/terminal/text.c '#include "harness/cli/options.h"'
break_rule "the record including the page" results/record/record.c '#include "results/page/page.h"'
break_rule "a library of workloads including one" workloads/lib/swarm.c '#include "workloads/own/service.h"'
break_rule "hwloc outside affinity" workloads/own/yield.c '#include <hwloc.h>'
break_rule "jemalloc in a second file" core/memory/pool.c '#include <jemalloc/jemalloc.h>'
break_rule "Google Benchmark outside its shim" harness/micro/callgrind.c '#include <benchmark/benchmark.h>'
break_rule "a bare memory order" core/queue/deque.c 'int x = memory_order_relaxed;'
break_rule "time behind the platform's back" core/worker/worker.c 'clock_gettime(0, 0);'
break_rule "a header that is too long" core/trace.h "$(yes '' | head -300 | sed 's|$|/* */|')"
break_rule "a source that is too long" core/readings.c "$(yes '' | head -500 | sed 's|$|/* */|')"
copy
for i in $(seq 26); do
	: >"$work/tree/core/wake/file$i.md"
done
lint
result "it sees a folder with too many files" $? 1
echo "1..$n"
