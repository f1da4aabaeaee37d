#!/bin/sh
# The verb `micro`: all kinds are there and run, their JSON is what compare.py
# reads, a lost item is seen, instructions are the same each time. Prints TAP.
# usage: test_micro.sh BUILD_DIRECTORY
set -u
program=$1/sched-bench
wrong=$1/tests/sched-bench-wrong
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh

# refuses NAME STATUS PATTERN PROGRAM ARGUMENTS...: fails with one line on
# standard error that has the pattern, and nothing on standard output.
refuses() {
	name=$1 status=$2 pattern=$3
	shift 3
	"$@" >"$work/out" 2>"$work/err"
	got=$?
	if [ $got -eq "$status" ] && [ "$(wc -l <"$work/err")" -eq 1 ] &&
		[ ! -s "$work/out" ] && grep -q -- "$pattern" "$work/err"; then
		report "$name" yes
	else
		report "$name" no "status $got, expected $status; $(cat "$work/out" "$work/err")"
	fi
}

help_fits() {
	python3 tests/command/tools/terminal.py 80 "$program" micro --help | tr -d '\r' >"$work/help"
	[ "$(wc -l <"$work/help")" -le 80 ] && [ "$(wc -L <"$work/help")" -le 80 ] &&
		grep -q 'filter=REGEX' "$work/help"
}
holds "help of micro is 80 wide" help_fits

# Each primitive, under the name that results are compared by.
names_all() {
	"$program" micro --benchmark_list_tests >"$work/names" || return 1
	for kind in deque/push_pop/counted/items:64 deque/push_pop/chase_lev/items:64 \
		deque/steal_one/counted deque/steal_half/counted/items:16 \
		deque/contended/counted/process_time/real_time/threads:2 \
		global_queue/put_take/batch:16/process_time/real_time/threads:4 \
		inject_queue/put_take/items:16 inject_queue/hand_over/process_time/real_time/threads:2 \
		event_queue/post_take/events:8 event_queue/hand_over/process_time/real_time/threads:4 \
		pid_map/look_up/processes:65536 state/continue state/wake state/wakeup_flag \
		pool/alloc_free/bytes:64 pool/remote_free/bytes:64 arena/alloc_free/bytes:4096 \
		clock/kernel clock/used histogram/record \
		wheel/add_stop/timers:1024 wheel/add_expire/timers:1024 \
		park/token/futex park/hand_over/futex/process_time/real_time/threads:2 \
		park/hand_over/condvar/process_time/real_time/threads:2 \
		idle/look idle/announce_claim dispatch/yield/process_time/real_time \
		dispatch/message/process_time/real_time dispatch/spawn/process_time/real_time; do
		grep -qx "$kind" "$work/names" || { echo "$kind is missing"; return 1; }
	done
}
holds "all kinds are listed" names_all

# On the command line and in the file, with all that compare.py looks at.
runs_all() {
	"$program" micro --benchmark_min_time=0.001 --benchmark_format=json \
		--benchmark_out="$work/file.json" >"$work/all.json" || return 1
	python3 - "$work/all.json" "$work/file.json" "$work/names" <<-'EOF'
		import json, sys
		one, two = (json.load(open(name)) for name in sys.argv[1:3])
		rows = [r for r in one["benchmarks"] if r["run_type"] == "iteration"]
		assert [r["name"] for r in rows] == open(sys.argv[3]).read().split()
		assert len(one["benchmarks"]) == len(two["benchmarks"])
		for row in rows:
		    assert "error_occurred" not in row, row
		    assert row["real_time"] > 0 and row["time_unit"] == "ns", row
		    assert {"cpu_time", "run_name", "iterations", "threads"} <= set(row), row
		    assert row["items_per_second"] > 0, row
		fits = {r["name"]: r for r in one["benchmarks"] if r.get("aggregate_name") == "BigO"}
		assert fits["deque/steal_half/counted_BigO"]["big_o"] == "N"
		assert fits["wheel/add_stop_BigO"]["big_o"] == "(1)"
		half = next(r for r in rows if r["name"] == "deque/steal_half/counted/items:16")
		assert half["stolen"] == 8, half
		assert {"steals", "retries"} <= set(next(r for r in rows if "contended" in r["name"]))
		assert one["context"]["sched_bench_version"]
	EOF
}
holds "all kinds run, and their JSON is complete" runs_all

compares() {
	/usr/bin/python3 /usr/share/benchmark/compare.py --no-color -d "$work/cmp.json" \
		benchmarks "$work/all.json" "$work/file.json" &&
		grep -q 'deque/push_pop/counted/items:64' "$work/cmp.json"
}
if /usr/bin/python3 -c 'import scipy' 2>/dev/null && [ -r /usr/share/benchmark/compare.py ]; then
	holds "compare.py reads it" compares
else
	skips "compare.py reads it" "libbenchmark-tools is not installed"
fi

# What fails has no numbers, and the others still run.
loses() {
	"$wrong" micro --benchmark_filter='wrong|state/wake$' --benchmark_min_time=0.001 \
		--benchmark_format=json >"$work/wrong.json" 2>"$work/err"
	[ $? -eq 2 ] && python3 - "$work/wrong.json" <<-'EOF'
		import json, sys
		rows = {r["name"]: r for r in json.load(open(sys.argv[1]))["benchmarks"]}
		assert rows["wrong/loses_one"]["error_message"] == "an item was lost"
		assert rows["wrong/no_set_up/threads:2"]["error_occurred"]
		assert "error_occurred" not in rows["state/wake"], rows
	EOF
}
holds "a lost item is seen, status 2" loses

# Google's flags, which the library itself would not check.
refuses "a wrong value of Google's flags" 3 "expected console|json|csv" \
	"$program" micro --benchmark_format=xml
refuses "a misspelt flag of Google's" 3 "did you mean --benchmark_filter" \
	"$program" micro --benchmark_fliter=x
refuses "a flag of Google's without a value" 3 "expected --benchmark_filter=REGEX" \
	"$program" micro --benchmark_filter
refuses "a file that cannot be written" 3 "No such file" \
	"$program" micro --benchmark_out="$work/none/x"
refuses "a word" 3 "'deque' is not expected" "$program" micro deque
refuses "--counts-out alone" 3 "only with --counts" "$program" micro --counts-out x
refuses "--counts with times" 3 "only --benchmark_filter" \
	"$program" micro --counts --benchmark_repetitions=3
"$program" micro --benchmark_filter=nothing >"$work/out" 2>"$work/err"
report "nothing matches: status 3" "$([ $? -eq 3 ] && echo yes)" "$(cat "$work/err")"

# Instructions: the same each time, wherever else the kind is counted with.
counts() {
	"$program" micro --counts --benchmark_filter='^state|^histogram' \
		--counts-out "$work/a.json" &&
		"$program" micro --counts --benchmark_filter='histogram|dispatch/yield' \
			--counts-out - >"$work/b.json" &&
		python3 - "$work/a.json" "$work/b.json" <<-'EOF'
			import json, sys
			a, b = (json.load(open(name))["instructions"] for name in sys.argv[1:])
			assert set(a) == {"histogram/record", "state/continue", "state/wake",
			                  "state/wakeup_flag"}, a
			assert set(b) == {"histogram/record", "dispatch/yield"}, b
			assert a["histogram/record"] == b["histogram/record"] > 5, (a, b)
			assert 2 < a["state/continue"] < a["state/wake"] < a["state/wakeup_flag"], a
			assert 100 < b["dispatch/yield"] < 10000, b
		EOF
}
why=
"$program" micro --counts --benchmark_filter='^idle/look$' >"$work/out" 2>"$work/err" ||
	why=$(cat "$work/err")
case $why in
*sanitizers*)
	skips "instructions are counted, and always the same" "a build with sanitizers"
	;;
*)
	holds "instructions are counted, and always the same" counts
	refuses "a lost item is seen when counted" 2 "wrong/loses_one: an item was lost" \
		"$wrong" micro --counts --benchmark_filter=wrong
	refuses "nothing to count" 3 "matches 'contended'" \
		"$program" micro --counts --benchmark_filter=contended
	refuses "without valgrind" 4 "package valgrind" \
		env PATH="$work" "$(command -v "$program")" micro --counts
	;;
esac
echo "1..$n"
